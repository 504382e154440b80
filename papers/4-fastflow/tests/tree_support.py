# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of strid tree."""

import csv
import io
import json

from program import Case

# Quinlan, C4.5 (1993), table 2-1.
GOLF = """outlook,temperature,humidity,windy,play
sunny,75,70,true,Play
sunny,80,90,true,Don't Play
sunny,85,85,false,Don't Play
sunny,72,95,false,Don't Play
sunny,69,70,false,Play
overcast,72,90,true,Play
overcast,83,78,false,Play
overcast,64,65,true,Play
overcast,81,75,false,Play
rain,71,80,true,Don't Play
rain,65,70,true,Don't Play
rain,75,80,false,Play
rain,68,80,false,Play
rain,70,96,false,Play
"""


def drawn_table(draw, rows, missing=0.0):
    """A small table in which classes follow some attributes: (header, rows, classes, kinds)."""
    kinds = [draw.choice(["number", "name"]) for _ in range(draw.randint(1, 6))]
    values = [draw.randint(2, 5) for _ in kinds]
    digits = [draw.choice([0, 0, 1, 3]) for _ in kinds]
    names = ["a", "b", "c", "d"][: draw.randint(2, 4)]
    table = []
    classes = []
    for _ in range(rows):
        row = []
        mark = 0.0
        for kind, count, places in zip(kinds, values, digits):
            if kind == "number":
                value = round(draw.gauss(5, 3), places)
                mark += value > 5
            else:
                value = f"v{draw.randrange(count)}"
                mark += value == "v0"
            row.append(None if draw.random() < missing else value)
        classes.append(
            draw.choice(names) if draw.random() < 0.2 else names[int(mark) % len(names)]
        )
        table.append(row)
    if len(set(classes)) == 1:
        classes[0] = "z"
    header = [f"x{i}" for i in range(len(kinds))]
    return header, table, classes, kinds


def as_csv(header, table, classes):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header + ["class"])
    for row, name in zip(table, classes):
        writer.writerow(["?" if value is None else value for value in row] + [name])
    return out.getvalue()


class TreeCase(Case):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def learn(self, path, *arguments, target="class"):
        """The model, nested as the oracle has it, and what was printed."""
        output = self.folder / "model.json"
        printed = self.run_program(
            "learn", "--input", path, "--target", target, "--output", output, *arguments
        ).stdout.decode()
        return json.loads(output.read_text()), printed

    def nested(self, model, number=0):
        node = model["nodes"][number]
        result = {"counts": node["counts"]}
        if "attribute" in node:
            attribute = model["attributes"][node["attribute"]]
            values = attribute.get("values", ["low", "up"])
            result["attribute"] = node["attribute"]
            result["threshold"] = node.get("threshold")
            result["branches"] = {
                values[value]: self.nested(model, below) for value, below in node["branches"]
            }
        return result

    def same(self, found, expected, place="root"):
        self.assertEqual("branches" in found, "branches" in expected, f"{place}: {found}")
        self.assertEqual(len(found["counts"]), len(expected["counts"]))
        for a, b in zip(found["counts"], expected["counts"]):
            self.assertAlmostEqual(a, b, delta=1e-6, msg=place)
        if "branches" not in found:
            return
        self.assertEqual(found["attribute"], expected["attribute"], place)
        self.assertEqual(found["threshold"], expected["threshold"], place)
        self.assertEqual(set(found["branches"]), set(expected["branches"]), place)
        for value, branch in found["branches"].items():
            self.same(branch, expected["branches"][value], f"{place}/{value}")

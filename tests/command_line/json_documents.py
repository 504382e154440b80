#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` over JSON that is no object a line: arrays, objects over several lines, text
sequences of RFC 7464. The rows are those that Python wrote, so the answer is that of the same rows
as lines, which json_windows.py compares with other computations.

    json_documents.py CLASS...
"""
import csv
import json
import random
import subprocess
import unittest

from command_line import STRID, Case

ASK = ["--time", "at", "--key", "key", "--window", "tumbling:1s", "--aggregate", "count,sum(x)"]


def rows(count, seed=1):
    rng = random.Random(seed)
    return [{"key": rng.choice(["a", 'q"{', "b}\n", "c,[", "\\", "]"]), "at": number * 10,
             "more": {"at": [{"x": {}}, [], [[7]]], "": '"}{'}, "x": rng.randrange(1000)}
            for number in range(count)]


def layouts(made):
    yield "lines", "".join(json.dumps(row) + "\n" for row in made)
    yield "array on a line", json.dumps(made)
    yield "array, a row a line", "[" + ",\n".join(json.dumps(row) for row in made) + "]\n"
    yield "commas in front", "[ " + "\n, ".join(json.dumps(row) for row in made) + "\n]\n"
    for indent in (0, 1, 4, "\t"):
        yield f"indented by {indent!r}", json.dumps(made, indent=indent) + "\r\n"
        yield f"objects indented by {indent!r}", "".join(
            json.dumps(row, indent=indent) + "\n" for row in made)
        yield f"records indented by {indent!r}", "".join(
            "\x1e" + json.dumps(row, indent=indent) + "\n" for row in made)
    yield "records", "".join("\x1e" + json.dumps(row) + "\n" for row in made)
    yield "records in one line", "\x1e" + "\x1e".join(json.dumps(row) for row in made)
    half = len(made) // 2
    yield "arrays", json.dumps(made[:half]) + "\n[]\n" + json.dumps(made[half:])
    yield "open braces on lines of their own", "[\n" + ",\n".join(
        json.dumps(row).replace('"more": ', '"more":\n') for row in made) + "\n]"
    yield "behind a mark", "\ufeff \n" + json.dumps(made)


class JsonDocuments(Case):
    def answer(self, source, *more):
        done = self.strid("window", "--quiet", "--input", source, *ASK, *more)
        return sorted(csv.reader(done.stdout.decode().splitlines(keepends=True)))

    def test_the_same_rows(self):
        made = rows(2000)
        expected = None
        for name, text in layouts(made):
            for kind in (["--format", "json"], []):
                source = self.file("made", text)
                answer = self.answer(source, *kind)
                expected = expected or answer
                self.assertGreater(len(answer), 60)
                self.assertEqual(answer, expected, name)

    def test_rows_are_read_at_once(self):
        for begin, pieces in (("[", ['{"at":1,"x":1}', ',{"at":2000,"x":2}', ',\n{"at":4000}']),
                              ("", ['{\n"at":1,"x":1\n}', '{"at":2000', '}{"at":4000}']),
                              ("", ['\x1e{"at":1,"x":1}', '\n\x1e{"at":2000}', '\x1e{"at":4000}'])):
            with subprocess.Popen([STRID, "window", "--quiet", "--time", "at", "--window",
                                   "tumbling:1s", "--aggregate", "count"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                for piece in [begin, *pieces]:
                    process.stdin.write(piece)
                    process.stdin.flush()
                # The input stays open, without a newline behind the last object.
                read = [process.stdout.readline() for _ in range(3)]
                self.assertEqual(read, ["window_start,window_end,count\n", "0,1000,1\n",
                                        "2000,3000,1\n"])
                process.stdin.write("]" if begin else "")
                process.stdin.close()
                self.assertEqual(process.stdout.read(), "4000,5000,1\n")
                self.assertEqual(process.wait(60), 0)

    def refused(self, text):
        """The refused documents, as (line, reason, text), and the number of rows that are left."""
        source = self.file("made.json", text)
        dead = self.folder / "dead.csv"
        done = self.strid("window", "--quiet", "--input", source, "--window", "count:1", "--key",
                          "x", "--aggregate", "count", "--dead-letter", dead)
        with open(dead, newline="", encoding="utf-8") as file:
            found = [(int(row[1]), row[2], row[3]) for row in csv.reader(file)]
        kept = [row[0] for row in csv.reader(done.stdout.decode().splitlines()[1:])]
        if found:
            line = self.fails("window", "--input", source, "--window", "count:1", "--key", "x",
                              "--aggregate", "count", code=1)
            self.assertIn(f"{source}:{found[0][0]}: {found[0][1].split(':')[0]}", line)
        return found, sorted(kept)

    def test_faults(self):
        cut_off = "the object is not closed before the next one begins"
        for text, faults, kept in (
                ('[1,{"x":1},"a",[{"x":2}],null]',
                 [(1, "not a JSON object", "1"), (1, "not a JSON object", '"a"'),
                  (1, "an array in an array", "["), (1, "not a JSON object", "null")], "12"),
                ('[{"x":1}\n{"x":2}]', [(2, "no comma before an object", "")], "12"),
                ('[{"x":1},\n]', [(2, "a comma too many", "]")], "1"),
                ('[{"x":1},,{"x":2}]', [(1, "a comma too many", ",")], "12"),
                ('[{"x":1}]\n]', [(2, "a ] without its [", "]")], "1"),
                ('{\n"x":1},\n{"x":2}', [(2, "a comma between objects", ",")], "12"),
                ('[{"x":1},\n{"x":2}', [(2, "the array is not closed: the input ends", "")], "12"),
                ('[{"x":1},\n{"x":2', [(2, "the object is not closed: the input ends",
                                        '{"x":2')], "1"),
                ('[\n{"x":1,\n{"x":2},\n{"x":3}\n]', [(2, cut_off, '{"x":1,')], "23"),
                ('{\n "x":1\n\n{\n "x":2\n}\n', [(1, cut_off, '{\n "x":1')], "2"),
                ('[\n{"x":"1},\n{"x":2},\n{"x":3}\n]', [(2, cut_off, '{"x":"1},')], "23"),
                ('\x1e{"x":1,"y":"a\n\x1e{"x":2}\n', [(1, cut_off, '{"x":1,"y":"a')], "2"),
                ('\x1e{"x":1,"y":[{\x1e{"x":2}\n', [(1, cut_off, '{"x":1,"y":[{')], "2"),
                ('\x1e[{"x":1}\x1e{"x":2}\n', [(1, "the array is not closed", "\x1e")], "12"),
                ('[{"x":[1}},{"x":{"x":2]}},{"x":3}]',
                 [(1, "not a JSON object", '{"x":[1}'), (1, "not a JSON object", "}"),
                  (1, "not a JSON object", '{"x":{"x":2]}}')], "3"),
                ('[{"x":tru},{"x":01},{"x":3}]', [(1, "not a JSON object", '{"x":tru}'),
                                                  (1, "not a JSON object", '{"x":01}')], "3"),
                ("[" + "[" * 5000, [(1, "an array in an array", "[")] * 5000 +
                 [(1, "the array is not closed", "")], ""),
                ('[{"x":1},{"x":' + "[" * 5000 + "]" * 5000 + '},{"x":3}]',
                 [(1, "not a JSON object", "")], "13")):
            found, rest = self.refused(text)
            self.assertEqual("".join(rest), kept, text[:80])
            self.assertEqual(len(found), len(faults), (text[:80], found))
            for (line, reason, row), (at, says, stood) in zip(found, faults):
                self.assertEqual(line, at, text[:80])
                self.assertTrue(reason.startswith(says), (text[:80], reason))
                if "[[" not in text:
                    self.assertEqual(row.rstrip("\n"), stood, text)

    def test_lines_that_are_no_documents_say_what_to_do(self):
        for text in ('{"at":1,"x":2}\n{\n"at":5}\n', '{"at":1,\n"x":2}\n'):
            line = self.fails("window", "--input", self.file("a.json", text), *ASK[:2], *ASK[4:],
                              code=1)
            self.assertIn("jq -c", line)

    def test_a_large_array_on_one_line(self):
        source = self.folder / "large.json"
        with open(source, "w", encoding="utf-8") as file:
            file.write("[")
            block = json.dumps(rows(1000))[1:-1]
            for number in range(100):
                file.write("," * (number > 0) + block)
            file.write("]")
        done = self.strid("window", "--quiet", "--input", source, "--window", "count:100000",
                          "--aggregate", "count")
        self.assertEqual(done.stdout.decode().splitlines()[1:], ["0,100000,100000"])

    def test_late_rows_and_long_objects(self):
        late = self.folder / "late.json"
        made = [{"at": 9000, "x": "y" * 400_000}, {"at": 5, "x": "\n"}, {"at": 9500, "x": ""}]
        source = self.file("made.json", json.dumps(made, indent=1))
        done = self.strid("window", "--quiet", "--input", source, "--time", "at", "--window",
                          "tumbling:1s", "--aggregate", "count,distinct(x)", "--late", late)
        self.assertEqual(done.stdout.decode().splitlines()[1:], ["9000,10000,2,1"])
        self.assertEqual(json.loads(late.read_text()), made[1])


if __name__ == "__main__":
    unittest.main()

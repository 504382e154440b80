# SPDX-License-Identifier: Apache-2.0
"""The behaviour of `strid run` with lines that are no records, and with very long ones."""

import csv
import unittest

from bundled import CAMPAIGNS, FLIGHTS, MODEL
from command_line import Case


class DeadLetters(Case):
    def dead(self, path):
        with open(path, newline="") as file:
            return list(csv.reader(file))

    def test_every_application(self):
        spaced = "x,\"a \"\"b\"\"\""
        for run, good, bad in [
            (["spike-detection"], "1,5", [("x,2", "not an integer"), ("1,nan", "not a finite"),
                                          (spaced, "not an integer"), ("1,2,3", "found 3")]),
            (["fraud-detection", "--model", MODEL], "a,t1,LNL",
             [("a,t2,XYZ", "unknown state 'XYZ'"), ("b", "found 1")]),
            (["yahoo-benchmark", "--campaigns", CAMPAIGNS], "1,2,3,mail,view,0,::1",
             [("1,2,3,mail,view,noon,::1", "not an integer")]),
        ]:
            lines = ([good] * 10 + [line for line, _ in bad]) * 300
            expected = [(number + 1, line) for number, line in enumerate(lines) if line != good]
            source = self.file("in.csv", "\n".join(lines))
            answer = self.strid("run", *run, "--input", self.file("good.csv", f"{good}\n" * 3000))
            path = self.folder / "dead.csv"
            for extra in [[], ["--skip-malformed"], ["--parallelism", "2"]]:
                result = self.strid("run", *run, "--input", source, "--dead-letter", path, *extra)
                self.assertIn(f"{len(expected):,} malformed records".encode(), result.stderr)
                self.assertEqual(sorted(result.stdout.splitlines()),
                                 sorted(answer.stdout.splitlines()))
                rows = self.dead(path)
                self.assertEqual([(int(line), text) for _, line, _, text in rows], expected)
                reasons = dict(bad)
                for file, _, reason, text in rows:
                    self.assertEqual(file, str(source))
                    self.assertIn(reasons[text], reason)

    def test_quoted_rows_as_they_stand_in_the_file(self):
        """Of the applications that look at the values of a row once more."""
        time = "2026-03-02T08:15:30Z"
        for run, good, bad in [
            (["fraud-detection", "--model", MODEL], "a,t1,LNL", '"a ""b""",t2,"X""Z"'),
            (["voip-stream"], f"391,392,{time},60,true", f'"39""1","392",{time},"60",true'),
            (["voip-stream"], f"391,392,{time},60,true", f'391,392,{time},60,"tru""e"'),
            (["linear-road"], "4,1,1" + ",0" * 12,
             '"7","1",1,0,0,0,0,0,0,0,0,0,0,0,"0"'),
        ]:
            lines = [good, bad, good, bad + "\r", "", bad]
            source = self.file("in.csv", "\n".join(lines) + "\n")
            path = self.folder / "dead.csv"
            self.strid("run", *run, "--input", source, "--dead-letter", path)
            self.assertEqual([(row[1], row[3]) for row in self.dead(path)],
                             [(number, bad) for number in "246"])

    def test_two_inputs_share_the_file(self):
        data = FLIGHTS / "data"
        flights, weather = [], []
        for name, lines in [("flights.csv", flights), ("weather.csv", weather)]:
            lines += (data / name).read_text().splitlines()
        expected = []
        for name, lines in [("flights.csv", flights), ("weather.csv", weather)]:
            for number in range(5, len(lines), 50):
                lines[number] = f"no row {number}"
                expected.append((str(self.folder / name), str(number + 1), lines[number]))
        paths = [self.file(name, "\n".join(lines) + "\n")
                 for name, lines in [("flights.csv", flights), ("weather.csv", weather)]]
        dead = self.folder / "dead.csv"
        result = self.strid("run", "flights", "--input", paths[0], "--weather", paths[1],
                            "--joined", "/dev/null", "--output", "/dev/null", "--dead-letter", dead)
        self.assertEqual(sorted((row[0], row[1], row[3]) for row in self.dead(dead)),
                         sorted(expected))
        self.assertIn(f"{len(expected):,} malformed records".encode(), result.stderr)

    def test_measured_or_replayed_each_line_is_written_once(self):
        source = self.file("in.csv", "1,5\nx,2\n2,5\n" * 500)
        run = ["run", "spike-detection", "--input", source, "--output", "/dev/null",
               "--dead-letter", self.folder / "dead.csv"]
        for extra in [["--measure"], ["--duration", "200ms", "--parallelism", "2"]]:
            self.strid(*run, *extra)
            self.assertEqual([int(row[1]) for row in self.dead(self.folder / "dead.csv")],
                             list(range(2, 1501, 3)))

    def test_files_that_cannot_be_written(self):
        source = self.file("in.csv", "1,5\nx,2\n")
        run = ["run", "spike-detection", "--input", source, "--dead-letter"]
        line = self.fails(*run, "/dev/full", code=1)
        self.assertIn("/dev/full: cannot write: No space left", line)
        missing = self.folder / "no" / "dead.csv"
        self.assertIn(f"{missing}: cannot open", self.fails(*run, missing, code=1))


if __name__ == "__main__":
    unittest.main()

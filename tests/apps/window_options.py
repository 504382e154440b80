#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options of `strid window`: how times are read and bounds written, and errors.

    window_options.py CLASS...
"""
import random
import subprocess
import unittest
from collections import defaultdict

from windows import STRID, strid


class Times(unittest.TestCase):
    """How times are read and bounds written: units, zones, the forms of ISO 8601."""

    def windows(self, windows, times, *options):
        """The bounds and counts of windows of the rows with these times."""
        done = strid("--no-header", "--time", "1", "--window", windows, "--aggregate", "count",
                     "--disorder", "100h", *options, given="".join(f"{t}\n" for t in times))
        return [tuple(line.split(",")) for line in done.stdout.splitlines()[1:]]

    def test_whole_units(self):
        rng = random.Random(31)
        times = [rng.randrange(-50, 50) for _ in range(300)]
        for unit, per_second in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
            for length, slide in ((3, 3), (7, 2), (2, 5)):
                expected = defaultdict(int)
                for time in times:
                    for start in range(time // slide * slide, time - length, -slide):
                        expected[start * per_second, (start + length) * per_second] += 1
                spec = f"sliding:{length}s/{slide}s" if length != slide else f"tumbling:{length}s"
                got = self.windows(spec, [time * per_second for time in times], "--unit", unit)
                self.assertEqual({(int(a), int(b)): int(c) for a, b, c in got}, expected)
            got = self.windows("session:2s", [-7 * per_second, -5 * per_second], "--unit", unit)
            self.assertEqual(got, [(str(-7 * per_second), str(-3 * per_second), "2")])

    def test_sizes_that_are_no_whole_units(self):
        for unit, windows, name in (
                ("s", "tumbling:500ms", "length"), ("s", "sliding:1s/500ms", "slide"),
                ("s", "sliding:1500ms/1s", "length"), ("s", "session:2500ms", "gap"),
                ("ms", "tumbling:1500us", "length"), ("us", "session:1.0005ms", "gap")):
            for times in (["1", "2"], ["x", "7"]):
                done = strid("--no-header", "--time", "1", "--window", windows, "--aggregate",
                             "count", "--unit", unit, "--skip-malformed", code=1,
                             given="".join(f"{t}\n" for t in times))
                self.assertIn(f"--window: the {name} of '{windows}' is no whole number of {unit}",
                              done.stderr)
                self.assertEqual(done.stdout.count("\n"), 1)  # the header
        self.assertEqual(self.windows("tumbling:500ms", ["2024-02-29T23:59:59.9Z"], "--unit", "s"),
                         [("2024-02-29T23:59:59.5Z", "2024-03-01T00:00:00Z", "1")])
        self.assertEqual(self.windows("session:1500us", ["1969-12-31T23:59:59Z"]),
                         [("1969-12-31T23:59:59Z", "1969-12-31T23:59:59.0015Z", "1")])

    def test_forms_of_iso_8601(self):
        same = ["2024-02-29T12:30:15Z", "2024-02-29 12:30:15", "20240229T123015Z",
                "20240229T123015", "20240229T143015+0200", "20240229T143015+02:00",
                "2024-02-29T07:00:15-05:30", "20240229T1530+03", "2024-02-29T12:30Z",
                "2024-03-01T12:29:15+23:59", "20240229T123015.999Z", "20240229T123015,5",
                " 2024-02-29T12:30:15.5Z\t"]
        self.assertEqual(self.windows("tumbling:1m", same),
                         [("2024-02-29T12:30:00Z", "2024-02-29T12:31:00Z", str(len(same)))])
        self.assertEqual(self.windows("tumbling:24h", ["2024-02-29"]),
                         [("2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z", "1")])
        for wrong in ("2024-02-29T12:30:15+24:00", "2024-02-29T12:30:15+99:99",
                      "2024-02-29T12:30:15+05:60", "2024-02-29T12:30:15+05:",
                      "2024-02-29T12:30:15+5", "2024-02-29T12:30:15Z0", "2023-02-29T12:30:15Z",
                      "2024-02-29T24:30:15Z", "2024-02-29T1230Z", "20240229T12:30Z", "20240229T12",
                      "20240229T12301Z", "20230229T123015Z", "2024-0229T123015",
                      "20240229T123015."):
            done = strid("--no-header", "--time", "1", "--window", "tumbling:1m", "--aggregate",
                         "count", given=wrong + "\n", code=1)
            self.assertIn("not a time of ISO 8601", done.stderr)


class WindowMistakes(unittest.TestCase):
    def refused(self, *arguments, says, given="a,b\n1,2\n", code=2):
        done = strid(*arguments, given=given, code=code)
        self.assertIn(says, done.stderr)

    def test_what_makes_no_sense_is_said(self):
        ask = ["--aggregate", "count", "--time", "a", "--window"]
        self.refused(*ask, "tumbling", says="'tumbling' is none of")
        self.refused(*ask, "tumbling:0s", says="'0s' is not a time")
        self.refused(*ask, "count:0", says="'0' is not a number of records")
        self.refused(*ask, "sliding:10s", says="is none of")
        self.refused("--aggregate", "count", "--window", "tumbling:1s", says="need --time")
        self.refused("--aggregate", "cuont(b)", "--time", "a", "--window", "tumbling:1s",
                     says="did you mean count?")
        self.refused("--aggregate", "sum", "--time", "a", "--window", "tumbling:1s",
                     says="'sum' is not an aggregate")
        self.refused("--aggregate", "sum(zzz)", "--time", "a", "--window", "tumbling:1s",
                     says="no column 'zzz' in the header: a,b", code=1)
        self.refused("--aggregate", "count", "--window", "count:5", "--lateness", "1s",
                     says="are for windows of time")
        self.refused("--no-header", "--key", "x", "--aggregate", "count", "--window", "count:5",
                     says="'x' is not the number of a column")

    def test_malformed_rows(self):
        ask = ["--aggregate", "sum(b)", "--time", "a", "--window", "tumbling:1s"]
        self.refused(*ask, given="a,b\n1,2\n5,x\n", code=1,
                     says="standard input:3: field 2 'b': not a number: \"x\"")
        self.refused(*ask, given="a,b\n1,2\n2013-02-30,1\n", code=1, says="not a time of ISO 8601")
        self.refused(*ask, given="a,b\n9223372036854775807,2\n", code=1,
                     says="out of range")
        done = strid(*ask, "--skip-malformed", given="a,b\n1,2\nx,1\n3,4\n4,nan\n")
        self.assertEqual(done.stdout, "window_start,window_end,sum(b)\n0,1000,6\n")
        self.assertIn("2 malformed records", done.stderr)

    def test_windows_are_written_while_the_pipe_is_open(self):
        with subprocess.Popen([STRID, "window", "--quiet", "--time", "at", "--window",
                               "tumbling:1s", "--aggregate", "count"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write("at\n100\n900\n1500\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "window_start,window_end,count\n")
            self.assertEqual(process.stdout.readline(), "0,1000,2\n")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), "1000,2000,1\n")


if __name__ == "__main__":
    unittest.main()

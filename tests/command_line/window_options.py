#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options of `strid window`: how times are read and bounds written, and errors.

    window_options.py CLASS...
"""
import csv
import math
import random
import re
import statistics
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
                self.assertLessEqual(done.stdout.count("\n"), 1)  # the header, or not yet
        self.assertEqual(self.windows("tumbling:500ms", ["2024-02-29T23:59:59.9Z"], "--unit", "s"),
                         [("2024-02-29T23:59:59.5Z", "2024-03-01T00:00:00Z", "1")])
        self.assertEqual(self.windows("session:1500us", ["1969-12-31T23:59:59Z"]),
                         [("1969-12-31T23:59:59Z", "1969-12-31T23:59:59.0015Z", "1")])

    def test_forms_of_iso_8601(self):
        same = ["2024-02-29T12:30:15Z", "2024-02-29 12:30:15", "20240229T123015Z",
                "20240229T123015", "20240229T143015+0200", "20240229T143015+02:00",
                "2024-02-29T07:00:15-05:30", "20240229T1530+03", "2024-02-29T12:30Z",
                "2024-03-01T12:29:15+23:59", "20240229T123015.999Z", '"20240229T123015,5"',
                " 2024-02-29T12:30:15.5Z\t", "2024-02-29t12:30:15z", "20240229t123015z"]
        self.assertEqual(self.windows("tumbling:1m", same),
                         [("2024-02-29T12:30:00Z", "2024-02-29T12:31:00Z", str(len(same)))])
        self.assertEqual(self.windows("tumbling:24h", ["2024-02-29"]),
                         [("2024-02-29", "2024-03-01", "1")])
        for wrong in ("2024-02-29T12:30:15+24:00", "2024-02-29T12:30:15+99:99",
                      "2024-02-29T12:30:15+05:60", "2024-02-29T12:30:15+05:",
                      "2024-02-29T12:30:15+5", "2024-02-29T12:30:15Z0", "2023-02-29T12:30:15Z",
                      "2024-02-29T24:30:15Z", "2024-02-29T1230Z", "20240229T12:30Z", "20240229T12",
                      "20240229T12301Z", "20230229T123015Z", "2024-0229T123015",
                      "20240229T123015."):
            done = strid("--no-header", "--time", "1", "--window", "tumbling:1m", "--aggregate",
                         "count", given=wrong + "\n", code=1)
            self.assertRegex(done.stderr, "not a time|no such (day|time)")


class Fields(unittest.TestCase):
    """Times and numbers as Python reads them, wherever they stand in a row."""

    def number(self, rng):
        digits = lambda most: "".join(rng.choice("0123456789") for _ in range(rng.randint(0, most)))
        text = rng.choice([
            digits(20), digits(9) + "." + digits(9), digits(4) + "." + digits(4), digits(8) + ".",
            "." + digits(8), digits(3) + rng.choice("eE") + rng.choice(["", "-", "+"]) + digits(2),
            digits(3) + rng.choice(".x:/ -+\xff") + digits(2) + rng.choice(".x:/ -+") + digits(2),
            digits(2) + rng.choice("x:/ -+\xb0\t") + digits(4)])
        return rng.choice(["", "", "", "-", "-", "+", " "]) + text + rng.choice(["", "", "", " "])

    @staticmethod
    def read(kind, text):
        """The number that Python reads where our grammar is Python's: None for what is no
        number."""
        text = text.strip(" \t")
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?" if kind is float else
                            r"[+-]?\d+", text):
            return None
        return kind(text)

    def table(self, texts, rng):
        """Rows of a position and a text among columns of any length; those that are none go on."""
        for ending in ("\n", "\r\n"):
            for before, behind in ((0, 0), (3, 0), (0, 2), (5, 5)):
                other = lambda: rng.choice(["", "plain", "x" * rng.randrange(70), "1.5", "é"])
                lines = [[*(other() for _ in range(before)), str(i), text,
                          *(other() for _ in range(behind))] for i, text in enumerate(texts)]
                given = "".join(",".join(line) + ending for line in lines)
                yield given, str(before + 1), str(before + 2)

    def test_numbers(self):
        rng = random.Random(2)
        texts = [self.number(rng) for _ in range(6000)]
        expected = {i: self.read(float, text) for i, text in enumerate(texts) if text.strip()}
        expected = {i: x for i, x in expected.items() if x is not None and math.isfinite(x)}
        missing = sum(not text.strip(" \t") for text in texts)
        self.assertGreater(len(texts) - len(expected), 1000)
        for given, key, value in self.table(texts, rng):
            for aggregate in (f"sum({value})", f"sum({value}),var({value})"):
                done = strid("--no-header", "--key", key, "--window", "count:1", "--aggregate",
                             aggregate, "--skip-malformed", given=given)
                got = {int(line.split(",")[0]): line.split(",")[3]
                       for line in done.stdout.splitlines()[1:]}
                self.assertEqual(sum(not x for x in got.values()), missing)
                self.assertEqual({i: repr(float(x)) for i, x in got.items() if x},
                                 {i: repr(x + 0.0) for i, x in expected.items()})

    def test_times(self):
        rng = random.Random(4)
        texts = [rng.choice(["", "-", "+", "0", "-00", " "])
                 + str(rng.randrange(10 ** rng.randint(1, 19)))
                 + rng.choice(["", "", "", "", " ", "x", ".5.", "-"]) for _ in range(3000)]
        texts.sort(key=lambda text: self.read(int, text) or 0)  # so that none is late
        expected = {i: self.read(int, text) for i, text in enumerate(texts)}
        limit = 2 ** 63 - 1
        expected = {i: time for i, time in expected.items()
                    if time is not None and abs(time) < limit - 1000}
        for given, key, time in self.table(texts, rng):
            done = strid("--no-header", "--key", key, "--time", time, "--unit", "ns", "--window",
                         "session:1us", "--aggregate", "count", "--skip-malformed", given=given)
            got = {}
            for line in done.stdout.splitlines()[1:]:
                number, start, end, count = map(int, line.split(","))
                got[number] = start
                self.assertEqual((end, count), (start + 1000, 1))
            self.assertEqual(got, expected)


class Limits(unittest.TestCase):
    """Tables of any width up to what --help says, and names of any kind."""

    def widths(self):
        """Keys, values and aggregates: at the limits of each layout, one beyond, and the most."""
        return [(1, 4, 4), (2, 4, 4), (1, 5, 5), (3, 8, 12), (4, 8, 12), (3, 9, 12), (3, 8, 13),
                (8, 32, 64)]

    def ask(self, values, aggregates):
        """As many aggregates, over each of the columns at least once."""
        names = ["sum", "max", "count", "min", "mean"]
        return [(names[(i + i // values) % 5], i % values) for i in range(aggregates)]

    def check(self, widths, windows, starts_of, *options):
        keys, values, aggregates = widths
        rng = random.Random(keys * 1000 + aggregates)
        rows = [(i, [rng.choice("ab") for _ in range(keys)],
                 [rng.choice([None, *range(-20, 20)]) for _ in range(values)])
                for i in range(400)]
        columns = [f"k{i}" for i in range(keys)] + ["at"] + [f"v{i}" for i in range(values)]
        order = list(range(len(columns)))
        rng.shuffle(order)
        given = ",".join(columns[i] for i in order) + "\n"
        for at, key, value in rows:
            fields = [*key, str(at), *("" if v is None else str(v) for v in value)]
            given += ",".join(fields[i] for i in order) + "\n"
        asked = self.ask(values, aggregates)
        expected = defaultdict(list)
        seen = defaultdict(list)
        for at, key, value in rows:
            earlier = seen[tuple(key)]
            earlier.append(at)
            for start in starts_of(at, earlier):
                expected[(*key, start)].append(value)
        done = strid("--key", ",".join(columns[:keys]), "--time", "at", "--window", windows,
                     "--aggregate", ",".join(f"{name}(v{i})" for name, i in asked), *options,
                     given=given)
        got = {}
        for line in done.stdout.splitlines()[1:]:
            fields = line.split(",")
            got[(*fields[:keys], int(fields[keys]))] = [
                float(v) if v else None for v in fields[keys + 2:]]
        functions = {"sum": sum, "max": max, "min": min, "mean": statistics.fmean, "count": len}
        self.assertEqual(sorted(got), sorted(expected))
        for where, content in expected.items():
            want = []
            for name, i in asked:
                present = [row[i] for row in content if row[i] is not None]
                want.append(functions[name](present) if present or name == "count" else None)
            self.assertEqual(got[where], want, where)

    def test_every_width(self):
        for number, widths in enumerate(self.widths()):
            parallelism = ["--parallelism", str(1 + number % 3)]
            late = ["--late", "/dev/null"] if number % 2 else []
            with self.subTest(widths=widths):
                self.check(widths, "sliding:100ms/50ms",
                           lambda at, _: (at // 50 * 50, at // 50 * 50 - 50), *parallelism, *late)
                self.check(widths, "session:5s", lambda _, times: times[:1], *parallelism, *late)
                self.check(widths, "count:3", lambda _, times: [(len(times) - 1) // 3 * 3],
                           *parallelism)

    def test_sketches_of_many_columns(self):
        rng = random.Random(8)
        rows = [[rng.randrange(50) for _ in range(32)] for _ in range(300)]
        asked = [f"{name}({i + 1})" for i in range(32) for name in ("distinct", "median")]
        done = strid("--no-header", "--window", "count:100", "--aggregate", ",".join(asked),
                     code=2)
        self.assertIn("more than 32 columns", done.stderr)  # as texts and as numbers they are two
        asked = [f"{name}({i + 1})" for i in range(16) for name in ("distinct", "median")]
        done = strid("--no-header", "--window", "count:100", "--aggregate", ",".join(asked),
                     given="".join(",".join(map(str, row)) + "\n" for row in rows))
        for number, line in enumerate(done.stdout.splitlines()[1:]):
            content = rows[number * 100:number * 100 + 100]
            want = []
            for i in range(16):
                want += [len({row[i] for row in content}), statistics.median(r[i] for r in content)]
            self.assertEqual([float(v) for v in line.split(",")[2:]], want)

    def test_what_is_beyond(self):
        for options, says in (
                (["--key", ",".join("abcdefghi")], "--key: more than 8 columns"),
                (["--aggregate", ",".join(f"sum(c{i})" for i in range(33))],
                 "--aggregate: more than 32 columns"),
                (["--aggregate", ",".join(["count"] * 65)], "--aggregate: more than 64 aggregates"),
                (["--key", 'a,"b'], 'a quote is never closed: a,"b')):
            rest = [] if "--aggregate" in options else ["--aggregate", "count"]
            self.assertIn(says, strid("--window", "count:5", *options, *rest, code=2).stderr)

    def test_names_with_commas_and_quotes(self):
        given = ('"last, first","5"" wide",at,"a,b","f(x)",plain\n'
                 'k,1,0,2,3,4\n"k,l",5,1,6,7,8\nk,9,2,10,11,12\n')
        done = strid("--key", '"last, first"', "--time", "at", "--window", "tumbling:1s",
                     "--aggregate",
                     'sum("5"" wide"), max("a,b") ,min( "f(x)" ),sum(f(x)),sum(plain)', given=given)
        header, *rows = csv.reader(done.stdout.splitlines())
        self.assertEqual(header, ["last, first", "window_start", "window_end", 'sum("5"" wide")',
                                  'max("a,b")', 'min( "f(x)" )', "sum(f(x))", "sum(plain)"])
        self.assertEqual(sorted(rows), [["k", "0", "1000", "10", "10", "3", "14", "16"],
                                        ["k,l", "0", "1000", "5", "6", "7", "7", "8"]])
        done = strid("--format", "json", "--key", ' "a,b" , "c""d"', "--window", "count:1",
                     "--aggregate", "count", given='{"a,b":"x","c\\"d":"y"}')
        self.assertEqual(done.stdout.splitlines()[1], "x,y,0,1,1")


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
        self.refused(*ask, given="a,b\n1,2\n2013-02-30,1\n", code=1, says="no such day")
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

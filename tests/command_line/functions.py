#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions of `strid window` that choose, list and rate, against plain Python; and how
functions are written.

    functions.py CLASS...
"""
import csv
import io
import json
import random
import unittest
from collections import Counter, defaultdict
from fractions import Fraction

from windows import strid

ASKED = ["first(word)", "last(word)", "min_by(word, x)", "max_by(word,x)", "rate", "rate(x)",
         "top(3,x)", "bottom(2, x)", "most_frequent(2,word)", "collect(word)", "collect(4,x)",
         "count(word)", "count(x)", "first(x)", "p99.9(x)"]


def number(text):
    return Fraction(text)


def row_of(elements):
    """A list as one field."""
    if not elements:
        return ""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(elements)
    return out.getvalue()[:-1]


def expected(rows, seconds):
    """Of rows (time, key, word, x) as texts, in the order in which they came."""
    in_time = sorted(rows, key=lambda row: row[0])  # stable
    words = [row[2] for row in in_time if row[2]]
    xs = [row[3] for row in in_time if row[3]]
    both = [row for row in in_time if row[2] and row[3]]
    counted = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    ordered = sorted(xs, key=number)
    quantile = None
    if xs:
        rank = Fraction(999, 1000) * (len(xs) - 1)
        low = int(rank)
        high = min(low + 1, len(xs) - 1)
        values = [number(x) for x in ordered]
        quantile = float(values[low] + (values[high] - values[low]) * (rank - low))
    return {
        "first(word)": words[0] if words else "",
        "last(word)": words[-1] if words else "",
        "min_by(word, x)": min(both, key=lambda row: number(row[3]))[2] if both else "",
        "max_by(word,x)": max(both, key=lambda row: number(row[3]))[2] if both else "",
        "rate": len(rows) / seconds if seconds else None,
        "rate(x)": float(sum(map(number, xs))) / seconds if xs and seconds else None,
        "top(3,x)": row_of(ordered[::-1][:3]),
        "bottom(2, x)": row_of(ordered[:2]),
        "most_frequent(2,word)": row_of([word for word, _ in counted[:2]]),
        "collect(word)": row_of(words),
        "collect(4,x)": row_of(xs[:4] + (["..."] if len(xs) > 4 else [])),
        "count(word)": str(len(words)), "count(x)": str(len(xs)),
        "first(x)": xs[0] if xs else "", "p99.9(x)": quantile}


class Functions(unittest.TestCase):
    WORDS = ["red", "green", "", "light, blue", 'a "quoted" one', "two\nlines", "é"]

    def table(self, rng, rows, tied):
        """Out of order; `tied`: many of the same time."""
        table = []
        for position in range(rows):
            at = position * 10 + rng.randrange(400)
            x = rng.choice(["", str(rng.randrange(-30, 30)), str(2**53 + rng.randrange(9)),
                            str(rng.randrange(-99, 99) + 0.5)])
            table.append((at // 50 * 50 if tied else at, rng.choice("ab"), rng.choice(self.WORDS),
                          x))
        return table

    def compare(self, line, names, rows, seconds, context):
        for got, (name, want) in zip(line, expected(rows, seconds).items()):
            if name not in names:
                continue
            if want is None or isinstance(want, float):
                self.assertEqual(bool(got), want is not None, (name, context))
                if got:
                    self.assertAlmostEqual(float(got), want, delta=1e-9 * max(1, abs(want)))
            else:
                self.assertEqual(got, want, (name, context))

    @staticmethod
    def text_of(rows):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["at", "key", "word", "x"])
        writer.writerows(rows)
        return out.getvalue()

    def test_windows_of_time_out_of_order(self):
        for number_, (length, slide) in enumerate([(500, 500), (600, 200), (400, 150)] * 2):
            rng = random.Random(91 + number_)
            rows = self.table(rng, 400, tied=number_ % 2)
            windows = defaultdict(list)
            for row in rows:
                for start in range(row[0] // slide * slide, row[0] - length, -slide):
                    windows[row[1], str(start)].append(row)
            done = strid("--key", "key", "--time", "at", "--disorder", "1s", "--window",
                         f"sliding:{length}ms/{slide}ms", "--aggregate", ",".join(ASKED),
                         "--parallelism", str(1 + number_ % 3), given=self.text_of(rows))
            lines = list(csv.reader(io.StringIO(done.stdout)))
            self.assertEqual(lines[0][3:], ASKED)
            self.assertEqual(len(lines) - 1, len(windows))
            for line in lines[1:]:
                self.compare(line[3:], ASKED, windows[line[0], line[1]], length / 1000, line[:3])

    def test_sessions_that_grow_together(self):
        rng = random.Random(97)
        rows = self.table(rng, 300, tied=True)
        rows = [row for row in rows if row[0] % 700 < 400]
        done = strid("--key", "key", "--time", "at", "--disorder", "1s", "--window",
                     "session:100ms", "--aggregate", ",".join(ASKED), given=self.text_of(rows))
        lines = list(csv.reader(io.StringIO(done.stdout)))[1:]
        self.assertGreater(len(lines), 4)
        self.assertEqual(sum(len([row for row in rows if row[1] == line[0] and
                                  int(line[1]) <= row[0] < int(line[2])]) for line in lines),
                         len(rows))
        for line in lines:
            content = [row for row in rows
                       if row[1] == line[0] and int(line[1]) <= row[0] < int(line[2])]
            self.compare(line[3:], ASKED, content, (int(line[2]) - int(line[1])) / 1000, line[:3])

    def test_windows_of_a_number_of_rows_take_them_as_they_come(self):
        rng = random.Random(98)
        rows = self.table(rng, 200, tied=False)
        names = [name for name in ASKED if not name.startswith("rate")]
        done = strid("--window", "count:20/5", "--drop-open", "--aggregate", ",".join(names),
                     given=self.text_of(rows))
        for line in list(csv.reader(io.StringIO(done.stdout)))[1:]:
            content = [(0, *row[1:]) for row in rows[int(line[0]):int(line[1])]]
            values = dict(zip(names, line[2:]))
            self.compare([values.get(name, "") for name in ASKED], names, content, None, line[:2])

    def test_json(self):
        given = '{"w":"a,b","x":3}\n{"x":9007199254740993}\n{"w":"c","x":1.5}\n{"w":null,"x":2}\n'
        done = strid("--window", "count:4", "--aggregate",
                     "last(w),max_by(w,x),top(2,x),collect(w)", given=given)
        self.assertEqual(list(csv.reader(io.StringIO(done.stdout)))[1][2:],
                         ["c", "a,b", "9007199254740993,3", '"a,b",c'])

    def test_truth_values(self):
        rng = random.Random(47)
        values = [rng.choice([True, False, None]) for _ in range(200)]
        known = [value for value in values if value is not None]
        want = [str(sum(known)), str(len(known)), str(int(min(known))), str(int(max(known)))]
        asked = ["--window", "count:200", "--aggregate", "sum(x),count(x),min(x),max(x),mean(x)"]
        words = {True: ["true", "True", "TRUE"], False: ["false", "False", "FALSE"], None: [""]}
        for given in ("".join(json.dumps({"x": value}) + "\n" for value in values),
                      "x,y\n" + "".join(f"{rng.choice(words[value])},1\n" for value in values)):
            line = strid(*asked, given=given).stdout.splitlines()[1].split(",")
            self.assertEqual(line[2:6], want)
            self.assertAlmostEqual(float(line[6]), sum(known) / len(known))
        for word in ("yes", "truE", "tru", "truee"):
            strid(*asked, given=f"x\n{word}\n", code=1)

    def test_rates_alone(self):
        given = "at,x\n0,1\n100,2\n2500,9007199254740993\n"
        for late in ([], ["--late", "/dev/null"]):
            done = strid("--time", "at", "--window", "tumbling:2s", "--aggregate", "rate,rate(x)",
                         *late, given=given)
            self.assertEqual(done.stdout.splitlines()[1:],
                             ["0,2000,1,1.5", "2000,4000,0.5,4503599627370496"])

    def test_one_column_as_a_number_and_as_a_text(self):
        given = "x,y\n" + "".join(f"{i}.50,{i}\n" for i in range(200)) + "007,1\n"
        done = strid("--window", "count:201", "--aggregate", "sum(x),first(x),last(x),sum(y)",
                     given=given)
        self.assertEqual(done.stdout.splitlines()[1].split(",")[2:],
                         [str(sum(range(200)) + 107), "0.50", "007", str(sum(range(200)) + 1)])


class AggregateNames(unittest.TestCase):
    """How functions are written, and what is said where they are written otherwise."""

    GIVEN = 'x,y,"power (W)","f(x)"\n1,2,3,4\n,4,5,6\n'

    def values(self, aggregates, given=GIVEN):
        done = strid("--window", "count:2", "--aggregate", aggregates, given=given)
        header, values = csv.reader(io.StringIO(done.stdout))
        return dict(zip(header[2:], values[2:]))

    def test_as_in_sql(self):
        self.assertEqual(self.values("COUNT(*),count( * ),count(),Count(x),SUM(y),AVG(y),Max(y)"),
                         {"COUNT(*)": "2", "count( * )": "2", "count()": "2", "Count(x)": "1",
                          "SUM(y)": "6", "AVG(y)": "3", "Max(y)": "4"})

    def test_names_with_parentheses(self):
        self.assertEqual(self.values('sum(power (W)),max(f(x)),TOP(2, power (W)),min("f(x)")'),
                         {"sum(power (W))": "8", "max(f(x))": "6", "TOP(2, power (W))": "5,3",
                          'min("f(x)")': "4"})

    def test_names_of_results(self):
        self.assertEqual(self.values('sum(y) as total,count AS n,TOP(2, y) as "the two, largest",'
                                     'max(power (W))  as  W (max),count(x)'),
                         {"total": "6", "n": "2", "the two, largest": "4,2", "W (max)": "5",
                          "count(x)": "1"})
        self.assertEqual(self.values("sum(x as y)", given="x as y\n3\n4\n"),
                         {"sum(x as y)": "7"})
        self.refused("sum(y) as ", "a parenthesis is never closed")
        self.refused('sum(y) as ""', "is not the name of one column")

    def test_texts_are_counted(self):
        self.assertEqual(self.values("count(word)", "word\nred\n\ngreen\n"[:9] + "\n"),
                         {"count(word)": "1"})

    def refused(self, aggregate, *says, windows=("--window", "count:2")):
        done = strid(*windows, "--aggregate", aggregate, given=self.GIVEN, code=2)
        for part in says:
            self.assertIn(part, done.stderr)

    def test_what_is_no_function(self):
        self.refused("total(x)", "no aggregate 'total'", "there are count", "collect(x)", "p99(x)")
        self.refused("collcet(x)", "did you mean collect?")
        self.refused("sum", "'sum' is not an aggregate", "sum(x)")
        self.refused("sum(x,y)", "'sum(x,y)' is not an aggregate", "stands in quotes")
        self.refused("sum(x", "'sum(x' is not an aggregate", "never closed")
        self.refused("min_by(x)", "min_by(x, y)")
        self.refused("top(x)", "top(3, x)")
        self.refused("top(0,x)", "'0' is not a number of values")
        self.refused("collect(10001,x)", "from 1 to 10000")
        self.refused("p100.5(x)", "no aggregate 'p100.5'")
        self.refused("rate(x)", "per second", "number of records")


if __name__ == "__main__":
    unittest.main()

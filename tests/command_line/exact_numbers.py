#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers of `strid window` that a double does not hold: integers beyond 2^53, sums beyond 2^63,
decimals near the largest double. The expected values come from Python's integers and fractions.

    exact_numbers.py CLASS...
"""
import json
import math
import random
import statistics
import unittest
from fractions import Fraction

from windows import strid

LARGEST = 2**64 - 1
SMALLEST = -2**63


def fields(done):
    return [line.split(",") for line in done.stdout.splitlines()[1:]]


def column_of(values):
    return "x\n" + "".join(f"{value}\n" for value in values)


class Integers(unittest.TestCase):
    """Sums, extremes and means of integers, however they are distributed."""

    # Each is computed by a table of another layout.
    LAYOUTS = [["sum(x)"], ["min(x)", "max(x)"],
               ["count(x)", "sum(x)", "mean(x)", "min(x)", "max(x)"],
               ["max(x)", "sum(x)", "stddev(x)", "min(x)", "median(x)"]]
    OF = {"sum(x)": sum, "min(x)": min, "max(x)": max, "count(x)": len,
          "mean(x)": lambda xs: Fraction(sum(xs), len(xs)),
          "stddev(x)": lambda xs: statistics.stdev(xs) if len(xs) > 1 else None,
          "median(x)": statistics.median}

    def same(self, got, aggregate, values):
        want = self.OF[aggregate](values)
        if aggregate in ("sum(x)", "min(x)", "max(x)", "count(x)"):
            self.assertEqual(got, str(want), aggregate)
        elif want is None:
            self.assertEqual(got, "")
        else:
            size = max(abs(value) for value in values)
            self.assertLessEqual(abs(Fraction(float(got)) - Fraction(want)),
                                 size * Fraction(1, 2**50), (aggregate, values))

    @staticmethod
    def values(rng, count):
        ranges = [(-9, 9), (2**53 - 3, 2**53 + 3), (SMALLEST, LARGEST), (2**63 - 2, 2**63 + 2),
                  (10**7, 10**9), (10**15, 10**17), (SMALLEST, SMALLEST + 5),
                  (LARGEST - 5, LARGEST)]
        return [rng.randint(*rng.choice(ranges)) for _ in range(count)]

    def test_windows_of_a_number_of_rows(self):
        rng = random.Random(81)
        for number, layout in enumerate(self.LAYOUTS * 2):
            values = self.values(rng, 600)
            length, slide = (1, 1) if number == 0 else (rng.randint(2, 60), rng.randint(1, 60))
            done = strid("--window", f"count:{length}/{slide}", "--aggregate", ",".join(layout),
                         given=column_of(values))
            windows = [values[start:start + length] for start in range(0, len(values), slide)]
            lines = fields(done)
            self.assertEqual(len(lines), len(windows))
            for line, window in zip(lines, windows):
                for got, aggregate in zip(line[2:], layout):
                    self.same(got, aggregate, window)

    def test_order_and_replicas_do_not_matter(self):
        rng = random.Random(82)
        rows = [(rng.randrange(1000), rng.choice("abc"), x) for x in self.values(rng, 3000)]
        for layout in self.LAYOUTS[:3]:
            found = set()
            for way in range(3):
                rng.shuffle(rows)
                given = "at,k,x\n" + "".join(f"{at},{k},{x}\n" for at, k, x in rows)
                done = strid("--key", "k", "--time", "at", "--window", "sliding:100ms/25ms",
                             "--disorder", "1s", "--aggregate", ",".join(layout),
                             "--parallelism", str(1 + way), given=given)
                found.add(tuple(sorted(done.stdout.splitlines())))
            self.assertEqual(len(found), 1)
            for line in fields(done):
                window = [x for at, k, x in rows
                          if k == line[0] and int(line[1]) <= at < int(line[2])]
                for got, aggregate in zip(line[3:], layout):
                    self.same(got, aggregate, window)

    def test_beside_late_rows_and_in_sessions(self):
        values = [2**53 + 1, 2**53, 6000000000000002181]
        given = "at,x\n" + "".join(f"{at},{x}\n" for at, x in enumerate(values))
        for windows in ("session:1s", "tumbling:1s"):
            done = strid("--time", "at", "--window", windows, "--late", "/dev/null", "--aggregate",
                         "sum(x),min(x),max(x)", given=given)
            self.assertEqual(fields(done)[0][2:], [str(sum(values)), str(2**53), str(values[2])])

    def test_json(self):
        values = self.values(random.Random(83), 200)
        given = "".join(json.dumps({"x": value}) + "\n" for value in values)
        done = strid("--window", "count:200", "--aggregate", "sum(x),min(x),max(x)", given=given)
        self.assertEqual(fields(done)[0][2:],
                         [str(sum(values)), str(min(values)), str(max(values))])

    def test_forms_of_integers(self):
        given = 'x,y\n+9007199254740993,1\n "9007199254740993",1\n' \
                "0009007199254740993,1\n-9007199254740993,1\n,1\n-0,1\n"
        done = strid("--window", "count:6", "--aggregate", "sum(x),max(x),min(x),count(x)",
                     given=given.replace(' "', '"'))
        self.assertEqual(fields(done)[0][2:], [str(2 * (2**53 + 1)), str(2**53 + 1),
                                               str(-(2**53 + 1)), "5"])

    def test_beyond_64_bits_they_are_decimals(self):
        for value in (LARGEST + 1, SMALLEST - 1, 10**25):
            for aggregates in ("sum(x)", "sum(x),min(x),max(x),mean(x)"):
                done = strid("--window", "count:1", "--aggregate", aggregates,
                             given=column_of([value]))
                for got in fields(done)[0][2:]:
                    self.assertEqual(got, repr(float(value)))


class MixedNumbers(unittest.TestCase):
    """Integers and decimals in one column: what is written of them shows their text."""

    def test_extremes_are_compared_exactly(self):
        rng = random.Random(84)
        edges = [0, 1, 2**52, 2**53, 2**54, 2**62, 2**63, 2**64, 10**15]
        for _ in range(150):
            texts = []
            for _ in range(rng.randint(1, 6)):
                whole = rng.choice(edges) + rng.randint(-3, 3)
                whole = max(SMALLEST, min(LARGEST, whole)) * rng.choice([1, 1, -1])
                form = rng.randrange(3)
                texts.append(str(max(SMALLEST, whole)) if form == 0 else
                             f"{whole}.0" if form == 1 else repr(whole + rng.choice([0.25, -0.5])))
            is_integer = lambda text: text.lstrip("-").isdigit()
            exact = {text: Fraction(int(text)) if is_integer(text) else Fraction(float(text))
                     for text in texts}
            done = strid("--window", f"count:{len(texts)}", "--aggregate", "min(x),max(x)",
                         given=column_of(texts))
            for got, choose in zip(fields(done)[0][2:], (min, max)):
                value = choose(exact.values())
                integers = [text for text in texts if exact[text] == value and is_integer(text)]
                if integers:
                    self.assertEqual(got, str(int(integers[0])), texts)
                else:
                    self.assertEqual(float(got), float(value), texts)

    def test_sums(self):
        rng = random.Random(85)
        for _ in range(60):
            texts = [str(rng.randrange(-2**56, 2**56)) if rng.random() < 0.5 else
                     str(rng.randrange(-4000, 4000) / 8) for _ in range(rng.randint(2, 40))]
            texts += ["0.5"]
            integers = sum(int(text) for text in texts if "." not in text)
            decimals = sum(float(text) for text in texts if "." in text)  # of eighths: exact
            slide = rng.randint(1, len(texts))
            given = column_of(texts)
            for count in (len(texts), slide):
                done = strid("--window", f"count:{len(texts)}/{count}", "--aggregate",
                             "sum(x),mean(x)", given=given)
                got = [float(field) for field in fields(done)[0][2:]]
                self.assertEqual(got[0], float(integers) + decimals, texts)
                self.assertAlmostEqual(got[1] / (got[0] / len(texts)), 1)

    def test_sums_that_leave_64_bits(self):
        for texts in ([2**63 - 1, 2**63 - 1, 2**64 - 1, "0.5"], ["0.5", 2**64 - 1, 2**63 - 1],
                      [-2**63, "0.25", -2**63, -2**63, 5]):
            exact = sum(Fraction(str(text)) for text in texts)
            done = strid("--window", f"count:{len(texts)}/1", "--aggregate", "sum(x),mean(x)",
                         given=column_of(texts))
            got = fields(done)[0][2:]
            self.assertTrue(math.isclose(float(got[0]), float(exact), rel_tol=1e-15))
            self.assertTrue(math.isclose(float(got[1]), float(exact / len(texts)), rel_tol=1e-15))


class HugeAndTiny(unittest.TestCase):
    """Decimals near both ends of the doubles: right while the result is one, else infinite."""

    @staticmethod
    def exact(values):
        """Mean, variance, deviation by fractions; None: not a double."""
        values = [Fraction(value) for value in values]
        mean = sum(values) / len(values)
        variance = sum((value - mean)**2 for value in values) / (len(values) - 1)
        # The root of a fraction of any size: scaled to integers of 200 digits.
        scale = 10**800
        root = Fraction(math.isqrt(int(variance * scale * scale)), scale)
        return mean, variance, root

    def same(self, got, want):
        try:
            value = float(want)
        except OverflowError:
            value = math.inf
        if value == math.inf:
            self.assertEqual(got, "inf")
            return
        self.assertTrue(math.isclose(float(got), value, rel_tol=1e-12, abs_tol=5e-324),
                        (got, value))

    def test_means_and_variances(self):
        rng = random.Random(86)
        for size in (1e308, 1.7e308, 1e200, 1e154, 1e140, 1.0, 1e-100, 1e-150, 1e-200, 1e-300):
            for spread in (1, 100, 1e-8):
                values = [size * (1 + rng.uniform(-1, 0) * spread / 100) * rng.choice([1, 1, -1])
                          for _ in range(rng.randint(2, 30))]
                if rng.random() < 0.3:
                    values += [0.0, 1.0, 3.5]
                mean, variance, deviation = self.exact(values)
                for slide in (len(values), 1):
                    done = strid("--window", f"count:{len(values)}/{slide}", "--aggregate",
                                 "mean(x),var(x),stddev(x),sum(x),min(x),max(x)",
                                 given=column_of(map(repr, values)))
                    got = fields(done)[0][2:]
                    self.assertLessEqual(abs(Fraction(float(got[0])) - mean),
                                         max(map(abs, map(Fraction, values))) / 10**13)
                    self.same(got[1], variance)
                    self.same(got[2], deviation)
                    if abs(sum(map(Fraction, values))) > 2**1024:
                        self.assertIn(got[3], ("inf", "-inf"))
                    self.assertEqual([float(got[4]), float(got[5])], [min(values), max(values)])


class LargeIntegers(unittest.TestCase):
    """Integers that no double holds and that lie close together: identities, nanoseconds."""

    BASES = [2**53 + 1, 1_700_000_000_123_456_789, 2**63 - 50, LARGEST - 1000, SMALLEST, -2**60]
    ASKED = ["var(x)", "stddev(x)", "median(x)", "p25(x)", "p99(x)", "p0(x)", "p100(x)", "min(x)",
             "max(x)", "mean(x)"]

    @staticmethod
    def quantile(values, share):
        ordered = sorted(map(Fraction, values))
        place = share * (len(ordered) - 1)
        before = ordered[int(place)]
        behind = ordered[min(int(place) + 1, len(ordered) - 1)]
        return before + (behind - before) * (place - int(place))

    def close(self, got, want, relative, what):
        self.assertLessEqual(abs(Fraction(got) - want), abs(want) * relative, what)

    def near(self, got, want, what):
        """As a long double has it beyond what a double tells apart."""
        self.close(got, want, Fraction(1, 2**62 if abs(want) > 2**53 else 2**50), what)

    def compare(self, got, window):
        got = dict(zip(self.ASKED, got))
        self.assertEqual([got["p0(x)"], got["p100(x)"]], [got["min(x)"], got["max(x)"]])
        self.assertEqual([got["min(x)"], got["max(x)"]], [str(min(window)), str(max(window))])
        for name, share in (("median(x)", Fraction(1, 2)), ("p25(x)", Fraction(1, 4)),
                            ("p99(x)", Fraction(99, 100))):
            self.near(got[name], self.quantile(window, share), (name, window))
        self.near(got["mean(x)"], Fraction(sum(window), len(window)), window)
        if len(window) < 2:
            self.assertEqual(got["var(x)"], "")
            return
        variance = statistics.variance(map(Fraction, window))
        self.close(got["var(x)"], variance, Fraction(1, 10**9), window)
        self.close(got["stddev(x)"], Fraction(math.isqrt(int(variance * 10**40))) / 10**20,
                   Fraction(1, 10**9), window)

    def test_windows_that_overlap_or_not(self):
        rng = random.Random(88)
        for base in self.BASES:
            for spread in (3, 1000):
                values = [base + rng.randrange(spread) for _ in range(60)]
                length = rng.randint(2, 30)
                for slide in (length, rng.randint(1, length)):
                    done = strid("--window", f"count:{length}/{slide}", "--aggregate",
                                 ",".join(self.ASKED), given=column_of(values))
                    lines = fields(done)
                    self.assertEqual(len(lines), len(range(0, len(values), slide)))
                    for start, line in zip(range(0, len(values), slide), lines):
                        self.compare(line[2:], values[start:start + length])

    def test_parts_with_other_bases(self):
        # Each pane has one region of numbers, and windows have several.
        rng = random.Random(89)
        for _ in range(20):
            bases = [rng.choice([*self.BASES, 0, 7, -2**52]) for _ in range(6)]
            values = [bases[i // 5] + rng.randrange(20) for i in range(30)]
            done = strid("--window", "count:15/5", "--aggregate", ",".join(self.ASKED),
                         given=column_of(values))
            for start, line in zip(range(0, 30, 5), fields(done)):
                self.compare(line[2:], values[start:start + 15])

    def test_the_ends_of_sketches(self):
        rng = random.Random(90)
        for values in ([2**53 + rng.randrange(10**6) for _ in range(3000)],
                       [rng.choice(["-0.0", "0", "1.5", str(2**60 + 1), str(SMALLEST), "7e18"])
                        for _ in range(3000)]):
            for slide in (3000, 100):
                done = strid("--window", f"count:3000/{slide}", "--aggregate",
                             "p0(x),min(x),p100(x),max(x)", given=column_of(values))
                for line in fields(done):
                    self.assertEqual([line[2], line[4]], [line[3], line[5]])

    def test_rates(self):
        given = "at,x\n0,9007199254740993\n500,18446744073709551615\n"
        for seconds in (1, 2, 3):
            done = strid("--time", "at", "--window", f"tumbling:{seconds}s", "--aggregate",
                         "rate(x)", given=given)
            want = Fraction(9007199254740993 + 18446744073709551615, seconds)
            self.near(fields(done)[0][2], want, seconds)


class ExactQuantiles(unittest.TestCase):
    """Up to 65,536 values in a window, 16,384 where it slides, against Python's `statistics`."""

    def test_up_to_the_limit(self):
        rng = random.Random(87)
        for count in (1, 2, 100, 1025, 16_384, 65_536):
            values = [rng.gauss(0, 1000) for _ in range(count)]
            percents = statistics.quantiles(values, n=1000, method="inclusive") if count > 1 \
                else values * 999
            asked = [10, 500, 900, 990, 999]
            kinds = [f"count:{count}"]
            if count <= 16_384:
                kinds.append(f"count:{count}/{max(1, count // 4)}")
            for windows in kinds:
                done = strid("--window", windows, "--aggregate",
                             ",".join(f"p{part / 10:g}(x)" for part in asked),
                             given=column_of(map(repr, values)))
                for got, part in zip(fields(done)[0][2:], asked):
                    self.assertTrue(math.isclose(float(got), percents[part - 1], rel_tol=1e-12),
                                    (count, part))

    def test_between_the_largest_numbers(self):
        values = [-1.7e308, 1.7e308]
        done = strid("--window", "count:2", "--aggregate", "median(x),p25(x),p100(x)",
                     given=column_of(map(repr, values)))
        median, quarter, most = (float(field) for field in fields(done)[0][2:])
        self.assertEqual((median, most), (0.0, 1.7e308))
        self.assertTrue(math.isclose(quarter, -8.5e307, rel_tol=1e-15), quarter)


if __name__ == "__main__":
    unittest.main()

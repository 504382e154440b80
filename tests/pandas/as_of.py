# SPDX-License-Identifier: Apache-2.0
"""The as-of join against pandas' merge_asof, over random trades and quotes with equal times.

    as_of.py PROGRAM     PROGRAM: as_of_program

pandas wants its input in order of time; the program is given the same records in disorder, quotes
of equal time in the order in which pandas has them: of these both take the last.
"""

import csv
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import pandas
except ImportError:  # as that of Debian, which packages pandas for its own interpreter
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    pandas = None

DISORDER_NS = 50
FIELDS = ["key", "time", "number"]


def records(chance, count, keys, grain):
    """Rows in the order of their times, of which many are equal; numbered in that order."""
    times = sorted(chance.randrange(0, 10 * count) // grain * grain for _ in range(count))
    return [(chance.randrange(keys), time, number) for number, time in enumerate(times)]


def in_disorder(chance, rows):
    """The rows as they may come, none too late; those of equal time stay in their order."""
    delays = {}
    return sorted(rows, key=lambda row: row[1] + delays.setdefault(
        row[1], chance.randrange(DISORDER_NS)))


def merged(trades, quotes, kind, matches_equal, tolerance):
    """The answers of pandas: pairs of numbers, -1 for none."""
    left = pandas.DataFrame(trades, columns=["key", "time", "trade"])
    right = pandas.DataFrame(quotes, columns=["key", "time", "quote"])
    pairs = pandas.merge_asof(left, right, on="time", by="key", tolerance=tolerance,
                              allow_exact_matches=matches_equal, direction="backward")
    if kind == "inner":
        pairs = pairs[pairs.quote.notna()]
    pairs = pairs.fillna({"quote": -1})
    return [(int(trade), int(quote)) for trade, quote in zip(pairs.trade, pairs.quote)]


class AsOf(unittest.TestCase):
    def setUp(self):
        if pandas is None:
            self.skipTest("no pandas (Debian's python3-pandas)")
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def joined(self, kind, matches_equal, tolerance, options):
        result = subprocess.run(
            [PROGRAM, kind, str(matches_equal).lower(), str(-1 if tolerance is None else tolerance),
             str(DISORDER_NS), *options],
            cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.folder / "pairs.csv", newline="") as file:
            return sorted((int(left), int(right)) for left, right in csv.reader(file))

    def test_as_merge_asof(self):
        chance = random.Random(int(os.environ.get("STRID_SEED", "264")))
        some = {(kind, is_there): 0 for kind in ["inner", "left"] for is_there in [False, True]}
        for case in range(24):
            trades = records(chance, 400, 7, chance.choice([1, 8, 40]))
            quotes = records(chance, 600, 8, chance.choice([1, 8, 40]))
            kind = ["inner", "left"][case % 2]
            matches_equal = case // 2 % 2 == 0
            tolerance = [None, 0, 40, 300][case // 4 % 4]
            if tolerance == 0 and not matches_equal:
                continue  # pandas refuses what can meet nothing
            options = chance.choice([
                ["--parallelism", "1"], ["--parallelism", "3", "--workers", "2"],
                ["--parallelism", "2", "--mode", "dedicated"],
                ["--parallelism", "2", "--mode", "simulation", "--seed", str(case)]])
            self.write("trades.csv", in_disorder(chance, trades))
            self.write("quotes.csv", in_disorder(chance, quotes))
            with self.subTest(case=case, kind=kind, matches_equal=matches_equal,
                              tolerance=tolerance, options=options):
                pairs = self.joined(kind, matches_equal, tolerance, options)
                self.assertEqual(pairs, merged(trades, quotes, kind, matches_equal, tolerance))
                for _, quote in pairs:
                    some[kind, quote != -1] += 1
        self.assertEqual(some.pop(("inner", False)), 0)
        self.assertGreater(min(some.values()), 100, "pairs of every sort are compared")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()

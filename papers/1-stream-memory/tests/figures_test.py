#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The values of the figures, when the machine was too busy to sustain any rate, and their ratios.

    figures_test.py FOLDER     FOLDER: where figures.py is
"""

import csv
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1)).resolve()
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "pages"), str(FOLDER.parents[2] / "bench")]
import trading_values  # noqa: E402


class Values(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def values(self, rates: dict[tuple[str, str, int], list[float]]) -> dict:
        """Of these sustained rates, a round each."""
        rows = [{"round": number, "variant": variant, "allocator": allocator, "workers": workers,
                 "sustained": rate} for (variant, allocator, workers), rounds in rates.items()
                for number, rate in enumerate(rounds)]
        with (self.folder / "rates.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return {value.key: value for value in trading_values.values_of(self.folder)}

    def test_are_there_where_nothing_was_sustained(self):
        found = self.values({("static", "glibc", 2): [0, 0], ("wrapper-slab", "glibc", 2): [0, 0]})
        self.assertEqual(found["5b", "static", "2"].value, 0)
        self.assertNotIn(("5b", "wrapper-slab over static", "most workers"), found)

    def test_of_ratios_leave_out_the_rounds_whose_divisor_sustained_nothing(self):
        found = self.values({("static", "glibc", 2): [0, 4, 2], ("wrapper-slab", "glibc", 2):
                             [1, 2, 3]})
        ratio = found["5b", "wrapper-slab over static", "most workers"]
        self.assertEqual((ratio.value, ratio.low, ratio.high, ratio.rounds), (1.0, 0.5, 1.5, 2))

    def test_of_ratios_are_those_of_the_most_workers(self):
        found = self.values({("wrapper", "glibc", 1): [10], ("wrapper", "glibc", 4): [20],
                             ("wrapper-slab", "glibc", 1): [10],
                             ("wrapper-slab", "glibc", 4): [30]})
        self.assertEqual(found["5b", "wrapper-slab over wrapper", "most workers"].value, 1.5)

    def test_of_allocators_and_the_best_of_each(self):
        found = self.values({
            ("wrapper", "glibc", 2): [10, 10], ("wrapper", "jemalloc", 2): [11, 13],
            ("wrapper-slab", "glibc", 2): [12, 12], ("wrapper-slab", "jemalloc", 2): [15, 15],
            ("wrapper", "jemalloc", 1): [40, 40], ("wrapper", "glibc", 1): [20, 20]})
        self.assertAlmostEqual(found["6a", "wrapper + jemalloc over wrapper", "most workers"].value,
                               1.2)
        self.assertEqual(found["6b", "wrapper-slab + jemalloc over wrapper", "most workers"].value,
                         1.5)
        self.assertEqual(found["7", "wrapper + jemalloc", "best rate"].value, 40)
        self.assertEqual(found["7", "wrapper + jemalloc", "its workers"].value, 1)


if __name__ == "__main__":
    unittest.main()

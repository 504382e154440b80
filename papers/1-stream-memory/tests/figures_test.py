#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of rates when the machine was too busy to sustain any.

    figures_test.py FOLDER     FOLDER: where figures.py is
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import figures  # noqa: E402


class Busy(figures.Bench):
    """Programs of which the static variant sustains `limit`, every other one `rate`."""

    def __init__(self, rate: float, limit: float):
        super().__init__(Path("none"), figures.SIZES["quick"])
        self.rate = rate
        self.limit = limit

    def trading(self, mode, variant, workers, allocator="glibc", more=()):
        rate = self.limit if variant == "static" else self.rate
        return {"allocator": allocator, "variant": variant, "workers": workers, "sustained": rate,
                "arrivals": "day" if "day" in more else "flat", "peak": rate,
                "latency_ms_p99": 1.0, "processor_us": 0.2}


class RatesOfABusyMachine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = Path(self.folder.name)

    def lines(self, rate: float, limit: float) -> list[str]:
        bench = Busy(rate, limit)
        rows = figures.measure_rates(bench, self.output)
        figures.write_rates(bench, rows, self.output)
        return (figures.figure_5b(bench, rows) + figures.figure_5b_skewed(bench, self.output)
                + figures.figure_6(bench, rows) + figures.figure_7(rows, self.output))

    def test_are_tables_where_nothing_was_sustained(self):
        lines = self.lines(rate=0.0, limit=0.0)
        self.assertIn("| static | 0 k (0 to 0) |", lines)
        self.assertIn("| static | none |", lines)

    def test_are_ratios_where_something_was(self):
        lines = self.lines(rate=100.0, limit=200.0)
        self.assertIn("| copy | 0.50 (0.50 to 0.50) |", lines)

    def test_leave_out_the_rounds_whose_limit_sustained_nothing(self):
        self.assertEqual(figures.ratio([1.0, 2.0, 3.0], [0.0, 4.0, 2.0]), "1.00 (0.50 to 1.50)")
        self.assertEqual(figures.ratio([1.0], [0.0]), "none")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of rates when the machine was too busy to sustain any, and allocators that are chosen.

    figures_test.py FOLDER [PROGRAMS]     FOLDER: where figures.py is
                                          PROGRAMS: the build, where trading_bench is
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = sys.argv.pop(1)
BUILD = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
sys.path.insert(0, FOLDER)
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


class Allocators(unittest.TestCase):
    def test_are_those_that_are_chosen_beside_the_standard_one(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as library:
            library.write(b"\x7fELF")
            library.flush()
            bench = figures.Bench(Path("none"), figures.SIZES["short"], f"hoard={library.name}")
            self.assertEqual(bench.allocators, {"glibc": None, "hoard": library.name})

    def test_a_library_that_is_not_there_ends_the_program(self):
        for text, reason in (("hoard=/gone/hoard.so", "/gone/hoard.so: No such file"),
                             ("hoard=" + __file__, "not a library"),
                             ("hord", "unknown; known are")):
            result = subprocess.run([sys.executable, "-B", f"{FOLDER}/figures.py", "--build",
                                     "none", "--allocators", text],
                                    capture_output=True, text=True, check=False)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(reason, result.stderr)
            self.assertNotIn("Traceback", result.stderr)

    def test_malloc_of_another_library_ends_the_program(self):
        bench = figures.Bench(Path("none"), figures.SIZES["quick"])
        bench.allocators["hoard"] = __file__
        bench.check_loaded("hoard", __file__)
        bench.check_loaded("glibc", "/lib/x86_64-linux-gnu/libc.so.6")
        for allocator, library in (("hoard", "/lib"), ("glibc", __file__)):
            with self.assertRaisesRegex(SystemExit, "is not what trading_bench runs with"):
                bench.check_loaded(allocator, library)

    def test_the_program_names_the_library_of_its_malloc(self):
        if BUILD is None:
            self.skipTest("no programs")
        bench = figures.Bench(BUILD, figures.SIZES["quick"])
        installed, _ = figures.find_allocators(["jemalloc", "tcmalloc", "mimalloc"])
        bench.allocators |= installed
        for allocator in bench.allocators:
            bench.size = {"check": ["--symbols", "2", "--degree", "0"]}
            self.assertGreater(bench.trading("check", "wrapper", 1, allocator)["windows"], 0)
        # A library that cannot be loaded: the loader warns and goes on.
        bench.allocators["broken"] = __file__
        with self.assertRaisesRegex(SystemExit, "broken is not what trading_bench runs with"):
            bench.trading("check", "wrapper", 1, "broken")


if __name__ == "__main__":
    unittest.main()

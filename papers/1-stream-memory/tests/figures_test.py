#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The values of the figures, when the machine was too busy to sustain any rate, and their ratios;
and allocators that are chosen.

    figures_test.py FOLDER [PROGRAMS]     FOLDER: where figures.py is
                                          PROGRAMS: the build, where trading_bench is
"""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1)).resolve()
BUILD = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "pages"), str(FOLDER.parents[2] / "bench")]
import figures  # noqa: E402
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


class Allocators(unittest.TestCase):
    def test_are_those_that_are_chosen_beside_the_standard_one(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as library:
            library.write(b"\x7fELF")
            library.flush()
            bench = figures.Bench(Path("none"), figures.SIZES["short"],
                                  chosen=f"hoard={library.name}")
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
            with self.assertRaisesRegex(figures.RunError, "is not what trading_bench runs with"):
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
        with self.assertRaisesRegex(figures.RunError, "broken is not what trading_bench runs with"):
            bench.trading("check", "wrapper", 1, "broken")


if __name__ == "__main__":
    unittest.main()

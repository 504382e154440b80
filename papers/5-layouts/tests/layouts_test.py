#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver of paper 5's tables with programs that are shell scripts: what it says of an order,
what ends the run, and what is left of the output then.

    layouts_test.py FOLDER     FOLDER: where layouts.py is
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1))
sys.path[:0] = [str(FOLDER), str(FOLDER.resolve().parents[2] / "bench")]
import layouts  # noqa: E402
import page  # noqa: E402
import paper5  # noqa: E402

MACHINE = {"first_cache_bytes": 32768, "last_cache_bytes": 1 << 25, "line_bytes": 64,
           "memory_bytes": 1 << 30}


def cell(table: str, row: str, column: str, seconds: float) -> dict:
    return {"table": table, "row": row, "column": column, "elements": 1000, "bytes": 4000,
            "seconds": [seconds]}


class Orders(unittest.TestCase):
    def test_that_are_the_papers(self):
        measured = {("sum", "sequential"): 1.0, ("sum", "strided"): 2.0, ("sum", "random"): 3.0}
        self.assertEqual(layouts.order_of(paper5.ACCESS, measured), "The order is the paper's.")

    def test_that_differ_name_the_pair_and_by_how_much(self):
        measured = {("sum", "sequential"): 1.0, ("sum", "strided"): 9.0, ("sum", "random"): 3.0}
        self.assertEqual(layouts.order_of(paper5.ACCESS, measured),
                         "The order differs from the paper's: sum: here random is faster than "
                         "strided, 3.00 times.")

    def test_that_are_ties_do_not_differ(self):
        measured = {("time", "two loops"): 1.0, ("time", "one loop"): 1.04}
        self.assertEqual(layouts.order_of(paper5.MIN_MAX, measured), "The order is the paper's.")

    def test_of_a_column_compare_its_rows_alone(self):
        measured = {("optimal layout", "small"): 2.0, ("non-optimal layout", "small"): 1.0,
                    ("optimal layout", "large"): 5.0, ("non-optimal layout", "large"): 6.0}
        self.assertEqual(layouts.order_of(paper5.POINTERS, measured),
                         "The order differs from the paper's: small: here non-optimal layout is "
                         "faster than optimal layout, 2.00 times.")

    def test_of_both_are_rows_and_columns(self):
        measured = {cell: figure for cell, figure in paper5.TREES.paper.items()}
        self.assertEqual(layouts.order_of(paper5.TREES, measured), "The order is the paper's.")
        measured["perfect allocator", "DFS"] = 12000.0
        said = layouts.order_of(paper5.TREES, measured)
        self.assertIn("perfect allocator (the paper's optimal): here BFS is faster than DFS, 1.07 "
                      "times", said)
        self.assertIn("DFS: here standard allocator is faster than perfect allocator (the paper's "
                      "optimal), 1.45 times", said)
        self.assertEqual(said.count("times"), 2)

    def test_without_numbers_are_not_compared(self):
        self.assertIn("no numbers", layouts.order_of(paper5.CLASS_SIZE, {}))


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name) / "build"
        self.output = Path(folder.name) / "out"
        self.build.mkdir()
        (self.build / "CMakeCache.txt").write_text("")

    def add(self, name: str, lines: list[dict], status: int = 0) -> None:
        """A program that prints the machine where it is asked for that, else these lines."""
        file = self.build / "papers/5-layouts/bench" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        said = "\n".join(json.dumps(line) for line in lines)
        file.write_text("#!/bin/sh\n"
                        f"[ \"$2\" = machine ] && {{ echo '{json.dumps(MACHINE)}'; exit 0; }}\n"
                        f"cat <<'END'\n{said}\nEND\n"
                        f"[ {status} = 0 ] || echo 'wrong answer' >&2\nexit {status}\n")
        file.chmod(0o755)

    def run_layouts(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-B", FOLDER / "layouts.py", "--build", self.build, "--output",
             self.output, *arguments], capture_output=True, text=True, check=False)

    def files(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in self.output.iterdir()}

    def add_both(self, seconds: float = 2.0, status: int = 0) -> None:
        self.add("layouts_bench", [cell("min_max", "time", "two loops", seconds),
                                   cell("min_max", "time", "one loop", 1.0)], status)
        self.add("linked_lists", [{"nodes": "allocated", "malloc_of": "libc.so.6", "links": 1,
                                   "resident_bytes": 5_000_000, "seconds": [1.5]}])
        self.add("stream_of_types_bench", [
            cell("streams", "std::variant", "small, 1 worker", 3.0)])

    def test_write_the_papers_figures_beside_ours(self):
        self.add_both()
        done = self.run_layouts("--only", "min-max")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| two loops | 368 | 1.00 | 2000 | 1.00 | 2000000.00 |", done.stdout)
        self.assertIn("| one loop | 207 | 0.56 | 1000 | 0.50 | 1000000.00 |", done.stdout)
        self.assertEqual(done.stdout, (self.output / "layouts.md").read_text() + "\n")
        self.assertIn("<td>368</td>", (self.output / "index.html").read_text())
        raw = [json.loads(line) for line in (self.output / "raw.jsonl").read_text().splitlines()]
        self.assertEqual([row.get("column") for row in raw], [None, "two loops", "one loop"])

    def test_put_the_allocators_and_streams_in_as_well(self):
        self.add_both()
        done = self.run_layouts("--only", "allocators,streams", "--repeat", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| glibc | 27 s | 1.00 | 1500 | 1.00 | 288 MB | 5 MB |", done.stdout)
        self.assertIn("| glibc, nodes recycled |  |  | 1500 | 1.00 |  | 5 MB |", done.stdout)
        self.assertIn("| std::variant | 3000 |", done.stdout)
        self.assertIn("left out: std::unique_ptr of a base class; std::variant, split by type.",
                      done.stdout)
        first, *_ = map(json.loads, (self.output / "raw.jsonl").read_text().splitlines()[1:])
        self.assertEqual(first["arguments"], ["--repeat", "3"])

    def test_end_where_a_program_fails_and_leave_the_output_as_it_was(self):
        self.add_both()
        self.assertEqual(self.run_layouts("--only", "min-max").returncode, 0)
        before = self.files()
        self.add_both(seconds=9.0, status=1)
        done = self.run_layouts("--only", "min-max")
        self.assertEqual(done.returncode, 1)
        self.assertIn("strid: error: layouts_bench --table min-max --size whole --repeat 5 ended "
                      "with 1: wrong answer", done.stderr)
        self.assertEqual(self.files(), before)

    def test_of_what_is_not_built_say_how_to_build_it(self):
        done = self.run_layouts()
        self.assertEqual(done.returncode, 1)
        self.assertIn("layouts_bench is not built: `make layouts`", done.stderr)

    def test_of_unknown_tables_are_refused(self):
        done = self.run_layouts("--only", "trees,leaves")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no leaves: the tables are allocators, access", done.stderr)


class Pages(unittest.TestCase):
    def test_escape_what_is_markup(self):
        section = page.Section("a < b", ["x & y"], [(["h"], [["<td>"]])])
        text = page.page("t", "i", [section])
        self.assertIn("<h2>a &lt; b</h2>", text)
        self.assertIn("<td>&lt;td&gt;</td>", text)


if __name__ == "__main__":
    unittest.main()

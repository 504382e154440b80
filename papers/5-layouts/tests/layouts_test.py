#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver of paper 5's tables with programs that are shell scripts: what it measures once, what
ends the run, and what is left of the output then.

    layouts_test.py FOLDER     FOLDER: where layouts.py is
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1))
sys.path[:0] = [str(FOLDER), str(FOLDER.resolve().parents[1] / "pages")]
from figure_values import read_values  # noqa: E402

MACHINE = {"first_cache_bytes": 32768, "last_cache_bytes": 1 << 25, "line_bytes": 64,
           "memory_bytes": 1 << 30}


def cell(table: str, row: str, column: str, seconds: float) -> dict:
    return {"table": table, "row": row, "column": column, "elements": 1000, "bytes": 4000,
            "seconds": [seconds]}


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

    def add_both(self, seconds: float = 2.0, status: int = 0) -> None:
        self.add("layouts_bench", [cell("min_max", "time", "two loops", seconds),
                                   cell("min_max", "time", "one loop", 1.0)], status)
        self.add("linked_lists", [{"nodes": "allocated", "malloc_of": "libc.so.6", "links": 1,
                                   "resident_bytes": 5_000_000, "seconds": [1.5]}])
        self.add("stream_of_types_bench", [
            cell("streams", "std::variant", "small, 1 worker", 3.0)])

    def rows(self) -> list[dict]:
        lines = (self.output / "raw/runs.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def test_write_the_papers_figures_beside_ours(self):
        self.add_both()
        done = self.run_layouts("--only", "min-max")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.output / "figures.md").read_text()
        # 2 s and 1 s for 1,000 objects.
        self.assertIn("| time | 368 | 2000000 | 207 | 1000000 |", page)
        self.assertIn("**Agrees**, in all that is compared.", page)
        self.assertEqual([row["key"] for row in self.rows()], [["cells", "min-max"]])

    def test_put_the_allocators_and_streams_in_as_well(self):
        self.add_both()
        done = self.run_layouts("--only", "allocators,streams", "--repeat", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.output / "figures.md").read_text()
        self.assertIn("| Builtin (glibc) | 27 | 1.5 | 288 | 5 |", page)
        self.assertIn("| glibc, nodes recycled |  | 1.5 |  | 5 |", page)
        self.assertIn("| std::variant | 3000000 |", page)
        self.assertEqual(self.rows()[0]["arguments"], ["--repeat", "3"])

    def test_of_the_tree_are_in_both_of_its_tables(self):
        self.add("layouts_bench", [cell("trees", row, "BFS", seconds) for row, seconds in
                                   (("perfect allocator", 1.0), ("offsets of 32 bits", 0.5))])
        self.add("linked_lists", [])
        self.add("stream_of_types_bench", [])
        self.assertEqual(self.run_layouts("--only", "trees").returncode, 0)
        values = read_values(self.output / "values.csv")
        self.assertEqual({key[:2] for key in values},
                         {("trees", "perfect allocator"), ("offsets", "perfect allocator"),
                          ("offsets", "offsets of 32 bits")})

    def test_end_where_a_program_fails_and_keep_what_was_measured(self):
        self.add_both()
        self.assertEqual(self.run_layouts("--only", "min-max").returncode, 0)
        before = (self.output / "cells.csv").read_text()
        self.add_both(status=1)
        done = self.run_layouts("--only", "min-max,trees", "--resume")
        self.assertEqual(done.returncode, 1)
        self.assertIn("layouts: error: layouts_bench --table trees --size whole --repeat 5 ended "
                      "with 1: wrong answer", done.stderr)
        self.assertEqual((self.output / "cells.csv").read_text(), before)

    def test_of_what_is_not_built_say_how_to_build_it(self):
        done = self.run_layouts()
        self.assertEqual(done.returncode, 1)
        self.assertIn("layouts_bench is not built: `make layouts`", done.stderr)

    def test_of_unknown_tables_are_refused(self):
        done = self.run_layouts("--only", "trees,leaves")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no leaves: the tables are allocators, access", done.stderr)


if __name__ == "__main__":
    unittest.main()

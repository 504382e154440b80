#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver of paper 4's figures with programs that are shell scripts: what is left out, what ends
the run, and what the tables say.

    figures_test.py FOLDER     FOLDER: where figures.py is
"""

import csv
import io
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

FOLDER = Path(sys.argv.pop(1))
sys.path[:0] = [str(FOLDER), str(FOLDER.resolve().parents[2] / "bench")]
import applications  # noqa: E402
import figures  # noqa: E402
import inputs  # noqa: E402
from store import RunError, Store  # noqa: E402


def small_input(folder: Path, scale: float) -> dict:
    file = folder / "input"
    file.write_text("some input\n")
    return {"files": [file, file], "size": 100}


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name) / "build"
        self.output = Path(folder.name) / "out"
        self.output.mkdir()
        self.table = applications.APPLICATIONS
        self.addCleanup(setattr, applications, "APPLICATIONS", self.table)

    def add(self, where: str, name: str, script: str) -> None:
        file = self.build / where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + script + "\n")
        file.chmod(0o755)

    def add_pair(self, strid: str, sequential: str) -> None:
        self.add("tools", "strid-fake", strid)
        self.add("papers/4-fastflow/bench", "sequential_fake", sequential)

    def measure(self, answer: str = "stdout", parallel=("--workers", "{workers}", "{files}"),
                sequential=("{files}",), resume=False) -> str:
        applications.APPLICATIONS = [applications.Application(
            figure="1.6", case="fake", inputs=small_input, parallel=["strid-fake", *parallel],
            sequential=["sequential_fake", *sequential], answer=answer, amount="size",
            unit="x/s")]
        if not resume:
            (self.output / "raw/runs.jsonl").unlink(missing_ok=True)
        store = Store(self.output, 4, {}, resume=True)
        with redirect_stderr(io.StringIO()) as said:
            applications.measure(self.build, self.output, store, 2, [1, 3], 1.0)
        return said.getvalue()

    def rows(self) -> dict[int, dict]:
        with (self.output / "applications_summary.csv").open() as file:
            return {int(row["workers"]): row for row in csv.DictReader(file)}

    def test_that_are_not_built_are_left_out_by_name(self):
        self.assertIn("not there: strid-fake, sequential_fake; left out: fake", self.measure())
        self.add("tools", "strid-fake", "true")
        self.assertIn("not there: sequential_fake; left out: fake", self.measure())

    def test_that_are_slower_have_a_smaller_speed_up(self):
        # With three workers it does not sleep, alone 0.4 s, with one 1 s.
        self.add_pair('[ "$2" = 3 ] || sleep 1; shift 2; cat "$@"', 'sleep 0.4; cat "$@"')
        self.measure()
        rows = self.rows()
        self.assertEqual(sorted(rows), [0, 1, 3])
        self.assertEqual(float(rows[0]["speed_up"]), 1.0)
        self.assertLess(float(rows[1]["speed_up"]), 1.0)
        self.assertGreater(float(rows[3]["speed_up"]), 1.0)
        self.assertLess(float(rows[0]["processor_seconds"]), float(rows[0]["seconds"]))
        self.assertAlmostEqual(float(rows[0]["rate"]) * float(rows[0]["seconds"]), 100, delta=20)

    def test_that_answer_otherwise_end_the_run(self):
        self.add_pair("echo wrong", 'cat "$@"')
        with self.assertRaisesRegex(RunError, "answers otherwise than sequential_fake"):
            self.measure()

    def test_that_write_other_files_end_the_run(self):
        files = ("--workers", "{workers}", "{output}")
        self.add_pair('mkdir "$3"; echo same > "$3/a"', 'mkdir "$1"; echo same > "$1/b"')
        with self.assertRaisesRegex(RunError, "answers otherwise"):
            self.measure("output", files, ("{output}",))
        self.add_pair('mkdir "$3"; echo same > "$3/a"', 'mkdir "$1"; echo same > "$1/a"')
        self.measure("output", files, ("{output}",))
        self.assertEqual(sorted(self.rows()), [0, 1, 3])

    def test_that_compress_may_do_so_each_in_its_way(self):
        self.add_pair('shift 2; bzip2 -1 -c "$@"', 'cat "$@" | bzip2 -9 -c')
        self.measure("stdout.bz2")
        self.assertEqual(sorted(self.rows()), [0, 1, 3])
        self.add_pair('bzip2 -1 -c "$3"', 'cat "$@" | bzip2 -9 -c')
        with self.assertRaisesRegex(RunError, "answers otherwise"):
            self.measure("stdout.bz2")

    def test_that_fail_end_the_run_with_what_they_said(self):
        self.add_pair("echo no such option >&2; exit 3", "true")
        with self.assertRaisesRegex(RunError, "(?s)strid-fake.*ended with 3: no such option"):
            self.measure()

    def test_of_the_figures_are_asked_for_where_they_are_not_built(self):
        with self.assertRaisesRegex(RunError, "placement_bench is not built: `make figures"):
            figures.check_built(self.build)

    def test_that_were_measured_are_not_run_again(self):
        self.add_pair('shift 2; cat "$@"', 'cat "$@"')
        self.measure()
        before = self.rows()
        self.add_pair("exit 1", "exit 1")
        self.measure(resume=True)
        self.assertEqual(self.rows(), before)

    def test_of_an_interrupted_run_are_held_against_its_answer(self):
        self.add_pair("exit 1", 'cat "$@"')
        with self.assertRaises(RunError):
            self.measure()
        self.add_pair("echo wrong", "exit 1")  # the sequential one is stored
        with self.assertRaisesRegex(RunError, "answers otherwise than sequential_fake"):
            self.measure(resume=True)


class Table(unittest.TestCase):
    def test_of_applications_can_be_filled_in(self):
        """Every word in braces is one that the inputs have."""
        for one in applications.APPLICATIONS:
            with tempfile.TemporaryDirectory() as folder:
                values = {"output": "o", "workers": 2, **one.inputs(Path(folder), 0.001)}
                for command in (one.parallel, one.sequential):
                    words = applications.fill(command, values)
                    self.assertFalse([word for word in words if "{" in word], one.case)
                self.assertNotIn(",", one.case)
                if one.amount:
                    self.assertGreater(values[one.amount], 0)

    def test_of_inputs_is_the_same_each_time(self):
        def made() -> str:
            with tempfile.TemporaryDirectory() as folder:
                values = inputs.many_texts(Path(folder), 0.01)
                return applications.digest(*values["files"])
        self.assertEqual(made(), made())


class Workers(unittest.TestCase):
    def test_are_all_on_a_small_machine_and_fewer_and_fewer_on_a_large_one(self):
        self.assertEqual(figures.workers_up_to(1, 100), [1])
        self.assertEqual(figures.workers_up_to(6, 100), [1, 2, 3, 4, 5, 6])
        self.assertEqual(figures.workers_up_to(48, 100),
                         [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48])
        self.assertEqual(figures.workers_up_to(48, 2), [1, 2])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The report (bench/report): all of it in quick mode, what ends it, and what it goes on from."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from command_line import STRID, Case
from report_parts import REPORT, has_matplotlib

BUILD = pathlib.Path(STRID).parents[1]
BATCHED_WORDS = BUILD / "papers/2-windflow/bench/batched_words"
WINDFLOW = {"version": "4.2.2", "_note": "not real",
            "sd": {"setting": "batch 512", "records_per_second": [9e6, 8e6, 1e7],
                   # Less than any engine has, so that the page has to say that ours is slower.
                   "latency": {"blocking": {"microseconds": {
                       "5": 0.001, "25": 0.002, "50": 0.003, "75": 0.004, "95": 0.005,
                       "99": 0.006, "99.9": 0.007}}}}}


@unittest.skipUnless(has_matplotlib(), "no matplotlib")
class Report(Case):
    def report(self, *arguments, code=0, build=BUILD):
        done = subprocess.run(
            [sys.executable, "-B", str(REPORT / "report.py"), "--build", str(build), "--output",
             str(self.folder / "report"), *map(str, arguments)],
            capture_output=True, text=True, timeout=280, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows(self):
        text = (self.folder / "report/raw/runs.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]


@unittest.skipUnless(BATCHED_WORDS.exists(), "no batched_words")
class ReportQuick(Report):
    def test_the_whole_page(self):
        windflow = self.file("windflow.json", json.dumps(WINDFLOW).encode())
        run = ["--quick", "--apps", "SD,word-count", "--windflow", windflow]
        self.report(*run)
        page = (self.folder / "report/index.html").read_text()
        for title in (*(f"Figure {number}" for number in range(12, 21)), "Table 3", "Table 4"):
            self.assertIn(f">{title}", page)
        self.assertNotIn("http", re.sub(r'src="data:[^"]*"', "", page))  # nothing is loaded
        self.assertIn("WindFlow", page)
        self.assertIn("SD: WindFlow 0 us in the median", page)
        # How it was measured: a row of the settings, and its best beside ours.
        # papers/2-windflow/tests/table3_test.cpp asserts the rows of our graphs, by hand.
        for row in (("SD, paper", 5, 1, 2, 2, 1), ("SD, Strid, one replica", 5, 3, 2, 2, 1),
                    ("WC, Strid, one replica", 5, 3, 2, 2, 1)):
            self.assertIn("".join(f"<td>{cell}</td>" for cell in row), page)
        self.assertRegex(page, "<dt>WindFlow</dt><dd>4.2.2; .*not by turns with Strid")
        self.assertIn("The best of WindFlow: SD batch 512.", page)

        rows = self.rows()
        measured = [row for row in rows if row["key"][0] == "throughput"]
        self.assertEqual({row["key"][1] for row in measured}, {"spike-detection", "word-count"})
        for row in measured:
            self.assertGreater(row["records"], 0)
        # Every way that was measured was held against the oracle first.
        seen = set()
        ways = {"throughput": lambda name, way, _: (name, way),
                "waiting": lambda name, way, degree, _: (name, f"{way} {degree}"),
                "latency": lambda name, *_: (name, "default"),
                "batch": lambda size, _: ("word-count", f"batches of {size} --parallelism 1"),
                "cores": lambda cores, size, _: ("word-count",
                                                 f"batches of {size} --workers {cores}")}
        kinds = set()
        for row in rows:
            kind, *key = row["key"]
            if kind == "answer":
                seen.add(tuple(key))
            elif kind in ways:
                kinds.add(kind)
                self.assertIn(ways[kind](*key), seen, row["key"])
        self.assertEqual(kinds, set(ways) - {"waiting"})  # of TM and FD
        for row in rows:
            if row["key"][0] == "batch" and row["key"][1]:
                self.assertLessEqual(row["words"], row["key"][1] * row["batches"])

        # A report that is cut in its last line goes on from the one before.
        file = self.folder / "report/raw/runs.jsonl"
        whole = file.read_text()
        file.write_text(whole[:-20])
        self.report(*run, "--resume")
        again = self.rows()
        self.assertEqual([row["key"] for row in again], [row["key"] for row in rows])
        self.assertEqual(again[:-1], rows[:-1])
        done = self.report(*run, "--resume", "--seconds", "0.3", code=1)
        self.assertIn("was made with another seconds", done.stderr)
        done = self.report(*run, "--resume", "--rounds", "2", code=1)
        self.assertIn("was made with another rounds", done.stderr)

    def test_an_output_that_is_a_task_has_its_place(self):
        self.report("--quick", "--apps", "YB", "--figures", "15")

    def test_a_new_report_takes_nothing_of_an_older_one(self):
        run = ["--quick", "--apps", "SD", "--figures", "T3"]
        output = self.folder / "report"
        self.report(*run)
        older = {"raw/peers/spike-detection-throughput.json": "{}",
                 "inputs/spike-detection-500000.input": "a,1\n"}
        for name, text in older.items():
            (output / name).parent.mkdir(exist_ok=True)
            (output / name).write_text(text)
        done = self.report(*run)
        self.assertIn(f"the older run is now {output}.1", done.stderr)
        self.report(*run)
        for name, text in older.items():
            self.assertFalse((output / name).exists())
            self.assertEqual((self.folder / "report.1" / name).read_text(), text)
        self.assertTrue((self.folder / "report.2/index.html").exists())
        self.report(*run, "--resume")
        self.assertFalse((self.folder / "report.3").exists())

    def test_a_folder_of_something_else_is_left_alone(self):
        (self.folder / "report").mkdir()
        (self.folder / "report/thesis.txt").write_text("mine")
        done = self.report("--quick", "--apps", "SD", "--figures", "T3", code=1)
        self.assertIn("has files of something else", done.stderr)
        self.assertEqual((self.folder / "report/thesis.txt").read_text(), "mine")


class ReportMistakes(Report):
    def fake(self, script):
        """A build whose strid is a script."""
        build = self.folder / "build"
        (build / "tools").mkdir(parents=True)
        (build / "papers/2-windflow/bench").mkdir(parents=True)
        (build / "papers/2-windflow/bench/batched_words").write_text("")
        shutil.copy(BUILD / "CMakeCache.txt", build)  # may be on another file system
        program = build / "tools/strid"
        program.write_text(f'#!/bin/sh\nstrid="{STRID}"\n{script}\n')
        program.chmod(0o755)
        return build

    def test_another_answer_ends_it(self):
        build = self.fake('"$strid" "$@" || exit\n'
                          'while [ $# -gt 1 ]; do [ "$1" = --output ] && file=$2; shift; done\n'
                          '[ -f "$file" ] && sed -i 1d "$file"; true')
        done = self.report("--quick", "--apps", "SD", "--figures", "13", build=build, code=1)
        self.assertIn("has another answer than the oracle", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_another_answer_of_threads_that_spin_ends_it(self):
        build = self.fake('"$strid" "$@" || exit\n'
                          'case "$*" in *--waiting\\ spin*) ;; *) exit;; esac\n'
                          'while [ $# -gt 1 ]; do [ "$1" = --output ] && file=$2; shift; done\n'
                          '[ -f "$file" ] && sed -i 1d "$file"; true')
        done = self.report("--quick", "--apps", "FD", "--figures", "14", build=build, code=1)
        self.assertRegex(done.stderr, "--waiting spin.* has another answer than the oracle")

    def test_another_answer_with_batches_ends_it(self):
        build = self.fake('exec "$strid" "$@"')
        program = build / "papers/2-windflow/bench/batched_words"
        program.write_text(f'#!/bin/sh\n"{BATCHED_WORDS}" "$@" || exit\n'
                           'while [ $# -gt 1 ]; do [ "$1" = --output ] && file=$2; shift; done\n'
                           '[ -f "$file" ] && sed -i 1d "$file"; true')
        program.chmod(0o755)
        done = self.report("--quick", "--apps", "WC", "--figures", "20", build=build, code=1)
        self.assertRegex(done.stderr, "--batch 10 .* has another answer than the oracle")

    def test_records_that_get_lost_end_it(self):
        build = self.fake('"$strid" "$@" | sed "s/\\(.*\\"records_in\\":\\)[0-9]*/\\17/"')
        done = self.report("--quick", "--apps", "SD", "--figures", "13", build=build, code=1)
        self.assertRegex(done.stderr, "spikes emitted [0-9]+ records, drop took 7")

    def test_a_run_that_fails_is_told(self):
        build = self.fake('case "$*" in *--duration*) echo no luck >&2; exit 3;; esac\n'
                          'exec "$strid" "$@"')
        done = self.report("--quick", "--apps", "SD", "--figures", "13", build=build, code=1)
        self.assertIn("ended with 3: no luck", done.stderr)

    def test_what_is_not_there(self):
        self.assertIn("the figures are 12", self.report("--figures", "11", code=2).stderr)
        self.assertIn("the applications are", self.report("--apps", "none", code=2).stderr)
        self.assertIn("is no number above 0", self.report("--seconds", "0", code=2).stderr)
        done = self.report("--quick", build=self.folder, code=1)
        self.assertIn("is not built: `make report`", done.stderr)
        build = self.fake('"$strid" "$@" | grep -v spike-detection')
        done = self.report("--quick", "--apps", "SD", build=build, code=1)
        self.assertIn("spike-detection: it is not in this build", done.stderr)

    def test_files_of_peers(self):
        for text, said in (("{", "no JSON"), ("[1]", "no object of JSON"),
                           ('{"sdd": {"records_per_second": [1]}}', "no application 'sdd'"),
                           ('{"sd": {"records_per_second": "fast"}}', "sd: could not convert"),
                           ('{"sd": {"latency": {"blocking": {"microseconds": {"5": 1}}}}}',
                            "a latency needs the percentiles")):
            with self.subTest(text=text):
                file = self.file("windflow.json", text.encode())
                done = self.report("--quick", "--windflow", file, code=1)
                self.assertIn(said, done.stderr)
        done = self.report("--quick", "--windflow", self.folder / "none", code=1)
        self.assertIn("No such file", done.stderr)
        (self.folder / "none").mkdir()
        done = self.report("--quick", "--peers", self.folder / "none", code=1)
        self.assertIn("there is no file of peers.py --output", done.stderr)


if __name__ == "__main__":
    unittest.main()

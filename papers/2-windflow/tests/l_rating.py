# SPDX-License-Identifier: Apache-2.0
"""The search for the L-rating: with a trial that is a function, and with a program that is a script
in the place of `strid`."""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PAPER = pathlib.Path(os.environ["STRID_SOURCE"]) / "papers/2-windflow"
PROGRAM = PAPER / "bench/linear_road/l_rating.py"
sys.path.insert(0, str(PROGRAM.parent))
import rating_search  # noqa: E402

# Sustains 13 expressways: beyond, one answer is late; beyond 20 the run ends too late; beyond 40 it
# fails. It writes what l_rating.py reads of a report.
ENGINE = """#!{python}
import json, sys
given = dict(zip(sys.argv[3::2], sys.argv[4::2]))
count = int(given["--expressways"])
if given["--cars"] == "1":
    print("strid: error: --cars", file=sys.stderr)
    sys.exit(2)
if count > 40:
    print("strid: error: out of memory", file=sys.stderr)
    sys.exit(1)
minutes = int(given["--minutes"])
write = {{"name": "write", "kind": "sink", "records_in": 10 * count,
         "counters": {{"late answers": int(13 < count <= 20)}}}}
other = {{"name": "write-balances", "kind": "sink", "records_in": count, "counters": {{}}}}
events = {{"name": "events", "kind": "source", "records_out": 100 * count}}
report = {{"seconds": 60 * minutes + (9 if count > 20 else 0),
          "latency": {{"max_ns": 7e6, "p99_ns": 3e6}},
          "segments": [{{"operators": [events]}}, {{"operators": [write, other]}}]}}
with open(given["--metrics"], "w") as file:
    json.dump(report, file)
"""


class RatingSearch(unittest.TestCase):
    def searched(self, most, first=8, precision=0.0):
        """The rating of an engine that sustains `most`, and the trials that it took."""
        options = argparse.Namespace(first=first, precision=precision)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            best, rows = rating_search.search(
                options, lambda count: {"expressways": count, "sustained": count <= most})
        self.assertEqual([json.loads(line) for line in said.getvalue().splitlines()], rows)
        return best, [row["expressways"] for row in rows]

    def test_it_is_exact_without_a_precision(self):
        for most in range(60):
            for first in (1, 7, 8, 100):
                best, trials = self.searched(most, first)
                self.assertEqual(best, most, trials)
                self.assertEqual(len(trials), len(set(trials)), "none is tried twice")
                self.assertLess(len(trials), 16)

    def test_the_order_of_the_trials(self):
        self.assertEqual(self.searched(21), (21, [8, 16, 32, 24, 20, 22, 21]))
        self.assertEqual(self.searched(0), (0, [8, 4, 2, 1]))

    def test_it_ends_within_the_precision(self):
        for most in range(1, 400, 7):
            best, trials = self.searched(most, precision=0.05)
            failed = min(count for count in trials if count > most)
            self.assertLessEqual(best, most)
            self.assertLessEqual(failed - best, max(1, 0.05 * failed))

    def test_what_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rating.json"
            options = argparse.Namespace(minutes=3, cars=50, json=str(path))
            rows = [{"expressways": 8, "sustained": True}]
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(rating_search.report(options, "L-rating", 8, rows), 0)
                self.assertEqual(rating_search.report(options, "L-rating", 0, rows), 1)
            self.assertIn("L-rating: 8 expressways, 3 minutes, 50 cars", said.getvalue())
            self.assertEqual(json.loads(path.read_text()),
                             {"l_rating": 0, "minutes": 3, "cars": 50, "trials": rows})


class LRating(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.engine = pathlib.Path(folder.name) / "engine"
        self.engine.write_text(ENGINE.format(python=sys.executable))
        self.engine.chmod(0o755)
        self.json = pathlib.Path(folder.name) / "rating.json"

    def rating(self, *options):
        return subprocess.run([sys.executable, PROGRAM, self.engine, "--json", self.json, *options],
                              capture_output=True, text=True, timeout=60)

    def test_late_answers_late_ends_and_failures_are_not_sustained(self):
        done = self.rating("--from", "6", "--precision", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("L-rating: 13 expressways, 3 minutes, 50000 cars", done.stdout)
        trials = {row["expressways"]: row for row in json.loads(self.json.read_text())["trials"]}
        self.assertEqual(list(trials), [6, 12, 24, 18, 15, 13, 14])
        self.assertEqual(trials[24]["late answers"], 0)
        self.assertEqual(trials[24]["seconds"], 189)
        self.assertEqual(trials[14]["late answers"], 1)
        self.assertEqual(trials[13]["answers"], 11 * 13)
        self.assertEqual(trials[13]["records"], 100 * 13)
        self.assertEqual(trials[13]["latency max ms"], 7)
        done = self.rating("--from", "64", "--precision", "1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(self.json.read_text())["trials"],
                         [{"expressways": 64, "sustained": False,
                           "why": "strid: error: out of memory"}])

    def test_wrong_options_end_the_search(self):
        for options in [("--cars", "1"), ("--from", "0")]:
            done = self.rating(*options)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse(self.json.exists())


if __name__ == "__main__":
    unittest.main()

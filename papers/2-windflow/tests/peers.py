# SPDX-License-Identifier: Apache-2.0
"""The script of the peers: its mistakes and, where peers are built, an answer.

Continuous integration does not build the peers, as Maven would fetch the engines from a network.
"""
import contextlib
import dataclasses
import gzip
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

PAPER = pathlib.Path(os.environ["STRID_SOURCE"]) / "papers/2-windflow"
FOLDER = PAPER / "bench/peers"
sys.path[:0] = [str(FOLDER), str(PAPER / "bench/linear_road")]

import java_engine  # noqa: E402
import peers  # noqa: E402
import rating_search  # noqa: E402


def run(*arguments, **options):
    return subprocess.run([sys.executable, FOLDER / "peers.py", *map(str, arguments)],
                          capture_output=True, text=True, check=False, **options)


class Peers(unittest.TestCase):
    def test_the_applications_are_those_of_the_sources(self):
        listed = (FOLDER / "flink/src/main/java/dev/strid/peers/flink/Applications.java").read_text(
            encoding="utf-8")
        for name, application in peers.APPLICATIONS.items():
            java = "".join(part.capitalize() for part in name.split("-"))
            self.assertIn(f"new {java}()", listed)
            (source,) = peers.filled(name, [application.input])
            self.assertTrue(pathlib.Path(source).exists(), source)
            for check in application.checks:
                self.assertTrue(check.oracle or (peers.APPS / name / check.golden).exists())

    def test_missing_programs_are_named(self):
        result = run("build", env={**os.environ, "PATH": "/nonexistent"})
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr,
                         "peers.py: error: java is missing (Debian: openjdk-17-jdk-headless)\n")

    def test_unknown_applications_are_refused(self):
        result = run("check", "nothing-such")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no application 'nothing-such'", result.stderr)

    def test_unknown_engines_and_counts_are_refused(self):
        for arguments, message in (
                (["check", "--engines", "flnk"], "no engine 'flnk': the engines are flink, storm"),
                (["check", "--engines", ""], "no engine ''"),
                (["throughput", "word-count", "--engines", "flink,none"], "no engine 'none'"),
                (["check", "--parallelism", "0"], "'0' is no whole number above 0"),
                (["latency", "word-count", "--rounds", "0"], "'0' is no whole number above 0"),
                (["latency", "word-count", "--warmup", "10"], "'10' is not a time such as 10s")):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_nothing_to_compare_is_an_error(self):
        for command in ("check", "throughput"):
            result = run(command, "linear-road", "--engines", "storm")
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, "peers.py: error: linear-road is not on storm, only "
                                            "on flink\n")

    def test_latencies_of_assigned_times_are_refused(self):
        result = run("latency", "yahoo-benchmark")
        self.assertEqual(result.returncode, 1)
        self.assertIn("yahoo-benchmark assigns times: no latencies", result.stderr)

    def test_results_a_record_are_compared(self):
        def rounds(*found):
            return [{"engine": engine, "parallelism": 1, "records": records, "results": results}
                    for engine, records, results in found]
        peers.compare_results(rounds(("flink", 200, 20), ("storm", 2000, 390)), 100)
        # Less than two passes: how many results depends on where it ended.
        peers.compare_results(rounds(("flink", 199, 90), ("storm", 2000, 390)), 100)
        for found, message in (
                ((("flink", 200, 20), ("storm", 2000, 410)), "results a record differ: flink, "
                 "parallelism 1: 0.1; storm, parallelism 1: 0.205"),
                ((("flink", 200, 20), ("storm", 20, 0)), "storm, parallelism 1: no result of 20")):
            with self.assertRaisesRegex(java_engine.Failure, message):
                peers.compare_results(rounds(*found), 100)

    def test_records_of_a_pass_are_lines(self):
        for text in ("linear-road/data/cars.csv.gz", "spike-detection/data/readings.csv"):
            path = str(PAPER / text)
            opened = gzip.open if path.endswith(".gz") else open
            with opened(path, "rb") as file:
                expected = len(file.read().splitlines())
            self.assertEqual(peers.records_of_a_pass(path), expected)

    def test_events_of_ads_are_those_of_our_program(self):
        text = (PAPER / "bench/ad_events.hpp").read_text(encoding="utf-8")
        yahoo = peers.APPLICATIONS["yahoo-benchmark"]
        made = dict(zip(yahoo.prepare[2::2], yahoo.prepare[3::2]))
        (disorder,) = re.findall(r"disorder_ms_max = (\d+);", text)
        (events_per_ms,) = re.findall(r"events_per_ms = (\d+);", text)
        self.assertEqual(made["--disorder-ms"], disorder)
        self.assertEqual(int(made["--rate"]), 1000 * int(events_per_ms))
        self.assertIn(("--disorder", f"{disorder}ms"), zip(yahoo.measured, yahoo.measured[1:]))

    def test_an_input_that_was_made_otherwise_is_made_again(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(peers, "BUILD", pathlib.Path(folder)), \
                mock.patch.dict(peers.APPLICATIONS):
            made = pathlib.Path(folder) / "inputs/yahoo-benchmark"
            for events in ("300", "200", "200"):
                before = (made / "events.csv").stat().st_mtime_ns if made.exists() else 0
                peers.APPLICATIONS["yahoo-benchmark"] = dataclasses.replace(
                    peers.APPLICATIONS["yahoo-benchmark"], prepare=(
                        "{made}/events.csv", "{made}/campaigns.csv", "--events", events))
                peers.prepare("yahoo-benchmark")
                lines = (made / "events.csv").read_bytes().splitlines()
                self.assertEqual(len(lines), int(events))
            self.assertEqual((made / "events.csv").stat().st_mtime_ns, before)

    def rating(self, **trial):
        """Of an engine that answers in time up to 50 expressways; `trial`: what is so of all."""
        options = rating_search.parser("").parse_args(["strid", "--minutes", "1"])

        def tried(expressways):
            return rating_search.row(options, expressways, **{
                "on_time": expressways <= 50, "records": 100, "answers": 10, "seconds": 60.0,
                "latency_ms": {"max": 7.4, "p99": 3.2}, **trial})
        with contextlib.redirect_stdout(io.StringIO()):
            return rating_search.search(options, tried)

    def test_the_rating_is_the_most_expressways_in_time(self):
        best, rows = self.rating()
        self.assertTrue(48 <= best <= 50, best)
        self.assertEqual({row["expressways"]: row["sustained"] for row in rows},
                         {row["expressways"]: row["expressways"] <= 50 for row in rows})
        self.assertEqual(self.rating(seconds=64.1)[0], 0)  # it ended more than 5 s late

    def test_a_trial_without_answers_fails(self):
        best, rows = self.rating(answers=0)
        self.assertEqual(best, 0)
        self.assertEqual({row["why"] for row in rows}, {"no answer came"})

    def process(self, script):
        """A process of the kind that engines run in, which is a shell here."""
        process = java_engine.JavaProcess(f"test of peers, {os.getpid()}", ["sh", "-c", script])
        self.addCleanup(process.log.unlink, missing_ok=True)
        self.addCleanup(process.close)
        return process

    def test_processes_of_engines_sleep_without_slack(self):
        process = self.process("read slack < /proc/self/timerslack_ns; "
                               "echo '{\"ns\":'$slack'}'")
        self.assertEqual(process.finish(60), [{"ns": 1}])

    def test_a_process_that_fails_is_told_with_its_log(self):
        process = self.process("echo first >&2; echo 'peers: error: no luck' >&2; exit 3")
        with self.assertRaisesRegex(java_engine.Failure, r"test of peers, \d+ ended with 3: "
                                    r"no luck \(log: build/peers/logs/test-of-peers-\d+\.log"):
            process.finish(60)
        self.assertIn("first", process.log.read_text(encoding="utf-8"))

    def test_a_process_that_hangs_is_ended(self):
        for wait in (lambda process: process.read(0.3), lambda process: process.finish(0.3)):
            process = self.process("echo '{\"warm\":true}'; exec sleep 100")
            self.assertEqual(process.read(60), {"warm": True})
            with self.assertRaisesRegex(java_engine.Failure, r"after 0 s|within 0 s"):
                wait(process)


class PeersAnswer(unittest.TestCase):
    """One application on Flink, where peers.py build has been run."""

    def setUp(self):
        if not (java_engine.BUILD / "flink/classpath").exists():
            self.skipTest("the peers are not built")

    def test_spike_detection_on_flink(self):
        result = run("check", "spike-detection", "--engines", "flink", "--parallelism", 2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the same answer", result.stdout)

    def test_mistakes_are_one_line(self):
        for arguments, message in (
                (["spike-detection"], "spike-detection needs --input FILE"),
                (["nothing-such"], "no application 'nothing-such'"),
                (["spike-detection", "--input", "/nonexistent"], "/nonexistent: cannot be read"),
                (["spike-detection", "--input", PAPER / "spike-detection/README.md"],
                 "README.md, line 1: 1 columns for 2"),
                (["spike-detection", "--input", PAPER / "spike-detection/data/readings.csv",
                  "--once", "--output", "/dev/null", "--colour", "red"],
                 "spike-detection has no option --colour")):
            with self.subTest(arguments=arguments):
                command = java_engine.engine_command("flink", "check", map(str, arguments))
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 1)
                lines = result.stderr.splitlines()
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertTrue(lines[0].startswith("peers: error: "))
                self.assertIn(message, lines[0])


if __name__ == "__main__":
    unittest.main()

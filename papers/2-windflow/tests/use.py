# SPDX-License-Identifier: Apache-2.0
"""The command line as its users meet it: help, mistakes, pipes, signals, results on the side."""

import json
import os
import pty
import re
import signal
import subprocess
import time
import unittest

from bundled import CAMPAIGNS, EVENTS, MODEL, READINGS, TEXT, TRANSACTIONS
from command_line import STRID, Case


class Help(Case):
    def test_help_everywhere(self):
        text = self.strid("--help").stdout.decode()
        for command in ["run", "list", "explain", "bench"]:
            self.assertIn(command, text)
            self.assertIn("--help", self.strid(command, "--help").stdout.decode())
        for application in ["word-count", "spike-detection", "fraud-detection", "flights",
                            "yahoo-benchmark"]:
            self.assertIn(application, self.strid("run", "--help").stdout.decode())
            text = self.strid("run", application, "--help").stdout.decode()
            for option in ["--input", "--output", "--rate", "--duration", "--parallelism",
                           "--mode", "--metrics", "Examples"]:
                self.assertIn(option, text)

    def test_list(self):
        lines = self.strid("list").stdout.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ["word-count", "spike-detection", "fraud-detection", "flights",
                          "yahoo-benchmark", "traffic-monitoring", "linear-road", "voip-stream",
                          "trading"])


class Mistakes(Case):
    def test_unknown_words_get_a_suggestion(self):
        self.assertIn("did you mean word-count?", self.fails("run", "word-cout", code=2))
        self.assertIn("did you mean --parallelism?",
                      self.fails("run", "word-count", "--paralelism", "2", code=2))
        self.assertIn("did you mean explain?", self.fails("explian", code=2))
        self.assertIn("did you mean word-count?", self.fails("bench", "wordcount", code=2))

    def test_impossible_parallelism(self):
        run = ["run", "word-count", "--input", TEXT, "--parallelism"]
        self.assertIn("at least 1", self.fails(*run, "0", code=2))
        self.assertIn("at least 1", self.fails(*run, "count=0", code=2))
        self.assertIn("limit of 1024", self.fails(*run, "10000", code=2))
        self.assertIn("limit of 1024", self.fails(*run, "split=10000", code=2))
        self.assertIn("limit of 1024", self.fails(*run, "99999999999999999999999", code=2))
        self.assertIn("'nobody'", self.fails(*run, "nobody=2", code=2))
        for text in ["", "x", "-1", "2,", "count=", "1.5", "=3"]:
            self.assertIn("parallelism", self.fails(*run, text, code=2))

    def test_standard_input_is_read_once(self):
        self.assertIn("--measure reads its input twice",
                      self.fails("run", "word-count", "--measure", code=2))

    def test_impossible_values(self):
        run = ["run", "word-count", "--input", TEXT]
        self.assertIn("cooperative", self.fails(*run, "--mode", "fast", code=2))
        for rate in ["0", "-5", "nan", "inf", "10x", "many"]:
            self.assertIn("rate", self.fails(*run, "--rate", rate, code=2))
        for duration in ["0", "-1s", "5 parsecs", "1e300h"]:
            self.assertIn("time", self.fails(*run, "--duration", duration, code=2))
        self.assertIn(".svg", self.fails(*run, "--graph", self.folder / "x.png", code=2))
        self.assertIn("--model", self.fails("run", "fraud-detection", code=2))
        self.assertIn("--campaigns", self.fails("run", "yahoo-benchmark", code=2))

    def test_files_that_are_not_there(self):
        missing = self.folder / "missing"
        for run in [["word-count"], ["spike-detection"], ["fraud-detection", "--model", MODEL]]:
            self.assertIn(str(missing), self.fails("run", *run, "--input", missing, code=1))
            self.assertIn("No such file", self.fails("run", *run, "--input", missing,
                                                     "--duration", "1s", code=1))
        self.assertIn(str(missing),
                      self.fails("run", "fraud-detection", "--model", missing, code=1))
        self.assertIn(str(missing),
                      self.fails("run", "yahoo-benchmark", "--campaigns", missing, code=1))
        self.assertIn("missing/x", self.fails("run", "word-count", "--input", TEXT, "--output",
                                              missing / "x", code=1))
        self.assertIn("directory", self.fails("run", "word-count", "--input", self.folder, code=1))

    def test_nothing_in_nothing_out(self):
        empty = self.file("empty", "")
        for run in [["word-count"], ["spike-detection"], ["fraud-detection", "--model", MODEL]]:
            self.assertEqual(self.strid("run", *run, "--input", empty).stdout, b"")
            self.assertEqual(self.strid("run", *run, stdin=subprocess.DEVNULL).stdout, b"")
            self.strid("run", *run, "--input", empty, "--duration", "60s")

    def test_records_that_are_none(self):
        for bad, words in [("1,nan", "not a finite number"), ("1,1e999", "out of range"),
                           ("1", "found 1"), ("1,2,3", "found 3"), ("x,2", "not an integer"),
                           ("\0\1\2\xff", "")]:
            source = self.file("bad.csv", f"1,5\n{bad}\n2,6\n".encode("latin-1"))
            line = self.fails("run", "spike-detection", "--input", source, code=1)
            self.assertIn(f"{source}:2", line)
            self.assertIn("readings", line)
            self.assertIn(words, line)
            result = self.strid("run", "spike-detection", "--input", source, "--skip-malformed")
            self.assertIn(b"1 malformed record", result.stderr)

    def test_states_that_the_model_does_not_name(self):
        source = self.file("bad.csv", "a,t1,LNL\nb,t2,XYZ\n")
        line = self.fails("run", "fraud-detection", "--model", MODEL, "--input", source, code=1)
        self.assertIn(f"{source}:2", line)
        self.assertIn("XYZ", line)

    def test_models_that_are_none(self):
        for text, words in [("", "line 1"), ("a,b\n0.5,0.5\n", "line 3"),
                            ("a,b\n0.5,0.5\n1\n", "line 3"), ("a,a\n1,0\n0,1\n", "twice"),
                            ("a\n7\n", "not a probability"), ("a\nx\n", "not a probability")]:
            model = self.file("model.txt", text)
            line = self.fails("run", "fraud-detection", "--model", model, "--input", TRANSACTIONS,
                              code=1)
            self.assertIn(str(model), line)
            self.assertIn(words, line)

    def test_campaigns_that_are_none(self):
        for row, words in [("7,x", "not an integer"), ("7", "found 1"), ("3,1", "named twice"),
                           ("16777216,1", "not below"), ("7,4294967295", "not below"),
                           ("-1,1", "not an integer")]:
            table = self.file("campaigns.csv", f"3,0\n{row}\n")
            line = self.fails("run", "yahoo-benchmark", "--campaigns", table, "--input", EVENTS,
                              code=1)
            self.assertIn(f"{table}:2", line)
            self.assertIn(words, line)

    def test_events_that_are_none(self):
        source = self.file("bad.csv", "1,2,3,mail,view,0,::1\n1,2,3,mail,view,noon,::1\n")
        run = ["run", "yahoo-benchmark", "--campaigns", CAMPAIGNS, "--input", source]
        line = self.fails(*run, code=1)
        self.assertIn(f"{source}:2", line)
        self.assertIn("events", line)
        self.assertEqual(self.strid(*run, "--skip-malformed").stdout, b"3,0,10000,1\n")

    def test_truncated_compression(self):
        packed = subprocess.run(["gzip", "-c", TEXT], capture_output=True, check=True).stdout
        source = self.file("half.gz", packed[: len(packed) // 2])
        self.assertIn(str(source), self.fails("run", "word-count", "--input", source, code=1))

    def test_binary_text(self):
        source = self.file("binary", bytes(range(256)) * 500)
        self.strid("run", "word-count", "--input", source)

    def test_a_line_of_100_megabytes(self):
        source = self.folder / "long.txt"
        with open(source, "wb") as file:
            for _ in range(100):
                file.write(b"word and " * 116508 + b"end ")
        result = self.strid("run", "word-count", "--input", source)
        counts = dict(line.split(b",") for line in result.stdout.splitlines())
        self.assertEqual(counts, {b"word": b"11650800", b"and": b"11650800", b"end": b"100"})


class Pipes(Case):
    def test_a_reader_that_leaves_is_no_error(self):
        process = self.start("run", "word-count", "--input", TEXT, "--emit", "updates",
                             "--duration", "60s", "--output", "-", "--quiet")
        self.assertIn(b",", process.stdout.readline())
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.wait(timeout=60), 141)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        line = self.fails("run", "word-count", "--input", TEXT, "--output", "/dev/full", code=1)
        self.assertIn("No space left", line)
        self.assertIn("/dev/full", line)
        line = self.fails("run", "word-count", "--input", TEXT, "--output", "/dev/null",
                          "--metrics", "/dev/full", "--quiet", code=1)
        self.assertIn("No space left", line)

    def test_rows_come_while_the_input_is_open(self):
        process = self.start("run", "word-count", "--emit", "updates", "--quiet")
        for line, rows in [(b"one two one\n", [b"one,1", b"two,1", b"one,2"]),
                           (b"two\n", [b"two,2"])]:
            process.stdin.write(line)
            process.stdin.flush()
            got = [process.stdout.readline().rstrip() for _ in rows]
            self.assertEqual(sorted(got), sorted(rows))
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)


class Signals(Case):
    def test_the_first_drains(self):
        for number, application in [(signal.SIGINT, ["word-count", "--input", TEXT]),
                                    (signal.SIGTERM, ["spike-detection", "--input", READINGS])]:
            metrics = self.folder / "metrics.json"
            process = self.start("run", *application, "--duration", "100s", "--metrics", metrics)
            self.until_workers_run(process)
            time.sleep(1)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number, err)
            self.assertIn(b"stopped and drained", err)
            self.assertIn(b"records", err)
            report = json.loads(metrics.read_text())
            self.assertGreater(report["records_in"], 0)
            self.nothing_was_lost(report)

    def nothing_was_lost(self, report):
        """The records that left a segment arrived at the next."""
        segments = report["segments"]
        for sender, receiver in zip(segments, segments[1:]):
            self.assertEqual(sender["operators"][-1]["records_out"],
                             receiver["operators"][0]["records_in"])

    def test_a_silent_input_can_be_left(self):
        process = self.start("run", "word-count")
        process.stdin.write(b"one two\n")
        process.stdin.flush()
        self.until_workers_run(process)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(sorted(out.split()), [b"one,1", b"two,1"])

    def test_an_input_that_is_read_to_be_replayed_can_be_left(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        metrics = self.folder / "metrics.json"
        for number in [signal.SIGINT, signal.SIGTERM]:
            process = self.start("run", "word-count", "--input", pipe, "--duration", "60s",
                                 "--metrics", metrics)
            with open(pipe, "wb") as writer:  # does not end before the signal
                writer.write(b"one two\n" * 100000)
                writer.flush()
                time.sleep(0.5)
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number, err)
            self.assertIn(b"word-count: stopped and drained", err)
            self.assertEqual(out, b"")
            self.assertEqual(json.loads(metrics.read_text())["records_in"], 0)

    def test_what_was_ignored_stays_ignored(self):
        process = self.start("run", "word-count", "--input", TEXT, "--duration", "3s",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 0)


class Terminal(Case):
    def on_a_terminal(self, *arguments):
        """Standard error on a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([STRID, *map(str, arguments)], stderr=theirs,
                                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass  # the other end is closed
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        return shown.decode()

    def test_progress(self):
        run = ["run", "word-count", "--input", TEXT, "--duration", "2s"]
        shown = self.on_a_terminal(*run)
        lines = [line for line in shown.split("\r\x1b[K") if "left" in line]
        self.assertGreater(len(lines), 2, shown)
        for words in ["records/s", "MB/s", "p50", "p99", "%"]:
            self.assertIn(words, lines[-1])
        self.assertIn("word-count: done", shown)
        self.assertEqual(self.on_a_terminal(*run, "--quiet"), "")

    def test_none_of_it_in_a_pipe(self):
        result = self.strid("run", "word-count", "--input", TEXT, "--duration", "1s")
        self.assertNotIn(b"left", result.stderr)
        self.assertIn(b"word-count: done", result.stderr)
        self.assertEqual(result.stdout, b"")


class Results(Case):
    def test_metrics(self):
        metrics = self.folder / "metrics.json"
        self.strid("run", "word-count", "--input", TEXT, "--output", "/dev/null", "--metrics",
                   metrics)
        report = json.loads(metrics.read_text())
        operators = {op["name"]: op for segment in report["segments"]
                     for op in segment["operators"]}
        self.assertEqual(report["records_in"], 400)
        self.assertEqual(operators["split"]["records_in"], 400)
        self.assertEqual(operators["count"]["records_in"],
                         len([w for w in re.split("[ \n]", TEXT.read_text()) if w]))
        self.assertEqual(operators["write"]["records_in"], 3417)
        self.assertGreater(report["latency"]["p99_ns"], 0)
        histogram = report["latency"]["histogram_ns"]
        self.assertEqual(sum(count for _, count in histogram), report["latency"]["count"])

    def test_the_watchdog_names_who_does_nothing(self):
        process = self.start("run", "word-count", "--input", TEXT, "--emit", "updates",
                             "--duration", "100s", "--output", "-", "--watchdog", "500ms")
        self.assertRegex(process.stderr.readline(), b"no progress for 0.5 s: .*count")

    def test_bench(self):
        result = self.strid("bench", "spike-detection", "--duration", "100ms", "--rounds", "1",
                            "--lines", "20000", "--data", TEXT.parents[2])
        text = result.stdout.decode()
        self.assertIn("of by hand", text)
        self.assertNotIn("word-count", text)
        self.strid("bench", "spike-detection", "--duration", "50ms", "--rounds", "1", "--lines",
                   "0", "--data", TEXT.parents[2])

    def test_bench_says_what_it_cannot_draw_from(self):
        empty = self.folder / "spike-detection" / "data" / "readings.csv"
        empty.parent.mkdir(parents=True)
        empty.touch()
        line = self.fails("bench", "spike-detection", "--data", self.folder, code=1)
        self.assertIn("readings.csv has no line to draw", line)


if __name__ == "__main__":
    unittest.main()

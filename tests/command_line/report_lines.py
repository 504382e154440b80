#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--metrics FILE --metrics-every TIME: lines of JSON while a run goes on. The figures are compared
with the number of rows that the test has written.

    report_lines.py CLASS...
"""
import datetime
import json
import os
import resource
import signal
import time
import unittest

from command_line import Case

ASK = ["window", "--quiet", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count"]
TIMEOUT_S = 60


def rows(first, count):
    return "".join(f"{at}\n" for at in range(first, first + count)).encode()


class ReportLines(Case):
    def lines(self, path):
        """Every line that the file has now; each must be a whole document."""
        return [json.loads(line) for line in path.read_text().splitlines()]

    def until(self, holds):
        deadline = time.monotonic() + TIMEOUT_S
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def feed(self, process, data):
        process.stdin.write(data)
        process.stdin.flush()

    def seen(self, path, count):
        return any(line["records_in"] == count for line in self.lines(path))

    def test_lines_rise_while_the_run_goes_on_and_end_with_the_totals(self):
        path = self.folder / "metrics.jsonl"
        begin = datetime.datetime.now(datetime.timezone.utc)
        process = self.start(*ASK, "--metrics", path, "--metrics-every", "20ms")
        self.feed(process, b"at\n" + rows(0, 3000))
        self.until(lambda: path.exists() and self.seen(path, 3000))
        self.feed(process, rows(3000, 1234))
        self.until(lambda: self.seen(path, 4234))
        self.assertIn("strid-metrics", self.threads(process))
        process.stdin.write(rows(4234, 66))
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(len(out.splitlines()), 1 + 5)
        lines = self.lines(path)
        self.assertEqual([line["running"] for line in lines], [True] * (len(lines) - 1) + [False])
        for figure in ("records_in", "seconds", "time"):
            values = [line[figure] for line in lines]
            self.assertEqual(values, sorted(values), figure)
        self.assertEqual(lines[-1]["records_in"], 4300)
        self.assertEqual(lines[-1]["records_out"], 5)
        self.assertEqual(lines[-1]["graph"], "window")
        self.assertGreater(lines[-1]["resident_bytes"], 1_000_000)
        end = datetime.datetime.now(datetime.timezone.utc)
        for line in lines:
            at = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
            self.assertLess(begin - datetime.timedelta(milliseconds=2), at)
            self.assertLess(at, end)

    def test_without_it_there_is_one_document_at_the_end_and_no_thread(self):
        path = self.folder / "metrics.json"
        process = self.start(*ASK, "--metrics", path)
        self.feed(process, b"at\n" + rows(0, 10))
        self.until_signals_are_caught(process)
        self.assertNotIn("strid-metrics", self.threads(process))
        self.assertFalse(path.exists())
        process.communicate(timeout=TIMEOUT_S)
        [line] = self.lines(path)
        self.assertEqual(next(iter(line)), "graph")
        self.assertEqual(line["records_in"], 10)

    def test_a_short_run_has_its_last_line_and_replaces_the_file(self):
        path = self.file("metrics.jsonl", '{"records_in":77}\n' * 3)
        for count in (5, 6):
            self.strid(*ASK, "--metrics", path, "--metrics-every", "1h",
                       input=b"at\n" + rows(0, count))
            [line] = self.lines(path)
            self.assertEqual((line["records_in"], line["running"]), (count, False))

    def test_a_run_that_cannot_start_leaves_the_lines_of_the_one_before(self):
        path = self.file("metrics.jsonl", "{}\n")
        self.strid(*ASK, "--metrics", path, "--metrics-every", "1h",
                   "--input", self.folder / "absent.csv", code=1)
        self.assertEqual(path.read_text(), "{}\n")

    def test_runs_append_to_a_descriptor_of_the_shell(self):
        path = self.folder / "all.jsonl"
        for count in (5, 6):
            with open(path, "ab") as file:
                self.strid(*ASK, "--metrics", f"/dev/fd/{file.fileno()}", "--metrics-every", "1h",
                           input=b"at\n" + rows(0, count), pass_fds=[file.fileno()])
        self.assertEqual([line["records_in"] for line in self.lines(path)], [5, 6])

    def test_a_signal_and_a_failure_end_with_a_line(self):
        path = self.folder / "metrics.jsonl"
        process = self.start(*ASK, "--metrics", path, "--metrics-every", "10ms")
        self.feed(process, b"at\n" + rows(0, 40))
        self.until(lambda: path.exists() and self.seen(path, 40))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT_S), 128 + signal.SIGTERM)
        last = self.lines(path)[-1]
        self.assertEqual((last["records_in"], last["running"]), (40, False))
        self.fails(*ASK, "--metrics", path, "--metrics-every", "1h", code=1, input=b"at\n1\nx\n")
        [last] = self.lines(path)
        self.assertFalse(last["running"])

    def test_a_full_disk_is_a_warning_and_the_run_goes_on(self):
        process = self.start(*ASK, "--metrics", "/dev/full", "--metrics-every", "10ms")
        self.feed(process, b"at\n" + rows(0, 40))
        time.sleep(0.2)
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(out, b"window_start,window_end,count\n0,1000,40\n")
        [warning] = err.splitlines()
        self.assertTrue(warning.startswith(b"strid: warning: --metrics: /dev/full: "), warning)
        self.assertIn(b"No space left", warning)

    def test_a_file_that_may_not_grow_has_whole_lines(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

        path = self.folder / "metrics.jsonl"
        process = self.start(*ASK, "--metrics", path, "--metrics-every", "5ms", preexec_fn=limit)
        self.feed(process, b"at\n" + rows(0, 40))
        self.assertIn(b"File too large", process.stderr.readline())
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(out, b"window_start,window_end,count\n0,1000,40\n")
        lines = self.lines(path)
        self.assertGreater(len(lines), 1)
        self.assertTrue(path.read_bytes().endswith(b"}\n"))

    def test_a_pipe_that_nothing_reads_delays_the_end_by_little(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        begin = time.monotonic()
        result = self.strid(*ASK, "--metrics", path, "--metrics-every", "10ms",
                            input=b"at\n" + rows(0, 4))
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn(b"nothing reads it", result.stderr)

    def test_standard_output_is_for_lines_or_for_results(self):
        every = ["--metrics", "-", "--metrics-every", "1h"]
        line = self.fails(*ASK, *every, code=2, input=b"at\n1\n")
        self.assertIn("--metrics - with --metrics-every", line)
        result = self.strid(*ASK, *every, "--output", self.folder / "rows.csv", input=b"at\n1\n")
        self.assertEqual(json.loads(result.stdout)["records_in"], 1)

    def test_mistakes(self):
        self.assertIn("--metrics-every needs --metrics",
                      self.fails(*ASK, "--metrics-every", "1s", code=2, input=b"at\n"))
        for text in ("0", "0s", "10", "1us", "", "soon", "-1s"):
            with self.subTest(text):
                self.fails(*ASK, "--metrics", self.folder / "m", f"--metrics-every={text}", code=2,
                           input=b"at\n")
        self.fails(*ASK, "--metrics", self.folder / "no/m", "--metrics-every", "1s", code=1,
                   input=b"at\n")
        path = self.file("rows.csv", "at\n1\n")
        self.assertIn("reads", self.fails(*ASK, "--input", path, "--metrics", path,
                                          "--metrics-every", "1s", code=2))
        self.assertEqual(path.read_text(), "at\n1\n")


if __name__ == "__main__":
    unittest.main()

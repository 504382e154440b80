# SPDX-License-Identifier: Apache-2.0
"""Readers that do not come, do not read or leave; signals wherever a run waits; exit statuses."""

import os
import signal
import time
import unittest

from bundled import TEXT
from command_line import Case

ENDLESS = ["run", "word-count", "--input", TEXT, "--emit", "updates", "--duration", "100s",
           "--quiet", "--output"]
SLACK_S = 20  # for a machine with much else to do; a run that waits for ever takes longer


class WaitsCase(Case):
    def setUp(self):
        super().setUp()
        self.pipe = self.folder / "pipe"
        os.mkfifo(self.pipe)

    def ends_by_two_signals(self, process, number=signal.SIGINT):
        self.until_signals_are_caught(process)
        time.sleep(0.5)
        self.assertIsNone(process.poll(), "the run was to wait")
        process.send_signal(number)
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "one signal drains, for which a reader is missing")
        begin = time.monotonic()
        process.send_signal(number)
        # In Python a process that a signal ended has its number as a negative status.
        self.assertIn(process.wait(timeout=SLACK_S), [128 + number, -number])
        return time.monotonic() - begin


class Waits(WaitsCase):
    def test_a_pipe_that_is_never_opened(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            for run in [["run", "word-count", "--input", TEXT, "--output", self.pipe], ENDLESS +
                        [self.pipe]]:
                self.ends_by_two_signals(self.start(*run), number)

    def test_a_standard_output_that_is_never_read(self):
        self.ends_by_two_signals(self.start(*ENDLESS, "-"))
        self.ends_by_two_signals(self.start(*ENDLESS, "/dev/stdout"))

    def test_other_outputs_that_are_never_read(self):
        table = self.file("t.csv", "t,x\n9000,1\n1000,1\nx,x\n")
        window = ["window", "--quiet", "--input", table, "--time", "t", "--window", "tumbling:1s",
                  "--aggregate", "sum(x)", "--output", "/dev/null"]
        for option in ["--late", "--dead-letter"]:
            more = [] if option == "--dead-letter" else ["--skip-malformed"]
            self.ends_by_two_signals(self.start(*window, *more, option, self.pipe))
        self.ends_by_two_signals(self.start("run", "spike-detection", "--input",
                                            self.file("bad", "x,y\n" * 100000), "--quiet",
                                            "--output", "/dev/null", "--dead-letter", self.pipe))

    def test_a_reader_that_comes_late(self):
        process = self.start("run", "word-count", "--input", self.file("words", "a b a"),
                             "--output", self.pipe, "--quiet")
        time.sleep(1)
        with open(self.pipe, "rb") as reader:
            self.assertEqual(sorted(reader.read().split()), [b"a,2", b"b,1"])
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_reader_of_nothing_sees_the_end(self):
        process = self.start("run", "word-count", "--input", "/dev/null", "--output", self.pipe,
                             "--quiet")
        time.sleep(0.5)
        with open(self.pipe, "rb") as reader:
            self.assertEqual(reader.read(), b"")
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_reader_that_leaves(self):
        process = self.start(*ENDLESS, self.pipe)
        with open(self.pipe, "rb") as reader:
            reader.readline()
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(err.decode(),
                         f"strid: error: operator 'write': {self.pipe}: cannot write: what read "
                         "it has closed it (Broken pipe)\n")

    def test_a_slow_reader_gets_everything(self):
        source = self.file("words", "".join(f"w{i}\n" for i in range(60000)))
        for output in ["-", "/dev/stdout"]:
            process = self.start("run", "word-count", "--input", source, "--output", output,
                                 "--quiet")
            rows = b""
            while piece := os.read(process.stdout.fileno(), 30000):
                rows += piece
                time.sleep(0.01)
            self.assertEqual(process.wait(timeout=60), 0)
            self.assertEqual(sorted(rows.splitlines()),
                             sorted(b"w%d,1" % i for i in range(60000)))

    def test_a_hang_up_leaves_whole_lines(self):
        result = self.folder / "result"
        process = self.start("run", "word-count", "--input", TEXT, "--emit", "updates",
                             "--duration", "100s", "--output", result, "--write", "live",
                             "--quiet")
        deadline = time.monotonic() + 60
        while not (result.exists() and result.stat().st_size > 0):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGHUP)
        self.assertTrue(result.read_bytes().endswith(b"\n"))

    def test_zero_on_sigterm(self):
        for number, option, status in [(signal.SIGTERM, ["--zero-on-sigterm"], 0),
                                       (signal.SIGINT, ["--zero-on-sigterm"], 130),
                                       (signal.SIGTERM, [], 143)]:
            process = self.start("run", "word-count", "--quiet", *option)
            process.stdin.write(b"one two\n")
            process.stdin.flush()
            self.until_workers_run(process)
            time.sleep(0.5)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, err)
            self.assertEqual(sorted(out.split()), [b"one,1", b"two,1"])
        process = self.start(*ENDLESS, self.pipe, "--zero-on-sigterm")
        self.until_signals_are_caught(process)
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        self.assertIn(process.wait(timeout=SLACK_S), [143, -signal.SIGTERM])


class WholeNumbers(Case):
    """Options that take a number take numbers only; empty ones are refused."""

    def test_whole_numbers(self):
        word_count = ["run", "word-count", "--input", TEXT]
        readings = self.file("r.csv", "1,2\n")
        spikes = ["run", "spike-detection", "--input", readings]
        for run, option in [(word_count, "--seed"), (word_count, "--workers"),
                            (spikes, "--window"), (["bench"], "--rounds"), (["bench"], "--lines"),
                            (["bench"], "--workers")]:
            for text in ["-1", "0.5", "1e3", "0x10", "1'000", " 1", "99999999999999999999999",
                         "nan", "many"]:
                line = self.fails(*run, f"{option}={text}", code=2)
                self.assertIn(option, line)
                self.assertIn("is not a whole number", line)
        self.fails(*spikes, "--window", "0", code=2)
        self.strid(*word_count, "--seed", "18446744073709551615", "--output", "/dev/null")

    def test_decimals(self):
        readings = self.file("r.csv", "1,2\n")
        for text in ["nan", "inf", "0x1p3", "1,5", "1e999", "much"]:
            line = self.fails("run", "spike-detection", "--input", readings,
                              f"--threshold={text}", code=2)
            self.assertIn("is not a number", line)

    def test_records_to_generate(self):
        for text in ["0.5", "1.5", "1e30", "-1", "0.0001k", ""]:
            self.fails("run", "spike-detection", f"--generate={text}", code=2)
        result = self.strid("run", "spike-detection", "--generate", "1.5k", "--output",
                            "/dev/null")
        self.assertIn(b"in        1,500 records", result.stderr)

    def test_what_is_replayed_has_a_bound(self):
        line = self.fails("run", "spike-detection", "--generate", "100000G", "--duration", "1s",
                          code=2)
        self.assertIn("in memory", line)

    def test_empty_values(self):
        table = self.file("t.csv", "t,x\n1000,1\n")
        window = ["window", "--input", table, "--time", "t", "--window", "tumbling:1s",
                  "--aggregate", "count"]
        for option in ["--key", "--late", "--output", "--dead-letter", "--metrics"]:
            line = self.fails(*window, option, "", code=2)
            self.assertIn(option, line)
            self.assertIn("empty", line)
            self.assertIn(option, self.fails(*window, f"{option}=", code=2))
        for option in ["--input", "--output", "--graph"]:
            self.assertIn("empty", self.fails("run", "word-count", option, "", code=2))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of `strid window` that fall silent, are merged, are followed, or stop: no row that could
be read before the clock moved on is late, and none that waits at a stop is lost.

    silent_inputs.py CLASS...
"""
import os
import signal
import threading
import time

from command_line import side_by_side
from live_windows import PLAIN, LiveCase


class SilentInputs(LiveCase):
    """Pipes with rows by the clock, of which one falls silent."""

    def merged(self, *options):
        names = [str(self.folder / name) for name in "ab"]
        for name in names:
            os.mkfifo(name)
        process = self.start("window", "--input", *names, "--format", "csv", "--merge-inputs",
                             "--time", "t", "--window", "tumbling:500ms", "--aggregate", "count",
                             *options)
        pipes = [open(name, "wb", buffering=0) for name in names]
        for pipe in pipes:
            self.addCleanup(pipe.close)
            pipe.write(b"t,x\n")
        return process, pipes

    def counts(self, process):
        output, errors = process.communicate(timeout=60)
        counts = [int(line.rsplit(",", 1)[1]) for line in output.decode().splitlines()[1:]]
        return counts, errors.decode()

    def test_no_row_is_late_because_another_input_is_silent(self):
        for options in ([], ["--idle", "300ms"]):
            process, (a, b) = self.merged(*options)
            sent = 0
            for step in range(20):
                for pipe in (a, b) if step < 3 or step > 16 else (a,):
                    pipe.write(b"%d,1\n" % (time.monotonic_ns() // 1_000_000))
                    sent += 1
                time.sleep(0.1)
            a.close()
            b.close()
            counts, errors = self.counts(process)
            self.assertEqual(sum(counts), sent, errors)
            self.assertNotIn("late ", errors)
            for name in "ab":
                os.unlink(self.folder / name)

    def test_rows_are_held_back_no_longer_than_the_silence(self):
        process, (a, b) = self.merged("--idle", "200ms")
        wait = self.reader(process)
        for pipe in (a, b):
            pipe.write(b"100000,1\n")
        a.write(b"100600,1\n101200,1\n103000,1\n")
        # b says nothing: its clock is behind 101200 when 1.4 s are over, and behind 103000 later.
        wait(lambda line: line == "100000,100500,2", 10)
        lines = wait(lambda line: line == "100500,101000,1", 10)
        self.assertNotIn("103000,103500,1", lines)
        a.close()
        b.close()
        wait(lambda line: line == "103000,103500,1", 10)
        process.wait(timeout=60)

    def test_rows_that_came_while_the_program_was_stopped(self):
        process = self.start("window", *PLAIN, "--window", "tumbling:1s", "--aggregate", "count",
                             "--idle", "200ms")
        wait = self.reader(process)
        process.stdin.write(b"k,t\na,100\n")
        process.stdin.flush()
        wait(lambda line: line == "a,100,101,1")
        process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        # All of them lie behind the clock by more than --idle when they are read.
        process.stdin.write(b"".join(b"a,%d\n" % t for t in range(102, 130)))
        process.stdin.flush()
        process.send_signal(signal.SIGCONT)
        wait(lambda line: line == "a,128,129,1")
        process.stdin.close()
        process.wait(timeout=60)
        self.assertNotIn(b"late ", process.stderr.read())

    def test_rows_that_wait_when_the_program_is_stopped_for_good(self):
        # It gets the signal with the rows that came before it.
        process = self.start("window", *PLAIN, "--window", "tumbling:1s", "--aggregate", "count")
        wait = self.reader(process)
        self.until_signals_are_caught(process)
        process.stdin.write(b"k,t\na,1\na,2\n")
        process.stdin.flush()
        wait(lambda line: line == "a,1,2,1")
        process.send_signal(signal.SIGSTOP)
        rows = 5000
        process.stdin.write(b"".join(b"a,%d\n" % (10_000 + t) for t in range(rows)))
        process.stdin.write(b"a,9")  # a row that is not whole
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        lines = wait(lambda line: line == f"a,{9_999 + rows},{10_000 + rows},1")
        self.assertEqual(len(lines), 3 + rows)
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"skipped   1 malformed record", process.stderr.read())

    def test_rows_that_wait_in_merged_inputs_at_the_stop(self):
        process, (a, b) = self.merged()
        wait = self.reader(process)
        self.until_signals_are_caught(process)
        a.write(b"1000,1\n2000,1\n")
        b.write(b"1100,1\n2100,1\n")
        wait(lambda line: line == "1000,1500,2")
        a.write(b"".join(b"%d,1\n" % t for t in range(3000, 6000)))
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        wait(lambda line: line == "5500,6000,500")
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 130)

    def test_a_reader_that_stalls_makes_no_row_late(self):
        # The output is full for a while: rows wait in the pipe, and that is no silence.
        process = self.start("window", *PLAIN, "--window", "tumbling:1s", "--aggregate", "count",
                             "--idle", "100ms")
        count = 60_000
        feeder = threading.Thread(target=lambda: (
            process.stdin.write(b"k,t\n" + b"".join(b"a,%d\n" % t for t in range(count))),
            process.stdin.close()))
        feeder.start()
        time.sleep(1.5)
        output = process.stdout.read()
        feeder.join()
        process.wait(timeout=60)
        self.assertEqual(len(output.splitlines()), count + 1)
        self.assertNotIn(b"late ", process.stderr.read())


class FollowedFiles(LiveCase):
    """A file that grows, is renamed and made anew, and is truncated, as logs are."""

    def test_every_row_comes_once(self):
        path = self.folder / "log.csv"
        path.write_text("t,x\n1,1\n2,2\n3,")
        process = self.start("window", "--follow", str(path), "--time", "t", "--unit", "s",
                             "--window", "tumbling:1s", "--aggregate", "sum(x)")
        wait = self.reader(process)
        wait(lambda line: line == "1,2,1")

        def append(text, to=path):
            with open(to, "a", encoding="ascii") as file:
                file.write(text)

        append("4\n4,8\n")  # the rest of a line
        wait(lambda line: line == "3,4,4")
        old = self.folder / "log.csv.1"
        path.rename(old)
        append("5,16\n", old)  # by a program that has not opened the new one yet
        wait(lambda line: line == "4,5,8")
        path.write_text("t,x\n6,32\n7,64\n")
        append("5,1000", old)  # and its last line is not whole
        wait(lambda line: line == "6,7,32")
        with open(path, "w", encoding="ascii") as file:  # truncated
            file.write("t,x\n8,1\n")
        wait(lambda line: line == "7,8,64")
        append("9,2\n")
        wait(lambda line: line == "8,9,1")
        append("10,4\n")
        wait(lambda line: line == "9,10,2")
        process.send_signal(signal.SIGINT)
        lines = wait(lambda line: line == "10,11,4")
        self.assertEqual(lines[1:], ["1,2,1", "2,3,2", "3,4,4", "4,5,8", "5,6,1016", "6,7,32",
                                     "7,8,64", "8,9,1", "9,10,2", "10,11,4"])
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 130)

    def test_two_that_are_merged(self):
        paths = [self.folder / name for name in ("a.csv", "b.csv")]
        for path, row in zip(paths, ("1,1", "1,2")):
            path.write_text(f"t,x\n{row}\n")
        process = self.start("window", "--follow", *map(str, paths), "--merge-inputs", "--time",
                             "t", "--unit", "s", "--window", "tumbling:1s", "--aggregate", "sum(x)")
        wait = self.reader(process)
        for path in paths:
            with open(path, "a", encoding="ascii") as file:
                file.write("2,4\n3,8\n")
        wait(lambda line: line == "2,3,8")
        process.send_signal(signal.SIGINT)
        wait(lambda line: line == "3,4,16")
        process.wait(timeout=60)

    def test_what_makes_no_sense(self):
        ask = ["--time", "t", "--window", "tumbling:1s", "--aggregate", "count"]
        self.assertIn("cannot open", self.fails("window", "--follow", "nowhere", *ask, code=1))
        self.assertIn("no regular file", self.fails("window", "--follow", "/dev/null", *ask,
                                                    code=1))
        path = self.file("a.csv", "t\n")
        self.assertIn("--merge-inputs", self.fails("window", "--follow", path, "--input", path,
                                                   *ask, code=2))
        self.assertIn("name another file",
                      self.fails("window", "--follow", path, *ask, "--output", path, code=2))


if __name__ == "__main__":
    side_by_side.main()

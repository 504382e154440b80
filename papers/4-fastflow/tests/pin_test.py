# SPDX-License-Identifier: Apache-2.0
"""--pin of the program that the environment names: while it runs, each worker may run
on one processor alone; without the option on several. Read in /proc."""

import os
import pathlib
import random
import subprocess
import time
import unittest

from program import PROGRAM, SANITIZED, Case

NAME = pathlib.Path(PROGRAM).name.removeprefix("strid-")
WORKERS = 2
DECAY = "species A = 1000, B = 0\ndecay: A -> B @ 0.001\n"


def frames(count):
    """A film of grey noise."""
    draw = random.Random(1)
    film = b"YUV4MPEG2 W32 H32 F25:1 Ip Cmono\n"
    for _ in range(count):
        film += b"FRAME\n" + bytes(draw.randrange(256) for _ in range(32 * 32))
    return film


def processors(status):
    """How many processors a thread may run on."""
    for line in status.read_text().splitlines():
        if line.startswith("Cpus_allowed_list:"):
            ranges = [part.split("-") for part in line.split(":")[1].strip().split(",")]
            return sum(int(part[-1]) - int(part[0]) + 1 for part in ranges)
    raise AssertionError(f"{status} has no list of processors")


def worker_threads(process):
    """For each thread that works, which its name says: how many processors it may run on."""
    found = []
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        try:
            if (task / "comm").read_text().startswith("strid-w"):
                found.append(processors(task / "status"))
        except FileNotFoundError:  # it has ended
            pass
    return found


class Pin(Case):
    def command(self):
        """Arguments with which the program waits for more input, and what comes first; of ssa, with
        which it is at work for long."""
        if NAME == "align":
            (self.folder / "query.fasta").write_text(">one\nMKVLAAGIVGLCAKAYLEHH\n")
            return [self.folder / "query.fasta", "-"], b">two\nMKVLAAGIVGLCAKAYLEHH\n"
        if NAME == "compress":
            return ["-c"], b"a line that is repeated\n" * 1000
        if NAME == "denoise":
            return ["-", "--output", self.folder / "out.y4m"], frames(3)
        if NAME == "ssa":
            (self.folder / "decay.txt").write_text(DECAY)
            return ["--until", "100000", "--runs", "100000000", self.folder / "decay.txt"], b""
        return ["learn", "--input", "-", "--target", "play"], b"wind,play\n1,yes\n2,no\n"

    def threads_of(self, *options):
        arguments, begin = self.command()
        if arguments[0] == "learn":
            options = ["learn", *options]
            arguments = arguments[1:]
        words = [PROGRAM, *options, "--workers", WORKERS, *arguments]
        process = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.stdin.write(begin)
            process.stdin.flush()
            steady = []
            for _ in range(400):  # up to 20 seconds
                time.sleep(0.05)
                self.assertIsNone(process.poll(), "it has ended early")
                # A thread is placed by itself, once it runs.
                now = worker_threads(process)
                if now and now == steady:
                    return now
                steady = now
            self.fail("its threads did not start")
        finally:
            process.kill()
            process.stdin.close()
            process.stderr.close()
            process.wait()

    def test_threads_stay_where_they_are(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: every thread is on it")
        if SANITIZED:
            self.skipTest("a sanitizer has threads of its own")
        pinned = self.threads_of("--pin")
        self.assertEqual(set(pinned), {1}, pinned)
        self.assertGreaterEqual(len(pinned), WORKERS - 1)
        free = self.threads_of()
        self.assertNotIn(1, free)

    def test_refused(self):
        code = 1 if NAME == "compress" else 2  # as bzip2
        command = ["learn"] if NAME == "tree" else []
        files = {"align": ["-", "-"], "ssa": ["--until", "1", "-"],
                 "tree": ["--target", "play"]}.get(NAME, ["-"])
        for word in ["--pin=maybe", "--pin=3"]:
            error = self.fails(*command, word, *files, code=code)
            self.assertIn("pin was given a disallowed flag override", error)

    def test_help(self):
        command = ["learn"] if NAME == "tree" else []
        text = self.run_program(*command, "--help").stdout.decode()
        self.assertIn("--pin", text)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the command line: running `strid`.

The environment names the program under test (STRID) and the project (STRID_SOURCE).
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

STRID = os.environ["STRID"]
SOURCE = pathlib.Path(os.environ["STRID_SOURCE"])
APPS = SOURCE / "apps"
sys.path += [str(APPS), str(SOURCE / "tests/support")]
import side_by_side  # noqa: E402, F401  (for those that wait)
from compare import differences_of  # noqa: E402
TIMEOUT_S = 100


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def strid(self, *arguments, code=0, **options):
        """Runs to the end; checks the exit code and that standard error is no progress line."""
        result = subprocess.run(
            [STRID, *map(str, arguments)], capture_output=True, timeout=TIMEOUT_S, **options
        )
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr[-2000:]!r}")
        self.assertNotIn(b"\r", result.stderr)
        return result

    def fails(self, *arguments, code, **options):
        """Runs what must fail with one line of error; returns the line."""
        result = self.strid(*arguments, code=code, **options)
        lines = result.stderr.decode(errors="replace").splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("strid: error: "), lines)
        return lines[0]

    def start(self, *arguments, **options):
        """Starts, for tests that talk to the program; killed at the end of the test."""
        pipes = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
        process = subprocess.Popen([STRID, *map(str, arguments)], **{**pipes, **options})
        self.addCleanup(self.finish, process)
        return process

    def until_signals_are_caught(self, process):
        """A program that is still being loaded has none of its handlers."""
        deadline = time.monotonic() + 60
        mask = 0
        while not mask >> (signal.SIGINT - 1) & 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                mask = next(int(line.split()[1], 16) for line in status
                            if line.startswith("SigCgt"))

    def until_workers_run(self, process):
        """Its options were read, its input opened, and its graph has begun."""
        deadline = time.monotonic() + 60
        while "strid-w0" not in self.threads(process):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
            time.sleep(0.01)

    @staticmethod
    def threads(process):
        """The names of its threads."""
        names = []
        for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
            try:
                names.append((task / "comm").read_text().strip())
            except OSError:  # it has ended meanwhile
                pass
        return names

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.kill()
        for stream in [process.stdin, process.stdout, process.stderr]:
            if stream is not None:
                stream.close()
        process.wait()

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def same_answer(self, expected, actual, key_order=0):
        """Compares two CSV files regardless of the order of rows, or of keys."""
        differences = differences_of(expected, actual, key_order)
        self.assertFalse(differences, "\n".join(differences[:5]))

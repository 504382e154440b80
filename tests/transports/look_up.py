# SPDX-License-Identifier: Apache-2.0
"""The program look_up.cpp, whose table of numbers and names is one of a database."""

import subprocess
import unittest
from pathlib import Path

from transport_case import STRID, TIMEOUT_S, TransportCase

PROGRAM = Path(STRID).parents[1] / "tests/transports/look_up"


class LookUpCase(TransportCase):
    def setUp(self):
        if not PROGRAM.exists():
            raise unittest.SkipTest("look_up is not built")
        super().setUp()

    def fault(self, address: str, *how: str) -> str:
        """The error of a program that cannot begin."""
        run = subprocess.run([PROGRAM, address, *how], cwd=self.folder, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr

    def begin(self, address: str, *how: str) -> None:
        self.run_ = subprocess.Popen([PROGRAM, address, *how], cwd=self.folder, text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
        self.addCleanup(self.run_.communicate)
        self.addCleanup(self.run_.kill)

    def name(self, number: int) -> str:
        self.run_.stdin.write(f"{number}\n")
        self.run_.stdin.flush()
        return self.run_.stdout.readline().rstrip("\n")

    def reported(self) -> str:
        """Waits for a failure."""
        return self.run_.stderr.readline()

    def end(self) -> str:
        """The failures that were not waited for."""
        _, failures = self.run_.communicate(timeout=TIMEOUT_S)
        self.assertEqual(self.run_.returncode, 0, failures)
        return failures

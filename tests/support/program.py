# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the programs: running the one that the environment names
(PROGRAM)."""

import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["PROGRAM"]
SOURCE = pathlib.Path(os.environ["STRID_SOURCE"])
TIMEOUT_S = 100
# A sanitizer's build takes several times the memory.
SANITIZED = any(
    name in pathlib.Path(PROGRAM).read_bytes() for name in (b"__asan_init", b"__tsan_init")
)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def needs_package(self, name):
        """Skips the test where a Python package is missing (scripts/install-dependencies --ci)."""
        if importlib.util.find_spec(name) is None:
            self.skipTest(f"the Python package {name} is not installed")

    def run_program(self, *arguments, code=0, **options):
        """Runs to the end; checks the exit code and that standard error is no progress line."""
        result = subprocess.run(
            [PROGRAM, *map(str, arguments)], capture_output=True, timeout=TIMEOUT_S, **options
        )
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr[-2000:]!r}")
        self.assertNotIn(b"\r", result.stderr)
        return result

    def fails(self, *arguments, code=1, **options):
        """Runs what must fail with one line of error; returns the line."""
        result = self.run_program(*arguments, code=code, **options)
        lines = result.stderr.decode(errors="replace").splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("strid: error: "), lines)
        return lines[0]

# SPDX-License-Identifier: Apache-2.0
"""Inputs of `strid run` that are no plain file; those of `strid window` have tests of their own."""

import bz2
import lzma
import socket
import subprocess
import time
import unittest

from bundled import TEXT
from command_line import STRID, TIMEOUT_S, Case
from sockets import free_port


def client(address):
    """Connects as soon as something listens there."""
    until = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return socket.create_connection(address)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


class InputsOfRuns(Case):
    def test_words(self):
        raw = TEXT.read_bytes()[:200_000]
        plain = self.strid("run", "word-count", "--quiet", "--input", self.file("t", raw)).stdout
        for packed in (lzma.compress(raw), bz2.compress(raw)):
            done = self.strid("run", "word-count", "--quiet", "--input", self.file("t.x", packed))
            self.assertEqual(sorted(done.stdout.splitlines()), sorted(plain.splitlines()))

    def test_a_header_in_an_application_that_expects_none(self):
        path = self.file("with_header.csv", "device,value\n1,2\n")
        done = subprocess.run([STRID, "run", "spike-detection", "--input", path],
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("with_header.csv:1: field 1: not an integer: \"device\" (line 1 looks like a "
                      "header", done.stderr)

    def test_words_are_counted_from_a_socket(self):
        port = free_port()
        process = self.start("run", "word-count", "--input", f"tcp-listen://127.0.0.1:{port}",
                             "--quiet")
        peer = client(("127.0.0.1", port))
        peer.sendall(b"to be or not to be\n")
        peer.close()
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(b"to", out)


if __name__ == "__main__":
    unittest.main()

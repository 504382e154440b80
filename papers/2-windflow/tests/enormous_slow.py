# SPDX-License-Identifier: Apache-2.0
"""Inputs far larger than memory should ever be: counted to the last word in flat memory.

1 GiB each, or as many as STRID_ENORMOUS_GIB says: through a named pipe, through standard input,
from a gzip and from a zstd file of many members. The counts are the oracle's of a short text, times
how often that comes.
"""

import os
import subprocess
import threading
import unittest

from bundled import PAPER, TEXT
from command_line import STRID, Case

TOTAL_BYTES = int(float(os.environ.get("STRID_ENORMOUS_GIB", "1")) * 2**30)
UNIT_BYTES = 12_000  # less than the window of gzip, so that what repeats it packs well
UNITS_PER_PIECE = 400
RESIDENT_KIB_MAX = 128 * 1024


class Enormous(Case):
    def setUp(self):
        super().setUp()
        text = TEXT.read_bytes()
        unit = text[: text.rindex(b"\n", 0, UNIT_BYTES) + 1]
        self.piece = unit * UNITS_PER_PIECE
        self.pieces = TOTAL_BYTES // len(self.piece) + 1
        self.counts = self.folder / "counts.csv"
        counted = subprocess.run(
            ["awk", "-v", "updates=0", "-f", PAPER / "word-count/oracle.awk",
             self.file("unit.txt", unit)],
            capture_output=True, check=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
        times = UNITS_PER_PIECE * self.pieces
        rows = (row.rsplit(b",", 1) for row in counted.stdout.splitlines())
        self.expected = self.file("expected.csv", b"".join(
            b"%s,%d\n" % (word, int(count) * times) for word, count in rows))

    def write_pieces(self, target):
        with target as file:
            for _ in range(self.pieces):
                file.write(self.piece)

    def is_counted(self, source, stdin=subprocess.DEVNULL, feed=None):
        """Runs word-count over what `feed` writes meanwhile; the answer is right, memory small."""
        process = subprocess.Popen(
            [STRID, "run", "word-count", "--input", source, "--output", self.counts],
            stdin=stdin, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        if feed is not None:
            feeder = threading.Thread(target=feed, args=(process,))
            feeder.start()
            self.addCleanup(feeder.join)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, process.stderr.read())
        self.same_answer(self.expected, self.counts)
        self.assertLess(usage.ru_maxrss, RESIDENT_KIB_MAX)

    def packed(self, name, *command):
        member = subprocess.run(command, input=self.piece, capture_output=True, check=True).stdout
        path = self.folder / name
        with path.open("wb") as file:
            for _ in range(self.pieces):
                file.write(member)
        return path

    def test_a_named_pipe(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        self.is_counted(path, feed=lambda _: self.write_pieces(path.open("wb")))

    def test_standard_input(self):
        self.is_counted("-", stdin=subprocess.PIPE,
                        feed=lambda process: self.write_pieces(process.stdin))

    def test_gzip(self):
        self.is_counted(self.packed("text.gz", "gzip", "-c"))

    def test_zstd(self):
        self.is_counted(self.packed("text.zst", "zstd", "-c"))


if __name__ == "__main__":
    unittest.main()

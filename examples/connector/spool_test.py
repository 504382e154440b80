# SPDX-License-Identifier: Apache-2.0
"""The spool: rows go from a file to a spool, and from there to another one, and are the same; also
where the program is killed at random moments, because each row has its effect once.

    spool_test.py PROGRAM
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())
SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
ROWS = 200_000
KILLS = 6
TIMEOUT_S = 60


class Spool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.random = random.Random(SEED)
        self.rows = [f"{i},{self.random.randrange(1_000)}\n" for i in range(ROWS)]
        (self.folder / "in.csv").write_text("".join(self.rows))

    def begun(self, source: str, target: str, *options: str) -> subprocess.Popen:
        run = subprocess.Popen([PROGRAM, "--from", source, "--to", target, *options],
                               cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def copied(self, source: str, target: str, *options: str) -> None:
        run = self.begun(source, target, *options)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, text)

    def in_spool(self, name: str) -> list[str]:
        """Its rows, in the order of its files."""
        files = sorted((self.folder / name).glob("*.csv"))
        return "".join(file.read_text() for file in files).splitlines(keepends=True)

    def test_rows_come_through_two_spools(self):
        self.copied("in.csv", "spool:a")
        self.copied("spool:a?until=end", "spool:b")
        self.copied("spool:b?until=end", "out.csv")
        self.assertEqual(self.in_spool("b"), self.rows)
        self.assertEqual((self.folder / "out.csv").read_text(), "".join(self.rows))

    def test_each_row_is_there_once_after_kills(self):
        self.copied("in.csv", "spool:a", "--snapshots", "first", "--snapshot-every", "5ms")
        killed = 0
        while True:
            run = self.begun("spool:a?until=end", "spool:b", "--snapshots", "state",
                             "--snapshot-every", "5ms")
            if killed < KILLS:
                time.sleep(self.random.uniform(0.01, 0.1))
                run.kill()
            _, text = run.communicate(timeout=TIMEOUT_S)
            if run.returncode == 0 or "has reached its end" in text:
                break
            self.assertEqual(run.returncode, -signal.SIGKILL, text)
            killed += 1
        print(f"{killed} kills")
        self.assertEqual(self.in_spool("a"), self.rows)
        self.assertEqual(self.in_spool("b"), self.rows)

    def test_files_are_waited_for(self):
        (self.folder / "a").mkdir()
        run = self.begun("spool:a", "spool:b", "--snapshots", "state", "--snapshot-every", "5ms")
        for number in (1, 2):
            hidden = self.folder / "hidden"
            hidden.write_text(self.rows[number])
            hidden.rename(self.folder / "a" / f"{number:020}.csv")
        deadline = time.monotonic() + TIMEOUT_S
        while self.in_spool("b") != self.rows[1:3]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, text)

    def test_files_of_others_stay(self):
        self.copied("in.csv", "spool:a")
        for name in ("readings.csv", "x.csv", "1.csv", f"{7:021}.csv"):
            (self.folder / "a" / name).write_text("other\n")
        self.copied("in.csv", "spool:a", "--snapshots", "state", "--snapshot-every", "5ms")
        finished = sorted((self.folder / "a").glob("[0-9]" * 20 + "[-.]*"))
        text = "".join(file.read_text() for file in finished)
        self.assertEqual(text.splitlines(keepends=True), self.rows * 2)
        (self.folder / "a").rename(self.folder / "b")
        self.copied("spool:b?until=end", "out.csv")
        self.assertEqual((self.folder / "out.csv").read_text(), text)

    def test_one_output_at_a_time(self):
        (self.folder / "a").mkdir()
        self.begun("spool:a", "spool:b", "--snapshots", "state")
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.folder / "b" / ".lock").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        time.sleep(0.2)
        other = self.begun("in.csv", "spool:b")
        _, text = other.communicate(timeout=TIMEOUT_S)
        self.assertNotEqual(other.returncode, 0)
        self.assertIn("another output writes this folder", text)

    def test_refusals(self):
        for source, reason in (("spool:none", "there is no such folder"),
                               ("spool:", "spool:FOLDER"),
                               ("spool:a?x=1", "there is no option 'x'")):
            run = self.begun(source, "out.csv")
            _, text = run.communicate(timeout=TIMEOUT_S)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(reason, text)


if __name__ == "__main__":
    print(f"STRID_SEED={SEED}")
    unittest.main()

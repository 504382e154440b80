#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid state` with snapshots of changes, which build on others
(tests/snapshots/snapshots_program.cpp).

    changed_states.py StateChanges
"""
import re
import shutil
import subprocess
import time
import unittest

from command_line import TIMEOUT_S
from states import StateCase


class StateChanges(StateCase):
    """Many keys, of which few change."""

    def setUp(self):
        super().setUp()
        many = "".join(f"key {i * 7919 % 100_003},{i},{i % 1000}\n" for i in range(100_000))
        few = "".join(f"key {i % 50},{100_000 + i},{i % 10}\n" for i in range(300_000))
        self.input = self.file("in.csv", many + few)

    def command(self, *options, snapshots=None):
        return super().command("--operator", "sums", *options, snapshots=snapshots)

    def chain(self):
        """The folder of a run that was killed behind two snapshots of changes or more."""
        process = subprocess.Popen(self.command("--rate", "100000", "--snapshot-every", "100ms"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIMEOUT_S
        while not self.has_small_changes():
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll(), "the run is over")
            time.sleep(0.05)
        process.kill()
        process.wait(TIMEOUT_S)
        lines = self.state("list", self.snapshots).splitlines()[1:]
        since = [re.search("  changes since ([0-9]+)$", line) for line in lines]
        numbers = [int(path.stem) for path in self.files()]
        whole = max(i for i, found in enumerate(since) if found is None)
        for i in range(whole + 1, len(since)):
            self.assertEqual(int(since[i].group(1)), numbers[i - 1])
        return self.files()[whole:]

    def has_small_changes(self):
        """Behind the last whole snapshot, and long before the next one. While the many keys come,
        there are larger ones."""
        if not self.files():
            return False
        lines = self.state("list", self.snapshots).splitlines()[1:]
        whole = max((i for i, line in enumerate(lines) if "changes" not in line), default=0)
        behind = lines[whole + 1:]
        small = [line for line in behind if re.search(r" [0-9,]{1,5}  changes since ", line)]
        return len(small) >= 2 and len(behind) <= 10

    def rows(self):
        return sorted(self.output.read_bytes().splitlines())

    def test_of_a_chain(self):
        chain = self.chain()
        self.assertGreaterEqual(len(chain), 3)
        self.assertLess(chain[-1].stat().st_size, chain[0].stat().st_size / 20)
        self.assertIn(f"\n         of tables by key what has changed since {chain[-2].name}\n",
                      self.state("show", self.snapshots))
        self.assertNotIn("has changed since", self.state("show", self.snapshots, "--number",
                                                         chain[0].stem))
        self.assertEqual(self.state("check", self.snapshots),
                         "".join(f"{path}: whole\n" for path in self.files()))

        # A copy needs no other file.
        copy = self.folder / "copy"
        self.state("save", self.snapshots, copy)
        self.assertEqual([path.name for path in copy.glob("*.snapshot")], [chain[-1].name])
        self.assertNotIn("changes since", self.state("list", copy))

        other = self.folder / "other"
        shutil.copytree(self.snapshots, other, ignore=shutil.ignore_patterns("requests"))
        self.state("delete", other, "--yes")
        self.assertEqual(list(other.glob("*.snapshot")), [])

        # All that build on a damaged one are damaged.
        self.damage(chain[-2], -1)
        fault = "the snapshot is damaged: a block does not have its checksum"
        checked = self.state("check", self.snapshots, code=1).splitlines()
        self.assertEqual(checked[-2:], [f"{chain[-2]}: {fault}",
                                        f"{chain[-1]}: it builds on {chain[-2].name}: {fault}"])
        self.assertTrue(all(line.endswith(": whole") for line in checked[:-2]), checked)
        self.assertIn(f"{chain[-1]}: it builds on {chain[-2].name}: {fault}",
                      self.fails("state", "save", self.snapshots, self.folder / "none", code=1))

        # A run goes on from the one before the damage.
        result = subprocess.run(self.command("--quiet"), check=True, timeout=TIMEOUT_S,
                                capture_output=True, text=True)
        self.assertIn(f"it builds on {chain[-2].name}: {fault}; the snapshot before it is taken",
                      result.stderr)
        rows = self.rows()
        self.assertEqual(len(rows), 400_000)
        self.output = self.folder / "anew.csv"
        subprocess.run([*self.command("--quiet", snapshots=self.folder / "anew")], check=True,
                       timeout=TIMEOUT_S)
        self.assertEqual(self.rows(), rows)


if __name__ == "__main__":
    unittest.main()

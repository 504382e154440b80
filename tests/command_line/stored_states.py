#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid state` and the checkpoints of RocksDB that snapshots name. The program is a test of
tests/rocksdb/graph_test.cpp, which is killed.

    stored_states.py CLASS...
"""
import fcntl
import os
import re
import shutil
import subprocess
import time
import unittest

from command_line import TIMEOUT_S, Case

PROGRAM = os.environ["STRID_STORED_PROGRAM"]


class StateStores(Case):
    def setUp(self):
        super().setUp()
        self.snapshots = self.folder / "snapshots"
        self.replicas = [self.folder / "states/histories/0", self.folder / "states/histories/1"]
        self.killed()

    def killed(self):
        """A run that has taken two snapshots at least. It leaves its databases."""
        process = subprocess.Popen(
            [PROGRAM, "--gtest_filter=StoredGraphs.RunOfAnotherProcess"],
            env={**os.environ, "STRID_STORED_GRAPH_FOLDER": f"{self.folder}/",
                 "STRID_STORED_GRAPH_REPLICAS": "2"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIMEOUT_S
        before = self.files()[-1:]
        while len(self.files()) < 2 or self.files()[-1:] == before:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.kill()
        process.wait(TIMEOUT_S)
        if len(self.files()) != 2:  # it was about to remove one
            self.killed()

    def files(self):
        return sorted(self.snapshots.glob("*.snapshot"))

    def checkpoints(self):
        """Of each snapshot those of both replicas, which are there."""
        found = [[replica / file.stem for replica in self.replicas] for file in self.files()]
        for folder in sum(found, []):
            self.assertTrue((folder / "CURRENT").is_file())
        return found

    def state(self, *arguments, **options):
        return self.strid("state", *arguments, **options).stdout.decode()

    def test_show_and_list(self):
        listed = self.state("list", self.snapshots).splitlines()[1:]
        for file, folders, line in zip(self.files(), self.checkpoints(), listed):
            sizes = [[path.stat().st_size for path in folder.iterdir()] for folder in folders]
            shown = self.state("show", self.snapshots, "--number", str(int(file.stem)))
            (block,) = re.findall(r"\n\ncheckpoints of stores\n((?:  .*\n)+)", shown)
            self.assertEqual(block, "".join(
                f"  histories, replica {replica + 1}: {sum(size):,} bytes in {len(size)} files, "
                f"in {folder}\n" for replica, (folder, size) in enumerate(zip(folders, sizes))))
            self.assertTrue(line.endswith(f"  and {sum(map(sum, sizes)):,} bytes in stores"), line)
        self.assertIn("\nresults\n", shown)

    def test_check(self):
        first, second = self.files()
        whole = f"{first}: whole\n{second}: whole\n"
        self.assertEqual(self.state("check", self.snapshots), whole)
        checkpoint = self.checkpoints()[0][1]
        said = f"{first}: operator 'histories', replica 2: the checkpoint is damaged: {checkpoint}"
        for path in sorted(checkpoint.iterdir()):
            content = path.read_bytes()
            # Another file: those of states are links.
            path.unlink()
            self.assertEqual(self.state("check", self.snapshots, code=1),
                             f"{said}/{path.name}: No such file or directory\n{second}: whole\n")
            path.write_bytes(content[:-1])
            self.assertEqual(self.state("check", self.snapshots, code=1),
                             f"{said}/{path.name}: it has {len(content) - 1} bytes, and had "
                             f"{len(content)}\n{second}: whole\n")
            path.write_bytes(content)
        self.assertEqual(self.state("check", self.snapshots), whole)
        checkpoint.rename(self.folder / "elsewhere")
        self.assertEqual(self.state("check", self.snapshots, code=1),
                         f"{said}: No such file or directory\n{second}: whole\n")
        path = self.checkpoints_of(second)[0] / "CURRENT"
        path.unlink()
        path.write_bytes(b"short")
        self.assertIn(f"in {path.parent} ({path}: it has 5 bytes, and had 16)\n",
                      self.state("show", self.snapshots))

    def checkpoints_of(self, file):
        return [replica / file.stem for replica in self.replicas]

    def test_save_refuses_a_copy(self):
        copy = self.folder / "copy"
        newest = self.files()[-1]
        self.assertEqual(
            self.fails("state", "save", self.snapshots, copy, code=1),
            f"strid: error: {newest}: is not copied: states of operator 'histories' are in a "
            f"checkpoint of its store, {self.checkpoints_of(newest)[0]}, which is no part of the "
            "file; stop the run, and copy the folder of snapshots with that of the store")
        self.assertFalse(copy.exists())

    def left_in(self, replica):
        """Names of no snapshot: a run was killed while it made or removed checkpoints."""
        named = {"live", "strid-states", *(file.stem for file in self.files())}
        return sorted({path.name for path in replica.iterdir()} - named)

    def test_delete(self):
        first, second = self.files()
        folders = self.checkpoints()
        (self.replicas[0] / "0000009999").mkdir()
        left = [(replica, self.left_in(replica)) for replica in self.replicas]
        (unfinished,) = self.folder.glob("rows.csv.*.strid-unfinished")
        names = (f"{first}\n{second}\n"
                 + "".join(f"{replica}/live (of a run that was killed)\n{folder}\n"
                           for replica, folder in zip(self.replicas, folders[0]))
                 + f"{folders[1][0]}\n{folders[1][1]}\n{unfinished} (stays without --results)\n")
        before = sorted(self.folder.rglob("*"))
        result = self.strid("state", "delete", self.snapshots, code=2)
        self.assertEqual(result.stdout.decode(), names)
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        self.assertEqual(self.state("delete", self.snapshots, "--yes"), names + "".join(
            f"{replica} has more: {', '.join(others)}\n" for replica, others in left if others))
        self.assertEqual(self.files(), [])
        for replica, others in left:
            self.assertEqual(replica.exists(), bool(others))
            if others:
                self.assertEqual(sorted(path.name for path in replica.iterdir()),
                                 [*others, "strid-states"])

    def test_delete_removes_folders_that_are_empty(self):
        for replica in self.replicas:
            for name in self.left_in(replica):
                shutil.rmtree(replica / name)
        gone = self.checkpoints()[0][1]
        gone.rename(self.folder / "elsewhere")
        self.assertIn(f"not found: {gone}\n", self.state("delete", self.snapshots, "--yes"))
        self.assertEqual(list((self.folder / "states").iterdir()), [])

    def test_delete_leaves_what_is_not_ours(self):
        folders = self.checkpoints()
        lock = self.replicas[0] / "strid-states"
        with open(lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertIn(f"{folders[0][0]} (stays: {self.replicas[0]}: a run keeps its states "
                          "here)\n", self.state("delete", self.snapshots, code=2))
        moved = self.folder / "notes"
        self.replicas[0].rename(moved)
        self.replicas[0].symlink_to(moved)
        (self.replicas[1] / "strid-states").unlink()
        kept = sorted(moved.rglob("*")) + sorted(self.replicas[1].rglob("*"))
        said = self.state("delete", self.snapshots, "--yes")
        self.assertRegex(said, f"{folders[0][0]} \\(stays: {self.replicas[0]}: Not a directory\\)")
        self.assertIn(f"{folders[0][1]} (stays: {self.replicas[1]}: it has no file strid-states, "
                      "by which it is ours)\n", said)
        self.assertEqual(sorted(moved.rglob("*")) + sorted(self.replicas[1].rglob("*")), kept)
        self.assertEqual(self.files(), [])

    def test_delete_leaves_folders_that_others_may_write_to(self):
        folders = self.checkpoints()
        (self.folder / "states").chmod(0o777)
        said = self.state("delete", self.snapshots, "--yes")
        self.assertIn(f"{folders[0][0]} (stays: {self.folder}/states: ", said)
        self.assertTrue(folders[0][0].is_dir())


if __name__ == "__main__":
    unittest.main()

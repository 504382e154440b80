#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid state`: lists, shows, checks and deletes the snapshots that a program has taken
(tests/snapshots/snapshots_program.cpp). The files are read here a second time, by their format.

    states.py CLASS...
"""
import datetime
import fcntl
import os
import re
import signal
import struct
import subprocess
import time
import unittest
import zlib

from command_line import STRID, TIMEOUT_S, Case

PROGRAM = os.environ["STRID_SNAPSHOTS_PROGRAM"]
FIRST_LINE = b"strid snapshot 4\n"
HEADER = struct.Struct("<QQQ")


def blocks_of(path):
    """The lengths of the contents of the blocks: of the description, then of each state."""
    content = path.read_bytes()
    assert content.startswith(FIRST_LINE)
    at, lengths = len(FIRST_LINE), []
    while at != len(content):
        length, stored, crc = HEADER.unpack_from(content, at)
        block = content[at + HEADER.size:at + HEADER.size + stored]
        assert zlib.crc32(content[at:at + 16] + block) == crc
        lengths.append(length)
        at += HEADER.size + stored
    return lengths


def number(text):
    return int(text.replace(",", ""))


class StateCase(Case):
    """With a folder of snapshots of a run that was interrupted."""

    def setUp(self):
        super().setUp()
        self.snapshots = self.folder / "state"
        self.output = self.folder / "out.csv"
        self.input = self.file("in.csv", "".join(
            f"s{i % 7},{i * 20},{i % 10}\n" for i in range(20_000)))

    def command(self, *options, snapshots=None):
        return [PROGRAM, "--input", str(self.input), "--output", str(self.output),
                "--snapshots", str(snapshots or self.snapshots), *options]

    def started(self, rate=2000):
        """A run that has taken two snapshots at least, and goes on for 20,000 / rate seconds."""
        process = subprocess.Popen(self.command("--rate", str(rate), "--snapshot-every", "20ms"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIMEOUT_S
        while len(self.files()) < 2:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        return process

    def interrupted(self):
        process = self.started()
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)

    def ended(self):
        subprocess.run(self.command("--quiet"), check=True, timeout=TIMEOUT_S)

    def files(self):
        return sorted(self.snapshots.glob("*.snapshot"))

    def unfinished(self):
        return sorted(self.folder.glob("out.csv.*.strid-unfinished"))

    def state(self, *arguments, **options):
        return self.strid("state", *arguments, **options).stdout.decode()

    def damage(self, path, at):
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)


class StateLists(StateCase):
    def listed(self):
        lines = self.state("list", self.snapshots).splitlines()
        self.assertEqual(lines[0].split("  ")[1:3], ["snapshot", "taken"])
        rows = [re.fullmatch(r" *(\d+)  (\S+)  (goes on|ended) +(\d+) +([\d,]+) +([\d,]+)", line)
                for line in lines[1:]]
        self.assertTrue(all(rows), lines)
        return [row.groups() for row in rows]

    def test_of_a_run_that_was_interrupted(self):
        self.interrupted()
        rows = self.listed()
        self.assertEqual(len(rows), 2)
        for path, (name, taken, run, nodes, state, length) in zip(self.files(), rows):
            self.assertEqual(path.name, f"{int(name):010}.snapshot")
            taken = datetime.datetime.fromisoformat(taken.replace("Z", "+00:00")).timestamp()
            self.assertLess(abs(taken - path.stat().st_mtime), 5)
            self.assertEqual(run, "goes on")
            self.assertEqual(number(length), path.stat().st_size)
            states = blocks_of(path)[1:]
            self.assertEqual((int(nodes), number(state)), (len(states), sum(states)))

    def test_of_a_run_that_has_ended(self):
        self.ended()
        rows = self.listed()
        self.assertEqual([row[2] for row in rows], ["goes on", "ended"])
        self.assertEqual(number(rows[1][4]), 0)
        shown = self.state("show", self.snapshots)
        self.assertIn("\nrun      has reached its end\n", shown)
        self.assertNotIn("results", shown)
        self.assertIn("replica 1 of 1: has ended\n", shown)

    def test_while_a_run_uses_the_folder(self):
        process = self.started(rate=100)  # ends long behind sixty commands
        last = 0
        for _ in range(20):
            newest = int(self.listed()[-1][0])
            self.assertGreaterEqual(newest, last)
            last = newest
            self.state("show", self.snapshots)
            for line in self.state("check", self.snapshots).splitlines():
                self.assertTrue(line.endswith(".snapshot: whole"), line)
        self.assertIn("another run takes its snapshots here",
                      self.fails("state", "delete", self.snapshots, "--yes", code=1))
        self.assertGreaterEqual(len(self.files()), 2)
        self.assertIsNone(process.poll())

    def test_show(self):
        self.interrupted()
        for path in self.files():
            shown = self.state("show", self.snapshots, "--number", str(int(path.stem)))
            self.assertTrue(shown.startswith(f"{path}\ngraph    windows\nprogram  Strid "), shown)
            replicas = re.findall(r"  replica (\d+) of (\d+): ([\d,]+) bytes?\n", shown)
            self.assertEqual([number(r[2]) for r in replicas], blocks_of(path)[1:])
            self.assertRegex(shown, r"\nwindow-\d+, sink-\d+\n  replica 1 of 2: ")
            self.assertRegex(shown, r"\n  window-\d+: [\d,]+ bytes, .*KeyedTimeWindows")
            results = re.findall(r"\n  (\S+): ([\d,]+) bytes, in (\S+)(.*)\n", shown)
            (unfinished,) = self.unfinished()
            self.assertEqual([(r[0], r[2], r[3]) for r in results],
                             [(str(self.output), str(unfinished), "")])
            # The snapshot cuts between two rows.
            length = number(results[0][1])
            self.assertLessEqual(length, unfinished.stat().st_size)
            self.assertEqual(unfinished.read_bytes()[:length][-1:], b"\n")
        self.assertEqual(self.state("show", self.snapshots), shown)
        os.truncate(unfinished, 3)
        self.assertIn("(it has 3 bytes now)\n", self.state("show", self.snapshots))
        unfinished.unlink()
        self.assertIn("(No such file or directory)\n", self.state("show", self.snapshots))
        unfinished.symlink_to(self.input)
        self.assertIn("(it is no file of this user alone)\n", self.state("show", self.snapshots))


class StateChecks(StateCase):
    def test_damaged_snapshots(self):
        self.interrupted()
        first, second = self.files()
        whole = f"{first}: whole\n{second}: whole\n"
        self.assertEqual(self.state("check", self.snapshots), whole)
        content = second.read_bytes()
        self.damage(second, -1)
        fault = "the snapshot is damaged: a block does not have its checksum"
        self.assertEqual(self.state("check", self.snapshots, code=1),
                         f"{first}: whole\n{second}: {fault}\n")
        # The description is whole.
        self.assertEqual(len(self.state("list", self.snapshots).splitlines()), 3)
        second.write_bytes(content)
        self.damage(first, len(FIRST_LINE) + HEADER.size)
        self.assertEqual(self.state("check", self.snapshots, code=1),
                         f"{first}: {fault}\n{second}: whole\n")
        self.assertEqual(self.state("list", self.snapshots, code=1).splitlines()[1],
                         f"{int(first.stem):>10}  {fault}")
        self.assertEqual(self.fails("state", "show", self.snapshots, "--number", first.stem,
                                    code=1), f"strid: error: {first}: {fault}")
        first.write_bytes(b"strid snapshot 3\n" + content[len(FIRST_LINE):])
        self.assertIn(f"{first}: it is no snapshot that this version of Strid can read\n",
                      self.state("check", self.snapshots, code=1))


class StateSaves(StateCase):
    def started_slowly(self):
        """A run that takes its first snapshot, and another one in an hour."""
        process = subprocess.Popen(self.command("--rate", "4000", "--snapshot-every", "1h"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.snapshots / "requests").exists() or not self.files():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def test_of_a_run_and_goes_on_from_the_copy(self):
        process = self.started_slowly()
        time.sleep(0.5)
        self.assertEqual(self.state("save", self.snapshots), f"stored {self.files()[-1]}\n")
        copy = self.folder / "copy"
        printed = self.state("save", self.snapshots, copy)
        newest = self.files()[-1]
        self.assertEqual(printed, f"copied {newest} to {copy / newest.name}\n")
        self.assertEqual((copy / newest.name).read_bytes(), newest.read_bytes())
        self.assertEqual(copy.stat().st_mode & 0o777, 0o700)
        self.assertIn("there are snapshots in this folder already",
                      self.fails("state", "save", self.snapshots, copy, code=1))
        process.kill()
        process.wait()
        subprocess.run(self.command("--quiet", snapshots=copy), check=True, timeout=TIMEOUT_S)
        rows = self.rows()
        self.ended_anew()
        self.assertEqual(self.rows(), rows)

    def rows(self):
        """Those of different keys may change places."""
        return sorted(self.output.read_bytes().splitlines())

    def ended_anew(self):
        self.output = self.folder / "other.csv"
        subprocess.run([PROGRAM, "--input", str(self.input), "--output", str(self.output),
                        "--quiet"], check=True, timeout=TIMEOUT_S)

    def test_many_at_a_time(self):
        process = self.started_slowly()
        asked = [subprocess.Popen([STRID, "state", "save", str(self.snapshots)],
                                  stdout=subprocess.PIPE) for _ in range(10)]
        for client in asked:
            self.assertRegex(client.communicate(timeout=TIMEOUT_S)[0].decode(),
                             r"^stored .*\.snapshot\n$")
            self.assertEqual(client.returncode, 0)
        self.assertIsNone(process.poll())

    def test_of_no_run(self):
        self.assertIn("No such file", self.fails("state", "save", self.snapshots, code=1))
        self.started_slowly().kill()
        os.sync()
        deadline = time.monotonic() + TIMEOUT_S  # the kernel lets go of the socket
        while "no run takes its snapshots here now" not in self.fails(
                "state", "save", self.snapshots, code=1):
            self.assertLess(time.monotonic(), deadline)
        copy = self.folder / "copy"
        newest = self.files()[-1]
        self.assertEqual(self.state("save", self.snapshots, copy),
                         f"copied {newest} to {copy / newest.name} (no run takes its snapshots "
                         "there now: it is the last one)\n")
        # The next run removes what the killed one has left, and leaves nothing itself.
        self.assertTrue((self.snapshots / "requests").exists())
        self.ended()
        self.assertFalse((self.snapshots / "requests").exists())

    def test_that_cannot_be_stored(self):
        process = self.started_slowly()
        before = self.files()
        in_the_way = self.snapshots / f"{int(before[-1].stem) + 1:010}.snapshot.partial"
        in_the_way.mkdir()
        self.assertRegex(self.fails("state", "save", self.snapshots, code=1),
                         "no snapshot was stored: .*cannot write the snapshot: File exists")
        self.assertEqual(self.files(), before)
        in_the_way.rmdir()
        self.state("save", self.snapshots)
        self.assertIsNone(process.poll())


class StateDeletes(StateCase):
    def test_names_first_and_asks(self):
        self.interrupted()
        first, second = self.files()
        (unfinished,) = self.unfinished()
        before = sorted(self.folder.rglob("*"))
        result = self.strid("state", "delete", self.snapshots, code=2)
        self.assertEqual(result.stdout.decode(),
                         f"{first}\n{second}\n{unfinished} (stays without --results)\n")
        self.assertIn(b"--yes removes the files above", result.stderr)
        result = self.strid("state", "delete", self.snapshots, "--results", code=2)
        self.assertEqual(result.stdout.decode(), f"{first}\n{second}\n{unfinished}\n")
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_keeps_results_and_others(self):
        self.interrupted()
        notes = self.file("state/notes.txt", "mine")
        (unfinished,) = self.unfinished()
        self.state("delete", self.snapshots, "--yes")
        self.assertEqual(self.files(), [])
        self.assertEqual(notes.read_text(), "mine")
        self.assertEqual(self.unfinished(), [unfinished])
        self.assertEqual(len(self.state("list", self.snapshots).splitlines()), 1)
        self.assertEqual(self.state("delete", self.snapshots), "")
        self.assertIn("there is no snapshot yet",
                      self.fails("state", "show", self.snapshots, code=1))
        self.ended()
        self.assertGreater(len(self.output.read_text().splitlines()), 1000)

    def test_results_on_demand(self):
        self.interrupted()
        (unfinished,) = self.unfinished()
        with open(unfinished, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            self.assertIn(f"{unfinished}: cannot be removed: a run writes it",
                          self.strid("state", "delete", self.snapshots, "--yes", "--results",
                                     code=1).stderr.decode())
        self.assertEqual((self.files(), self.unfinished()), ([], [unfinished]))
        self.interrupted()
        others, = [path for path in self.unfinished() if path != unfinished]
        self.state("delete", self.snapshots, "--yes", "--results")
        self.assertFalse(others.exists())
        self.assertEqual(self.unfinished(), [unfinished])

    def test_of_a_run_that_has_ended(self):
        self.ended()
        first, second = self.files()
        self.assertEqual(self.state("delete", self.snapshots, "--yes", "--results"),
                         f"{first}\n{second}\n")
        self.assertTrue(self.output.exists())

    def test_results_that_are_not_there(self):
        self.interrupted()
        (unfinished,) = self.unfinished()
        moved = unfinished.rename(self.folder / "moved")
        self.assertIn(f"not found: {self.output}: ",
                      self.state("delete", self.snapshots, "--yes", "--results"))
        self.assertTrue(moved.exists())

    def test_damaged_snapshots_go_too(self):
        self.interrupted()
        for path in self.files():
            self.damage(path, len(FIRST_LINE))
        self.assertIn("its results and checkpoints are not known",
                      self.state("delete", self.snapshots, "--yes"))
        self.assertEqual(self.files(), [])


class StateMistakes(StateCase):
    def test_folders(self):
        for command in ["list", "show", "check", "delete"]:
            self.assertEqual(self.fails("state", command, self.snapshots, code=1),
                             f"strid: error: {self.snapshots}: cannot open the folder of "
                             "snapshots: No such file or directory")
            self.assertIn("Not a directory", self.fails("state", command, self.input, code=1))
            self.assertEqual(self.fails("state", command, self.folder, code=1),
                             f"strid: error: {self.folder}: no run has taken snapshots in this "
                             "folder")
        self.assertEqual(list(self.folder.iterdir()), [self.input])

    def test_command_lines(self):
        self.assertIn("subcommand is required", self.fails("state", code=2))
        self.assertIn("did you mean list?", self.fails("state", "lits", self.folder, code=2))
        self.assertIn("FOLDER is required", self.fails("state", "list", code=2))
        self.assertIn("unknown option --yes", self.fails("state", "list", "x", "--yes", code=2))
        self.assertIn("'x' is not a whole number",
                      self.fails("state", "show", "x", "--number", "x", code=2))
        self.interrupted()
        self.assertRegex(self.fails("state", "show", self.snapshots, "--number", "0", code=1),
                         r"there is no snapshot 0; there are: \d+, \d+$")

    def test_help(self):
        self.assertIn(b"\n  state  ", self.strid("--help").stdout)
        for command in ["list", "show", "check", "delete"]:
            self.assertIn(f"  {command}  ", self.state("--help"))
            self.assertIn("FOLDER", self.state(command, "--help"))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of Parquet as outputs of runs that are killed or stopped, and with snapshots go on; the
oracle is pyarrow, which reads them.

    parquet_epochs_test.py STRID [CLASS...]
"""

import fcntl
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from parquet_case import ParquetCase, pyarrow
from transport_case import STRID, TIMEOUT_S, Ticks, main, until

KILLS = 20
NAME_OF_STREAM = re.compile(r"([0-9a-f]{32})-(\d{10})-\d{5}\.parquet")


class LeftBehind(ParquetCase):
    """Runs without snapshots that are killed."""

    ROWS = 15_000  # more than a run waits for before it begins to write

    def begun(self) -> tuple[subprocess.Popen, Path]:
        """A run that has begun to write, and its folder."""
        before = set((self.folder / "bars").glob("_strid/*"))
        run = subprocess.Popen(self.arguments("-", "parquet:bars?rows=5000"), cwd=self.folder,
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        run.stdin.write("at,symbol,price\n" + "".join(
            f"{i * 1000},{'x' * 100},1\n" for i in range(self.ROWS)))
        run.stdin.flush()
        until(lambda: [path for path in (self.folder / "bars").glob("_strid/*/*.strid-partial")
                       if path.parent not in before])
        [rest] = set((self.folder / "bars").glob("_strid/*")) - before
        return run, rest

    def test_parts_of_a_run_that_was_killed_are_removed(self):
        ticks = Ticks(20_000)
        self.write(ticks, "ticks.parquet")
        killed, left = self.begun()
        killed.kill()
        self.ended(killed, -signal.SIGKILL)
        killed.stdin.close()
        self.assertTrue(list(left.iterdir()))
        other, rest = self.begun()
        self.assertFalse(left.exists())
        self.window("ticks.parquet", "parquet:bars")
        self.assertEqual(self.bars("bars"), ticks.expected())
        self.assertTrue(list(rest.iterdir()))
        other.stdin.close()
        self.ended(other)
        self.assertEqual(len(self.bars("bars")), len(ticks.expected()) + self.ROWS)
        self.assertFalse((self.folder / "bars" / "_strid").exists())


class Late(ParquetCase):
    """Rows that are late have their header with the first of them, behind the begin of the run."""

    def run_on(self, *options: str) -> subprocess.Popen:
        run = subprocess.Popen(
            [STRID, "window", "--quiet", "--input", "-", "--journal", "journal", "--snapshots",
             "state", "--snapshot-every", "10ms", "--key", "k", "--time", "at", "--unit", "ms",
             "--window", "tumbling:1h", "--aggregate", "count as n", "--late", "parquet:late",
             "--output", "out.csv", *options],
            cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        return run

    def epochs(self) -> set[str]:
        return {NAME_OF_STREAM.fullmatch(path.name)[2] for path in self.parts("late")}

    def test_a_run_that_is_stopped_goes_on(self):
        run = self.run_on()
        run.stdin.write("k,at\na,1000000000\n")
        at = 0
        while len(self.epochs()) < 3:
            before = len(self.epochs())
            run.stdin.write("".join(f"b,{i}\n" for i in range(at, at + 1000)))
            run.stdin.flush()
            at += 1000
            until(lambda: run.poll() is not None or at < 3000 or len(self.epochs()) > before)
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        self.ended(run, 128 + signal.SIGINT)
        run.stdin.close()
        run = self.run_on()
        run.stdin.write("".join(f"b,{i}\n" for i in range(at, at + 1000)))
        run.stdin.close()
        self.ended(run)
        late = [row["at"] for path in self.parts("late")
                for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]
        self.assertEqual(len(set(late)), len(late))
        in_time = sum(int(line.rsplit(",", 1)[1])
                      for line in (self.folder / "out.csv").read_text().splitlines()[1:])
        self.assertEqual(len(late) + in_time, at + 1001)


class Killed(ParquetCase):
    """Runs with snapshots, whose parts have the names of their stream and epoch."""

    def setUp(self):
        super().setUp()
        self.ticks = Ticks(600_000)
        self.write(self.ticks, "ticks.parquet", 50)
        # With a column that takes long, so that there is time to kill it.
        self.source = "parquet:ticks.parquet?columns=at,symbol,price,note&threads=1"
        self.target = "parquet:bars?rows=500"

    def check_bars(self) -> None:
        self.assertEqual(self.bars("bars"), self.ticks.expected())
        rest = [path.name for path in (self.folder / "bars" / "_strid").rglob("*")
                if path.is_file()]
        self.assertEqual(sorted(rest), ["epoch", "lock"])
        for path in self.parts("bars"):
            self.assertRegex(path.name, NAME_OF_STREAM)

    def go_on(self, status: int = 0) -> str:
        return self.window(self.source, self.target, "--snapshots", "state", status=status)

    def killed_once(self, epochs: int, longer_s: float = 0) -> bool:
        """Runs until so many epochs more are there, and a little longer; whether it was killed
        before its end."""
        before = len(self.epochs())
        run = subprocess.Popen(
            self.arguments(self.source, self.target, "--snapshots", "state",
                           "--snapshot-every", "1ms"),
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        until(lambda: run.poll() is not None or len(self.epochs()) >= before + epochs)
        time.sleep(longer_s)
        run.kill()
        _, text = run.communicate(timeout=TIMEOUT_S)
        if run.returncode == 0 or "has reached its end" in text:
            return False
        self.assertEqual(run.returncode, -signal.SIGKILL, text)
        return True

    def killed_behind(self, epochs: int, epochs_later: int = 0) -> None:
        """With `epochs_later` killed once more, and the snapshots of the first time in `before`."""
        for _ in range(20):
            if self.killed_once(epochs):
                if epochs_later == 0:
                    return
                shutil.copytree(self.folder / "state", self.folder / "before",
                                ignore=shutil.ignore_patterns("requests"))
                if self.killed_once(epochs_later):
                    return
            for name in ("bars", "state", "before"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
        self.skipTest("the machine is too slow to kill a run in its middle")

    def epochs(self) -> set[str]:
        return {NAME_OF_STREAM.match(path.name)[2] for path in self.parts("bars")}

    def own(self, name: str):
        [path] = (self.folder / "bars" / "_strid").glob(f"*/{name}")
        return path

    def test_each_window_is_there_once(self):
        kills = 0
        for _ in range(4):
            while self.killed_once(self.random.randrange(2), self.random.uniform(0, 0.03)):
                kills += 1
            self.check_bars()
            shutil.rmtree(self.folder / "bars")
            shutil.rmtree(self.folder / "state")
            if kills >= KILLS:
                break
        self.assertGreater(kills, 0)
        print(f"parquet: {kills} kills")

    def test_each_window_is_there_once_in_folders(self):
        self.target += "&partition=symbol&types=total:int64"
        killed = self.killed(self.source, self.target, 5)
        rows = []
        for path in self.parts("bars"):
            symbol = path.parent.name.removeprefix("symbol=")
            rows += [(symbol, row["window_start"], row["window_end"], row["n"], row["total"])
                     for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]
        self.assertEqual(sorted(rows), self.ticks.expected())
        self.assertGreater(killed, 0)

    def test_a_run_that_is_stopped_goes_on(self):
        run = subprocess.Popen(
            self.arguments(self.source, self.target, "--snapshots", "state", "--snapshot-every",
                           "1ms"), cwd=self.folder, stderr=subprocess.PIPE, text=True)
        until(lambda: run.poll() is not None or len(self.epochs()) >= 2)
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        if run.returncode == 0 or len(self.bars("bars")) == len(self.ticks.expected()):
            self.skipTest("the machine is too slow to stop a run in its middle")
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, text)
        self.go_on()
        self.check_bars()

    def test_an_epoch_without_its_names_gets_them(self):
        """As where the process was killed between the record of an epoch and the names of its
        parts: each of them, at random, has or lacks its name."""
        self.killed_behind(3)
        record = self.own("epoch")
        named = [line.split(" ")[1:] for line in record.read_text().splitlines()
                 if line.startswith("part ")]
        self.assertGreater(len(named), 0)
        for number, (part, name) in enumerate(named):
            if (number == 0 or self.random.random() < 0.5) and \
                    (self.folder / "bars" / name).exists():
                (self.folder / "bars" / name).rename(record.parent / part)
        self.go_on()
        self.check_bars()

    def test_a_part_with_two_names_loses_the_first(self):
        """As where a file system has no renameat2 and the process was killed between link and
        unlink."""
        self.killed_behind(3)
        record = self.own("epoch")
        named = [line.split(" ")[1:] for line in record.read_text().splitlines()
                 if line.startswith("part ")]
        for part, name in named:
            if not (record.parent / part).exists():
                (record.parent / part).hardlink_to(self.folder / "bars" / name)
        self.go_on()
        self.check_bars()

    def test_types_may_change_between_runs(self):
        """Rows that did not suit a column are in the snapshots."""
        self.target = "parquet:bars?types=total:int8"
        self.assertIn("types=total:TYPE", self.go_on(1))
        self.target = "parquet:bars?types=total:int64&rows=500"
        self.go_on()
        self.check_bars()
        self.assertEqual(
            {str(pyarrow.parquet.read_schema(path).field("total").type)
             for path in self.parts("bars")}, {"int64"})

    def test_a_folder_that_has_forgotten_is_refused(self):
        """The refusal is another one where it was killed while parts got their names."""
        self.killed_behind(4)
        self.own("epoch").unlink()
        self.assertRegex(self.go_on(1), "would be written twice|File exists")

    def test_a_folder_that_is_ahead_is_refused(self):
        self.killed_behind(2, epochs_later=4)
        shutil.rmtree(self.folder / "state")
        (self.folder / "before").rename(self.folder / "state")
        self.assertIn("would be written twice", self.go_on(1))

    def test_a_stream_has_one_process(self):
        self.killed_behind(2)
        with open(self.own("lock"), "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another process writes this stream", self.go_on(1))
        self.go_on()
        self.check_bars()

    def test_a_full_disk_is_waited_for(self):
        """A disk of 1 MiB has room for some epochs; then something else on it is removed."""
        place = self.folder / "disk"
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place],
                          capture_output=True).returncode != 0:
            self.skipTest("a disk cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        (place / "other").write_bytes(bytes(900_000))
        (self.folder / "bars").symlink_to("disk/bars")
        (place / "bars").mkdir()
        run = subprocess.Popen(
            self.arguments(self.source, self.target + "&size=1M", "--snapshots", "state",
                           "--snapshot-every", "20ms"),
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.until_warned(run, "No space left")
        (place / "other").unlink()
        self.assertIn("connected again", self.ended(run))
        self.check_bars()

    def test_a_file_is_refused(self):
        self.target = "bars.parquet"
        self.assertIn("a run with snapshots writes a folder", self.go_on(1))


if __name__ == "__main__":
    main()

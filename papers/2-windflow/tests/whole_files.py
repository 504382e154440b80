# SPDX-License-Identifier: Apache-2.0
"""A file that is written is whole or as it was before, however the run ends.

The right values are counted by hand, or are the content that the test itself wrote before the run.
"""

import json
import os
import signal
import stat
import subprocess
import time
import unittest

from command_line import STRID, Case

COUNTS = b"a,2\nb,1\n"
UPDATES = [b"a,1", b"a,2", b"b,1"]
OLD = "old\n"


class WholeFiles(Case):
    def setUp(self):
        super().setUp()
        self.text = self.file("words.txt", "a b a")
        self.result = self.file("result.csv", OLD)
        self.count = ["run", "word-count", "--quiet", "--output", self.result]

    def leftovers(self):
        return [path.name for path in self.folder.iterdir() if "strid-partial" in path.name]

    def is_new(self, path=None):
        rows = sorted((path or self.result).read_bytes().splitlines(keepends=True))
        self.assertEqual(b"".join(rows), COUNTS)
        self.assertEqual(self.leftovers(), [])

    def is_old(self):
        self.assertEqual(self.result.read_text(), OLD)
        self.assertEqual(self.leftovers(), [])

    def running(self, *more):
        """A run whose input stays open, with the rows of its first line on their way."""
        process = self.start("run", "word-count", "--emit", "updates", "--quiet", "--output",
                             self.result, *more)
        process.stdin.write(b"a b a\n")
        process.stdin.flush()
        pattern = self.result.name if "live" in more else "result.csv.*.strid-partial"
        deadline = time.monotonic() + 60
        while not any(len(rows.read_bytes().splitlines()) == len(UPDATES)
                      for rows in self.folder.glob(pattern)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def test_a_run_that_ends_well_replaces(self):
        self.strid(*self.count, "--input", self.text)
        self.is_new()
        self.result.unlink()
        self.strid(*self.count, "--input", self.text)
        self.is_new()

    def test_a_run_that_fails_leaves_the_old_one(self):
        readings = self.file("bad.csv", "1,2\n" * 100000 + "1,x\n")
        run = ["run", "spike-detection", "--threshold", "-1", "--input", readings]
        self.fails(*run, "--output", self.result, code=1)
        self.is_old()
        table = self.file("t.csv", "t,x\n" + "1,2\n" * 100000 + "1,x\n")
        window = ["window", "--quiet", "--input", table, "--time", "t", "--window", "tumbling:1s",
                  "--aggregate", "sum(x)", "--output"]
        self.fails(*window, self.result, "--metrics", self.folder / "metrics", code=1)
        self.is_old()
        self.assertFalse((self.folder / "metrics").exists())
        self.fails(*window, self.folder / "new", code=1)
        self.assertFalse((self.folder / "new").exists())
        self.assertEqual(self.leftovers(), [])

    def test_all_outputs_of_a_run_that_fails(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        table = self.file("t.csv", "t,x\n5000,1\n1000,1\n")
        self.fails("window", "--quiet", "--input", table, "--time", "t", "--window",
                   "tumbling:1s", "--aggregate", "sum(x)", "--output", self.result, "--late",
                   "/dev/full", code=1)
        self.is_old()

    def test_dead_letters(self):
        readings = self.file("bad.csv", "1,2\nx,y\n")
        run = ["run", "spike-detection", "--quiet", "--input", readings, "--dead-letter",
               self.result]
        self.strid(*run)
        self.assertRegex(self.result.read_text(), f'^{readings},2,[^\n]*,"x,y"\n$')
        self.result.write_text(OLD)
        if os.path.exists("/dev/full"):
            self.fails(*run, "--threshold", "-1", "--output", "/dev/full", code=1)
            self.is_old()
        table = self.file("t.csv", "t,x\n1000,1\n2000,y\n")
        self.strid("window", "--quiet", "--input", table, "--time", "t", "--window",
                   "tumbling:1s", "--aggregate", "sum(x)", "--dead-letter", self.result)
        self.assertTrue(self.result.read_text().startswith(f"{table},3,"))
        self.assertEqual(self.leftovers(), [])

    def test_a_drained_run_is_whole(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            process = self.running()
            self.assertEqual(self.result.read_text(), OLD)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), 128 + number)
            self.assertEqual(sorted(self.result.read_bytes().splitlines()), UPDATES)
            self.assertEqual(self.leftovers(), [])
            self.result.write_text(OLD)

    def test_a_killed_run_leaves_the_old_one_and_the_next_cleans_up(self):
        process = self.running()
        process.kill()
        process.wait(timeout=60)
        self.assertEqual(self.result.read_text(), OLD)
        (leftover,) = self.leftovers()
        self.assertRegex(leftover, r"^result\.csv\.[a-z2-7]{10}\.strid-partial$")
        self.assertEqual(stat.S_IMODE((self.folder / leftover).stat().st_mode), 0o600)
        self.strid(*self.count, "--input", self.text)
        self.is_new()

    def test_a_cancelled_run_leaves_the_old_one(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        metrics = self.file("metrics.json", OLD)
        table = self.file("t.csv", "t,x\n9000,1\n1000,1\n")
        process = self.start("window", "--quiet", "--input", table, "--time", "t", "--window",
                             "tumbling:1s", "--aggregate", "sum(x)", "--output", self.result,
                             "--late", pipe, "--metrics", metrics)
        time.sleep(1)  # without a reader the late row keeps the run waiting
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(timeout=60), [130, -signal.SIGINT])
        self.assertEqual(self.result.read_text(), OLD)
        self.assertEqual(metrics.read_text(), OLD)

    def test_live(self):
        process = self.running("--write", "live")
        self.assertEqual(sorted(self.result.read_bytes().splitlines()), UPDATES)
        process.kill()
        process.wait(timeout=60)
        self.assertEqual(sorted(self.result.read_bytes().splitlines()), UPDATES)
        self.assertEqual(self.leftovers(), [])

    def test_two_runs_at_once(self):
        process = self.running()
        line = self.fails(*self.count, "--input", self.text, code=1)
        self.assertIn("is being written by another run", line)
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(sorted(self.result.read_bytes().splitlines()), UPDATES)

    def test_permissions_and_links(self):
        self.result.chmod(0o640)
        inner = self.folder / "links"
        inner.mkdir()
        link = inner / "link.csv"
        link.symlink_to("../middle.csv")
        (self.folder / "middle.csv").symlink_to(self.result)
        self.strid("run", "word-count", "--quiet", "--input", self.text, "--output", link)
        self.is_new()
        self.assertTrue(link.is_symlink() and (self.folder / "middle.csv").is_symlink())
        self.assertEqual(stat.S_IMODE(self.result.stat().st_mode), 0o640)
        self.assertEqual([path.name for path in inner.iterdir()], ["link.csv"])
        nowhere = self.folder / "nowhere.csv"
        nowhere.symlink_to("target.csv")
        self.strid("run", "word-count", "--quiet", "--input", self.text, "--output", nowhere)
        self.is_new(self.folder / "target.csv")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE((self.folder / "target.csv").stat().st_mode), 0o666 & ~mask)

    def test_what_may_not_be_written_is_not_replaced(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        self.result.chmod(0o440)
        self.assertIn("Permission denied", self.fails(*self.count, "--input", self.text, code=1))
        self.is_old()
        self.result.chmod(0o640)
        self.folder.chmod(0o550)
        self.addCleanup(self.folder.chmod, 0o750)
        self.assertIn("--write live", self.fails(*self.count, "--input", self.text, code=1))
        self.strid(*self.count, "--input", self.text, "--write", "live")
        self.folder.chmod(0o750)
        self.is_new()

    def test_long_names(self):
        result = self.folder / ("x" * 250)
        self.strid("run", "word-count", "--quiet", "--input", self.text, "--output", result)
        self.is_new(result)

    def test_descriptors(self):
        for mode, before in [("ab", b"old\n"), ("wb", b"")]:
            for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"]:
                self.result.write_text(OLD)
                with open(self.result, mode) as file:
                    subprocess.run([STRID, "run", "word-count", "--quiet", "--input", self.text,
                                    "--output", name], stdout=file, check=True, timeout=100)
                rows = self.result.read_bytes()
                self.assertTrue(rows.startswith(before), rows)
                self.assertEqual(sorted(rows[len(before):].splitlines()), COUNTS.splitlines())
        self.fails("run", "word-count", "--input", self.text, "--output", "/dev/fd/99", code=1)

    def test_metrics_and_pictures(self):
        metrics = self.file("metrics.json", OLD)
        picture = self.file("picture.txt", OLD)
        run = ["run", "spike-detection", "--metrics", metrics, "--graph", picture, "--input"]
        self.fails(*run, self.file("bad.csv", "1,2\nx,y\n"), code=1)
        self.assertEqual(metrics.read_text() + picture.read_text(), OLD + OLD)
        self.strid(*run, self.file("good.csv", "1,2\n"))
        self.assertEqual(json.loads(metrics.read_text())["records_in"], 1)
        self.assertIn("readings", picture.read_text())
        self.assertEqual(self.leftovers(), [])
        result = self.strid("run", "word-count", "--quiet", "--input", self.text, "--output",
                            self.result, "--metrics", "-", cwd=self.folder)
        self.assertEqual(json.loads(result.stdout)["records_in"], 1)
        self.assertFalse((self.folder / "-").exists())


if __name__ == "__main__":
    unittest.main()

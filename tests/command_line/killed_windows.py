#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` with snapshots, killed at random moments.

    killed_windows.py CLASS...
"""
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from command_line import STRID, TIMEOUT_S
from killed_runs import SEED, KilledRuns

SMALL = "count,sum(v)"
LARGE = ("median(v),distinct(name),distinct_approximately(name),first(name),last(name),"
         "min_by(name,v),top(3,v),bottom(2,v),most_frequent(3,name),collect(5,name),stddev(v),"
         "min(v),max(v),mean(v)")


class Rows(KilledRuns):
    rows = 300_000  # a run takes some tenths of a second
    texts = {}

    def table(self, name, rows, salt=0):
        if (rows, salt) not in self.texts:
            self.texts[rows, salt] = self.text(rows, salt)
        return self.file(name, self.texts[rows, salt])

    @staticmethod
    def text(rows, salt):
        chosen = random.Random(SEED + salt)
        now = 1_700_000_000_000
        lines = ["at,k,v,name"]
        for _ in range(rows):
            bits = chosen.getrandbits(40)
            now += bits % 16
            value = ["", (bits >> 4) % 1000, (bits >> 4) % 1000 / 8][(bits >> 14) % 3]
            lines.append(f"{now - (bits >> 16) % 1200},k{(bits >> 28) % 20},{value},"
                         f"n{(bits >> 34) % 50}")
        return "\n".join(lines) + "\n"

    def check(self, *options, inputs=None, outputs=None, **how):
        given = inputs or [self.table("t.csv", self.rows)]
        # With one replica the writer is a part of the windows' node.
        self.check_killed(outputs or {"--output": "o.csv"}, "window", "--input", *given, *options,
                          **how)


class KilledTimes(Rows):
    timed = ["--key", "k", "--time", "at", "--unit", "ms", "--disorder", "1s"]

    def test_small_states(self):
        self.check(*self.timed, "--window", "tumbling:1s", "--aggregate", SMALL)

    def test_large_states_of_sliding_windows(self):
        self.check(*self.timed, "--window", "sliding:5s/1s", "--aggregate", LARGE)

    def test_late_rows_of_sessions(self):
        self.check(*self.timed, "--window", "session:300ms", "--aggregate", LARGE, "--lateness",
                   "200ms", outputs={"--output": "o.csv", "--late": "l.csv"})

    def test_without_a_key(self):
        self.check("--time", "at", "--unit", "ms", "--disorder", "1s", "--window",
                   "sliding:2s/1s", "--aggregate", LARGE, replicas=(1,))

    def test_inputs_merged_by_time(self):
        inputs = [self.table(f"{i}.csv", self.rows // 3, i) for i in range(3)]
        self.check("--merge-inputs", *self.timed, "--window", "tumbling:1s", "--aggregate", SMALL,
                   inputs=inputs)


class KilledOthers(Rows):
    def test_windows_of_a_number_of_rows(self):
        self.check("--key", "k", "--window", "count:100/25", "--aggregate", LARGE)

    def test_early_rows_and_filled_windows(self):
        self.check("--key", "k", "--time", "at", "--unit", "ms", "--disorder", "1s", "--window",
                   "tumbling:1s", "--aggregate", SMALL, "--fill", "--corrections", "--lateness",
                   "1s", "--future", "10000d", outputs={"--output": "o.csv", "--late": "l.csv"})

    def test_refused_rows(self):
        table = self.table("t.csv", self.rows)
        lines = table.read_text().splitlines()
        for at in range(5, len(lines), 500):
            lines[at] = f"never,{at}"
        self.check("--key", "k", "--time", "at", "--unit", "ms", "--disorder", "1s", "--window",
                   "tumbling:1s", "--aggregate", SMALL,
                   inputs=[self.file("t.csv", "\n".join(lines) + "\n")],
                   outputs={"--output": "o.csv", "--dead-letter": "d.csv"})

    def test_another_computation_is_refused(self):
        table = self.table("t.csv", self.rows)
        words = ["window", "--input", table, "--key", "k", "--window", "count:100", "--output",
                 "o.csv", "--aggregate"]
        process = self.start(*words, SMALL, "--quiet", "--snapshots", "s", "--snapshot-every",
                             "1ms")
        self.until_snapshot(process, "s")
        process.kill()
        process.wait()
        line = self.fails(*words, "max(v)", "--snapshots", "s", "--quiet", code=1)
        self.assertIn("another computation", line)

    def test_pipes_are_refused(self):
        line = self.fails("window", "--window", "count:10", "--aggregate", "count", "--snapshots",
                          "s", code=2, input=b"a\n1\n")
        self.assertIn("cannot be read once more", line)

    def test_only_sockets_with_a_journal_are_acknowledged(self):
        words = ["window", "--window", "count:10", "--aggregate", "count", "--snapshots", "s",
                 "--journal-acknowledge"]
        self.assertIn("--journal-acknowledge are for --journal", self.fails(*words, code=2))
        line = self.fails(*words, "--journal", "j", code=1, input=b"a\n1\n")
        self.assertIn("acknowledgements go to the other end of a socket", line)

    def test_a_stop_at_the_end_of_the_input(self):
        """Whichever comes first, a file that is written live has each row in the end."""
        lines = ["at\n"] + [f"{at}\n" for at in range(20_000)]
        words = ["window", "--quiet", "--time", "at", "--unit", "ms", "--window", "tumbling:1s",
                 "--aggregate", "count", "--write", "live", "--output", "o.csv", "--snapshots",
                 "s", "--journal", "j"]
        expected = "window_start,window_end,count\n" + "".join(
            f"{at},{at + 1000},1000\n" for at in range(0, 20_000, 1000))
        for number in range(12):
            for name in ("s", "j"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            process = self.start(*words)
            process.stdin.write("".join(lines).encode())
            process.stdin.flush()
            self.until_signals_are_caught(process)
            time.sleep(number * 0.002)
            process.send_signal(signal.SIGTERM)
            process.stdin.close()
            self.assertEqual(process.wait(TIMEOUT_S), 128 + signal.SIGTERM)
            journal = self.strid("state", "journal", "j").stdout.decode()
            accepted = int(re.search(r"accepted +([\d,]+) lines", journal)[1].replace(",", ""))
            rest = subprocess.run([STRID, *words], cwd=self.folder, capture_output=True,
                                  input="".join(lines[accepted:]).encode(), timeout=TIMEOUT_S)
            if rest.returncode != 0:
                self.assertIn(b"has reached its end", rest.stderr)
            self.assertEqual((self.folder / "o.csv").read_text(), expected)

    def test_values_before_the_place_are_known_by_the_journal(self):
        """The run that goes on has not read the row with the value, and makes nothing of that."""
        words = ["window", "--format", "json", "--time", "at", "--window", "tumbling:1h",
                 "--aggregate", "sum(x)", "--output", "o.csv", "--snapshots", "s", "--journal", "j"]
        null = b'{"at":2,"x":null}\n'
        process = self.start(*words)
        self.until_signals_are_caught(process)
        # The first row is read at each start.
        self.accept("j", process, null, 1)
        self.accept("j", process, b'{"at":1,"x":5}\n' + 500 * null, 502)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(TIMEOUT_S), 128 + signal.SIGTERM)
        done = self.strid(*words, input=null)
        self.assertNotIn(b"no row has a value", done.stderr)
        self.assertEqual((self.folder / "o.csv").read_text(),
                         "window_start,window_end,sum(x)\n0,3600000,5\n")

    def accept(self, journal, process, rows, lines):
        """Writes rows, and waits until the journal has so many lines."""
        process.stdin.write(rows)
        process.stdin.flush()
        deadline = time.monotonic() + TIMEOUT_S
        shown = ""
        while not re.match(rf"accepted  {lines} lines?,", shown):
            self.assertLess(time.monotonic(), deadline, shown)
            time.sleep(0.05)
            shown = subprocess.run([STRID, "state", "journal", journal], capture_output=True,
                                   text=True, timeout=TIMEOUT_S).stdout


if __name__ == "__main__":
    unittest.main()

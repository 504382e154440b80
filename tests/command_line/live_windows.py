#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows that are written several times, live streams and files in no order: `--corrections`,
`--fill`, `--every`, `--idle`, `--future` and `--disorder end` of `strid window`.

The rows of `--corrections` are applied to a table one after the other, which has to leave the
windows that plain Python computes of all rows at once (windows.py, and sessions here).

    live_windows.py CLASS...
"""
import bisect
import csv
import io
import random
import threading
import time
import unittest
from decimal import Decimal
from collections import defaultdict

from command_line import Case
from seeds import seeds
from windows import AGGREGATES, WindowsCase, aggregates, promised, sliding, strid, table, text_of

# One replica: the rows of different keys come in one order.
PLAIN = ["--key", "k", "--time", "t", "--unit", "s", "--parallelism", "1"]


def sessions_at_once(rows, gap, disorder, lateness):
    """The sessions of all rows that are taken, and those that are late: whose own session is closed
    and that lie in none that is open."""
    times = defaultdict(list)
    taken = defaultdict(list)
    late = []
    for row, watermark in zip(rows, promised(rows, disorder)):
        at = row[0]
        of_key = times[row[1:3]]
        if at + gap + lateness < watermark:
            next_one = bisect.bisect_left(of_key, at)
            within = next_one < len(of_key) and (
                of_key[next_one] == at or
                (next_one > 0 and of_key[next_one] - of_key[next_one - 1] <= gap))
            last = next_one
            while within and last + 1 < len(of_key) and of_key[last + 1] - of_key[last] <= gap:
                last += 1
            if not within or of_key[last] + gap + lateness < watermark:
                late.append(row)
                continue
        bisect.insort(of_key, at)
        taken[row[1:3]].append(row)
    windows = {}
    for key, content in taken.items():
        content.sort(key=lambda row: row[0])
        first = 0
        for end in range(1, len(content) + 1):
            if end == len(content) or content[end][0] - content[end - 1][0] > gap:
                part = content[first:end]
                windows[(*key, part[0][0], part[-1][0] + gap)] = aggregates(part)
                first = end
    return windows, late


def filled(windows, slide, length):
    """The same with the windows without a row between the first and the last of each key."""
    by_key = defaultdict(list)
    for where in windows:
        by_key[where[:2]].append(where[2])
    result = dict(windows)
    for key, starts in by_key.items():
        for start in range(min(starts), max(starts), slide):
            result.setdefault((*key, start, start + length), aggregates([]))
    return result


class CorrectionsCase(WindowsCase):
    """`overlap`: whether windows of a key may; None: there is no column of corrections."""
    overlap = None

    def applied(self, text, overlap):
        """The rows without those that were replaced or are void, without the column."""
        lines = list(csv.reader(io.StringIO(text)))
        self.assertEqual(lines[0][-1], "correction")
        stands = {}
        for *line, word in lines[1:]:
            where = tuple(line[:4])
            self.assertIn(word, ["first", "again", "void", "early"])
            if word == "void":
                before = stands.pop(where)
                self.assertEqual(before[0], line)
                continue
            if word == "again" and overlap:
                self.assertNotEqual(stands[where][1], "early")
            if word in ("first", "early"):
                self.assertTrue(where not in stands or stands[where][1] == "early", where)
            stands[where] = (line, word)
        self.assertNotIn("early", [word for _, word in stands.values()])
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(lines[0][:-1])
        writer.writerows(line for line, _ in stands.values())
        return out.getvalue()

    def compare(self, text, expected, bound_of=int):
        if self.overlap is not None:
            text = self.applied(text, self.overlap)
        super().compare(text, expected, bound_of)

    def one_marked(self, rng, seed):
        """A random specification with the column of corrections, early rows, filled windows."""
        spread = rng.choice([1, 5, 500, 3000])
        rows = table(seed, rng.choice([1, 3, 40, 400, 1000]), spread,
                     rng.choice([1, spread, 20_000]))
        disorder = rng.choice([0, spread // 2, spread, 2 * spread])
        lateness = rng.choice([0, 10, spread, 30_000])
        options = ["--disorder", f"{disorder}ms", "--lateness", f"{lateness}ms", "--corrections"]
        if rng.random() < 0.3:
            options += ["--every", rng.choice(["1ns", "1ms", "1h"])]
        self.overlap = rng.random() < 0.5
        if self.overlap:
            slide = rng.choice([100, 700, 5000])
            length = rng.choice([slide, slide * 3, slide * 2 + 1, max(1, slide // 2)])
            expected, late = sliding(rows, length, slide, disorder, lateness)
            if rng.random() < 0.5 and slide > 100:
                options.append("--fill")
                expected = filled(expected, slide, length)
            self.check(f"sliding:{length}ms/{slide}ms", expected, late, rows, seed, *options)
        else:
            gap = rng.choice([1, 100, 2000, 30_000])
            expected, late = sessions_at_once(rows, gap, disorder, lateness)
            self.check(f"session:{gap}ms", expected, late, rows, seed, *options)
        self.overlap = None


class Corrections(CorrectionsCase):
    def test_random_ones(self):
        for seed in seeds(25):
            with self.subTest(STRID_SEED=seed):
                self.one_marked(random.Random(seed), seed)

    def test_sessions_that_merge(self):
        given = "k,t,x\na,0,1\na,20,2\nz,35,0\na,10,4\nz,100,0\n"
        arguments = [*PLAIN, "--window", "session:10s", "--lateness", "60s", "--aggregate",
                     "count,sum(x)"]
        done = strid(*arguments, "--corrections", given=given)
        self.assertEqual(done.stdout, "k,window_start,window_end,count,sum(x),correction\n"
                         "a,0,10,1,1,first\na,20,30,1,2,first\n"
                         "a,0,10,1,1,void\na,20,30,1,2,void\na,0,30,3,7,again\n"
                         "z,35,45,1,0,first\nz,100,110,1,0,first\n")
        # Without the column the rows are those that they were.
        done = strid(*arguments, given=given)
        self.assertEqual(done.stdout, "k,window_start,window_end,count,sum(x)\n"
                         "a,0,10,1,1\na,20,30,1,2\na,0,30,3,7\nz,35,45,1,0\nz,100,110,1,0\n")

    def test_a_row_in_time_that_touches_a_session_that_was_written(self):
        # The session of 0 is complete at 12; that of 5 ends at 15, so the row is in time.
        done = strid(*PLAIN, "--window", "session:10s", "--aggregate", "count", "--corrections",
                     given="k,t\na,0\nz,12\na,5\nz,40\n")
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("a")],
                         ["a,0,10,1,first", "a,0,10,1,void", "a,0,15,2,again"])

    def test_windows_that_fire_again_or_late_for_the_first_time(self):
        done = strid(*PLAIN, "--window", "tumbling:10s", "--lateness", "1h", "--aggregate", "count",
                     "--corrections", given="k,t\na,1\na,25\na,2\nb,3\nb,4\na,50\n")
        self.assertEqual(done.stdout.splitlines()[1:],
                         ["a,0,10,1,first", "a,0,10,2,again", "b,0,10,1,first", "b,0,10,2,again",
                          "a,20,30,1,first", "a,50,60,1,first"])


class SessionsApart(Case):
    def test_without_corrections_such_a_row_is_late(self):
        # Otherwise the rows 0 to 5 and 3 to 8 would overlap, and nothing would say which stands.
        late = self.folder / "late.csv"
        done = strid(*PLAIN, "--window", "session:5s", "--aggregate", "count", "--late", str(late),
                     given="t,k\n0,a\n6,z\n3,a\n20,z\n")
        self.assertEqual(sorted(done.stdout.splitlines()[1:]),
                         ["a,0,5,1", "z,20,25,1", "z,6,11,1"])
        self.assertEqual(late.read_text(), "t,k\n3,a\n")


class Filled(WindowsCase):
    def test_windows_without_a_row(self):
        given = "k,t,x\na,1,1\na,45,2\nb,12,3\n"
        done = strid(*PLAIN, "--window", "tumbling:10s", "--disorder", "end", "--aggregate",
                     "count,sum(x),mean(x)", "--fill", given=given)
        self.assertEqual(sorted(done.stdout.splitlines()[1:]),
                         ["a,0,10,1,1,1", "a,10,20,0,,", "a,20,30,0,,", "a,30,40,0,,",
                          "a,40,50,1,2,2", "b,10,20,1,3,3"])

    def test_at_most_a_million(self):
        done = strid("--no-header", "--time", "1", "--unit", "s", "--window", "tumbling:1s",
                     "--aggregate", "count", "--fill", code=1, given=f"0\n{12 * 86_400}\n")
        self.assertIn("1036799 windows without a record lie between two of a key", done.stderr)

    def test_sessions_are_refused(self):
        done = strid(*PLAIN, "--window", "session:1s", "--aggregate", "count", "--fill", code=2)
        self.assertIn("--fill: there are no sessions without a row", done.stderr)


class AnyOrder(WindowsCase):
    def test_a_file_in_order_of_key(self):
        rows = sorted(table(3), key=lambda row: row[1:3])
        disorder = 10**12
        for number, (name, expected) in enumerate([
                ("sliding:7s/3s", sliding(rows, 7000, 3000, disorder)[0]),
                ("session:2s", sessions_at_once(rows, 2000, disorder, 0)[0])]):
            self.check(name, expected, [], rows, number, "--disorder", "end")

    def test_what_has_no_meaning_then(self):
        for option, word in (("--idle", "--idle"), ("--lateness", "--lateness")):
            done = strid(*PLAIN, "--window", "tumbling:1s", "--aggregate", "count", "--disorder",
                         "end", option, "5s", code=2)
            self.assertIn(word, done.stderr)

    def test_windows_of_a_number_of_rows_refuse(self):
        for options in (["--disorder", "end"], ["--idle", "5s"], ["--future", "1h"],
                        ["--every", "1s"], ["--fill"], ["--corrections"]):
            done = strid("--window", "count:2", "--aggregate", "count", *options, code=2)
            self.assertIn(" ".join(options[:1]), done.stderr)
            self.assertIn("windows of a number of records", done.stderr)


class EndOfTime(WindowsCase):
    def test_no_window_is_empty(self):
        """The last time that can be written in each unit, in 64 bits of nanoseconds."""
        last = 2**63 - 1
        for unit, ns in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)):
            for windows in ("session:30s", "tumbling:10s"):
                time_of_row = last // ns
                done = strid("--no-header", "--time", "1", "--unit", unit, "--window", windows,
                             "--aggregate", "count", given=f"{time_of_row}\n")
                start, end, count = map(Decimal, done.stdout.splitlines()[1].split(","))
                self.assertLess(start, end, (unit, windows))
                self.assertLessEqual(start, time_of_row)
                # The last moment may be written as a fraction; no nanosecond is behind it.
                (self.assertLess if ns > 1 else self.assertLessEqual)(time_of_row, end)
                self.assertEqual(count, 1)


class Future(Case):
    def test_a_row_from_the_future_moves_no_time(self):
        late = self.folder / "late.csv"
        rows = ["t,x"] + [f"{t},1" for t in range(0, 10_000, 1000)] + ["4102444800000,1"] + \
            [f"{t},1" for t in range(10_000, 20_000, 1000)]
        given = "\n".join(rows) + "\n"
        arguments = ["--time", "t", "--window", "tumbling:10s", "--aggregate", "count",
                     "--disorder", "5s", "--late", str(late)]
        done = strid(*arguments, "--future", "1h", given=given)
        self.assertEqual(done.stdout, "window_start,window_end,count\n0,10000,10\n10000,20000,10\n")
        self.assertEqual(late.read_text(), "t,x\n4102444800000,1\n")
        self.assertIn("1 row from the future", done.stderr)
        # Without the guard all rows behind it are late.
        done = strid(*arguments, given=given)
        self.assertEqual(len(late.read_text().splitlines()), 11)

    def test_late_rows_and_those_from_the_future_go_to_one_file(self):
        late = self.folder / "late.csv"
        now = int(time.time())
        strid(*PLAIN, "--window", "tumbling:10s", "--aggregate", "count", "--future", "1h",
              "--late", str(late), given=f"k,t\na,{now}\nb,{now + 7200}\nc,{now - 60}\na,{now}\n")
        self.assertEqual(sorted(late.read_text().splitlines()),
                         sorted(["k,t", f"b,{now + 7200}", f"c,{now - 60}"]))

    def test_a_pause_is_no_future(self):
        done = strid(*PLAIN, "--window", "tumbling:1s", "--aggregate", "count", "--future", "1h",
                     given="k,t\na,0\na,1000000\na,1000000000\n")
        self.assertEqual(len(done.stdout.splitlines()), 4)


class LiveCase(Case):
    """A process that is fed through a pipe that stays open."""

    def reader(self, process):
        """The lines of its output as they come."""
        lines = []
        came = threading.Condition()

        def read():
            for line in process.stdout:
                with came:
                    lines.append(line.decode().strip())
                    came.notify_all()

        thread = threading.Thread(target=read)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(process.kill)

        def wait(found, seconds=60):
            with came:
                self.assertTrue(came.wait_for(lambda: any(map(found, lines)), seconds), lines)
                return list(lines)

        return wait


class Live(LiveCase):
    def test_windows_close_in_silence(self):
        process = self.start("window", *PLAIN, "--window", "tumbling:2s", "--aggregate", "count",
                             "--idle", "500ms")
        wait = self.reader(process)
        process.stdin.write(b"k,t\na,100\nb,101\na,101\n")
        process.stdin.flush()
        wait(lambda line: line == "b,100,102,1")
        # Time has gone on by the clock: a row of what is over is late, one of now is not.
        process.stdin.write(b"a,101\na,100000\n")
        process.stdin.close()
        wait(lambda line: line == "a,100000,100002,1")
        process.wait(timeout=60)
        self.assertIn(b"late      1 record", process.stderr.read())

    def test_open_windows_are_written_early(self):
        process = self.start("window", *PLAIN, "--window", "tumbling:10s", "--aggregate",
                             "count,sum(x)", "--every", "50ms", "--corrections")
        wait = self.reader(process)
        process.stdin.write(b"k,t,x\na,100,1\n")
        process.stdin.flush()
        wait(lambda line: line == "a,100,110,1,1,early")
        process.stdin.write(b"a,101,2\n")
        process.stdin.flush()
        wait(lambda line: line == "a,100,110,2,3,early")
        process.stdin.close()
        wait(lambda line: line == "a,100,110,2,3,first")
        process.wait(timeout=60)

    def test_a_session_is_taken_back_with_the_values_that_were_written(self):
        # The row of 4 changes the session before that of 15 does, and is written nowhere alone.
        process = self.start("window", *PLAIN, "--window", "session:10s", "--aggregate",
                             "count,sum(x)", "--disorder", "60s", "--every", "50ms",
                             "--corrections")
        wait = self.reader(process)
        process.stdin.write(b"k,t,x\nb,0,1\nb,8,2\n")
        process.stdin.flush()
        wait(lambda line: line == "b,0,18,2,3,early")
        process.stdin.write(b"b,4,4\nb,15,8\n")
        process.stdin.flush()
        lines = wait(lambda line: line == "b,0,25,4,15,early")
        self.assertEqual([line for line in lines if "void" in line], ["b,0,18,2,3,void"])
        process.stdin.close()
        process.wait(timeout=60)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` against a computation of its own in plain Python: every window, every value, every
late row. One test class per kind of window. The tests of JSON are in json_windows.py; times, limits
and errors are in window_options.py.

    windows.py CLASS...
"""
import csv
import io
import math
import os
import random
import statistics
import subprocess
import unittest
from collections import defaultdict
from datetime import datetime, timedelta, timezone

STRID = os.environ["STRID"]
AGGREGATES = ("count,count(x),sum(x),mean(x),min(x),max(x),stddev(x),var(x),median(x),p90(x),"
              "distinct(tag),distinct_approximately(tag)")


def table(seed, rows=1500, disorder=3000, too_late=20000):
    """Rows of (time in ms, key, second key, x or None, tag)."""
    rng = random.Random(seed)
    now = -50_000
    result = []
    for _ in range(rows):
        now += rng.randrange(200) if rng.random() > 0.01 else rng.randrange(60_000)
        behind = rng.randrange(disorder) if rng.random() > 0.05 else rng.randrange(too_late)
        x = None if rng.random() < 0.05 else rng.randrange(-500, 500) / 4
        result.append((now - behind, rng.choice("abcdefg"), rng.choice(["u", "v,w"]), x,
                       rng.choice(["red", "green", "blue", ""])))
    return result


def text_of(rows, time_of=str):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["tag", "at", "key", "x", "side"])
    for at, key, side, x, tag in rows:
        writer.writerow([tag, time_of(at), key, "" if x is None else x, side])
    return out.getvalue()


def aggregates(rows):
    xs = [x for _, _, _, x, _ in rows if x is not None]
    several = len(xs) > 1
    inclusive = (lambda n, i: statistics.quantiles(xs, n=n, method="inclusive")[i]
                 if several else xs[0])
    none = None
    tags = len({tag for _, _, _, _, tag in rows if tag})
    return [len(rows), len(xs), sum(xs) if xs else none, statistics.fmean(xs) if xs else none,
            min(xs, default=none), max(xs, default=none),
            statistics.stdev(xs) if several else none,
            statistics.variance(xs) if several else none,
            statistics.median(xs) if xs else none, inclusive(10, 8) if xs else none,
            tags, tags]


def strid(*arguments, given="", code=0):
    done = subprocess.run([STRID, "window", *arguments], input=given, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def promised(rows, disorder):
    """The watermark that stands before each row."""
    latest = -math.inf
    for row in rows:
        yield latest - disorder
        latest = max(latest, row[0])


def sliding(rows, length, slide, disorder, lateness=0):
    windows = defaultdict(list)
    late = []
    for row, watermark in zip(rows, promised(rows, disorder)):
        last = row[0] // slide * slide
        starts = [s for s in range(last, row[0] - length, -slide)]
        taken = [s for s in starts if s + length + lateness > watermark]
        if starts and not taken:
            late.append(row)
        for start in taken:
            windows[(row[1], row[2], start, start + length)].append(row)
    return {where: aggregates(content) for where, content in windows.items()}, late


def sessions(rows, gap, disorder):
    open_sessions = defaultdict(list)
    closed = defaultdict(list)  # bounds: a row that touches one is late
    done = {}
    late = []

    def close(key, session):
        times = [row[0] for row in session]
        closed[key].append((min(times) - gap, max(times) + gap))
        done[(*key, min(times), max(times) + gap)] = aggregates(session)

    for row, watermark in zip(rows, promised(rows, disorder)):
        key = row[1:3]
        still = []
        for session in open_sessions[key]:
            if max(r[0] for r in session) + gap < watermark:
                close(key, session)
            else:
                still.append(session)
        near = [s for s in still
                if min(r[0] for r in s) - gap <= row[0] <= max(r[0] for r in s) + gap]
        is_touched = any(first <= row[0] <= last for first, last in closed[key])
        is_within = any(min(r[0] for r in s) <= row[0] for s in near)
        if is_touched or (not is_within and row[0] + gap < watermark):
            late.append(row)
        else:
            still = [s for s in still if s not in near] + [sum(near, []) + [row]]
        open_sessions[key] = still
    for key, left in open_sessions.items():
        for session in left:
            close(key, session)
    return done, late


def counts(rows, length, slide, drops_open):
    by_key = defaultdict(list)
    for row in rows:
        by_key[row[1:3]].append(row)
    expected = {}
    for key, content in by_key.items():
        for start in range(0, len(content), slide):
            part = content[start:start + length]
            if len(part) == length or not drops_open:
                expected[(*key, start, start + len(part))] = aggregates(part)
    return expected


class WindowsCase(unittest.TestCase):
    maxDiff = 2000

    def settings(self, number):
        return [["--parallelism", str(1 + number % 4)],
                ["--mode", ["cooperative", "dedicated", "simulation"][number % 3]],
                ["--seed", str(number)]]

    def compare(self, text, expected, bound_of=int):
        lines = list(csv.reader(io.StringIO(text)))
        self.assertEqual(lines[0][:4], ["key", "side", "window_start", "window_end"])
        got = {}
        for line in lines[1:]:
            where = (line[0], line[1], bound_of(line[2]), bound_of(line[3]))
            got[where] = [float(value) if value else None for value in line[4:]]
        self.assertEqual(sorted(got), sorted(expected))
        for where, values in expected.items():
            for have, want in zip(got[where], values):
                if want is None or have is None:
                    self.assertEqual(have, want, where)
                else:
                    self.assertTrue(math.isclose(have, want, rel_tol=1e-9, abs_tol=1e-9),
                                    (where, got[where], values))

    def check(self, windows, expected, late, rows, number, *options):
        late_path = f"/tmp/strid-late-{os.getpid()}.csv"
        flat = [word for pair in self.settings(number) for word in pair]
        done = strid("--key", "key,side", "--time", "at", "--window", windows, "--aggregate",
                     AGGREGATES, "--late", late_path, *flat, *options, given=text_of(rows))
        self.compare(done.stdout, expected)
        with open(late_path, encoding="utf-8") as file:
            got = file.read()
        os.unlink(late_path)
        header, *expected_lines = text_of(late).splitlines()
        self.assertEqual(got.splitlines()[0], header)
        self.assertEqual(sorted(got.splitlines()[1:]), sorted(expected_lines))
        if late:
            self.assertIn(f"late      {len(late):,} record", done.stderr)


    def check_counts(self, rows, length, slide, number, drops_open):
        expected = counts(rows, length, slide, drops_open)
        flat = [word for pair in self.settings(number) for word in pair]
        done = strid("--key", "key,side", "--window", f"count:{length}/{slide}", "--aggregate",
                     AGGREGATES, *flat, *(["--drop-open"] if drops_open else []),
                     given=text_of(rows))
        self.compare(done.stdout, expected)


class TimeWindows(WindowsCase):
    def test_sliding_and_tumbling(self):
        specs = [(10_000, 1_000), (5_000, 5_000), (7_000, 3_000), (2_000, 5_000)]
        for number, (length, slide) in enumerate(specs * 2):
            rows = table(number)
            expected, late = sliding(rows, length, slide, 3000)
            name = f"tumbling:{length}ms" if length == slide else f"sliding:{length}ms/{slide}ms"
            self.check(name, expected, late, rows, number, "--disorder", "3s")

    def test_lateness_writes_windows_again(self):
        for number in range(4):
            rows = table(number)
            expected, late = sliding(rows, 5000, 1000, 1000, 4000)
            self.check("sliding:5s/1s", expected, late, rows, number, "--disorder", "1s",
                       "--lateness", "4s")

    def test_the_end_cuts_only_windows_behind_the_latest_row(self):
        rows = "t,x\n1000,1\n1500,2\n2500,4\n500,8\n5200,16\n"
        whole = ["0,1000,1,8", "1000,2000,2,3", "2000,3000,1,4"]
        for disorder in ("end", "10s", "2s"):
            for windows, expected in (("tumbling:1s", whole), ("session:600ms", [
                    "500,2100,3,11", "2500,3100,1,4"]), ("tumbling:6s", [])):
                done = strid("--time", "t", "--window", windows, "--aggregate", "count,sum(x)",
                             "--disorder", disorder, "--drop-open", given=rows)
                self.assertEqual(done.stdout.splitlines()[1:], expected, (disorder, windows))

    def test_iso_times_and_units(self):
        rows = table(7)
        expected, _ = sliding(rows, 10_000, 1_000, 60_000)
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        east = timezone(timedelta(hours=5, minutes=30))

        def iso(ms):
            return (epoch + timedelta(milliseconds=ms)).astimezone(east).isoformat()

        def back(text):
            return round((datetime.fromisoformat(text.replace("Z", "+00:00")) - epoch)
                         / timedelta(milliseconds=1))

        arguments = ["--key", "key,side", "--time", "at", "--window", "sliding:10s/1s",
                     "--aggregate", AGGREGATES, "--disorder", "60s"]
        self.compare(strid(*arguments, given=text_of(rows, iso)).stdout, expected, back)
        in_us = strid(*arguments, "--unit", "us", given=text_of(rows, lambda ms: str(ms * 1000)))
        self.compare(in_us.stdout, expected, lambda text: int(text) // 1000)


class Sessions(WindowsCase):
    def test_sessions(self):
        for number in range(6):
            rows = table(number)
            gap = [500, 2000, 5000, 30_000][number % 4]
            expected, late = sessions(rows, gap, 3000)
            self.check(f"session:{gap}ms", expected, late, rows, number, "--disorder", "3s")


class CountWindows(WindowsCase):
    def test_windows_of_a_number_of_rows(self):
        for number, (length, slide) in enumerate([(100, 25), (7, 7), (10, 3), (3, 10)] * 2):
            rows = table(number)
            self.check_counts(rows, length, slide, number, drops_open=number > 3)

    def test_quantiles_of_many_rows_are_close(self):
        rng = random.Random(5)
        values = [rng.gauss(0, 1) for _ in range(100_000)]
        done = strid("--no-header", "--window", "count:100000", "--aggregate",
                     "p1(1),p50(1),p99(1),p99.9(1)", given="\n".join(map(str, values)) + "\n")
        got = [float(v) for v in done.stdout.splitlines()[1].split(",")[2:]]
        values.sort()
        for q, value in zip((0.01, 0.5, 0.99, 0.999), got):
            rank = sum(v < value for v in values) / len(values)
            self.assertLess(abs(rank - q), 4 * q * (1 - q) / 200 + 1e-4, (q, value))

    def test_many_different_values_are_counted_approximately(self):
        rng = random.Random(6)
        values = [str(rng.randrange(80_000)) for _ in range(200_000)]
        done = strid("--no-header", "--window", "count:100000/50000", "--drop-open", "--aggregate",
                     "distinct(1),distinct_approximately(1)", given="\n".join(values) + "\n")
        lines = done.stdout.splitlines()[1:]
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            exact, about = (int(v) for v in line.split(",")[2:])
            different = len(set(values[50_000 * number:50_000 * number + 100_000]))
            self.assertEqual(exact, different)
            self.assertLess(abs(about - different), 4 * 1.04 / 2**7 * different)


class FewAggregates(WindowsCase):
    """One key and a few plain aggregates: what rows, states and results are laid out small for."""

    def compare_few(self, rows, windows, key_of, bounds_of, *options):
        expected = defaultdict(list)
        for row in rows:
            for bounds in bounds_of(row):
                expected[(key_of(row), *bounds)].append(row)
        key = ["--key", "key"] if key_of(rows[0]) else []
        done = strid(*key, *windows, "--aggregate", "sum(x),count,mean(x),max(x)", *options,
                     given=text_of(rows))
        got = {}
        for line in list(csv.reader(io.StringIO(done.stdout)))[1:]:
            where = (*(line[:1] if key else [""]), int(line[-6]), int(line[-5]))
            self.assertNotIn(where, got)
            got[where] = [float(value) if value else None for value in line[-4:]]
        self.assertEqual(sorted(got), sorted(expected))
        for where, content in expected.items():
            xs = [row[3] for row in content if row[3] is not None]
            want = [sum(xs), len(content), statistics.fmean(xs), max(xs)] if xs else \
                [None, len(content), None, None]
            self.assertEqual(got[where], want, where)

    def test_sliding_and_tumbling(self):
        for number, (length, slide) in enumerate([(10_000, 1_000), (7_000, 3_000)] * 2):
            rows = table(number)
            windows = ["--time", "at", "--window", f"sliding:{length}ms/{slide}ms"]
            self.compare_few(
                rows, windows, (lambda row: row[1]) if number < 2 else (lambda row: ""),
                lambda row: [(s, s + length) for s in range(row[0] // slide * slide,
                                                            row[0] - length, -slide)],
                "--disorder", "60s", "--parallelism", str(1 + number % 3))

    def test_windows_of_a_number_of_rows(self):
        rows = table(11)
        position = {id(row): i for i, row in enumerate(rows)}
        tens = [(start, min(start + 10, len(rows))) for start in range(0, len(rows), 10)]
        self.compare_few(rows, ["--window", "count:10"], lambda row: "",
                         lambda row: [tens[position[id(row)] // 10]])

    def test_rows_are_counted_without_a_column(self):
        done = strid("--window", "count:2", "--aggregate", "count", given="a,b\n1,2\n3,4\n5,6\n")
        self.assertEqual(done.stdout, "window_start,window_end,count\n0,2,2\n2,3,1\n")

    def test_fields_that_are_not_plain(self):
        given = ('a,"at",x,key,z\r\n"1,1",1,1.5,k,\n2,"2", 2.5,"k",""\n"3\n",3,+4,k\r\n\n'
                 'q,4,,k,5,6,7\n5,5,8,"k""",\n6,6,1e1,k,"z\nz"\n7,7,16,k')
        done = strid("--key", "key", "--time", "at", "--window", "tumbling:1s", "--aggregate",
                     "sum(x),count", "--ragged", given=given)
        self.assertEqual(sorted(done.stdout.splitlines()[1:]),
                         ['"k""",0,1000,8,1', "k,0,1000,34,6"])


if __name__ == "__main__":
    unittest.main()

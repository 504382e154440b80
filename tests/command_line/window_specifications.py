#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` with random specifications over random tables, against the plain Python of
simulated_windows.py: every dialect and form of time, every kind of windows, random aggregates,
disorder and lateness, several inputs, packed files and slow pipes, any parallelism and mode. The
seed is printed with a failure (seeds.py).

    window_specifications.py CLASS...
"""
import bz2
import csv
import gzip
import io
import lzma
import math
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time
import unittest
from collections import Counter

from live_windows import CorrectionsCase
from seeds import seeds
from simulated_tables import Dialect, JsonLines, TimeForm, random_rows
from simulated_windows import (AGGREGATES, Calendar, Fixed, by_count, by_session, by_time, filled)

STRID = os.environ["STRID"]
PACKED = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
MS = 10**6


class Specification:
    """One question, its answer, and the command line that asks it."""

    def __init__(self, rng):
        self.rng = rng
        self.form = TimeForm(rng)
        rows, self.spread = random_rows(rng, self.form.step_ns)
        self.table = Dialect(rng) if rng.random() < 0.75 else JsonLines(rng)
        self.options = ["--parallelism", str(rng.randint(1, 4)),
                        "--mode", rng.choice(["cooperative", "dedicated", "simulation"]),
                        "--seed", str(rng.randrange(1000))]
        self.rows = rows
        self.parts = self.split_among_inputs()
        self.choose_aggregates()
        self.choose_windows()

    def split_among_inputs(self):
        count = self.rng.choice([1, 1, 1, 2, 3])
        self.kind = self.rng.choice(["tumbling", "sliding", "session", "count", "calendar"])
        if count == 1:
            return [self.rows]
        if self.kind == "count" or self.rng.random() < 0.5:
            cuts = sorted(self.rng.randrange(len(self.rows) + 1) for _ in range(count - 1))
            return [self.rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(self.rows)])]
        self.options += ["--merge-inputs"]
        parts = [[] for _ in range(count)]
        for row in sorted(self.rows, key=lambda row: row.at):
            self.rng.choice(parts).append(row)
        self.rows = sorted(sum(parts, []), key=lambda row: row.at)
        return parts

    def choose_aggregates(self):
        self.aggregates = []
        for _ in range(self.rng.randint(1, 6)):
            name = self.rng.choice(list(AGGREGATES) + ["count_rows"])
            column = "tag" if name == "distinct" else self.rng.choice(["n", "x"])
            if name in ("stddev", "var", "median", "p90", "p12.5"):
                column = "x"
            self.aggregates.append((name, column))

    def choose_windows(self):
        rng = self.rng
        self.is_counted = False
        unit_ms = max(1, self.form.step_ns // MS) if self.form.kind == "integer" else 1
        disorder = rng.choice([0, self.spread // 2, self.spread, 2 * self.spread, math.inf])
        kind = self.kind
        if kind == "count":
            self.is_counted = True
            length = rng.choice([1, 2, 7, 100])
            slide = rng.choice([1, 3, length, length + 5])
            drops = rng.random() < 0.3
            self.windows = f"count:{length}/{slide}"
            self.options += ["--drop-open"] if drops else []
            self.found, self.late = by_count(self.rows, length, slide, drops)
            return
        self.options += ["--disorder", "end" if disorder == math.inf else f"{disorder}ms"]
        disorder *= MS
        if kind == "session":
            gap = rng.choice([1, 100, 2000, 30_000]) * unit_ms
            self.windows = f"session:{gap}ms"
            self.found, self.late = by_session(self.rows, gap * MS, disorder)
            self.may_drop_open(lambda end, latest: end < latest)
            return
        lateness = rng.choice([0, 0, 10, self.spread]) if disorder != math.inf else 0
        if lateness:
            self.options += ["--lateness", f"{lateness}ms"]
        if kind == "calendar":
            unit = rng.choice(["d", "w", "mo"])
            zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata"]
            # Texts without an offset would be local times of the zone.
            zone = "UTC" if self.form.is_local else rng.choice([*zones, "UTC"])
            self.windows = f"tumbling:1{unit}"
            self.options += ["--zone", zone]
            windows = Calendar(unit, zone)
        else:
            slide = rng.choice([100, 700, 5000]) * unit_ms
            length = slide if kind == "tumbling" else \
                rng.choice([slide * 3, slide * 10, slide * 2 + unit_ms,
                            max(unit_ms, slide // 2 // unit_ms * unit_ms)])
            offset = rng.choice([0, 0, slide // 2 // unit_ms * unit_ms])
            self.windows = f"tumbling:{length}ms" if length == slide else \
                f"sliding:{length}ms/{slide}ms"
            if offset:
                self.options += ["--offset", f"{offset}ms"]
            windows = Fixed(length * MS, slide * MS, offset * MS)
        self.found, self.late = by_time(self.rows, windows, disorder, lateness * MS)
        spans = max(self.rows, key=lambda r: r.at).at - min(self.rows, key=lambda r: r.at).at
        if kind != "calendar" and not lateness and spans < 3000 * slide * MS and \
                rng.random() < 0.3:
            self.options += ["--fill"]
            self.found = filled(self.found, windows)
        else:
            self.may_drop_open(lambda end, latest: end <= latest)

    def may_drop_open(self, is_whole):
        """Without the windows that the end of the rows cuts, whatever the disorder."""
        if self.rng.random() < 0.3:
            self.options += ["--drop-open"]
            latest = max(row.at for row in self.rows)
            self.found = {where: content for where, content in self.found.items()
                          if is_whole(where[-1], latest)}

    def expected(self, content):
        values = []
        for name, column in self.aggregates:
            if name == "count_rows":
                values.append(len(content))
                continue
            of_column = [getattr(row, column) for row in content]
            present = [value for value in of_column if value is not None and value != ""]
            values.append(AGGREGATES[name](present))
        return values

    def command(self, folder):
        column = self.table.column
        texts = ["count" if name == "count_rows" else f"{name}({column(of)})"
                 for name, of in self.aggregates]
        return [STRID, "window", "--key", f"{column('key')},{column('side')}", "--window",
                self.windows, "--aggregate", ",".join(texts), *self.table.options, *self.options,
                *(["--time", column("at"), *self.form.options, "--late", str(folder / "late")]
                  if not self.is_counted else [])]


def feed(stream, data, rng):
    """A slow pipe: pieces of any size, a pause between some."""
    try:
        while data:
            taken = stream.write(data[:rng.choice([1, 7, 100, 4000, 70_000])])
            stream.flush()
            data = data[taken:]  # a pipe without a buffer may take a part of it only
            if rng.random() < 0.05:
                time.sleep(0.002)
        stream.close()
    except BrokenPipeError:
        pass  # the exit status says why


def feed_named(path, data, seed):
    """Waits for the reader, which opens the pipe when it comes to it."""
    with open(path, "wb", buffering=0) as stream:
        feed(stream, data, random.Random(seed))


def run(spec, folder):
    """Specifications, and the errors about them."""
    rng = spec.rng
    texts = []
    spec.malformed = 0
    for part in spec.parts:
        text, malformed = spec.table.write(part, spec.form.write)
        texts.append(text.encode())
        spec.malformed += malformed
    command = spec.command(folder)
    given = None
    feeders = []
    if len(texts) == 1 and rng.random() < 0.5:
        given = texts[0]
    else:
        are_pipes = rng.random() < 0.2
        for number, data in enumerate(texts):
            ending = rng.choice(list(PACKED))
            path = folder / f"in{number}{ending}"
            command += ["--input", str(path)]
            if are_pipes:
                os.mkfifo(path)
                feeders.append((feed_named, (path, PACKED[ending](data), rng.random())))
            else:
                path.write_bytes(PACKED[ending](data))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        if given is not None and rng.random() < 0.2:
            feeders.append((feed, (process.stdin, given, rng)))
        # A pipe that is never opened must not keep the test from failing.
        threads = [threading.Thread(target=feed, args=args, daemon=True)
                   for feed, args in feeders]
        for thread in threads:
            thread.start()
        if threads:
            out, said = process.stdout.read(), process.stderr.read()
            process.wait()
        else:
            out, said = process.communicate(given or b"")
        watchdog.cancel()
    return command, process.returncode, out.decode(), said.decode()


def is_equal(have, want):
    if want is None or have == "":
        return have == "" and want is None
    if isinstance(want, int):
        return have == str(want)
    return math.isclose(float(have), float(want), rel_tol=1e-9, abs_tol=1e-9)


class Specifications(unittest.TestCase):
    maxDiff = 4000

    def test_random_ones(self):
        for seed in seeds(300):
            with self.subTest(STRID_SEED=seed), tempfile.TemporaryDirectory() as folder:
                self.one(random.Random(seed), pathlib.Path(folder))

    def one(self, rng, folder):
        spec = Specification(rng)
        command, status, out, said = run(spec, folder)
        asked = " ".join(command[1:])
        self.assertEqual(status, 0, (asked, said))
        lines = list(csv.reader(io.StringIO(out)))
        bound = int if spec.is_counted else spec.form.read_bound
        got = {}
        for line in lines[1:]:
            got[(line[0], line[1], bound(line[2]), bound(line[3]))] = line[4:]
        self.assertEqual(sorted(got), sorted(spec.found), asked)
        for where, content in spec.found.items():
            for asked_for, have, want in zip(spec.aggregates, got[where], spec.expected(content)):
                self.assertTrue(is_equal(have, want), (asked, where, asked_for, have, want))
        if spec.malformed:
            self.assertIn(f"{spec.malformed:,} malformed", said, asked)
        if not spec.is_counted:
            self.check_late(spec, folder, asked)

    def check_late(self, spec, folder, asked):
        """By the number that each row has."""
        text = (folder / "late").read_text()
        if isinstance(spec.table, JsonLines):
            import json
            ids = [json.loads(line)["id"] for line in text.splitlines()]
        else:
            lines = list(csv.reader(io.StringIO(text), delimiter=spec.table.delimiter))
            ids = [line[spec.table.order.index("id")].strip()
                   for line in lines[1 if spec.table.has_header else 0:]]
        self.assertEqual(Counter(map(int, ids)), Counter(row.id for row in spec.late), asked)


class MarkedSpecifications(CorrectionsCase):
    """Windows whose rows say what they are, early ones and filled ones."""

    def test_random_ones(self):
        for seed in seeds(30):
            with self.subTest(STRID_SEED=seed):
                self.one_marked(random.Random(seed), seed)


if __name__ == "__main__":
    unittest.main()

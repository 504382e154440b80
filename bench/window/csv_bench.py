#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sliding sums by key from a CSV file into another: `strid window` beside a program whose record
type the compiler knows, DuckDB and pandas. All answers are compared: the same windows, the sums
within a relative 1e-9. The contenders take turns; the table has the medians of the rounds, and the
medians of the ratios of each round with their spread.

Programs of Strid are timed from start to exit. DuckDB and pandas are timed within a Python that has
loaded them already, from opening the input to closing the output; DuckDB runs the fastest of its
formulations below. Each runs in the Python that this is, or in Debian's (/usr/bin/python3),
whichever has it: a `python3` of another origin has no Debian packages. One that neither has fails
the benchmark before it begins, unless it is left out on purpose: its bar would be missing without
a word.

    csv_bench.py BUILD [--rows N] [--devices N[,N]] [--rounds N] [--without duckdb,pandas]
    BUILD: build/release
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

LENGTH_MS, SLIDE_MS = 10_000, 1_000
THREADS = 2
FIRST = f'"at" - "at" % {SLIDE_MS} - {LENGTH_MS - SLIDE_MS}'  # of the windows of a row
PANE = f'"at" - "at" % {SLIDE_MS}'
DUCKDB = {
    "panes": f"""
        SELECT device, start, start + {LENGTH_MS}, sum(s) FROM (
            SELECT device, s,
                   unnest(range(pane - {LENGTH_MS - SLIDE_MS}, pane + 1, {SLIDE_MS})) AS start
            FROM (SELECT device, {PANE} AS pane, sum(value) AS s FROM rows GROUP BY ALL))
        GROUP BY ALL""",
    "rows": f"""
        SELECT device, start, start + {LENGTH_MS}, sum(value) FROM (
            SELECT device, value, unnest(range({FIRST}, "at" + 1, {SLIDE_MS})) AS start FROM rows)
        GROUP BY ALL""",
    "frame": f"""
        WITH panes AS MATERIALIZED (
            SELECT device, {PANE} AS pane, sum(value) AS s FROM rows GROUP BY ALL),
        steps AS (SELECT unnest(range(0, {LENGTH_MS}, {SLIDE_MS})) AS step),
        points AS (SELECT device, pane AS point, sum(s) AS s FROM (
            SELECT device, pane, s FROM panes
            UNION ALL SELECT device, pane + step, 0 FROM panes, steps WHERE step > 0)
            GROUP BY ALL)
        SELECT device, point - {LENGTH_MS - SLIDE_MS}, point + {SLIDE_MS}, sum(s) OVER (
            PARTITION BY device ORDER BY point
            RANGE BETWEEN {LENGTH_MS - SLIDE_MS} PRECEDING AND CURRENT ROW) FROM points""",
}


def generate(path, rows, devices):
    """Times in ms that rise by one on average; values that sums of doubles hold exactly."""
    rng = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        file.write("at,device,value\n")
        at = 0
        for _ in range(rows):
            at += int(rng.random() * 3)
            file.write(f"{at},{int(rng.random() * devices)},{int(rng.random() * 8000) / 8}\n")


def duckdb_answer(source, target, formulation):
    import duckdb
    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")
    connection.execute(f"CREATE VIEW rows AS SELECT * FROM read_csv('{source}')")
    connection.execute(f"COPY ({DUCKDB[formulation]}) TO '{target}' (HEADER)")


def pandas_answer(source, target, _):
    import numpy
    import pandas
    rows = pandas.read_csv(source)
    rows["at"] -= rows["at"] % SLIDE_MS
    panes = rows.groupby(["device", "at"], sort=False)["value"].sum().reset_index()
    steps = numpy.arange(0, LENGTH_MS, SLIDE_MS)
    windows = pandas.DataFrame({
        "device": numpy.repeat(panes["device"].to_numpy(), len(steps)),
        "start": (panes["at"].to_numpy()[:, None] - steps).ravel(),
        "sum": numpy.repeat(panes["value"].to_numpy(), len(steps))})
    answer = windows.groupby(["device", "start"], sort=False)["sum"].sum().reset_index()
    answer.insert(2, "end", answer["start"] + LENGTH_MS)
    answer.to_csv(target, index=False)


def peer(library, formulation, source, target):
    """Runs in a process of its own; prints what it took."""
    __import__(library)
    wall, processor = time.perf_counter(), time.process_time()
    {"duckdb": duckdb_answer, "pandas": pandas_answer}[library](source, target, formulation)
    print(json.dumps([time.perf_counter() - wall, time.process_time() - processor]))


PEERS = {"duckdb": "DuckDB", "pandas": "pandas"}
PYTHONS = {}  # of each library


def find_pythons(without):
    """Fills PYTHONS; ends the program where a library is nowhere."""
    for library in PEERS:
        if library in without:
            continue
        for python in (sys.executable, "/usr/bin/python3"):
            done = subprocess.run([python, "-c", f"import {library}"], capture_output=True)
            if done.returncode == 0:
                PYTHONS[library] = python
                break
    missing = [library for library in PEERS if library not in PYTHONS and library not in without]
    if missing:
        sys.exit(f"{sys.executable} and /usr/bin/python3 have no {' and no '.join(missing)}: "
                 "install it (apt-get install python3-pandas, pip install duckdb), or say "
                 f"--without {','.join(missing)}")


def run_peer(library, formulation, source, target):
    command = [PYTHONS[library], __file__, "--peer", library, formulation, source, target]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def run_program(command):
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return [wall, usage.ru_utime + usage.ru_stime]


def answer_of(path):
    with open(path, encoding="ascii") as file:
        next(file)
        fields = (line.split(",") for line in file)
        return {(device, start, end): float(value) for device, start, end, value in fields}


def check(name, expected, path):
    got = answer_of(path)
    if got.keys() != expected.keys():
        sys.exit(f"{name}: {len(got)} windows instead of {len(expected)}, or others")
    for where, value in expected.items():
        if not math.isclose(got[where], value, rel_tol=1e-9):
            sys.exit(f"{name}: {where} has {got[where]} instead of {value}")


def contenders(build, source, folder):
    """Name to a function that runs it once, and the file that it writes."""
    target = {name: os.path.join(folder, name.replace(" ", "-") + ".csv")
              for name in ("strid window", "typed program", "DuckDB", "pandas")}
    strid = [os.path.join(build, "tools/strid"), "window", "--quiet", "--input", source, "--key",
             "device", "--time", "at", "--window", f"sliding:{LENGTH_MS}ms/{SLIDE_MS}ms",
             "--aggregate", "sum(value)", "--output", target["strid window"]]
    typed = [os.path.join(build, "bench/window/typed_csv"), source, target["typed program"]]
    runs = {"strid window": lambda: run_program(strid), "typed program": lambda: run_program(typed)}
    for library, name in PEERS.items():
        if library not in PYTHONS:
            print(f"{name} is left out, as --without says")
            continue
        formulation = "-"
        if library == "duckdb":
            tried = {one: run_peer(library, one, source, target[name])[0] for one in DUCKDB}
            formulation = min(tried, key=tried.get)
            print("DuckDB's formulations: "
                  + ", ".join(f"{one} {took:.2f} s" for one, took in tried.items()))
        runs[name] = lambda args=(library, formulation, source, target[name]): run_peer(*args)
    return runs, target


def bar(what, measured, least):
    """A line for the closing table of scripts/bench, as bench/bar.hpp has it."""
    met = "met" if measured >= least else "MISSED"
    print(f"bar | {what} | {measured:.3g} | at least {least:g} | {met} |")


BARS = {"DuckDB": 5, "pandas": 5}


def print_bars(took, devices):
    ours = [pair[0] for pair in took["strid window"]]
    for name, least in BARS.items():
        if name not in took:
            continue
        ratios = [pair[0] / one for pair, one in zip(took[name], ours)]
        bar(f"strid window over CSV, {devices:,} devices / {name}", statistics.median(ratios),
            least)
    ratios = [pair[0] / one for pair, one in zip(took["typed program"], ours)]
    bar(f"strid window over CSV, {devices:,} devices / the typed program",
        statistics.median(ratios), 0.3)


def compare(build, rows, devices, rounds, folder):
    source = os.path.join(folder, "input.csv")
    generate(source, rows, devices)
    size_mb = os.path.getsize(source) / 1e6
    print(f"\n{rows:,} rows of {devices:,} devices, {size_mb:.0f} MB; sliding:10s/1s, sum")
    runs, target = contenders(build, source, folder)
    took = {name: [] for name in runs}
    for number in range(rounds):
        order = list(runs)
        for name in order[number % len(order):] + order[:number % len(order)]:
            took[name].append(runs[name]())
        if number == 0:
            expected = answer_of(target["typed program"])
            print(f"{len(expected):,} windows")
            for name in runs:
                check(name, expected, target[name])
    print(f"{'':15} {'wall s':>8} {'CPU s':>8} {'M rows/s':>9}   wall / that of strid window")
    for name, pairs in took.items():
        wall = statistics.median(pair[0] for pair in pairs)
        processor = statistics.median(pair[1] for pair in pairs)
        ratios = [pair[0] / ours[0] for pair, ours in zip(pairs, took["strid window"])]
        print(f"{name:15} {wall:8.2f} {processor:8.2f} {rows / wall / 1e6:9.2f}   "
              f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print_bars(took, devices)


def main():
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description="Sliding sums by key over CSV")
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--devices", default="100,1000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", default="", help="duckdb, pandas or both")
    options = parser.parse_args()
    without = [word for word in options.without.split(",") if word]
    if not set(without) <= set(PEERS):
        parser.error(f"--without: {options.without} is none of {', '.join(PEERS)}")
    find_pythons(without)
    with tempfile.TemporaryDirectory() as folder:
        for devices in options.devices.split(","):
            compare(options.build, options.rows, int(devices), options.rounds, folder)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions per record of short runs and compares them with the stored figures.

    count.py --build build/release [--store] [RUN...]

Callgrind counts each run with few records and with more; the difference, by record, is free of
what it costs to start and to end. No neighbour on the machine disturbs it, so that a change which
costs every record two instructions is seen. The answer of every counted run is compared with one
that has nothing of the engine: a loop by hand (counted_runs.cpp), or SQLite. Exits with 1 where an
answer is wrong, or a figure is above 1.05 of what is stored (1.02 where the stored figure is said
to be exact).

A change that costs instructions on purpose stores its figures in the same commit (--store), with
the reason. Other figures than of GCC 12 on x86-64 have nothing to be compared with.
"""

import argparse
import csv
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPARE = HERE.parents[1] / "apps/compare.py"
FIGURES = HERE / "figures.csv"
ALLOWED = {"exact": 1.02, "": 1.05}


def output_of(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nexited with {done.returncode}: "
                         f"{done.stderr}")
    return done.stdout


def counted(folder, *command):
    """The instructions of all threads, and the output."""
    counts = folder / "callgrind.out"
    # Valgrind shows every processor with AVX2 as the same one: the C library chooses alike.
    output = output_of("valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", *command)
    return int(re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.M)[1]), output


class WrongAnswer(Exception):
    """The answer of a counted run is wrong."""


class GraphRun:
    """A graph of counted_runs.cpp."""

    def __init__(self, program, name, records):
        self.program = program
        self.name = name
        self.records = int(records)

    def count(self, folder, times):
        records = self.records * times
        expected = output_of(self.program, "--by-hand", self.name, records)
        instructions, answer = counted(folder, self.program, self.name, records)
        if answer != expected or answer.startswith("0 results"):
            raise WrongAnswer(f"{answer.strip()}, and by hand {expected.strip()}")
        return instructions, records


class ToolRun:
    """A run of the program `tool`: `lines(n)` is n times the input, of `records_of(lines)`."""

    def __init__(self, tool, name, lines, arguments, expect, records_of=len):
        self.tool = tool
        self.name = name
        self.lines = lines
        self.arguments = arguments
        self.expect = expect
        self.records_of = records_of

    def count(self, folder, times):
        source, answer, expected = (folder / name for name in ("input.csv", "answer", "expected"))
        lines = self.lines(times)
        source.write_text("".join(lines))
        instructions, _ = counted(folder, self.tool, *self.arguments, "--input", source,
                                  "--output", answer, "--workers", "1", "--quiet")
        expected.write_text(self.expect(source))
        compared = subprocess.run([sys.executable, COMPARE, expected, answer],
                                  capture_output=True, text=True, check=False)
        if compared.returncode != 0 or expected.stat().st_size == 0:
            raise WrongAnswer(compared.stdout + compared.stderr)
        return instructions, self.records_of(lines)


def table_lines(times):
    """Rows of a table with 100 keys, in order of time."""
    rng = random.Random(1)
    rows = [f"key{rng.randrange(100)},{10 * i},{rng.randrange(10_000)}\n"
            for i in range(20_000 * times)]
    return ["key,time,x\n", *rows]


def table_sums(source):
    """Sums of tumbling seconds by key, by SQLite."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE rows (key TEXT, time INTEGER, x INTEGER)")
    with source.open(newline="") as file:
        database.executemany("INSERT INTO rows VALUES (?, ?, ?)", list(csv.reader(file))[1:])
    sums = database.execute("SELECT key, time / 1000 * 1000 AS start, sum(x) FROM rows "
                            "GROUP BY key, start")
    rows = [f"{key},{start},{start + 1000},{total}\n" for key, start, total in sums]
    return "".join(["key,window_start,window_end,sum(x)\n", *rows])


def graph_runs(program):
    """The runs of a program of counted.hpp."""
    return [GraphRun(program, *line.split()) for line in output_of(program).splitlines()]


def all_runs(build):
    return [
        *graph_runs(build / "bench/instructions/counted_runs"),
        ToolRun(build / "tools/strid", "strid-window", table_lines,
                ["window", "--key", "key", "--time", "time", "--window", "tumbling:1s",
                 "--aggregate", "sum(x)"], table_sums),
    ]


def least_per_record(run, rounds):
    return min(per_record(run) for _ in range(rounds))


def per_record(run):
    with tempfile.TemporaryDirectory() as folder:
        few, few_records = run.count(Path(folder), 1)
        many, many_records = run.count(Path(folder), 5)
    return (many - few) / (many_records - few_records)


def rounds_of(stored):
    """A count that is not exact depends a little on the clock, and a slow moment only increases
    it."""
    return 1 if stored is not None and stored["kind"] == "exact" else 3


def stored_figures(figures):
    with figures.open(newline="") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def report(name, measured, stored):
    """Prints a row of the table. True: it is no more than allowed."""
    if stored is None:
        print(f"| {name} | {measured:.1f} | | | not stored |", flush=True)
        return False
    figure = float(stored["instructions"])
    ratio = measured / figure
    allowed = ALLOWED[stored["kind"]]
    verdict = "TOO MANY" if ratio > allowed else "fewer: store it" if ratio < 0.95 else ""
    print(f"| {name} | {measured:.1f} | {figure:.1f} | {ratio:.3f} of at most {allowed} "
          f"| {verdict} |", flush=True)
    return ratio <= allowed


def store(measured, file_of_figures):
    figures = stored_figures(file_of_figures)
    for name, instructions in measured.items():
        kind = figures.get(name, {"kind": ""})["kind"]
        figures[name] = {"run": name, "instructions": f"{instructions:.1f}", "kind": kind}
    with file_of_figures.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["run", "instructions", "kind"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(figures.values())


def main(runs_of=all_runs, figures=FIGURES):
    """Counts what `runs_of(build)` names, against the file `figures`."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="a release build")
    parser.add_argument("--store", action="store_true", help="what is counted is the figure")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="default: all")
    options = parser.parse_args()
    runs = runs_of(options.build)
    unknown = set(options.runs) - {run.name for run in runs}
    if unknown:
        parser.error(f"there is no run {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(run.name for run in runs)}")
    runs = [run for run in runs if run.name in options.runs or not options.runs]
    stored = stored_figures(figures)
    print("| run | instructions per record | stored | ratio | |\n|---|---:|---:|---|---|")
    measured = {}
    are_allowed = True
    with ThreadPoolExecutor(2) as pool:
        counts = [(run.name, pool.submit(least_per_record, run, rounds_of(stored.get(run.name))))
                  for run in runs]
        for name, count in counts:
            try:
                measured[name] = count.result()
            except WrongAnswer as wrong:
                sys.exit(f"{name}: WRONG ANSWER: {wrong}")
            are_allowed = report(name, measured[name], stored.get(name)) and are_allowed
    if options.store:
        store(measured, figures)
    return 0 if are_allowed or options.store else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 4, section 1.3, on this machine: runs the programs, writes tables and plots.

    figures.py --build build/release --output out/patterns [--quick] [--rounds N]
               [--seconds S] [--only PART[,PART...]]

Writes figures.md, a CSV of every measurement, and plots where gnuplot is installed. Rounds go
through all cases in turn, so that a busy moment of the machine does not fall on one alone. Every
program checks its own answer; a wrong one ends this. The parts, in this order:

  queues        table 1.1, push and pop by where the two threads are
  allocators    figure 1.4, allocate in the emitter and free in the worker
  farm          figure 1.5 left, speed-up by workers and by what a task takes
  ring          figure 1.5 right, messages a second of a ring of stages
  applications  figures 1.6 to 1.8, whole programs beside sequential ones (applications.py)
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "bench")]
import applications  # noqa: E402
from reporting import (describe_machine, find_allocators, plot, spread, table,  # noqa: E402
                       write_csv)

PROGRAMS = ["placement_bench", "allocation_bench", "farm_ring_bench"]
SLAB = "slab"

SIZES = {
    # Whether everything works, in seconds.
    "quick": {
        "rounds": 1, "workers_max": 2, "seconds": 0.01, "tasks_max": 20_000,
        "queues": {"count": 20_000, "slots": "1024"},
        "allocators": ["glibc", "jemalloc", "tbbmalloc"], "allocator_grains_ns": [1_000],
        "farm_grains_ns": [1_000], "ring_grains_ns": [0, 1_000], "stages": [4],
        "input_scale": 0.01,
    },
    # About a quarter of an hour on two cores.
    "whole": {
        "rounds": 5, "workers_max": 1 << 20, "seconds": 0.5, "tasks_max": 1_000_000,
        "queues": {},
        "allocators": ["glibc", "jemalloc", "mimalloc", "tbbmalloc"],
        "allocator_grains_ns": [0, 1_000, 5_000],
        "farm_grains_ns": [500, 1_000, 5_000],
        "ring_grains_ns": [0, 500, 1_000, 5_000], "stages": [2, 4, 8],
        "input_scale": 1.0,
    },
}


def workers_up_to(cores: int, most: int) -> list[int]:
    """All numbers to 8, then fewer and fewer, and the last."""
    last = min(cores, most)
    some = list(range(1, 9)) + [n for base in (8, 16, 32, 64, 128, 256, 512)
                                for n in (base * 3 // 2, base * 2)]
    return sorted({n for n in some if n < last} | {last})


class Bench:
    """The programs of one build, the allocators and cores that this machine has, and what a
    microsecond of work is on it."""

    def __init__(self, build: Path, size: dict):
        self.build = build
        self.size = size
        for program in PROGRAMS:
            if not self.program(program).exists():
                sys.exit(f"{self.program(program)} is not built: `make figures-patterns` builds "
                         "it, or the target `benchmarks`")
        self.allocators, self.missing_allocators = find_allocators(size["allocators"])
        self.cores = len(os.sched_getaffinity(0))
        self.workers = workers_up_to(self.cores, size["workers_max"])
        self.steps_per_us = max(float(self.run("farm_ring_bench", ["--shape", "steps"]))
                                for _ in range(3))
        self.libraries = {words[0]: words[1:] for words in map(
            str.split, self.run("farm_ring_bench", ["--by", "list"]).splitlines())}

    def program(self, name: str) -> Path:
        return self.build / "papers/4-fastflow/bench" / name

    def run(self, program: str, arguments: list[str], preload: str | None = None) -> str:
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = preload
        done = subprocess.run([self.program(program), *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} {' '.join(arguments)} ended with {done.returncode}: "
                     f"{done.stderr.strip()}")
        return done.stdout

    def measure(self, program: str, preload: str | None = None, **options) -> list[dict]:
        """The lines of JSON that it prints; `threads=2` is --threads 2."""
        arguments = [text for name, value in options.items()
                     for text in ("--" + name.replace("_", "-"), str(value))]
        return [json.loads(line) for line in self.run(program, arguments, preload).splitlines()]

    def tasks(self, grain_ns: float, workers: int = 1) -> int:
        """As many as keep one worker busy for the seconds of this size, and more where many share
        them."""
        seconds = self.size["seconds"] * max(1, workers / 4)
        return min(self.size["tasks_max"], max(1_000, int(seconds * 1e9 / max(grain_ns, 100))))


def in_rounds(what: str, bench: Bench, cases: list, measure, file: Path) -> list[dict]:
    """Each case once a round. The results so far are written after each round."""
    rows = []
    rounds = bench.size["rounds"]
    for number in range(rounds):
        for done, case in enumerate(cases):
            applications.progress(f"{what}: round {number + 1} of {rounds}, case {done + 1} of "
                                  f"{len(cases)}", last=done + 1 == len(cases))
            rows.append({**measure(case), "round": number})
        write_csv(file, rows)
    return rows


def group(rows: list[dict], keys: list[str], what: str) -> dict[tuple, list[float]]:
    found: dict[tuple, list[float]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row[what])
    return found


def write_summary(file: Path, keys: list[str], found: dict[tuple, list[float]]) -> None:
    write_csv(file, [dict(zip([*keys, "median", "low", "high"], (*case, *spread(values))))
                     for case, values in found.items()])


def cell(values: list[float], digits: int) -> str:
    return "{:.{d}f} ({:.{d}f} to {:.{d}f})".format(*spread(values), d=digits)


def head(first: str, all_workers: list[int]) -> list[str]:
    return [first] + [f"{count} worker{'' if count == 1 else 's'}" for count in all_workers]


def grain(grain_ns: float) -> str:
    return f"{grain_ns / 1e3:g} us"


def tables_by_grain(found: dict[tuple, list[float]], names: list[str], grains: list[float],
                    all_workers: list[int], digits: int) -> list[str]:
    """One for each grain, by name and number of workers."""
    lines = []
    for grain_ns in grains:
        lines += table(head(f"a task takes {grain(grain_ns)}", all_workers),
                       [[name] + [cell(found[name, grain_ns, workers], digits)
                                  for workers in all_workers] for name in names])
    return lines


def queues(bench: Bench, output: Path) -> list[str]:
    rows: list[dict] = []
    rounds = 2 * bench.size["rounds"]  # a deviation needs two
    for number in range(rounds):
        applications.progress(f"queues: round {number + 1} of {rounds}", last=number + 1 == rounds)
        printed = bench.measure("placement_bench", rounds=1, **bench.size["queues"])
        missing = [row for row in printed if "missing" in row]
        rows += [{**row, "round": number} for row in printed if "missing" not in row]
    lines = ["## Table 1.1: a push or a pop by where the two threads are", "",
             "Nanoseconds, mean and standard deviation of the rounds (median).", ""]
    if rows:
        write_csv(output / "queues.csv", rows)
        found = group(rows, ["placement", "queue", "slots"], "ns")
        summaries = {case: (statistics.mean(values), statistics.stdev(values),
                            statistics.median(values)) for case, values in found.items()}
        write_csv(output / "queues_summary.csv", [
            dict(zip(("placement", "queue", "slots", "mean", "deviation", "median"),
                     (*case, *summary))) for case, summary in summaries.items()])
        slots = sorted({case[2] for case in found})
        lines += table(["", "queue"] + [f"{count} slots" for count in slots], [
            [*case] + ["{:.1f} +- {:.1f} ({:.1f})".format(*summaries[(*case, count)])
                       for count in slots]
            for case in dict.fromkeys(case[:2] for case in found)])
    lines += [f"- {row['placement']}: not on this machine, {row['missing']}" for row in missing]
    return lines + [""]


def allocators(bench: Bench, output: Path) -> list[str]:
    names = [*bench.allocators, SLAB]
    grains = bench.size["allocator_grains_ns"]
    cases = [(name, workers, grain_ns) for grain_ns in grains for workers in bench.workers
             for name in names]

    def measure(case: tuple) -> dict:
        name, workers, grain_ns = case
        library = bench.allocators.get(name)
        options = {"allocator": "slab" if name == SLAB else "standard"}
        if library:
            options["library"] = Path(library).name  # the program checks that it is in place
        row, = bench.measure("allocation_bench", library, **options, workers=workers,
                             grain_ns=grain_ns, steps_per_us=bench.steps_per_us, rounds=1,
                             tasks=bench.tasks(grain_ns, workers))
        return {**row, "allocator": name, "us_per_task": row["seconds"] / row["tasks"] * 1e6,
                "processor_us": row["processor_seconds"] / row["tasks"] * 1e6}

    rows = in_rounds("allocators", bench, cases, measure, output / "allocators.csv")
    keys = ["allocator", "grain_ns", "workers"]
    found = group(rows, keys, "us_per_task")
    write_summary(output / "allocators_summary.csv", keys, found)
    lines = ["## Figure 1.4: allocate in the emitter, free in the worker", "",
             "Microseconds of the whole for each task of 32 bytes; median, least and largest.", ""]
    if bench.missing_allocators:
        lines += [f"Not installed and left out: {', '.join(bench.missing_allocators)}.", ""]
    lines += tables_by_grain(found, names, grains, bench.workers, 3)
    lines += ["Processor time of all threads for each task, microseconds:", ""]
    return lines + tables_by_grain(group(rows, keys, "processor_us"), names, grains, bench.workers,
                                   3)


def libraries_with(bench: Bench, shape: str) -> list[str]:
    return [name for name, shapes in bench.libraries.items() if shape in shapes]


def left_out(bench: Bench) -> list[str]:
    """The peers that this build has not."""
    peers = {"oneTBB": "tbb-graph", "OpenMP": "openmp-tasks"}
    missing = [name for name, version in peers.items() if version not in bench.libraries]
    return [f"Not in this build and left out: {', '.join(missing)}.", ""] if missing else []


def farm(bench: Bench, output: Path) -> list[str]:
    names = libraries_with(bench, "farm")
    grains = bench.size["farm_grains_ns"]
    cases = [(name, threads, grain_ns) for grain_ns in grains for threads in bench.workers
             for name in names]

    def measure(case: tuple) -> dict:
        name, threads, grain_ns = case
        row, = bench.measure("farm_ring_bench", shape="farm", by=name, threads=threads,
                             grain_ns=grain_ns, steps_per_us=bench.steps_per_us, rounds=1,
                             tasks=bench.tasks(grain_ns, threads))
        return row

    rows = in_rounds("farm", bench, cases, measure, output / "farm.csv")
    keys = ["by", "grain_ns", "threads"]
    found = group(rows, keys, "speed_up")
    write_summary(output / "farm_summary.csv", keys, found)
    lines = ["## Figure 1.5, left: speed-up of a farm", "",
             "Of a loop in the same process; workers and threads are as many. Median, least and "
             "largest.", "", *left_out(bench)]
    lines += tables_by_grain(found, names, grains, bench.workers, 2)
    lines += ["The part of the processor time of all threads that a loop takes for the same tasks:",
              ""]
    return lines + tables_by_grain(group(rows, keys, "work_share"), names, grains, bench.workers, 2)


def ring(bench: Bench, output: Path) -> list[str]:
    names = libraries_with(bench, "ring")
    grains = bench.size["ring_grains_ns"]
    all_threads = sorted({min(2, bench.cores), min(bench.cores, bench.workers[-1])})
    shapes = [(stages, threads) for stages in bench.size["stages"] for threads in all_threads]
    cases = [(name, stages, threads, grain_ns) for stages, threads in shapes
             for grain_ns in grains for name in names]

    def measure(case: tuple) -> dict:
        name, stages, threads, grain_ns = case
        row, = bench.measure("farm_ring_bench", shape="ring", by=name, threads=threads,
                             stages=stages, batch=256, grain_ns=grain_ns,
                             steps_per_us=bench.steps_per_us, rounds=1,
                             tasks=bench.tasks(grain_ns * stages, threads))
        return {**row, "kilo_per_second": row["per_second"] / 1e3,
                "processor_us": row["processor_seconds"] / row["tasks"] * 1e6}

    rows = in_rounds("ring", bench, cases, measure, output / "ring.csv")
    keys = ["by", "stages", "threads", "grain_ns"]
    found = group(rows, keys, "kilo_per_second")
    write_summary(output / "ring_summary.csv", keys, found)
    lines = ["## Figure 1.5, right: a ring of stages, batches of 256", "",
             "Thousand messages a second; median, least and largest.", "", *left_out(bench)]
    def tables(found: dict[tuple, list[float]], digits: int) -> list[str]:
        return [line for stages, threads in shapes for line in table(
            [f"{stages} stages, {threads} threads"]
            + [f"{grain(grain_ns)} a stage" for grain_ns in grains],
            [[name] + [cell(found[name, stages, threads, grain_ns], digits)
                       for grain_ns in grains] for name in names])]

    lines += tables(found, 0)
    lines += ["Processor time of all threads for each message, microseconds:", ""]
    return lines + tables(group(rows, keys, "processor_us"), 3)


def whole_programs(bench: Bench, output: Path) -> list[str]:
    return applications.measure(bench.build, output, bench.size["rounds"], bench.workers,
                                bench.size["input_scale"])


PARTS = {"queues": queues, "allocators": allocators, "farm": farm, "ring": ring,
         "applications": whole_programs}


def parts_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: the parts are "
                                         f"{', '.join(PARTS)}")
    return names


def number_of_rounds(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of rounds")
    return int(text)


def seconds_of_work(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/patterns"))
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="PART[,PART...]",
                        help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_const", const="quick", dest="size",
                        default="whole", help="whether everything works, in seconds")
    parser.add_argument("--rounds", type=number_of_rounds, metavar="N",
                        help="of every case, instead of 5; twice as many of the queues")
    parser.add_argument("--seconds", type=seconds_of_work, metavar="S",
                        help="of work in a case of allocators, farms and rings, instead of 0.5")
    arguments = parser.parse_args()
    size = dict(SIZES[arguments.size])
    size["rounds"] = arguments.rounds or size["rounds"]
    size["seconds"] = arguments.seconds or size["seconds"]
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    bench = Bench(arguments.build.resolve(), size)
    lines = ["# Figures of paper 4, section 1.3", "",
             f"{describe_machine(bench.build)}; rounds: {size['rounds']}, "
             f"{size['seconds']:g} s of work a case; a microsecond of "
             f"work is {bench.steps_per_us:.0f} steps.", ""]
    for name in arguments.only:
        lines += PARTS[name](bench, output)
        (output / "figures.md").write_text("\n".join(lines) + "\n")
        plot(HERE / "figures.gp", output, f"part='{name}'")
    lines += [f"All of it took {time.monotonic() - begin:.0f} s."]
    (output / "figures.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

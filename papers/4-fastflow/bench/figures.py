#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 4, section 1.3, on this machine: runs the programs, writes tables and plots.

    figures.py --build build/release --output out/patterns [--quick] [--rounds N]
               [--seconds S] [--only PART[,PART...]] [--resume] [--minutes N]

Writes figures.md (the page that papers/pages.py makes of it), a CSV of every measurement, and plots
where gnuplot is installed. Rounds go through all cases in turn, so that a busy moment of the
machine does not fall on one alone. Every program checks its own answer; a wrong one ends this.
After an interruption, and after --minutes, --resume goes on. The parts, in this order:

  queues        table 1.1, push and pop by where the two threads are
  allocators    figure 1.4, allocate in the emitter and free in the worker
  farm          figure 1.5 left, speed-up by workers and by what a task takes
  ring          figure 1.5 right, messages a second of a ring of stages
  applications  figures 1.6 to 1.8, whole programs beside sequential ones (applications.py)
  tables        figure 1.7 on tables that a package has (packaged_tables.py)
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "bench"), str(HERE.parents[1] / "pages")]
if (HERE.parents[2] / "build/peers/python").is_dir():
    sys.path.append(str(HERE.parents[2] / "build/peers/python"))
import applications  # noqa: E402
import packaged_tables  # noqa: E402
from figure_pages import write_page_of_run  # noqa: E402
from reporting import (commit_text, find_allocators, machine_text, plot,  # noqa: E402
                       positive_number, spread, whole_number, write_csv)
from store import Deadline, RunError, Store, add_piece_options, in_pieces  # noqa: E402

PROGRAMS = ["placement_bench", "allocation_bench", "farm_ring_bench"]
SLAB = "slab"

SIZES = {
    # Whether everything works, in seconds.
    "quick": {
        "rounds": 1, "workers_max": 2, "seconds": 0.01, "tasks_max": 20_000,
        "queues": {"count": 20_000, "slots": "1024"},
        "allocators": ["glibc", "jemalloc", "tbb"], "allocator_grains_ns": [1_000],
        "farm_grains_ns": [1_000], "ring_grains_ns": [0, 1_000], "stages": [4],
        "input_scale": 0.01,
    },
    # About a quarter of an hour on two cores.
    "whole": {
        "rounds": 5, "workers_max": 1 << 20, "seconds": 0.5, "tasks_max": 1_000_000,
        "queues": {},
        "allocators": ["glibc", "jemalloc", "mimalloc", "tbb"],
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


def check_built(build: Path) -> None:
    for name in PROGRAMS:
        program = build / "papers/4-fastflow/bench" / name
        if not program.exists():
            raise RunError(f"{program} is not built: `make figures-patterns` builds it, or the "
                           "target `benchmarks`")


class Bench:
    """The programs of one build, the allocators and cores that this machine has, and what a
    microsecond of work is on it. Each run is measured once: `store` holds those that were."""

    def __init__(self, build: Path, size: dict, store: Store):
        self.build = build
        self.size = size
        self.store = store
        self.allocators, self.missing_allocators = find_allocators(size["allocators"])
        self.cores = len(os.sched_getaffinity(0))
        self.workers = workers_up_to(self.cores, size["workers_max"])
        self.steps_per_us = store.once(("steps",), lambda: {"steps_per_us": max(
            float(self.run("farm_ring_bench", ["--shape", "steps"])) for _ in range(3))}
        )["steps_per_us"]
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
            raise RunError(f"{program} {' '.join(arguments)} ended with {done.returncode}: "
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
    """Each case once a round."""
    rows = []
    rounds = bench.size["rounds"]
    for number in range(rounds):
        for done, case in enumerate(cases):
            applications.progress(f"{what}: round {number + 1} of {rounds}, case {done + 1} of "
                                  f"{len(cases)}", last=done + 1 == len(cases))
            row = bench.store.once((what, *case, number), lambda case=case: measure(case))
            rows.append({name: value for name, value in row.items() if name != "key"}
                        | {"round": number})
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


def queues(bench: Bench, output: Path) -> None:
    rows: list[dict] = []
    missing: dict[str, str] = {}
    rounds = 2 * bench.size["rounds"]  # a deviation needs two
    for number in range(rounds):
        applications.progress(f"queues: round {number + 1} of {rounds}", last=number + 1 == rounds)
        printed = bench.store.once(("queues", number), lambda: {"printed": bench.measure(
            "placement_bench", rounds=1, **bench.size["queues"])})["printed"]
        missing |= {row["placement"]: row["missing"] for row in printed if "missing" in row}
        rows += [{**row, "round": number} for row in printed if "missing" not in row]
    for placement, why in missing.items():
        applications.progress(f"queues: {placement}: not on this machine, {why}", last=True)
    if not rows:
        return
    write_csv(output / "queues.csv", rows)
    found = group(rows, ["placement", "queue", "slots"], "ns")
    write_csv(output / "queues_summary.csv", [
        dict(zip(("placement", "queue", "slots", "mean", "deviation", "median"),
                 (*case, statistics.mean(values), statistics.stdev(values),
                  statistics.median(values)))) for case, values in found.items()])


def allocators(bench: Bench, output: Path) -> None:
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
    write_summary(output / "allocators_summary.csv", keys, group(rows, keys, "us_per_task"))


def libraries_with(bench: Bench, shape: str) -> list[str]:
    return [name for name, shapes in bench.libraries.items() if shape in shapes]


def farm(bench: Bench, output: Path) -> None:
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
    write_summary(output / "farm_summary.csv", keys, group(rows, keys, "speed_up"))


def ring(bench: Bench, output: Path) -> None:
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
    write_summary(output / "ring_summary.csv", keys, group(rows, keys, "kilo_per_second"))


def whole_programs(bench: Bench, output: Path) -> None:
    applications.measure(bench.build, output, bench.store, bench.size["rounds"], bench.workers,
                         bench.size["input_scale"])


def tables(bench: Bench, output: Path) -> None:
    packaged_tables.measure(bench.build, output, bench.store, bench.size["rounds"], bench.workers)


PARTS = {"queues": queues, "allocators": allocators, "farm": farm, "ring": ring,
         "applications": whole_programs, "tables": tables}


def parts_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: the parts are "
                                         f"{', '.join(PARTS)}")
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/patterns"))
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="PART[,PART...]",
                        help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_const", const="quick", dest="size",
                        default="whole", help="whether everything works, in seconds")
    parser.add_argument("--rounds", type=whole_number, metavar="N",
                        help="of every case, instead of 5; twice as many of the queues")
    parser.add_argument("--seconds", type=positive_number, metavar="S",
                        help="of work in a case of allocators, farms and rings, instead of 0.5")
    add_piece_options(parser)
    options = parser.parse_args()
    size = dict(SIZES[options.size])
    size["rounds"] = options.rounds or size["rounds"]
    size["seconds"] = options.seconds or size["seconds"]

    def work() -> None:
        output, build = options.output, options.build.resolve()
        check_built(build)
        store = Store(output, 4, {"quick": options.size == "quick", "rounds": size["rounds"],
                                  "seconds": size["seconds"], "commit": commit_text(),
                                  "machine": machine_text(build)},
                      options.resume, Deadline(options.minutes))
        bench = Bench(build, size, store)
        if bench.missing_allocators:
            applications.progress("not installed and left out: "
                                  f"{', '.join(bench.missing_allocators)}", last=True)
        for name in options.only:
            PARTS[name](bench, output)
            plot(HERE / "figures.gp", output, f"part='{name}'")
        store.finish()
        write_page_of_run(output)
    return in_pieces("figures", options, work)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 1, section 5, on this machine: runs the programs, writes tables and plots.

    figures.py --build build/release --output out/trading [--quick | --full]
               [--allocators NAME,NAME=LIBRARY,...]

Writes figures.md, a CSV of every measurement, and plots where gnuplot is installed. Rounds go
through all variants in turn, so that a busy moment of the machine does not fall on one alone.
Every program checks its own answer; a wrong one ends this.

  5a       multicast of tokens by the ways to manage their memory
  5b       the highest input rate that is sustained, by workers and variant; again with symbols of
           which a few have most quotes, by key and by window; and with the arrivals of a trading
           day, bursts and all, beside flat ones
  6        the same with other allocators in the place of the standard one, by LD_PRELOAD
  7        the best of each
  table 1  resident memory while a trading day goes by

--allocators chooses the other allocators, by their names or by their libraries; each run names the
library that its malloc came from, and another one than the chosen ends this.
"""

import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2] / "bench"), str(HERE.parents[2] / "memory-tools/memory")]
from reporting import (ALLOCATORS, describe_machine, find_allocators, plot, spread,  # noqa: E402
                       table, write_csv)
from strid_memory.allocators import choose  # noqa: E402
from strid_memory.errors import MemoryToolError, UsageError  # noqa: E402

FARMED = ["static", "copy", "wrapper", "wrapper-slab", "shared_ptr", "static-block", "block",
          "engine"]
PRELOADED = ["copy", "wrapper", "wrapper-slab", "shared_ptr", "engine", "engine-keys"]
SKEWED = ["wrapper-slab", "block", "engine", "engine-keys"]
ZIPF_EXPONENT = "1"
FLAT = ("--arrivals", "flat")

SIZES = {
    # A few windows of a few symbols: whether everything works.
    "quick": {
        "multicast": ["--deliveries", "20000", "--rounds", "1", "--workers", "4",
                      "--groups", "1,4"],
        "rate": ["--symbols", "8", "--seconds", "0.05", "--steps", "2", "--degree", "0"],
        "memory": ["--symbols", "8", "--seconds", "0.2", "--day-quotes", "2e6"],
        "skewed": [],
        "workers": [2], "rounds": 1, "preload_workers": [2], "memory_workers": 2,
        "allocators": ["glibc"],
    },
    # About half an hour on two cores.
    "short": {
        "multicast": ["--deliveries", "4000000", "--rounds", "9"],
        "rate": ["--symbols", "256", "--seconds", "0.3", "--steps", "5"],
        "memory": ["--seconds", "2", "--day-quotes", "6e6"],
        "skewed": ["--seconds", "0.5"],
        "workers": [1, 2, 4, 8], "rounds": 3, "preload_workers": [2, 8], "memory_workers": 8,
        "allocators": list(ALLOCATORS),
    },
    # The paper's symbols and workers; for a machine with that many cores, and some days.
    "full": {
        "multicast": ["--deliveries", "20000000", "--rounds", "20"],
        "rate": ["--seconds", "5", "--steps", "9"],
        "memory": ["--seconds", "60"],
        "skewed": [],
        "workers": [1, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19], "rounds": 20,
        "preload_workers": [8, 16, 19], "memory_workers": 8,
        "allocators": list(ALLOCATORS),
    },
}


class Bench:
    """The programs of one build, and the allocators that this machine has."""

    def __init__(self, build: Path, size: dict, chosen: str | None = None):
        self.programs = build / "papers/1-stream-memory/bench"
        self.size = size
        self.allocators, self.missing = find_allocators(size["allocators"])
        if chosen is not None:
            found, _ = choose(chosen)
            # The standard one is measured in any case.
            self.allocators = {"glibc": None} | {one.name: one.library and str(one.library)
                                                 for one in found.values()}
            self.missing = []

    def run(self, program: str, arguments: list[str], allocator: str = "glibc") -> str:
        environment = dict(os.environ)
        if self.allocators.get(allocator):
            environment["LD_PRELOAD"] = self.allocators[allocator]
        done = subprocess.run([self.programs / program, *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = (f"ended by signal {-done.returncode} ({signal.strsignal(-done.returncode)})"
                      if done.returncode < 0 else done.stderr.strip())
            sys.exit(f"{program} {' '.join(arguments)} ({allocator}): {reason}")
        return done.stdout

    def trading(self, mode: str, variant: str, workers: int, allocator: str = "glibc",
                more: tuple[str, ...] = ()) -> dict:
        arguments = ["--mode", mode, "--variant", variant, "--workers", str(workers),
                     *self.size[mode], *more]
        row = json.loads(self.run("trading_bench", arguments, allocator))
        self.check_loaded(allocator, row.pop("malloc"))
        return {"allocator": allocator, **row}


    def check_loaded(self, allocator: str, library: str) -> None:
        """Ends the program where malloc came from another library: the loader only warns of one
        that it cannot preload."""
        wanted = self.allocators.get(allocator)
        loaded = (os.path.samefile(library, wanted) if wanted
                  else Path(library).name.startswith("libc."))
        if not loaded:
            sys.exit(f"{allocator} is not what trading_bench runs with: its malloc is that of "
                     f"{library}")


def by_case(rows: list[dict], what: str = "sustained") -> dict[tuple, list[float]]:
    """One figure by (variant, allocator, workers), in the order of the rounds."""
    found: dict[tuple, list[float]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["allocator"], row["workers"]), []).append(row[what])
    return found


def kilo(values: list[float]) -> str:
    median, low, high = spread(values)
    return f"{median / 1e3:.0f} k ({low / 1e3:.0f} to {high / 1e3:.0f})"


def ratio(ours: list[float], limits: list[float]) -> str:
    """By round; one in which the limit sustained nothing, as on a machine that is busy with
    something else, says nothing."""
    ratios = [one / limit for one, limit in zip(ours, limits) if limit > 0]
    return "{:.2f} ({:.2f} to {:.2f})".format(*spread(ratios)) if ratios else "none"


def figure_5a(bench: Bench, output: Path) -> list[str]:
    printed = bench.run("multicast_bench", bench.size["multicast"]).splitlines(keepends=True)
    text = "".join(line for line in printed if not line.startswith("bar |"))
    (output / "multicast.csv").write_text(text)
    rows = list(csv.DictReader(text.splitlines()))
    groups = sorted({int(row["group"]) for row in rows})
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    cell = {(row["variant"], int(row["group"])): row for row in rows}

    def line(variant: str, name: str, digits: int) -> list[str]:
        cells = [variant]
        for group in groups:
            row = cell[variant, group]
            median, low, high = (float(row[name + end]) for end in ("", "_low", "_high"))
            cells.append(f"{median:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")
        return cells

    head = [""] + [f"group of {group}" for group in groups]
    lines = ["## 5a: multicast of tokens of 64 bytes", "",
             "Nanoseconds per token delivered; medians and quartiles.", ""]
    lines += table(head, [line(variant, "ns", 1) for variant in variants])
    lines += ["Its fastest round:", ""]
    lines += table(head, [[variant] + [f"{float(cell[variant, group]['ns_best']):.1f}"
                                       for group in groups] for variant in variants])
    lines += ["Times as fast as the fastest of copy, wrappers and shared_ptr, by round:", ""]
    lines += table(head, [line(name, "to_fastest", 2) for name in ("static block", "block")])
    lines += ["The same by processor time over all threads:", ""]
    lines += table(head, [line(name, "processor_to_fastest", 2)
                          for name in ("static block", "block")])
    lines += ["Times as long as its static baseline in the same round:", ""]
    return lines + table(head, [line(variant, "to_limit", 2) for variant in variants])


def measure_rates(bench: Bench, output: Path) -> list[dict]:
    """5b and 6 together; the standard allocator is measured once for both. The results
    so far are written after each round, so that the run may be interrupted."""
    cases = [(variant, workers, "glibc")
             for workers in bench.size["workers"] for variant in FARMED]
    cases += [("engine-keys", workers, "glibc") for workers in bench.size["workers"]]
    cases += [(variant, workers, allocator)
              for workers in bench.size["preload_workers"] for variant in PRELOADED
              for allocator in bench.allocators if allocator != "glibc"]
    cases += [(variant, workers, "glibc") for variant in PRELOADED
              for workers in bench.size["preload_workers"]
              if workers not in bench.size["workers"]]
    rows = []
    for round_number in range(bench.size["rounds"]):
        for variant, workers, allocator in cases:
            rows.append({"round": round_number,
                         **bench.trading("rate", variant, workers, allocator, FLAT)})
        write_csv(output / "rates.csv", rows)
        print(f"round {round_number + 1} of {bench.size['rounds']}", file=sys.stderr)
    return rows


def figure_5b(bench: Bench, rows: list[dict]) -> list[str]:
    found = by_case(rows)
    all_workers = bench.size["workers"]
    head = ["quotes/s"] + [f"{workers} workers" for workers in all_workers]
    variants = FARMED + ["engine-keys"]
    lines = ["## 5b: highest input rate sustained", "",
             "Medians of the rounds, least and largest.", ""]
    lines += table(head, [[variant] + [kilo(found[variant, "glibc", workers])
                                       for workers in all_workers] for variant in variants])
    lines += ["Ratio to `static` in the same round:", ""]
    lines += table(head, [[variant] + [ratio(found[variant, "glibc", workers],
                                             found["static", "glibc", workers])
                                       for workers in all_workers] for variant in variants])
    lines += ["Processor time of all threads for a quote at full speed, microseconds:", ""]
    costs = by_case(rows, "processor_us")
    return lines + table(head, [[variant] + ["{:.2f} ({:.2f} to {:.2f})".format(
        *spread(costs[variant, "glibc", workers])) for workers in all_workers]
        for variant in variants])


def measure_skewed(bench: Bench, output: Path) -> dict[str, dict[str, dict]]:
    """Symbols by Zipf's law, arrivals flat and of a day by turns: figures by arrivals and case."""
    rows = [{"round": number, **bench.trading("rate", variant, workers, more=(
                 "--arrivals", arrivals, "--zipf", ZIPF_EXPONENT, *bench.size["skewed"]))}
            for number in range(bench.size["rounds"]) for workers in bench.size["workers"]
            for variant in SKEWED for arrivals in ("flat", "day")]
    write_csv(output / "rates_skewed.csv", rows)
    return {arrivals: {what: by_case([row for row in rows if row["arrivals"] == arrivals], what)
                       for what in ("sustained", "peak", "latency_ms_p99")}
            for arrivals in ("flat", "day")}


def figure_5b_skewed(bench: Bench, output: Path) -> list[str]:
    """Key partitioning has one worker for the symbol that a seventh of the quotes are of."""
    found = measure_skewed(bench, output)
    flat, day = found["flat"], found["day"]
    all_workers = bench.size["workers"]
    head = ["quotes/s"] + [f"{workers} workers" for workers in all_workers]

    def rows(cell) -> list[list[str]]:
        return [[variant] + [cell((variant, "glibc", workers)) for workers in all_workers]
                for variant in SKEWED]

    def bursts(case: tuple) -> str:
        return (f"{kilo(day['sustained'][case])}; "
                f"{statistics.median(day['peak'][case]) / 1e3:.0f} k; "
                f"{statistics.median(day['latency_ms_p99'][case]):.0f} ms")

    lines = [f"## 5b with symbols by Zipf's law, exponent {ZIPF_EXPONENT}", "",
             "Medians of the rounds, least and largest.", ""]
    lines += table(head, rows(lambda case: kilo(flat["sustained"][case])))
    lines += ["## 5b with the arrivals of a trading day", "",
              "The opening and its bursts, the same symbols: the mean rate that is sustained; that "
              "of its busiest 10 ms; and in how long 99 % of the results were out.", ""]
    lines += table(head, rows(bursts))
    lines += ["Ratio to the rate of flat arrivals in the same round:", ""]
    return lines + table(head, rows(lambda case: ratio(day["sustained"][case],
                                                       flat["sustained"][case])))


def figure_6(bench: Bench, rows: list[dict]) -> list[str]:
    found = by_case(rows)
    lines = ["## 6: other allocators in the place of the standard one", ""]
    if bench.missing:
        lines += [f"Not installed and left out: {', '.join(bench.missing)}.", ""]
    columns = [(variant, workers) for workers in bench.size["preload_workers"]
               for variant in PRELOADED]
    head = ["quotes/s"] + [f"{variant}, {workers} workers" for variant, workers in columns]
    return lines + table(head, [[allocator] + [kilo(found[variant, allocator, workers])
                                               for variant, workers in columns]
                                for allocator in bench.allocators])


def write_rates(bench: Bench, rows: list[dict], output: Path) -> None:
    """For the plots: a row for each case, and figure 6 as one for each allocator."""
    found = by_case(rows)
    write_csv(output / "sustained.csv", [
        dict(zip(("variant", "allocator", "workers", "median", "low", "high"),
                 (*case, *spread(values)))) for case, values in found.items()])
    workers = bench.size["preload_workers"][-1]
    write_csv(output / "allocators.csv", [
        {"allocator": allocator,
         **{variant: statistics.median(found[variant, allocator, workers])
            for variant in PRELOADED}} for allocator in bench.allocators])


def best_rates(rows: list[dict]) -> list[tuple[str, int, list[float]]]:
    """For each variant and allocator the number of workers with the highest median."""
    best: dict[str, tuple[int, list[float]]] = {}
    for (variant, allocator, workers), values in by_case(rows).items():
        name = variant if allocator == "glibc" else f"{variant} + {allocator}"
        if name not in best or statistics.median(values) > statistics.median(best[name][1]):
            best[name] = (workers, values)
    found = [(name, workers, values) for name, (workers, values) in best.items()]
    return sorted(found, key=lambda one: statistics.median(one[2]))


def figure_7(rows: list[dict], output: Path) -> list[str]:
    best = best_rates(rows)
    write_csv(output / "best.csv", [
        {"name": name, "workers": workers, "sustained": statistics.median(values),
         "low": min(values), "high": max(values)} for name, workers, values in best])
    return ["## 7: the best of each", ""] + table(
        ["", "quotes/s", "workers"],
        [[name, kilo(values), str(workers)] for name, workers, values in reversed(best)])


def table_1(bench: Bench, output: Path) -> list[str]:
    workers = bench.size["memory_workers"]
    rows = [bench.trading("memory", variant, workers, allocator)
            for allocator in bench.allocators for variant in PRELOADED]
    write_csv(output / "memory.csv", rows)
    cell = {(row["variant"], row["allocator"]): row for row in rows}
    late = max(row["lateness_ms"] for row in rows)
    lines = ["## Table 1: memory", "",
             f"Resident megabytes while a day goes by 50 times as fast, {workers} workers, every "
             f"window full. At most {late:.0f} ms behind the day.", ""]
    return lines + table([""] + list(bench.allocators), [
        [variant] + [f"{cell[variant, allocator]['resident_mb']:.0f}"
                     for allocator in bench.allocators] for variant in PRELOADED])


def machine(bench: Bench) -> list[str]:
    return [f"{describe_machine(bench.programs.parents[2])}; "
            f"{bench.size['rounds']} rounds of rates; "
            f"options: multicast {' '.join(bench.size['multicast'])}; "
            f"rate {' '.join(bench.size['rate'])}; memory {' '.join(bench.size['memory'])}.", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/trading"))
    parser.add_argument("--quick", action="store_const", const="quick", dest="size",
                        default="short", help="whether everything works, in seconds")
    parser.add_argument("--full", action="store_const", const="full", dest="size",
                        help="as the paper has it; days")
    parser.add_argument("--allocators", metavar="NAME,NAME=LIBRARY,...",
                        help="in the place of those that are installed")
    arguments = parser.parse_args()
    output = arguments.output
    try:
        bench = Bench(arguments.build.resolve(), SIZES[arguments.size], arguments.allocators)
    except UsageError as error:
        parser.error(str(error))
    except MemoryToolError as error:
        sys.exit(f"{parser.prog}: error: {error}")
    output.mkdir(parents=True, exist_ok=True)

    begin = time.monotonic()
    lines = ["# Figures of paper 1, section 5", ""] + machine(bench)
    lines += figure_5a(bench, output)
    rows = measure_rates(bench, output)
    write_rates(bench, rows, output)
    lines += figure_5b(bench, rows) + figure_5b_skewed(bench, output)
    lines += figure_6(bench, rows) + figure_7(rows, output)
    lines += table_1(bench, output)
    lines += [f"All of it took {time.monotonic() - begin:.0f} s."]
    (output / "figures.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    plot(HERE / "figures.gp", output)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 1, section 5, on this machine: runs the programs, writes tables and plots.

    figures.py --build build/release --output out/trading [--quick | --full] [--resume]
               [--minutes N] [--allocators NAME,NAME=LIBRARY,...]

Writes figures.md (the page that papers/pages.py makes of it), a CSV of every measurement, and plots
where gnuplot is installed. Rounds go through all variants in turn, so that a busy moment of the
machine does not fall on one alone. Every program checks its own answer; a wrong one ends this.
After an interruption, and after --minutes, --resume goes on.

  5a       multicast of tokens by the ways to manage their memory
  5b       the highest input rate that is sustained, by workers and variant; again with symbols of
           which a few have most quotes, by key and by window; and with the arrivals of a trading
           day, bursts and all, beside flat ones
  6a, 6b   the same with other allocators in the place of the standard one, by LD_PRELOAD
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "bench"), str(HERE.parents[1] / "pages"),
                str(HERE.parents[2] / "memory-tools/memory")]
from figure_pages import write_page_of_run  # noqa: E402
from reporting import (ALLOCATORS, commit_text, find_allocators, machine_text,  # noqa: E402
                       plot, spread, write_csv)
from store import Deadline, RunError, Store, add_piece_options, in_pieces  # noqa: E402
from strid_memory.allocators import choose  # noqa: E402
from strid_memory.errors import MemoryToolError, UsageError  # noqa: E402

FARMED = ["static", "copy", "wrapper", "wrapper-slab", "shared_ptr", "static-block", "block",
          "engine"]
PRELOADED = ["copy", "wrapper", "wrapper-slab", "shared_ptr", "engine", "engine-keys"]
SKEWED = ["wrapper-slab", "block", "engine", "engine-keys"]
ZIPF_EXPONENT = "1"
GROUPS = [1, 2, 4, 8, 12, 16, 24]
FLAT = ("--arrivals", "flat")

SIZES = {
    # A few windows of a few symbols: whether everything works.
    "quick": {
        "multicast": ["--deliveries", "20000", "--workers", "4"],
        "groups": [1, 4], "multicast_rounds": 1,
        "rate": ["--symbols", "8", "--seconds", "0.05", "--steps", "2", "--degree", "0"],
        "memory": ["--symbols", "8", "--seconds", "0.2", "--day-quotes", "2e6"],
        "skewed": [],
        "workers": [2], "rounds": 1, "preload_workers": [2], "memory_workers": 2,
        "allocators": ["glibc"],
    },
    # About half an hour on two cores.
    "short": {
        "multicast": ["--deliveries", "4000000"],
        "groups": GROUPS, "multicast_rounds": 9,
        "rate": ["--symbols", "256", "--seconds", "0.3", "--steps", "5"],
        "memory": ["--seconds", "2", "--day-quotes", "6e6"],
        "skewed": ["--seconds", "0.5"],
        "workers": [1, 2, 4, 8], "rounds": 3, "preload_workers": [2, 8], "memory_workers": 8,
        "allocators": list(ALLOCATORS),
    },
    # The paper's symbols and workers; for a machine with that many cores, and some days.
    "full": {
        "multicast": ["--deliveries", "20000000"],
        "groups": GROUPS, "multicast_rounds": 20,
        "rate": ["--seconds", "5", "--steps", "9"],
        "memory": ["--seconds", "60"],
        "skewed": [],
        "workers": [1, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19], "rounds": 20,
        "preload_workers": [8, 16, 19], "memory_workers": 8,
        "allocators": list(ALLOCATORS),
    },
}


class Bench:
    """The programs of one build, and the allocators that this machine has. Each run is measured
    once: `store` holds those that were."""

    def __init__(self, build: Path, size: dict, store: Store | None = None,
                 chosen: str | None = None):
        self.programs = build / "papers/1-stream-memory/bench"
        self.size = size
        self.store = store
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
            raise RunError(f"{program} {' '.join(arguments)} ({allocator}): {reason}")
        return done.stdout

    def trading(self, mode: str, variant: str, workers: int, allocator: str = "glibc",
                more: tuple[str, ...] = ()) -> dict:
        arguments = ["--mode", mode, "--variant", variant, "--workers", str(workers),
                     *self.size[mode], *more]
        row = json.loads(self.run("trading_bench", arguments, allocator))
        self.check_loaded(allocator, row.pop("malloc"))
        return {"allocator": allocator, **row}

    def once(self, *key: object, **options) -> dict:
        """`key`: (what, round, ...); the arguments of `trading` are options."""
        row = self.store.once(key, lambda: {"round": key[1], **self.trading(**options)})
        return {name: value for name, value in row.items() if name != "key"}

    def check_loaded(self, allocator: str, library: str) -> None:
        """Throws RunError where malloc came from another library: the loader only warns of one
        that it cannot preload."""
        wanted = self.allocators.get(allocator)
        loaded = (os.path.samefile(library, wanted) if wanted
                  else Path(library).name.startswith("libc."))
        if not loaded:
            raise RunError(f"{allocator} is not what trading_bench runs with: its malloc is that "
                           f"of {library}")


def measure_multicast(bench: Bench, output: Path) -> None:
    """5a, a size of the group at a time; its rounds alternate between the variants."""
    rounds = bench.size["multicast_rounds"]
    rows = []
    for group in bench.size["groups"]:
        def measure(group: int = group) -> dict:
            printed = bench.run("multicast_bench", [*bench.size["multicast"], "--rounds",
                                                    str(rounds), "--groups", str(group)])
            lines = [line for line in printed.splitlines() if not line.startswith("bar |")]
            return {"rows": list(csv.DictReader(lines))}
        rows += bench.store.once(("multicast", group), measure)["rows"]
    write_csv(output / "multicast.csv", [{**row, "rounds": rounds} for row in rows])


def measure_rates(bench: Bench, output: Path) -> list[dict]:
    """5b and 6 together; the standard allocator is measured once for both."""
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
    for number in range(bench.size["rounds"]):
        rows += [bench.once("rate", number, variant, workers, allocator, mode="rate",
                            variant=variant, workers=workers, allocator=allocator, more=FLAT)
                 for variant, workers, allocator in cases]
        print(f"round {number + 1} of {bench.size['rounds']}", file=sys.stderr, flush=True)
    write_csv(output / "rates.csv", rows)
    return rows


def measure_skewed(bench: Bench, output: Path) -> None:
    """Symbols by Zipf's law, arrivals flat and of a day by turns. Key partitioning has one worker
    for the symbol that a seventh of the quotes are of."""
    rows = [bench.once("skewed", number, variant, workers, arrivals, mode="rate", variant=variant,
                       workers=workers, more=("--arrivals", arrivals, "--zipf", ZIPF_EXPONENT,
                                              *bench.size["skewed"]))
            for number in range(bench.size["rounds"]) for workers in bench.size["workers"]
            for variant in SKEWED for arrivals in ("flat", "day")]
    write_csv(output / "rates_skewed.csv", rows)


def measure_memory(bench: Bench, output: Path) -> None:
    """Table 1."""
    workers = bench.size["memory_workers"]
    write_csv(output / "memory.csv", [
        bench.once("memory", 0, variant, allocator, mode="memory", variant=variant,
                   workers=workers, allocator=allocator)
        for allocator in bench.allocators for variant in PRELOADED])


def by_case(rows: list[dict]) -> dict[tuple, list[float]]:
    """The rates by (variant, allocator, workers), in the order of the rounds."""
    found: dict[tuple, list[float]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["allocator"], row["workers"]),
                         []).append(row["sustained"])
    return found


def write_for_plots(bench: Bench, rows: list[dict], output: Path) -> None:
    """A row for each case; figure 6 as one for each allocator; figure 7 in the order of rates."""
    found = by_case(rows)
    write_csv(output / "sustained.csv", [
        dict(zip(("variant", "allocator", "workers", "median", "low", "high"),
                 (*case, *spread(values)))) for case, values in found.items()])
    workers = bench.size["preload_workers"][-1]
    write_csv(output / "allocators.csv", [
        {"allocator": allocator,
         **{variant: statistics.median(found[variant, allocator, workers])
            for variant in PRELOADED}} for allocator in bench.allocators])
    best: dict[str, tuple[int, list[float]]] = {}
    for (variant, allocator, count), values in found.items():
        name = variant if allocator == "glibc" else f"{variant} + {allocator}"
        if name not in best or statistics.median(values) > statistics.median(best[name][1]):
            best[name] = count, values
    write_csv(output / "best.csv", [
        {"name": name, "workers": count, "sustained": statistics.median(values),
         "low": min(values), "high": max(values)}
        for name, (count, values) in sorted(best.items(),
                                            key=lambda one: statistics.median(one[1][1]))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/trading"))
    parser.add_argument("--quick", action="store_const", const="quick", dest="size",
                        default="short", help="whether everything works, in seconds")
    parser.add_argument("--full", action="store_const", const="full", dest="size",
                        help="as the paper has it; days")
    parser.add_argument("--allocators", metavar="NAME,NAME=LIBRARY,...",
                        help="in the place of those that are installed")
    add_piece_options(parser)
    options = parser.parse_args()
    try:
        if options.allocators is not None:
            choose(options.allocators)
    except UsageError as error:
        parser.error(str(error))
    except MemoryToolError as error:
        sys.exit(f"{parser.prog}: error: {error}")

    def work() -> None:
        output, build = options.output, options.build.resolve()
        size = SIZES[options.size]
        if not (build / "papers/1-stream-memory/bench/trading_bench").exists():
            raise RunError(f"{build} has no trading_bench: `make figures-trading` builds it")
        store = Store(output, 1, {"quick": options.size == "quick", "size": options.size,
                                  "allocators": options.allocators, "commit": commit_text(),
                                  "machine": machine_text(build)},
                      options.resume, Deadline(options.minutes))
        bench = Bench(build, size, store, options.allocators)
        if bench.missing:
            print(f"not installed and left out: {', '.join(bench.missing)}", file=sys.stderr)
        measure_multicast(bench, output)
        rows = measure_rates(bench, output)
        measure_skewed(bench, output)
        measure_memory(bench, output)
        write_for_plots(bench, rows, output)
        plot(HERE / "figures.gp", output)
        store.finish()
        write_page_of_run(output)
    return in_pieces("figures", options, work)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs malloc_bench under every allocator of this machine, by preload, and says which bars are met.

    compare.py --build build/release [--rounds N] [--operations N] [--only NAME[,NAME...]]

Rounds go through all allocators in turn, so that a busy moment of the machine does not fall on one
alone; the table has medians with the least and the largest, and the bars are medians of the ratios
round by round. A run whose allocator was not loaded ends this. Lines "bar | ..." are as
scripts/bench collects them.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from reporting import describe_machine, find_allocators, spread, table  # noqa: E402

PEERS = ["glibc", "jemalloc", "tcmalloc", "mimalloc", "tbb"]
OURS = "strid"
MODES = {
    "allocate here, free there, 16 to 512 bytes": ["exchange"],
    "random lives, 1 thread": ["random", "1"],
    "random lives, 2 threads": ["random", "2"],
}
ANSWER = re.compile(r"(\d+) operations/s (\d+) KiB\n")


def check_is_loaded(name: str, library: str | None) -> None:
    """The loader only warns of a library that it cannot preload."""
    if library is None:
        return
    said = subprocess.run(["/bin/cat", "/proc/self/maps"], env=with_preload(library),
                          capture_output=True, text=True, check=True).stdout
    if os.path.realpath(library) not in said:
        sys.exit(f"strid: error: {name} was not loaded: {library}")


def with_preload(library: str | None) -> dict[str, str]:
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    if library is not None:
        environment["LD_PRELOAD"] = library
    return environment


def measure(
    program: Path, library: str | None, mode: list[str], operations: int
) -> tuple[int, int]:
    """Operations a second and peak KiB of one run."""
    ended = subprocess.run([program, *mode, str(operations)], env=with_preload(library),
                           capture_output=True, text=True, check=False, timeout=600)
    answer = ANSWER.fullmatch(ended.stdout)
    if ended.returncode != 0 or answer is None:
        sys.exit(f"strid: error: {' '.join(mode)} under {library}: {ended.stderr.strip()}")
    return int(answer[1]), int(answer[2])


def print_bar(what: str, ratios: list[float], at_least: bool, bar: float) -> None:
    ratio = statistics.median(ratios)
    met = ratio >= bar if at_least else ratio <= bar
    side = "at least" if at_least else "at most"
    print(f"bar | {what} | {ratio:.3g} | {side} {bar} | {'met' if met else 'MISSED'} |")


def report(what: str, runs: dict[str, list[tuple[int, int]]]) -> None:
    rows = []
    for name, values in runs.items():
        speed, least, most = spread([value[0] / 1e6 for value in values])
        peak = statistics.median(value[1] for value in values) / 1024
        rows.append([name, f"{speed:.2f}", f"{least:.2f} to {most:.2f}", f"{peak:.1f}"])
    rows.sort(key=lambda row: -float(row[1]))
    print(f"### {what}\n")
    head = ["allocator", "million operations/s", "least to most", "peak resident MiB"]
    print("\n".join(table(head, rows)))


def ratios(runs: dict[str, list[tuple[int, int]]], other: str, which: int) -> list[float]:
    return [ours[which] / peer[which] for ours, peer in zip(runs[OURS], runs[other])]


def bars(what: str, runs: dict[str, list[tuple[int, int]]]) -> None:
    peers = [name for name in runs if name != OURS]
    if OURS not in runs or not peers:
        return
    if what.startswith("allocate here"):
        best = max(peers, key=lambda name: statistics.median(run[0] for run in runs[name]))
        print_bar(f"malloc, {what} / the best of the others ({best})", ratios(runs, best, 0), True,
                  1.5)
    elif "mimalloc" in runs:
        print_bar(f"malloc, {what} / mimalloc", ratios(runs, "mimalloc", 0), True, 0.9)
    if "mimalloc" in runs:
        print_bar(f"malloc, {what}, peak resident memory / mimalloc", ratios(runs, "mimalloc", 1),
                  False, 1.15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="a release build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--operations", type=int, default=10_000_000, help="in each thread")
    parser.add_argument("--only", default="", help="allocators, of those there are")
    options = parser.parse_args()
    if options.rounds < 1 or options.operations < 1:
        parser.error("--rounds and --operations are at least 1")
    found, missing = find_allocators(PEERS)
    found[OURS] = str((options.build / "malloc" / "libstrid_malloc.so").resolve())
    program = options.build / "bench" / "malloc" / "malloc_bench"
    for needed in [program, Path(found[OURS])]:
        if not needed.is_file():
            sys.exit(f"strid: error: {needed} is not built")
    if options.only:
        asked = options.only.split(",")
        unknown = sorted(set(asked) - set(found))
        if unknown:
            sys.exit(f"strid: error: --only: no such allocator here: {', '.join(unknown)}")
        found = {name: found[name] for name in asked}
    print(describe_machine(options.build))
    for name in missing:
        print(f"{name} is not installed")
    print()
    for name, library in found.items():
        check_is_loaded(name, library)
    for what, mode in MODES.items():
        runs: dict[str, list[tuple[int, int]]] = {name: [] for name in found}
        for _ in range(options.rounds):
            for name, library in found.items():
                runs[name].append(measure(program, library, mode, options.operations))
        report(what, runs)
        bars(what, runs)
        print(flush=True)


if __name__ == "__main__":
    main()

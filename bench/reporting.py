# SPDX-License-Identifier: Apache-2.0
"""The common part of the drivers of figures: medians and percentiles, tables, CSV files, words of
commands, allocators, and which machine this was."""

from __future__ import annotations

import argparse
import csv
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = Path(f"/usr/lib/{platform.machine()}-linux-gnu")
ALLOCATORS = {
    "glibc": None,
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2",
    "tbb": "libtbbmalloc_proxy.so.2",
    "hoard": "libhoard.so",
}


def find_allocators(names: list[str]) -> tuple[dict[str, str | None], list[str]]:
    """Of these allocators those that are installed, with the library to preload, and the rest."""
    found: dict[str, str | None] = {}
    missing = []
    for name in names:
        file = ALLOCATORS[name]
        if file is None or (LIBRARIES / file).exists():
            found[name] = str(LIBRARIES / file) if file else None
        else:
            missing.append(name)
    return found, missing

PERCENTILES = ("5", "25", "50", "75", "95", "99", "99.9")  # of latencies, as JSON names them


def median(values: Iterable[float]) -> float:
    """0 of none."""
    found = list(values)
    return statistics.median(found) if found else 0.0


def percentile(histogram: list[list[int]], percent: float) -> float:
    """Of [at most so many nanoseconds, count] with rising bounds: the bound of the bucket in which
    the record lies that is not slower than so many percent. Nanoseconds."""
    wanted = sum(count for _, count in histogram) * percent / 100
    seen = 0
    for bound, count in histogram:
        seen += count
        if seen >= wanted:
            return float(bound)
    return 0.0


def whole_number(text: str) -> int:
    """Of an option that counts."""
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number above 0")
    return int(text)


def positive_number(text: str) -> float:
    """Of an option: minutes, seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0 and below a million")
    return value


def command_text(words: Iterable[object]) -> str:
    """As it is typed in the project's folder."""
    return shlex.join(str(word).replace(f"{ROOT}/", "") for word in words)


def spread(values: list[float]) -> tuple[float, float, float]:
    """Median, least and largest."""
    return statistics.median(values), min(values), max(values)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def write_csv(path: Path, rows: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def machine_text(build: Path) -> str:
    """Processor, cores and compiler."""
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text()
                  .splitlines() if line.startswith("model name")), platform.machine())
    compiler = next((line.split("=")[1] for line in
                     (build / "CMakeCache.txt").read_text().splitlines()
                     if line.startswith("CMAKE_CXX_COMPILER:")), "c++")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True,
                             check=False).stdout.splitlines()
    return (f"{model}, {len(os.sched_getaffinity(0))} cores, "
            f"{version[0] if version else compiler}")


def commit_text() -> str:
    """Of the sources; says whether they have changes beside it."""
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=False,
                              cwd=ROOT).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (git("rev-parse", "HEAD") or "unknown") + (", with changes" if changed else "")


def load_text() -> str:
    return f"load of the machine at the beginning {os.getloadavg()[0]:.1f}"


def describe_machine(build: Path) -> str:
    """Processor, cores, compiler, commit and how busy the machine is."""
    return f"{machine_text(build)}, commit {commit_text()}; {load_text()}"


def plot(script: Path, output: Path, more: str = "") -> None:
    """`more`: variables of gnuplot, `name='value'; ...`."""
    if not shutil.which("gnuplot"):
        print("gnuplot is not installed: no plots", file=sys.stderr)
        return
    subprocess.run(["gnuplot", "-e", f"folder='{output}'; {more}", script], check=True)

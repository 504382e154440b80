# SPDX-License-Identifier: Apache-2.0
"""Figures 1.6 to 1.8 of paper 4: the programs beside sequential ones.

The table below says what is run. The first word of a command is a program of this build
(strid-NAME, sequential_NAME) or one that is installed. {workers} is the number of workers, {output}
a file or folder that the command may write, every other name in braces what the maker of the inputs
returned (a list becomes several arguments). A command whose program is missing is left out, with a
line that says so.
"""

from __future__ import annotations

import bz2
import hashlib
import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Callable

import inputs
from reporting import spread, write_csv
from store import RunError, Store


@dataclass(frozen=True)
class Application:
    figure: str
    case: str               # without commas, for the plots
    inputs: Callable[[Path, float], dict]
    parallel: list[str]
    sequential: list[str]
    answer: str = "stdout"  # what both write alike: stdout, output, stdout.bz2 once decompressed
    amount: str = ""        # of the inputs: what is done, for a rate
    unit: str = ""          # of the rate
    per_unit: float = 1.0   # so much of the amount is one unit


ALIGN = {"figure": "1.6", "amount": "cells", "unit": "GCUPS", "per_unit": 1e9,
         "parallel": ["strid-align", "--quiet", "--workers", "{workers}", "{queries}",
                      "{database}"],
         "sequential": ["sequential_align", "{queries}", "{database}"]}
COMPRESS = {"figure": "1.8", "amount": "bytes", "unit": "MB/s", "per_unit": 1e6,
            "sequential": ["bzip2", "-k", "-c", "{files}"], "answer": "stdout.bz2"}
DECOMPRESS = {**COMPRESS, "sequential": ["bzip2", "-d", "-k", "-c", "{files}"], "answer": "stdout"}
STRID_COMPRESS = ["strid-compress", "-k", "-c", "-q", "--workers", "{workers}", "{files}"]
PBZIP2 = ["pbzip2", "-k", "-c", "-q", "-p{workers}", "{files}"]
DENOISE = {"figure": "1.3.3", "answer": "output",
           "parallel": ["strid-denoise", "--quiet", "--workers", "{workers}", "{picture}",
                        "--output", "{output}"],
           "sequential": ["sequential_denoise", "{picture}", "{output}"]}

APPLICATIONS = [
    *[Application(case=f"align a query of {length}",
                  inputs=partial(inputs.proteins, query=length), **ALIGN)
      for length in (144, 464, 1000, 2504, 5478)],
    Application(figure="1.7", case="tree of QUEST function 5", inputs=inputs.customers,
                parallel=["strid-tree", "learn", "--quiet", "--workers", "{workers}",
                          "--input", "{table}", "--target", "class"],
                sequential=["sequential_tree", "{table}", "class"]),
    *[Application(figure="1.8", case=f"ssa of an enzyme by {method}",
                  inputs=partial(inputs.reactions, runs=runs),
                  parallel=["strid-ssa", "--quiet", "--workers", "{workers}", "--method", method,
                            "--until", "100", "--runs", "{runs}", "--seed", "1", "{model}"],
                  sequential=["sequential_ssa", method, "100", "{runs}", "1", "{model}"])
      for method, runs in (("direct", 10_000), ("tau-leaping", 10_000))],
    Application(case="compress 100 files", inputs=inputs.many_texts, parallel=STRID_COMPRESS,
                **COMPRESS),
    Application(case="compress 100 files by pbzip2", inputs=inputs.many_texts, parallel=PBZIP2,
                **COMPRESS),
    Application(case="compress one file", inputs=inputs.one_text, parallel=STRID_COMPRESS,
                **COMPRESS),
    Application(case="compress one file by pbzip2", inputs=inputs.one_text, parallel=PBZIP2,
                **COMPRESS),
    Application(case="decompress 100 files", inputs=inputs.many_compressed_texts,
                parallel=[STRID_COMPRESS[0], "-d", *STRID_COMPRESS[1:]], **DECOMPRESS),
    Application(case="decompress 100 files by pbzip2", inputs=inputs.many_compressed_texts,
                parallel=[PBZIP2[0], "-d", *PBZIP2[1:]], **DECOMPRESS),
    *[Application(case=f"denoise {percent} % of noise",
                  inputs=partial(inputs.noisy_picture, percent=percent), **DENOISE)
      for percent in (10, 50, 90)],
]


def find_program(name: str, build: Path) -> Path | None:
    """Ours are of this build: what is installed may be another version."""
    for file in (build / "tools" / name, build / "papers/4-fastflow/bench" / name):
        if file.exists():
            return file
    installed = None if name.startswith(("strid-", "sequential_")) else shutil.which(name)
    return Path(installed) if installed else None


def progress(text: str, last: bool = False) -> None:
    """A line on a terminal that the next replaces; elsewhere only the last of its kind."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
    elif last:
        print(text, file=sys.stderr, flush=True)


def fill(command: list[str], values: dict) -> list[str]:
    """A list among the values is several arguments where it stands alone."""
    arguments: list[str] = []
    for word in command:
        value = values.get(word[1:-1]) if word.startswith("{") and word.endswith("}") else None
        if isinstance(value, list):
            arguments += [str(one) for one in value]
        else:
            arguments.append(word.format(**values))
    return arguments


def digest(*places: Path) -> str:
    """Of the contents of files, and of folders with the names in them."""
    found = hashlib.sha256()
    for place in places:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            if file.is_file():
                name = str(file.relative_to(place)) if place.is_dir() else ""
                found.update(f"{name}:{file.stat().st_size}:".encode())
                found.update(file.read_bytes())
    return found.hexdigest()


def remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def processor_of_children() -> float:
    """Seconds of all commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Case:
    """An application with its inputs, on one build."""

    def __init__(self, one: Application, build: Path, folder: Path, scale: float):
        self.one = one
        self.programs = {name: find_program(name, build)
                         for name in (one.parallel[0], one.sequential[0])}
        self.folder = folder
        self.scale = scale
        self.values: dict = {}
        self.expected: str | None = None  # digest of the answer of the first, a sequential run

    def missing(self) -> list[str]:
        return [name for name, file in self.programs.items() if file is None]

    def prepare(self) -> None:
        """Makes the inputs, once; the same ones each time."""
        if not self.values:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.values = {"output": self.folder / "output",
                           **self.one.inputs(self.folder, self.scale)}

    def spent(self, workers: int) -> dict:
        """Seconds of the whole command on the clock and of the processor; 0 workers: of the
        sequential one. Ends the run where the answers differ: the sequential command comes
        first."""
        self.prepare()
        name, *words = self.one.parallel if workers else self.one.sequential
        command = [str(self.programs[name]), *fill(words, {**self.values, "workers": workers})]
        output, printed = self.values["output"], self.folder / "stdout"
        remove(output)
        with printed.open("wb") as out:
            processor_begin = processor_of_children()
            begin = time.perf_counter()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.PIPE, check=False)
            seconds = time.perf_counter() - begin
            processor_seconds = processor_of_children() - processor_begin
        if done.returncode != 0:
            raise RunError(
                f"{self.one.case}: {' '.join(command)[:400]} ended with {done.returncode}: "
                f"{done.stderr.decode(errors='replace').strip()[-400:]}")
        return {"seconds": seconds, "processor_seconds": processor_seconds,
                "rate": self.rate(seconds), "answer": self.checked(command, printed, output)}

    def checked(self, command: list[str], printed: Path, output: Path) -> str:
        """The digest of the answer, which is that of the first run."""
        place = output if self.one.answer == "output" else printed
        if not place.exists():
            raise RunError(f"{self.one.case}: {' '.join(command)[:400]} wrote no {place}")
        if self.one.answer == "stdout.bz2":
            place.write_bytes(bz2.decompress(place.read_bytes()))
        answer = digest(place)
        if self.expected not in (None, answer):
            raise RunError(f"{self.one.case}: {' '.join(command)[:400]} answers otherwise than "
                           f"{self.one.sequential[0]}")
        return answer

    def rate(self, seconds: float) -> float | None:
        if not self.one.amount:
            return None
        return self.values[self.one.amount] / self.one.per_unit / seconds


def measure_case(case: Case, store: Store, rounds: int, all_workers: list[int],
                 what: str) -> list[dict]:
    rows = []
    runs = [(number, workers) for number in range(rounds) for workers in [0, *all_workers]]
    for done, (number, workers) in enumerate(runs):
        progress(f"applications: {what}, {case.one.case}, run {done + 1} of {len(runs)}",
                 last=done + 1 == len(runs))
        row = store.once(("application", case.one.case, workers, number),
                         lambda workers=workers: case.spent(workers))
        case.expected = case.expected or row["answer"]
        if workers == 0:
            alone = row["seconds"]
        rows.append({"figure": case.one.figure, "case": case.one.case, "workers": workers,
                     "round": number, "seconds": row["seconds"],
                     "speed_up": alone / row["seconds"], "rate": row["rate"],
                     "unit": case.one.unit, "processor_seconds": row["processor_seconds"]})
    return rows


def summary(rows: list[dict]) -> list[dict]:
    """Of the rounds of each case and number of workers."""
    found: dict[tuple, list[dict]] = {}
    for row in rows:
        found.setdefault((row["figure"], row["case"], row["workers"]), []).append(row)
    result = []
    for (figure, case, workers), same in found.items():
        median, low, high = spread([row["speed_up"] for row in same])
        rates = [row["rate"] for row in same if row["rate"] is not None]
        result.append({"figure": figure, "case": case, "workers": workers,
                       "seconds": statistics.median(row["seconds"] for row in same),
                       "speed_up": median, "low": low, "high": high,
                       "rate": statistics.median(rates) if rates else "",
                       "unit": same[0]["unit"],
                       "processor_seconds": statistics.median(row["processor_seconds"]
                                                              for row in same)})
    return result


def measure(build: Path, output: Path, store: Store, rounds: int, all_workers: list[int],
            scale: float) -> None:
    """Times every application that is built. CSV files lie in `output`."""
    rows: list[dict] = []
    missing: dict[str, list[str]] = {}
    folder = output / "inputs"
    for number, one in enumerate(APPLICATIONS):
        case = Case(one, build, folder / str(number), scale)
        if case.missing():
            missing.setdefault(", ".join(case.missing()), []).append(one.case)
            continue
        rows += measure_case(case, store, rounds, all_workers,
                             f"{number + 1} of {len(APPLICATIONS)}")
        shutil.rmtree(case.folder, ignore_errors=True)  # none where all runs were stored
    for programs, cases in missing.items():
        progress(f"applications: not there: {programs}; left out: {'; '.join(cases)}", last=True)
    if rows:
        write_csv(output / "applications.csv", rows)
        write_csv(output / "applications_summary.csv", summary(rows))

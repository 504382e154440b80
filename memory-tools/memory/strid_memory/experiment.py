# SPDX-License-Identifier: Apache-2.0
"""An experiment: every allocator on every number of cores, repeated, in random order.

A folder holds it: experiment.json says what is done, runs.csv gets a line after each run, so that
what was measured outlives an interruption and `resume` goes on. A callable decides what a run is:
a command (runner.py), or the programs of a study.
"""

import csv
import dataclasses
import itertools
import json
import os
import pathlib
import random
import sys
import time
from collections.abc import Callable

from strid_memory.errors import MemoryToolError
from strid_memory.output_file import write_whole

SETTINGS = "experiment.json"
RUNS = "runs.csv"
FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Setting:
    """One run of the plan; `repeat` counts from 1."""

    allocator: str
    cores: int
    repeat: int


def plan(allocators: list[str], cores: list[int], repeat: int, seed: int) -> list[Setting]:
    """All runs in random order: a slow hour of the machine then falls on all alike."""
    runs = [Setting(*run) for run in itertools.product(allocators, cores, range(1, repeat + 1))]
    random.Random(seed).shuffle(runs)
    return runs


class Folder:
    """The folder of an experiment."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def check_new(self):
        """An error where it holds an experiment already, or cannot be made: before long runs
        rather than after them."""
        if (self.path / SETTINGS).exists() or (self.path / RUNS).exists():
            raise MemoryToolError(
                f"{self.path} holds an experiment: --resume goes on with it, --output FOLDER writes"
                " elsewhere"
            )
        folder = self.path.absolute()
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise MemoryToolError(f"{folder}: Not a directory")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise MemoryToolError(f"{folder}: Permission denied")

    def begin(self, settings: dict):
        """Makes the folder; an error where it holds an experiment already."""
        self.check_new()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MemoryToolError(f"{self.path}: {error.strerror}") from None
        self.write_settings(settings)

    def write_settings(self, settings: dict):
        self.write(SETTINGS, json.dumps({"format": FORMAT, **settings}, indent=1) + "\n")

    def settings(self) -> dict:
        path = self.path / SETTINGS
        try:
            settings = json.loads(path.read_text())
        except OSError as error:
            raise MemoryToolError(f"{path}: {error.strerror}: nothing to resume") from None
        except ValueError as error:
            raise MemoryToolError(f"{path}: not JSON: {error}") from None
        if not isinstance(settings, dict) or settings.get("format") != FORMAT:
            raise MemoryToolError(f"{path}: not an experiment of this version")
        return settings

    def write(self, name: str, text: str):
        # A command may hold bytes that are no text.
        write_whole(self.path / name, text.encode(errors="backslashreplace"))

    def runs(self) -> list[dict]:
        """The measurements: a dictionary of each line, numbers as float, nothing as None."""
        path = self.path / RUNS
        if not path.exists():
            return []
        with path.open(newline="") as file:
            text = file.read()
        # A line that a fault of the machine cut is no run.
        whole = text[: text.rfind("\n") + 1]
        rows = []
        for number, row in enumerate(csv.DictReader(whole.splitlines()), 2):
            try:
                rows.append(typed(row))
            except (TypeError, ValueError, KeyError) as error:
                raise MemoryToolError(f"{path}:{number}: not a run: {error}") from None
        return rows

    def append(self, setting: Setting, values: dict):
        """A line more, on the disk when this returns."""
        path = self.path / RUNS
        row = {**dataclasses.asdict(setting), **values}
        try:
            with path.open("a+", newline="") as file:
                file.seek(0)
                text = file.read()
                cut = text.rfind("\n") + 1
                file.truncate(len(text[:cut].encode()))
                file.seek(0, os.SEEK_END)
                columns = next(csv.reader([text.partition("\n")[0]])) if cut else list(row)
                writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
                if not cut:
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemoryToolError(f"{path}: {error.strerror}") from None


def typed(row: dict) -> dict:
    values = {"allocator": row["allocator"]}
    values |= {key: int(row[key]) for key in ("cores", "repeat")}
    for key, text in row.items():
        if key not in values:
            try:
                values[key] = float(text) if text else None
            except ValueError:
                values[key] = text
    return values


class Progress:
    """A line on a terminal: how far, and how long it takes still. Elsewhere: nothing. Within
    `with`, at whose end the line goes."""

    def __init__(self, runs: int):
        self.runs = runs
        self.done = 0
        self.begin = time.monotonic()
        self.shown = sys.stderr.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, text: str):
        if not self.shown:
            return
        left = ""
        if self.done:
            seconds = (time.monotonic() - self.begin) / self.done * (self.runs - self.done)
            left = f", {duration(seconds)} left"
        line = f"{self.done}/{self.runs} runs{left}: {text}"
        print(f"\r\x1b[K{line[:100]}", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    seconds = round(seconds)
    if seconds < 90:
        return f"{seconds} s"
    return (
        f"{seconds // 60} min"
        if seconds < 5400
        else f"{seconds // 3600} h {seconds % 3600 // 60} min"
    )


def perform(runs: list[Setting], run: Callable[[Setting], dict], folder: Folder):
    """Does the runs of the plan that the folder does not hold yet, in order."""
    done = {Setting(row["allocator"], row["cores"], row["repeat"]) for row in folder.runs()}
    missing = [setting for setting in runs if setting not in done]
    with Progress(len(missing)) as progress:
        for setting in missing:
            cores = "1 core" if setting.cores == 1 else f"{setting.cores} cores"
            progress.show(f"{setting.allocator}, {cores}")
            folder.append(setting, run(setting))
            progress.done += 1

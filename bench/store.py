# SPDX-License-Identifier: Apache-2.0
"""The measurements of a driver of figures, a line of JSON a run, in raw/runs.jsonl; an interrupted
run goes on from it (--resume), and --minutes N ends it after so many. Each line has a key and the
figures. A run that begins anew finds nothing of the one before it: that is moved aside.

raw/settings.json says what was measured: `paper`, the settings that --resume compares, and beside
them `commands`, `begun` and, once everything is there, `finished`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from reporting import command_text, positive_number

INTERRUPTED = 130
UNFINISHED = 75  # the exit status of a piece behind which more is to be measured


class RunError(Exception):
    """An error that ends a driver, in one line."""


class TimeUp(Exception):
    """The minutes of this piece are over."""


Key = tuple  # ("throughput", application, variant, round), ...
SETTINGS = "raw/settings.json"  # what a folder has that a driver wrote into
HISTORY = ("commands", "begun", "finished")


def now() -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def add_piece_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--resume", action="store_true", help="go on where a run was interrupted")
    parser.add_argument("--minutes", type=positive_number, metavar="N",
                        help=f"end after so many, with status {UNFINISHED}; --resume goes on")


class Deadline:
    """Of a piece; the first measurement of a piece is made whatever the time is."""

    def __init__(self, minutes_most: float | None):
        self.end = None if minutes_most is None else time.monotonic() + 60 * minutes_most
        self.measured = 0

    def before_measuring(self) -> None:
        if self.measured and self.end is not None and time.monotonic() >= self.end:
            raise TimeUp

    def after_measuring(self) -> None:
        self.measured += 1


def in_pieces(driver: str, options: argparse.Namespace, work: Callable[[], None]) -> int:
    """The exit status of a driver whose work is this."""
    try:
        work()
    except RunError as error:
        print(f"{driver}: error: {error}", file=sys.stderr)
        return 1
    except TimeUp:
        print(f"{driver}: {options.minutes:g} minutes are over, and the rest is not measured; "
              f"--resume goes on in {options.output}", file=sys.stderr)
        return UNFINISHED
    except KeyboardInterrupt:
        print(f"{driver}: interrupted; --resume goes on in {options.output}", file=sys.stderr)
        return INTERRUPTED
    return 0


def read_object(file: Path) -> dict:
    """The object of a file of JSON."""
    try:
        found = json.loads(file.read_text())
    except OSError as error:
        raise RunError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise RunError(f"{file}: no JSON: {error}") from None
    if not isinstance(found, dict):
        raise RunError(f"{file}: no object of JSON")
    return found


def read_settings(output: Path) -> dict:
    return read_object(output / SETTINGS)


def set_aside(output: Path) -> Path | None:
    """Where the older run of this folder is now: beside it, under the first free number."""
    if not output.exists():
        return None
    try:
        if not any(output.iterdir()):
            return None
        if not (output / SETTINGS).exists():
            raise RunError(f"{output} has files of something else: name another --output")
        number = 1
        while (aside := output.with_name(f"{output.name}.{number}")).exists():
            number += 1
        return output.rename(aside)
    except OSError as error:
        raise RunError(f"{output}: {error.strerror}") from None


class Store:
    """`settings`: what has to be the same for --resume; `paper`: the number of the paper."""

    def __init__(self, output: Path, paper: int, settings: dict, resume: bool,
                 deadline: Deadline | None = None):
        self.output = output
        self.folder = output / "raw"
        self.rows: dict[Key, dict] = {}
        self.file = self.folder / "runs.jsonl"
        self.deadline = deadline or Deadline(None)
        self.is_measuring = False  # one may need another, which is not cut off then
        settings = {"paper": paper, **settings}
        if resume and (output / SETTINGS).exists():
            before = read_settings(output)
            differing = [name for name, value in settings.items() if before.get(name) != value]
            if differing:
                raise RunError(f"--resume: {output / SETTINGS} was made with another "
                               f"{differing[0]}: {before.get(differing[0])}; begin anew, or "
                               "say the same")
            self._read()
        else:
            before = {"begun": now(), "commands": []}
            moved = set_aside(output)
            if moved:
                print(f"the older run is now {moved}", file=sys.stderr, flush=True)
            try:
                self.folder.mkdir(parents=True)
                self.file.write_text("")
            except OSError as error:
                raise RunError(f"{output}: {error.strerror}") from None
        command = command_text(word for word in sys.argv if word != "--resume")
        history = {name: before[name] for name in HISTORY if name in before}
        history.pop("finished", None)
        history["commands"] = list(dict.fromkeys([*history.get("commands", []), command]))
        self.settings = {**settings, **history}
        self._write_settings()

    def _write_settings(self) -> None:
        try:
            (self.output / SETTINGS).write_text(json.dumps(self.settings, indent=1) + "\n")
        except OSError as error:
            raise RunError(f"{self.output}: {error.strerror}") from None

    def _read(self) -> None:
        whole = []
        for line in self.file.read_text().splitlines(keepends=True) if self.file.exists() else []:
            try:
                row = json.loads(line)
            except ValueError:
                break  # cut where the run was interrupted
            if not line.endswith("\n"):
                break
            self.rows[tuple(row["key"])] = row
            whole.append(line)
        self.file.write_text("".join(whole))

    def once(self, key: Key, measure: Callable[[], dict]) -> dict:
        """The row of this key, measured now where there is none; TimeUp where that is too late."""
        if key in self.rows:
            return self.rows[key]
        is_outermost = not self.is_measuring
        if is_outermost:
            self.deadline.before_measuring()
        self.is_measuring = True
        try:
            row = {"key": list(key), **measure()}
        finally:
            self.is_measuring = not is_outermost
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows[key] = row
        self.deadline.after_measuring()
        return row

    def of(self, *begin: object) -> list[dict]:
        """The rows whose keys begin so, in the order of measuring."""
        return [row for key, row in self.rows.items() if key[:len(begin)] == begin]

    def rates(self, *begin: object) -> list[float]:
        return [row["records"] / row["seconds"] for row in self.of(*begin)]

    def finish(self) -> None:
        """Everything that was asked for is measured."""
        self.settings["finished"] = now()
        self._write_settings()

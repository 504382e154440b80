# SPDX-License-Identifier: Apache-2.0
"""The measurements, a line of JSON a run, in raw/runs.jsonl; an interrupted report goes on from
it. Each line has a key, the words of the command, and the figures. A report that begins anew finds
nothing of the one before it: that is moved aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path


class ReportError(Exception):
    """An error that ends the report, in one line."""


Key = tuple  # ("throughput", application, variant, round), ...
SETTINGS = "raw/settings.json"  # what a folder has that a report was written into


def set_aside(output: Path) -> Path | None:
    """Where the older report of this folder is now: beside it, under the first free number."""
    if not output.exists():
        return None
    try:
        if not any(output.iterdir()):
            return None
        if not (output / SETTINGS).exists():
            raise ReportError(f"{output} has files that are no report: name another --output")
        number = 1
        while (aside := output.with_name(f"{output.name}.{number}")).exists():
            number += 1
        return output.rename(aside)
    except OSError as error:
        raise ReportError(f"{output}: {error.strerror}") from None


class Store:
    def __init__(self, output: Path, settings: dict, resume: bool):
        self.folder = output / "raw"
        self.rows: dict[Key, dict] = {}
        self.file = self.folder / "runs.jsonl"
        self.moved: Path | None = None  # where an older report is now
        settings_file = output / SETTINGS
        if resume and settings_file.exists():
            try:
                before = json.loads(settings_file.read_text())
            except ValueError as error:
                raise ReportError(f"--resume: {settings_file}: {error}") from None
            differing = [name for name, value in settings.items() if before.get(name) != value]
            if differing:
                raise ReportError(f"--resume: {settings_file} was made with another "
                                  f"{differing[0]}: {before.get(differing[0])}; begin anew, or "
                                  "say the same")
            self._read()
        else:
            self.moved = set_aside(output)
            try:
                self.folder.mkdir(parents=True)
                settings_file.write_text(json.dumps(settings, indent=1) + "\n")
                self.file.write_text("")
            except OSError as error:
                raise ReportError(f"{output}: {error.strerror}") from None

    def _read(self) -> None:
        whole = []
        for line in self.file.read_text().splitlines(keepends=True) if self.file.exists() else []:
            try:
                row = json.loads(line)
            except ValueError:
                break  # cut where the report was interrupted
            if not line.endswith("\n"):
                break
            self.rows[tuple(row["key"])] = row
            whole.append(line)
        self.file.write_text("".join(whole))

    def once(self, key: Key, measure: Callable[[], dict]) -> dict:
        """The row of this key, measured now where there is none."""
        if key not in self.rows:
            row = {"key": list(key), **measure()}
            with self.file.open("a") as file:
                file.write(json.dumps(row) + "\n")
            self.rows[key] = row
        return self.rows[key]

    def of(self, *begin: object) -> list[dict]:
        """The rows whose keys begin so, in the order of measuring."""
        return [row for key, row in self.rows.items() if key[:len(begin)] == begin]

    def rates(self, *begin: object) -> list[float]:
        return [row["records"] / row["seconds"] for row in self.of(*begin)]

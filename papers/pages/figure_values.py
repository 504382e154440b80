# SPDX-License-Identifier: Apache-2.0
"""The values of figures: what a paper prints, and what a run here measured.

A value has a figure ("5b"), a series (a curve, or a row of a table), a place on it (`at`: workers,
a column; empty for a figure that is one number) and a unit. paper.csv of a paper has the printed
ones, values.csv of its results ours: of several rounds the median, the least and the largest."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

Key = tuple[str, str, str]
RULES = ("", "ratio", "equal", "order", "cell", "shown")


@dataclass(frozen=True)
class Value:
    figure: str
    series: str
    at: str
    value: float
    low: float
    high: float
    rounds: int
    unit: str

    @property
    def key(self) -> Key:
        return self.figure, self.series, self.at


@dataclass(frozen=True)
class Printed:
    """`text`: the number as it is printed; `name`: the paper's name of the series, or a statement
    in words; "" where it is ours. `rule` says how ours is compared, and where it stands on the
    page. In a list of statements: `ratio`, on the same side of 1; `equal`; empty, not at all. As a
    cell of a table: `order`, as the figure says; `cell`, equal; `shown`, not at all."""

    figure: str
    series: str
    at: str
    text: str
    unit: str
    rule: str
    name: str

    @property
    def value(self) -> float:
        return float(self.text.split()[0])  # letters of significance may follow

    @property
    def statement(self) -> str:
        """Its name in a list."""
        return self.name or ", ".join(text for text in (self.series, self.at) if text)

    @property
    def is_cell(self) -> bool:
        return self.rule in ("order", "cell", "shown")

    @property
    def key(self) -> Key:
        return self.figure, self.series, self.at


def read_rows(file: Path) -> list[dict[str, str]]:
    """Of a CSV file; none where it is not there."""
    if not file.exists():
        return []
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def number(value: float) -> str:
    """Four digits that count, and all before the point, as stored so shown."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def of_rounds(figure: str, series: str, at: object, values: Iterable[float], unit: str,
              scale: float = 1) -> Value:
    found = [value * scale for value in values]
    return Value(figure, series, str(at), statistics.median(found), min(found), max(found),
                 len(found), unit)


def by_round(ones: dict[object, float], others: dict[object, float]) -> list[float]:
    """Ratios round by round; rounds whose divisor is 0 are left out."""
    return [value / others[at] for at, value in ones.items() if others.get(at)]


def read_values(file: Path) -> dict[Key, Value]:
    found = [Value(row["figure"], row["series"], row["at"], float(row["value"]),
                   float(row["low"]), float(row["high"]), int(row["rounds"]), row["unit"])
             for row in read_rows(file)]
    return {value.key: value for value in found}


def write_values(file: Path, values: Iterable[Value]) -> None:
    with file.open("w", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(field.name for field in fields(Value))
        for one in values:
            writer.writerow([*one.key, number(one.value), number(one.low), number(one.high),
                             one.rounds, one.unit])


def read_printed(file: Path) -> dict[Key, Printed]:
    found = {}
    for row in read_rows(file):
        one = Printed(row["figure"], row["series"], row["at"], row["value"], row["unit"],
                      row["rule"], row["printed"])
        if one.rule not in RULES or one.key in found:
            raise ValueError(f"{file}: {','.join(one.key)}: no rule '{one.rule}', or there twice")
        found[one.key] = one
    return found


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Of Markdown, with an empty line behind it."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]

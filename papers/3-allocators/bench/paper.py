# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 3, to compare with: tables I to VI (paper.csv) and the numbers of its
section IV."""

import csv
import dataclasses
import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parents[1] / "paper.csv"
# Our names of what the paper measured, as far as it is the same design: ptmalloc2 is the C
# library's. Versions are fifteen years apart.
NAMES = {
    "hoard": "Hoard",
    "jemalloc": "Jemalloc",
    "glibc": "Ptmalloc2",
    "ptmalloc3": "Ptmalloc3",
    "tcmalloc": "TCMalloc",
    "strid-tlsf": "TLSF",
    "strid-miser": "Miser",
}
# Of all allocation requests of App1 to App3, a second.
REQUESTS_PER_SECOND = {"core": 4_600, "session": 80_000, "data": 50_000}
MOST_FREQUENT_BYTES = 24
SMALL_BYTES = 64
SOURCES = ("allocator", "# of cores", "allocator vs. # of cores", "Error")


@dataclasses.dataclass
class PaperTable:
    """A measure in the paper: the sums of squares of its table of variance (allocator, cores, both,
    error), and mean and lower case letters by allocator on one to four cores."""

    figure: str
    variance: str
    tukey: str
    ss: tuple[float, ...]
    means: dict[str, list[tuple[float, str]]]


def read_table(rows: list[dict[str, str]], figure: str, variance: str, tukey: str) -> PaperTable:
    ss = {row["series"]: float(row["value"]) for row in rows
          if (row["figure"], row["at"]) == (f"T{variance}", "SS")}
    means: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row["figure"] == f"T{tukey}":
            mean, letters = row["value"].split()
            means.setdefault(row["printed"], []).append(
                (float(mean), re.sub("[^a-z]", "", letters))
            )
    return PaperTable(figure, variance, tukey, tuple(ss[name] for name in SOURCES), means)


def read_tables() -> dict[str, PaperTable]:
    with FILE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        "wall_s": read_table(rows, "11", "I", "II"),
        "mean_bytes": read_table(rows, "12", "III", "IV"),
        "extfrag_events": read_table(rows, "13", "V", "VI"),
    }


PAPER = read_tables()

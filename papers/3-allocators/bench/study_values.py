# SPDX-License-Identifier: Apache-2.0
"""The values of figures 8 to 13 and tables I to VI of paper 3, out of the rows that study.py wrote.
The paper shows the load w2."""

from __future__ import annotations

from pathlib import Path

from figure_values import Value, of_rounds, read_rows

FILES = ("sizes.csv", "means.csv", "variance.csv")
PROGRAMS = {"core": "8", "session": "9", "data": "10"}
# Of each measure: the figure, its tables of variance and of means, the unit. Where the kernel
# showed no events, fragmentation is the memory that an allocator holds and the program does not
# use.
MEASURES = {"wall_s": ("11", "TI", "TII", "s"), "mean_bytes": ("12", "TIII", "TIV", "MiB"),
            "extfrag_events": ("13", "TV", "TVI", "events")}
WITHOUT_EVENTS = {**MEASURES, "not_live_bytes": ("13", "TV", "TVI", "MiB held and not live")}
SMALL_BYTES = 64
SIZES_SHOWN = (8, 16, 24, 32, 48, 64, 128, 256, 1024)
SOURCES = {"allocator": "allocator", "cores": "# of cores",
           "allocator vs. cores": "allocator vs. # of cores", "Error": "Error"}
# Those that the paper compares too; ranks are among them.
OF_THE_PAPER = ("hoard", "jemalloc", "glibc", "ptmalloc3", "strid-miser", "tcmalloc", "strid-tlsf")


def cores_text(count: str) -> str:
    return "1 core" if count == "1" else f"{count} cores"


def one(figure: str, series: str, at: str, value: float, unit: str) -> Value:
    return of_rounds(figure, series, at, [value], unit)


def figures_of_sizes(rows: list[dict]) -> list[Value]:
    values = []
    for program, figure in PROGRAMS.items():
        requests = {int(row["bytes_at_most"]): int(row["requests"])
                    for row in rows if row["program"] == program}
        if not requests:
            continue
        seconds = next(float(row["seconds"]) for row in rows if row["program"] == program)
        total = sum(requests.values())
        values += [one(figure, "requests a second", "", total / seconds, ""),
                   one(figure, "size most often asked for, bytes", "",
                       max(requests, key=lambda size: requests[size]), "")]
        values += [one(figure, "requests of at most so many bytes", str(bound),
                       100 * sum(n for at, n in requests.items() if at <= bound) / total, "%")
                   for bound in SIZES_SHOWN]
    return values


def measures_of(means: list[dict]) -> dict[str, tuple[str, str, str, str]]:
    """As MEASURES: of the run that has these rows."""
    has_events = any(row["measure"] == "extfrag_events" for row in means)
    return MEASURES if has_events else WITHOUT_EVENTS


def figures_of_means(rows: list[dict]) -> list[Value]:
    measures = measures_of(rows)
    values = []
    for row in rows:
        if row["load"] != "w2" or row["measure"] not in measures:
            continue
        mean, half = float(row["mean"]), float(row["half_width"] or 0)
        _, _, table, unit = measures[row["measure"]]
        values.append(Value(table, row["allocator"], cores_text(row["cores"]), mean, mean - half,
                            mean + half, int(float(row["runs"])), unit))
    return values + ranks(values)


def ranks(values: list[Value]) -> list[Value]:
    """1: the least of the paper's allocators on so many cores."""
    found = []
    for figure, _, table, _ in MEASURES.values():
        same = [value for value in values if value.figure == table
                and value.series in OF_THE_PAPER]
        for at in dict.fromkeys(value.at for value in same):
            column = sorted((value for value in same if value.at == at),
                            key=lambda value: value.value)
            found += [one(figure, f"rank of {value.series}", at, place, "rank")
                      for place, value in enumerate(column, 1)]
    return found


def tables_of_variance(rows: list[dict],
                       measures: dict[str, tuple[str, str, str, str]]) -> list[Value]:
    values = []
    for row in rows:
        if row["load"] != "w2" or row["measure"] not in measures:
            continue
        table = measures[row["measure"]][1]
        source = SOURCES.get(row["source"], row["source"])
        values += [one(table, source, name.upper(), float(row[name]), "")
                   for name in ("df", "ss", "ms", "f") if row[name]]
    return values


def values_of(folder: Path) -> list[Value]:
    sizes, means, variance = (read_rows(folder / name) for name in FILES)
    return (figures_of_sizes(sizes) + figures_of_means(means)
            + tables_of_variance(variance, measures_of(means)))

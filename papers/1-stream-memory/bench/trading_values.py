# SPDX-License-Identifier: Apache-2.0
"""The values of figures 5a to 7 and table 1 of paper 1, out of the rows that figures.py wrote."""

from __future__ import annotations

import statistics
from pathlib import Path

from figure_values import Value, by_round, of_rounds, read_rows

FILES = ("multicast.csv", "rates.csv", "rates_skewed.csv", "memory.csv")
Rates = dict[tuple[str, str, int], dict[object, float]]  # by variant, allocator, workers: of rounds


def series_of(variant: str, allocator: str) -> str:
    return variant if allocator == "glibc" else f"{variant} + {allocator}"


def figure_5a(rows: list[dict]) -> list[Value]:
    """The median and the quartiles of the rounds."""
    found = [Value("5a", row["variant"], row["group"], float(row["ns"]), float(row["ns_low"]),
                   float(row["ns_high"]), int(row["rounds"]), "ns a delivery") for row in rows]
    cell = {value.key: value.value for value in found}
    for one, other in (("shared_ptr", "wrapper standard"), ("shared_ptr", "shared_ptr static"),
                       ("block", "wrapper slab")):
        ratios = [cell["5a", one, group] / cell["5a", other, group]
                  for group in dict.fromkeys(row["group"] for row in rows)
                  if ("5a", one, group) in cell and ("5a", other, group) in cell]
        if ratios:
            found.append(of_rounds("5a", f"time of {one} over {other}", "all groups", ratios,
                                   "times"))
    return found


def rates_of(rows: list[dict], what: str = "sustained") -> Rates:
    found: Rates = {}
    for row in rows:
        case = row["variant"], row["allocator"], int(row["workers"])
        found.setdefault(case, {})[row["round"]] = float(row[what])
    return found


def ratio(figure: str, rates: Rates, one: tuple[str, str], other: tuple[str, str],
          workers: int) -> list[Value]:
    """With so many workers; none where one of them was not measured or sustained nothing."""
    found = by_round(rates.get((*one, workers), {}), rates.get((*other, workers), {}))
    series = f"{series_of(*one)} over {series_of(*other)}"
    return [of_rounds(figure, series, "most workers", found, "times")] if found else []


def figure_5b(rows: list[dict]) -> list[Value]:
    rates = rates_of(rows)
    most = max(workers for _, _, workers in rates)
    found = [of_rounds("5b", variant, workers, values.values(), "quotes/s")
             for (variant, allocator, workers), values in rates.items() if allocator == "glibc"]
    for one, other in (("wrapper-slab", "wrapper"), ("wrapper-slab", "static"),
                       ("shared_ptr", "wrapper-slab"), ("copy", "wrapper-slab"),
                       ("engine", "wrapper-slab"), ("engine", "static")):
        found += ratio("5b", rates, (one, "glibc"), (other, "glibc"), most)
    for variant in ("static", "engine", "engine-keys"):
        alone, all_of_them = (rates.get((variant, "glibc", workers), {}) for workers in (1, most))
        scaled = by_round(all_of_them, alone)
        if scaled:
            found.append(of_rounds("5b", f"{variant}, most workers over one", "", scaled, "times"))
    return found


def figure_5b_skewed(rows: list[dict]) -> list[Value]:
    found = []
    for arrivals, kind in (("flat", "symbols by Zipf's law"), ("day", "a trading day")):
        rates = rates_of([row for row in rows if row["arrivals"] == arrivals])
        found += [of_rounds("5b", f"{variant}, {kind}", workers, values.values(), "quotes/s")
                  for (variant, _, workers), values in rates.items()]
    return found


def figure_6(rows: list[dict]) -> list[Value]:
    """6a: in the place of the standard allocator; 6b: below the slabs of the tuples, and the rest,
    which the paper has not."""
    rates = rates_of(rows)
    preloaded = sorted({(name, workers) for name, allocator, workers in rates
                        if allocator != "glibc"})
    if not preloaded:
        return []
    most = preloaded[-1][1]
    found = []
    for (variant, allocator, workers), values in rates.items():
        if (variant, workers) in preloaded:
            figure = "6a" if variant in ("wrapper", "copy", "shared_ptr") else "6b"
            found.append(of_rounds(figure, f"{variant}, {workers} workers", allocator,
                                   values.values(), "quotes/s"))
    for allocator in dict.fromkeys(allocator for _, allocator, _ in rates):
        if allocator != "glibc":
            found += ratio("6a", rates, ("wrapper", allocator), ("wrapper", "glibc"), most)
            found += ratio("6b", rates, ("wrapper-slab", allocator), ("wrapper", "glibc"), most)
            found += ratio("6b", rates, ("wrapper-slab", allocator), ("static", "glibc"), most)
            found += ratio("6b", rates, ("engine", allocator), ("engine", "glibc"), most)
    return found


def figure_7(rows: list[dict]) -> list[Value]:
    """For each variant and allocator the number of workers with the highest median."""
    best: dict[str, tuple[int, list[float]]] = {}
    for (variant, allocator, workers), rounds in rates_of(rows).items():
        name, values = series_of(variant, allocator), list(rounds.values())
        if name not in best or statistics.median(values) > statistics.median(best[name][1]):
            best[name] = workers, values
    in_order = sorted(best.items(), key=lambda one: -statistics.median(one[1][1]))
    return [value for name, (workers, values) in in_order for value in (
        of_rounds("7", name, "best rate", values, "quotes/s"),
        of_rounds("7", name, "its workers", [workers], "workers"))]


def table_1(rows: list[dict]) -> list[Value]:
    found = [of_rounds("T1", row["variant"], row["allocator"], [float(row["resident_mb"])], "MB")
             for row in rows]
    wrappers = [value.value for value in found if value.series.startswith("wrapper")]
    if wrappers:
        found.append(of_rounds("T1", "most over least of the wrappers", "all allocators",
                               [max(wrappers) / min(wrappers)], "times"))
    return found


def values_of(folder: Path) -> list[Value]:
    rows = {name: read_rows(folder / name) for name in FILES}
    found = figure_5a(rows["multicast.csv"]) if rows["multicast.csv"] else []
    if rows["rates.csv"]:
        found += figure_5b(rows["rates.csv"]) + figure_5b_skewed(rows["rates_skewed.csv"])
        found += figure_6(rows["rates.csv"]) + figure_7(rows["rates.csv"])
    return found + table_1(rows["memory.csv"])

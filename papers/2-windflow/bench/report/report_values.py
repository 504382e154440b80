# SPDX-License-Identifier: Apache-2.0
"""The values of figures 12 to 20 and tables 3 and 4 of paper 2, out of the rows that report.py
wrote."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path

from figure_values import Value, by_round, of_rounds, read_rows

FILES = ("rates.csv", "latency.csv", "blocks.csv", "peers.csv", "turns.csv")
WAYS = ("one", "default", "measured")  # of ours, with workers that share the tasks
FIRST_THREE = ("FD", "SD", "TM")  # whose loss without pinning the paper gives by itself
BLOCKS = {"seqs": "Seqs", "combiners": "Combiners", "pipes": "Pipes", "containers": "Containers",
          "all_to_alls": "All-to-Alls"}
PAPERS_FORM = "--form paper"
PERCENTILES = ("5", "25", "50", "75", "95", "99")
CORES = {"1": "one core", "2": "two cores"}
PAIRS_BY_TURNS = (("WindFlow", "Flink", "WindFlow over Flink"),
                  ("Strid", "Flink", "Strid over Flink"),
                  ("Strid", "WindFlow", "Strid over WindFlow"),
                  ("WindFlow, as published", "Flink, as published",
                   "WindFlow over Flink, as published"))
Rounds = dict[str, float]


class Rows:
    """Rates by kind, application, way and place, of each round."""

    def __init__(self, folder: Path):
        rates, self.latencies, self.blocks, self.peers, self.turns = (
            read_rows(folder / name) for name in FILES)
        self.found: dict[tuple, Rounds] = {}
        for row in rates:
            key = row["kind"], row["application"], row["way"], row["at"]
            self.found.setdefault(key, {})[row["round"]] = float(row["per_second"])
        self.applications = list(dict.fromkeys(
            row["application"] for row in rates if row["kind"] == "throughput"))

    def throughput(self, application: str, way: str) -> Rounds:
        return self.found.get(("throughput", application, way, ""), {})

    def of(self, kind: str) -> list[tuple[str, str, str, Rounds]]:
        """Application, way, place and rates."""
        return [(*key[1:], rounds) for key, rounds in self.found.items() if key[0] == kind]

    def peer(self, engine: str, application: str, kind: str) -> list[float]:
        return [float(row["value"]) for row in self.peers
                if (row["engine"], row["application"], row["kind"]) == (engine, application, kind)]

    @property
    def engines(self) -> list[str]:
        return list(dict.fromkeys(row["engine"] for row in self.peers))


def middle(values) -> float:
    return statistics.median(values)


def best_of_ours(rows: Rows, application: str) -> list[float]:
    found = [list(rounds.values()) for rounds in
             (rows.throughput(application, way) for way in WAYS) if rounds]
    return max(found, key=middle) if found else []


def contestants(rows: Rows, kind: str) -> dict[str, dict[str, list[float]]]:
    """`one` replica an operator, or the `best`: rates by contestant and application."""
    found: dict[str, dict[str, list[float]]] = {"Strid": {}}
    for application in rows.applications:
        ours = (list(rows.throughput(application, "one").values()) if kind == "one"
                else best_of_ours(rows, application))
        threads = list(rows.throughput(application, "thread_one").values())
        if ours:
            found["Strid"][application] = ours
        if kind == "one" and threads:
            found.setdefault("Strid, thread per operator", {})[application] = threads
        for engine in rows.engines:
            rates = rows.peer(engine, application, kind)
            if rates:
                found.setdefault(engine, {})[application] = rates
    return found


def speedups(found: dict[str, dict[str, list[float]]], kind: str) -> list[Value]:
    """Of the medians, of Strid over each and of WindFlow over each, as figures 12b and 12d."""
    values = []
    for one in ("Strid", "WindFlow"):
        for other in found:
            common = [name for name in found.get(one, {}) if name in found[other]]
            if one == other or not common or (one, other) == ("WindFlow", "Strid"):
                continue
            ratios = [middle(found[one][name]) / middle(found[other][name]) for name in common]
            series = f"{one} over {other}, {kind}"
            values += [of_rounds("12", series, name, [ratio], "times as fast")
                       for name, ratio in zip(common, ratios)]
            values += over_all("12", series, ratios)
    return values


def best_by_turns(rows: Rows) -> dict[tuple[str, str, str], Rounds]:
    """By cores, engine and application: the rounds of the setting that has the best median."""
    by_setting: dict[tuple[str, str, str, str], Rounds] = {}
    for row in rows.turns:
        key = row["cores"], row["engine"], row["application"], row["setting"]
        by_setting.setdefault(key, {})[row["round"]] = float(row["per_second"])
    found: dict[tuple[str, str, str], Rounds] = {}
    for (*key, _), rounds in by_setting.items():
        before = found.get(tuple(key))
        if before is None or middle(rounds.values()) > middle(before.values()):
            found[tuple(key)] = rounds
    return found


def by_turns(rows: Rows) -> list[Value]:
    """Of the rounds in which the engines took turns, by the cores that all of them had."""
    found = best_by_turns(rows)
    values = [of_rounds("12", f"{engine}, {CORES[cores]}", application, rounds.values(),
                        "records/s")
              for (cores, engine, application), rounds in found.items()]
    for cores, name in CORES.items():
        for one, other, series in PAIRS_BY_TURNS:
            ratios = {application: by_round(rounds, found[cores, other, application])
                      for (at, engine, application), rounds in found.items()
                      if (at, engine) == (cores, one) and (cores, other, application) in found}
            values += [of_rounds("12", f"{series}, {name}", application, of_application,
                                 "times as fast")
                       for application, of_application in ratios.items()]
            values += over_all("12", f"{series}, {name}", map(middle, ratios.values()))
    return values


def over_all(figure: str, series: str, ratios: Iterable[float]) -> list[Value]:
    """The worst, average and best of the applications."""
    found = list(ratios)
    return [of_rounds(figure, series, at, [of(found)], "times as fast") for at, of in (
        ("worst", min), ("average", statistics.mean), ("best", max)) if found]


def figure_12(rows: Rows) -> list[Value]:
    values = by_turns(rows)
    names = {"one": "one replica", "best": "at its best"}
    for kind, name in names.items():
        found = contestants(rows, kind)
        values += [of_rounds("12", f"{engine}, {name}", application, rates, "records/s")
                   for engine, of_engine in found.items()
                   for application, rates in of_engine.items()]
        values += speedups(found, name)
    one, best = contestants(rows, "one"), contestants(rows, "best")
    return values + [of_rounds("T4", engine, application,
                               [middle(best[engine][application]) / middle(rates)], "times")
                     for engine, of_engine in one.items() if engine in best
                     for application, rates in of_engine.items()
                     if application in best[engine]]


def against(rows: Rows, figure: str, ways: dict[str, tuple[str, str]]) -> list[Value]:
    """Rates of a way over those of another, round by round, by the name of the comparison."""
    values = []
    for name, (one, other) in ways.items():
        for application in rows.applications:
            ratios = by_round(rows.throughput(application, one),
                              rows.throughput(application, other))
            if ratios:
                values.append(of_rounds(figure, name, application, ratios, "times as fast"))
    return values


def figure_14(rows: Rows) -> list[Value]:
    values = []
    sizes = {at: rounds for _, _, at, rounds in rows.of("batch")}
    values += [of_rounds("14", "WC by words a batch", at if at != "0" else "the engine's",
                         rounds.values(), "records/s") for at, rounds in sizes.items()]
    if "1" in sizes and "8" in sizes:
        values.append(of_rounds("14", "batches of 8 over single words", "",
                                by_round(sizes["8"], sizes["1"]), "times as fast"))
    waiting = rows.of("waiting")
    values += [of_rounds("14", f"{application}, threads {way}", at, rounds.values(), "records/s")
               for application, way, at, rounds in waiting]
    ways = {(way, int(at)): rounds for _, way, at, rounds in waiting}
    threads = sorted({at for _, at in ways})
    for at, name in ((min(threads), "fewest"), (max(threads), "most")) if threads else ():
        if ("park", at) in ways and ("spin", at) in ways:
            values.append(of_rounds("14", "blocking over non-blocking", f"{name} threads",
                                    by_round(ways["park", at], ways["spin", at]),
                                    "times as fast"))
    return values


def figure_15(rows: Rows) -> list[Value]:
    values = against(rows, "15", {
        "threads, left to the kernel over pinned": ("thread", "thread_pinned"),
        "threads, far over pinned": ("thread_far", "thread_pinned"),
        "workers, left to the kernel over pinned": ("default", "pinned"),
        "workers, one core over the default": ("one_core", "default")})
    kept = {value.at: value.value for value in values
            if value.series == "threads, left to the kernel over pinned"}
    for name, applications in (("FD, SD, TM", FIRST_THREE), ("the other four", [
            name for name in kept if name not in FIRST_THREE])):
        found = [kept[application] for application in applications if application in kept]
        if found:
            values.append(of_rounds("15", "not pinned over pinned", name,
                                    [statistics.mean(found)], "times as fast"))
    return values


def figures_16_and_19(rows: Rows) -> list[Value]:
    """Of each percentile and part the median of the rounds."""
    values, medians = [], {}
    by_case: dict[tuple, list[dict]] = {}
    for row in rows.latencies:
        by_case.setdefault((row["application"], int(row["rate"])), []).append(row)
    lowest = min((rate for _, rate in by_case), default=0)
    for (application, rate), same in by_case.items():
        if rate > lowest or len({rate for _, rate in by_case}) == 1:
            values += [of_rounds("16", f"{application}, Strid", f"{at}th",
                                 [float(row[f"p{at}"]) for row in same], "us")
                       for at in PERCENTILES]
            medians[application] = middle(float(row["p50"]) for row in same)
        else:
            values += [of_rounds("19", application, name, [float(row[part]) for row in same], "us")
                       for part, name in (("user", "user code"), ("engine", "engine"),
                                          ("waiting", "waiting")) if same[0][part]]
    for engine in rows.engines:
        ratios = []
        for application, ours in medians.items():
            found = [(at, rows.peer(engine, application, f"p{at}")) for at in PERCENTILES]
            values += [of_rounds("16", f"{application}, {engine}", f"{at}th", theirs, "us")
                       for at, theirs in found if theirs]
            ratios += [theirs[0] / ours for at, theirs in found if at == "50" and theirs]
        if ratios:
            values.append(of_rounds("16", f"median latency of {engine} over Strid", "average",
                                    [statistics.mean(ratios)], "times"))
    return values


def figure_20(rows: Rows) -> list[Value]:
    values = []
    names = {"10": "batches of 10 words", "100": "batches of 100 words", "0": "the engine's"}
    cores: dict[str, dict[int, Rounds]] = {}
    for _, size, at, rounds in rows.of("cores"):
        values.append(of_rounds("20", names.get(size, size), at, rounds.values(), "records/s"))
        cores.setdefault(size, {})[int(at)] = rounds
    for size, found in cores.items():
        most = max(found)
        if 1 in found and most > 1:
            values.append(of_rounds("20", f"scalability, {names.get(size, size)}", "most cores",
                                    by_round(found[most], found[1]), "times as fast"))
    return values


def table_3(rows: Rows) -> list[Value]:
    """The paper's form where strid has it, and the graphs as they run here."""
    values = []
    for row in rows.blocks:
        if PAPERS_FORM in row["command"]:
            series = row["application"]
        elif row["graph"] == "Strid, one replica":
            series = f"{row['application']} as it runs here"
        else:
            continue
        values += [of_rounds("T3", series, name, [float(row[column])], "")
                   for column, name in BLOCKS.items()]
    return values


def values_of(folder: Path) -> list[Value]:
    rows = Rows(folder)
    return [*figure_12(rows), *against(rows, "13", {"chained over not": ("default", "unfused")}),
            *figure_14(rows), *figure_15(rows), *figures_16_and_19(rows),
            *against(rows, "18", {"dedicated distributors over combined":
                                  ("distributing", "default"),
                                  "one central distributor over combined":
                                  ("centralised", "default")}),
            *figure_20(rows), *table_3(rows)]

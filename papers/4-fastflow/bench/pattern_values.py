# SPDX-License-Identifier: Apache-2.0
"""The values of table 1.1 and figures 1.4 to 1.8 of paper 4, out of the rows that figures.py
wrote."""

from __future__ import annotations

from pathlib import Path

from figure_values import Value, by_round, of_rounds, read_rows

FILES = ("queues.csv", "allocators.csv", "farm.csv", "ring.csv", "applications.csv",
         "table_times.csv", "tables.csv")
OWN = {"1.4": "slab", "1.5-farm": "strid", "1.5-ring": "strid"}
# The case that strid is compared with: the same work by another program.
BY_PBZIP2 = " by pbzip2"
Rounds = dict[tuple, dict[str, float]]


def grain(nanoseconds: str) -> str:
    return f"{float(nanoseconds) / 1e3:g} us"


def rounds_of(rows: list[dict], keys: list[str], what: str) -> Rounds:
    found: Rounds = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), {})[row["round"]] = float(row[what])
    return found


def table_1_1(rows: list[dict]) -> list[Value]:
    found = rounds_of(rows, ["placement", "queue", "slots"], "ns")
    return [of_rounds("T1.1", placement, f"{queue}, {slots} slots", values.values(), "ns")
            for (placement, queue, slots), values in found.items()]


def against(figure: str, found: Rounds, times: bool) -> list[Value]:
    """Ours over each other one, by round, with most workers and each grain; of times the inverse
    says how many times as fast."""
    values = []
    most = max(int(case[-1]) for case in found)
    for (name, grain_ns, workers), rounds in found.items():
        own = found.get((OWN[figure], grain_ns, workers))
        if int(workers) != most or name == OWN[figure] or not own:
            continue
        ratios = by_round(rounds, own) if times else by_round(own, rounds)
        values.append(of_rounds(figure, f"{OWN[figure]} over {name}, {grain(grain_ns)}",
                                "most workers", ratios, "times as fast"))
    return values


def figure_1_4(rows: list[dict]) -> list[Value]:
    found = rounds_of(rows, ["allocator", "grain_ns", "workers"], "us_per_task")
    return [of_rounds("1.4", f"{name}, {grain(grain_ns)}", workers, values.values(), "us a task")
            for (name, grain_ns, workers), values in found.items()] + against("1.4", found, True)


def figure_1_5_farm(rows: list[dict]) -> list[Value]:
    found = rounds_of(rows, ["by", "grain_ns", "threads"], "speed_up")
    values = [of_rounds("1.5-farm", f"{name}, {grain(grain_ns)}", threads, rounds.values(),
                        "speed-up") for (name, grain_ns, threads), rounds in found.items()]
    most = max(int(case[-1]) for case in found)
    values += [of_rounds("1.5-farm", f"speed-up of strid over its threads, {grain(grain_ns)}",
                         "most workers", rounds.values(), "times", 1 / most)
               for (name, grain_ns, threads), rounds in found.items()
               if name == "strid" and int(threads) == most]
    return values + against("1.5-farm", found, False)


def figure_1_5_ring(rows: list[dict]) -> list[Value]:
    found = rounds_of(rows, ["by", "stages", "threads", "grain_ns"], "kilo_per_second")
    return [of_rounds("1.5-ring", f"{name}, {stages} stages, {threads} threads", grain(grain_ns),
                      values.values(), "thousand/s")
            for (name, stages, threads, grain_ns), values in found.items()]


def applications(rows: list[dict]) -> list[Value]:
    found = rounds_of(rows, ["figure", "case", "workers"], "speed_up")
    units = {(row["figure"], row["case"]): row["unit"] for row in rows}
    rates = rounds_of([row for row in rows if row["rate"]], ["figure", "case", "workers"], "rate")
    seconds = rounds_of(rows, ["figure", "case", "workers"], "seconds")
    values = [of_rounds(figure, case, workers, rounds.values(), "times as fast as one thread")
              for (figure, case, workers), rounds in found.items() if workers != "0"]
    values += [of_rounds(figure, f"{case}, sequential", "", rounds.values(), "s")
               for (figure, case, workers), rounds in seconds.items() if workers == "0"]
    values += [of_rounds(figure, f"{case}, {units[figure, case]}",
                         workers if workers != "0" else "sequential", rounds.values(),
                         units[figure, case]) for (figure, case, workers), rounds in rates.items()]
    return values + beside_pbzip2(rows)


def beside_pbzip2(rows: list[dict]) -> list[Value]:
    """How many times as fast as pbzip2, with as many workers, round by round."""
    seconds = rounds_of(rows, ["figure", "case", "workers"], "seconds")
    values = []
    for (figure, case, workers), theirs in seconds.items():
        own = seconds.get((figure, case.removesuffix(BY_PBZIP2), workers))
        if case.endswith(BY_PBZIP2) and workers != "0" and own:
            values.append(of_rounds(figure, f"{case.removesuffix(BY_PBZIP2)}, over pbzip2",
                                    workers, by_round(theirs, own), "times as fast"))
    return values


def table_times(rows: list[dict]) -> list[Value]:
    """Speed-ups, and the processor time of all threads, which neighbours on the machine touch
    less."""
    spent = rounds_of(rows, ["case", "workers"], "processor_seconds")
    return applications(rows) + [
        of_rounds("1.7-tables", f"processor time of {case}", workers,
                  by_round(rounds, spent[case, "0"]), "times that of the sequential program")
        for (case, workers), rounds in spent.items() if workers != "0"]


def packaged_tables(rows: list[dict]) -> list[Value]:
    """The accuracy over all folds of a round, and ours over the other one, round by round."""
    folds: dict[tuple, list[dict]] = {}
    for row in rows:
        folds.setdefault((row["table"], row["by"], row["round"]), []).append(row)
    right: Rounds = {}
    nodes: Rounds = {}
    for (table, by, number), same in folds.items():
        right.setdefault((table, by), {})[number] = (
            sum(int(row["right"]) for row in same) / sum(int(row["tested"]) for row in same))
        nodes.setdefault((table, by), {})[number] = (
            sum(int(row["nodes"]) for row in same) / len(same))
    values = [of_rounds("1.7-tables", f"{table} by {by}", "right", rounds.values(), "%", 100)
              for (table, by), rounds in right.items()]
    values += [of_rounds("1.7-tables", f"{table} by {by}", "nodes", rounds.values(), "nodes")
               for (table, by), rounds in nodes.items()]
    values += [of_rounds("1.7-tables", f"{table}, right over scikit-learn", "",
                         by_round(rounds, right[table, "scikit-learn"]), "times")
               for (table, by), rounds in right.items() if by == "strid"]
    return values


def values_of(folder: Path) -> list[Value]:
    makers = (table_1_1, figure_1_4, figure_1_5_farm, figure_1_5_ring, applications, table_times,
              packaged_tables)
    return [value for name, make in zip(FILES, makers)
            for rows in [read_rows(folder / name)] if rows for value in make(rows)]

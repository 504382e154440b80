# SPDX-License-Identifier: Apache-2.0
"""The common data of all figures: the applications that are there, the runs, the peers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import plots
from cases import Case
from others import Peer, Peers
from reporting import median
from runs import Runner
from store import Store


@dataclass(frozen=True)
class Size:
    rounds: int
    seconds: float  # of a run for throughput
    latency_seconds: float
    split_seconds: float
    batches: tuple[int, ...]
    threads_a_core: tuple[int, ...]


WHOLE = Size(5, 2, 5, 20, (1, 2, 4, 8, 16, 32, 64, 128, 256, 512), (1, 2, 4))
QUICK = Size(1, 0.1, 0.4, 1, (1, 8, 64, 512), (1, 2))


@dataclass
class Context:
    output: Path
    size: Size
    cores: list[int]
    store: Store
    runner: Runner
    cases: list[Case]
    peers: Peers
    machine: str = ""  # with its load before the first run

    @property
    def cores_all(self) -> int:
        return self.cores[-1]

    def case(self, name: str) -> Case | None:
        return next((case for case in self.cases if case.name == name), None)

    def rates(self, case: Case, variant: str) -> list[float]:
        return self.store.rates("throughput", case.name, variant)

    def best(self, case: Case) -> tuple[str, list[float]]:
        """The variant of ours with the highest median."""
        found = {name: self.rates(case, name) for name in ("one", "default", "measured")}
        name = max(found, key=lambda one: median(found[one]))
        return name, found[name]

    def best_of_threads(self, case: Case) -> list[float]:
        return max((self.rates(case, name) for name in ("thread_one", "thread")), key=median)

    def notes_of_peers(self, text: Callable[[Peer], str]) -> list[str]:
        """The figures of each peer for the applications that are measured here."""
        notes = []
        for engine, peers in self.peers.items():
            texts = [f"{case.short} {text(peers[case.name])}" for case in self.cases
                     if case.name in peers and text(peers[case.name])]
            if texts:
                notes.append(f"{engine}: {'; '.join(texts)}.")
        return notes


def progress(what: str) -> None:
    print(f"report: {what}", file=sys.stderr, flush=True)


def measure_throughput(context: Context, names: list[str]) -> None:
    """Every way to run every application, by turns: a busy moment of the machine falls on all."""
    for number in range(context.size.rounds):
        for case in context.cases:
            for name in names:
                if not (case.program and name == "measured"):  # an option of `strid run`
                    context.runner.throughput(case, name, context.size.seconds, number)
            progress(f"throughput, round {number + 1} of {context.size.rounds}, {case.name}")


def shown(values: list[float], unit: str = "") -> str:
    """Median; in a line below it least and most."""
    if not values:
        return ""
    if len(values) == 1:
        return plots.quantity(values[0]) + unit
    return (f"{plots.quantity(median(values))}{unit}\n{plots.quantity(min(values))} to "
            f"{plots.quantity(max(values))}")


def paired(values: list[float], others: list[float]) -> list[float]:
    """Ratios round by round: what disturbs a round disturbs both sides."""
    return [one / other for one, other in zip(values, others) if other > 0]


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

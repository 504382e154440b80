# SPDX-License-Identifier: Apache-2.0
"""The rates of the peers, out of files: those of `peers/peers.py --output` for Flink and Storm, one
that is made beside the project for WindFlow. README.md describes both formats. A row for an unknown
application or engine is an error: it would be missing from the page without notice."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from cases import CASES, Case
from reporting import PERCENTILES, median
from store import RunError, read_object

ENGINES = ("flink", "storm")


@dataclass
class Peer:
    """Of one application: the rates of each round, with one replica an operator and at its best;
    percentiles of the latency in microseconds. Empty where there are none. Texts say how it was
    measured."""
    one: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    best_text: str = ""
    latency_us: dict[str, float] = field(default_factory=dict)
    latency_text: str = ""
    megabytes: list[float] = field(default_factory=list)
    version: str = ""
    settings: dict[str, str] = field(default_factory=dict)  # by purpose


Peers = dict[str, dict[str, Peer]]  # by engine and the name of the application


def percentiles(found: dict, path: Path) -> dict[str, float]:
    try:
        return {name: float(found[name]) for name in PERCENTILES}
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{path}: a latency needs the percentiles "
                          f"{', '.join(PERCENTILES)}, in microseconds") from None


def windflow(path: Path, cases: list[Case]) -> dict[str, Peer]:
    """By application, of those that are measured: at least one."""
    found = read_object(path)
    keys = [case.others_key for case in CASES]
    unknown = [name for name in found if name not in keys and not name.startswith("_")
               and name != "version"]
    if unknown:
        raise RunError(f"--windflow {path}: no application '{unknown[0]}': they are "
                          f"{', '.join(keys)}; remarks begin with _")
    peers = {case.name: windflow_entry(found[case.others_key], f"{path}, {case.others_key}")
             for case in cases if case.others_key in found}
    if not peers:
        raise RunError(f"--windflow {path}: it has none of "
                          f"{', '.join(case.others_key for case in cases)}")
    for peer in peers.values():
        peer.version = str(found.get("version", ""))
    return peers


def windflow_entry(entry: dict, where: str) -> Peer:
    peer = Peer()
    try:
        peer.best = [float(rate) for rate in entry.get("records_per_second", [])]
        peer.best_text = str(entry.get("setting", ""))
        peer.one = [float(rate) for rate in
                    entry.get("one_replica", {}).get("records_per_second", [])]
        peer.megabytes = [float(rate) for rate in entry.get("megabytes_per_second", [])]
        # Waiting in the kernel, as all others here; spinning takes the cores for itself.
        latency = (entry.get("latency") or {}).get("blocking")
        if latency:
            peer.latency_text = str(latency.get("setting", ""))
    except (AttributeError, TypeError, ValueError) as error:
        raise RunError(f"--windflow {where}: {error}") from None
    if latency:
        peer.latency_us = percentiles(latency.get("microseconds", {}), Path(where))
    if not (peer.best or peer.one or peer.megabytes or peer.latency_us):
        raise RunError(f"--windflow {where}: neither rates nor a latency `blocking`")
    return peer


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


@dataclass
class PeerFile:
    """The output of `peers.py throughput` or `peers.py latency` for one application."""
    path: Path
    purpose: str
    application: str
    rounds: dict[tuple[str, int], list[dict]]  # by engine and parallelism, without ours
    settings: dict[str, str]  # by engine

    @classmethod
    def read(cls, path: Path) -> PeerFile:
        try:
            found = json.loads(path.read_text())
            rounds: dict[tuple[str, int], list[dict]] = {}
            for row in found["rounds"]:
                if row["engine"] != "strid":
                    rounds.setdefault((row["engine"], row["parallelism"]), []).append(row)
            made = cls(path, found["purpose"], found["application"], rounds,
                       found.get("settings", {}))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path}: no file of peers.py --output: {error}") from None
        made.check()
        return made

    def check(self) -> None:
        """A row that the page would leave out is an error."""
        names = [case.name for case in CASES]
        for kind, found, known in (("purpose", self.purpose, ("throughput", "latency")),
                                   ("application", self.application, names),
                                   *(("engine", engine, ENGINES) for engine, _ in self.rounds)):
            if found not in known:
                raise RunError(f"{self.path}: no {kind} '{found}': {', '.join(known)}")
        if not self.rounds:
            raise RunError(f"{self.path}: no round of {' or '.join(ENGINES)}")


def read_runs(paths: list[Path]) -> Peers:
    """The degree of parallelism with the highest median is the best; of latencies the lowest
    median counts."""
    peers: Peers = {}
    for path in paths:
        file = PeerFile.read(path)
        for (engine, degree), rows in file.rounds.items():
            peer = peers.setdefault(engine.capitalize(), {}).setdefault(file.application, Peer())
            peer.version = str(rows[0].get("version", ""))
            peer.settings[file.purpose] = file.settings.get(engine, "")
            if file.purpose == "latency":
                add_latency(peer, rows, degree, path)
            else:
                add_rates(peer, rows, degree, path)
    return peers


def add_rates(peer: Peer, rows: list[dict], degree: int, path: Path) -> None:
    try:
        rates = [float(row["records_per_second"]) for row in rows]
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{path}: a round has no records_per_second") from None
    if degree == 1:
        peer.one = rates
    if not peer.best or median(rates) > median(peer.best):
        peer.best, peer.best_text = rates, f"parallelism {degree}"


def add_latency(peer: Peer, rows: list[dict], degree: int, path: Path) -> None:
    """Percentile by percentile the median of the rounds."""
    each = [percentiles(row.get("latency_us", {}), path) for row in rows]
    found = {name: median(one[name] for one in each) for name in PERCENTILES}
    if not peer.latency_us or found["50"] < peer.latency_us["50"]:
        peer.latency_us, peer.latency_text = found, f"parallelism {degree}"

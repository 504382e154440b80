# SPDX-License-Identifier: Apache-2.0
"""What the peers reached: Flink and Storm by bench/peers (lines of JSON), WindFlow by a file that is
measured beside the project. README.md describes both formats."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cases import ROOT, Case
from store import ReportError, Store

PERCENTILES = ("5", "25", "50", "75", "95", "99", "99.9")


@dataclass
class Peer:
    """Of one application: the rates of each round, with one replica an operator and at its best;
    percentiles of the latency in microseconds. Empty where there are none."""
    one: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    best_text: str = ""
    latency_us: dict[str, float] = field(default_factory=dict)
    megabytes: list[float] = field(default_factory=list)


Peers = dict[str, dict[str, Peer]]  # by engine and the name of the application


def percentiles(found: dict, path: Path) -> dict[str, float]:
    try:
        return {name: float(found[name]) for name in PERCENTILES}
    except (KeyError, TypeError, ValueError):
        raise ReportError(f"{path}: a latency needs the percentiles "
                          f"{', '.join(PERCENTILES)}, in microseconds") from None


def windflow(path: Path, cases: list[Case]) -> dict[str, Peer]:
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise ReportError(f"--windflow {path}: {error.strerror}") from None
    except ValueError as error:
        raise ReportError(f"--windflow {path}: no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ReportError(f"--windflow {path}: an object is wanted, with a member an application")
    peers = {}
    for case in cases:
        entry = found.get(case.others_key)
        if not entry:
            continue
        peer = Peer()
        try:
            peer.best = [float(rate) for rate in entry.get("records_per_second", [])]
            peer.best_text = str(entry.get("setting", ""))
            peer.one = [float(rate) for rate in
                        entry.get("one_replica", {}).get("records_per_second", [])]
            peer.megabytes = [float(rate) for rate in entry.get("megabytes_per_second", [])]
            # Waiting in the kernel, as all others here; spinning takes the cores for itself.
            latency = (entry.get("latency") or {}).get("blocking")
        except (AttributeError, TypeError, ValueError) as error:
            raise ReportError(f"--windflow {path}, {case.others_key}: {error}") from None
        if latency:
            peer.latency_us = percentiles(latency.get("microseconds", {}), path)
        peers[case.name] = peer
    return peers


def lines_of(path: Path) -> list[dict]:
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise ReportError(f"{path}, line {number}: no JSON: {error}") from None
    return rows


def by_engine(rows: list[dict], path: Path) -> Peers:
    """Rows as bench/peers writes them: the degree with the highest median is the best."""
    rates: dict[tuple, dict[int, list[float]]] = {}
    peers: Peers = {}
    for row in rows:
        try:
            engine, name = str(row["engine"]), str(row["application"])
            peer = peers.setdefault(engine, {}).setdefault(name, Peer())
            if "latency_us" in row:
                peer.latency_us = percentiles(row["latency_us"], path)
            else:
                degrees = rates.setdefault((engine, name), {})
                degrees.setdefault(int(row["parallelism"]), []).append(
                    float(row["records_per_second"]))
        except (KeyError, ValueError) as error:
            raise ReportError(f"{path}: a run has no {error}") from None
    for (engine, name), degrees in rates.items():
        peer = peers[engine][name]
        peer.one = degrees.get(1, [])
        best = max(degrees, key=lambda degree: sorted(degrees[degree])[len(degrees[degree]) // 2])
        peer.best, peer.best_text = degrees[best], f"parallelism {best}"
    return peers


def display(engine: str) -> str:
    return engine[:1].upper() + engine[1:]


def measured_peers(path: Path | None) -> Peers:
    if path is None:
        return {}
    try:
        return {display(engine): found
                for engine, found in by_engine(lines_of(path), path).items()}
    except OSError as error:
        raise ReportError(f"--peers {path}: {error.strerror}") from None


def run_peers(script: Path, words: list[str], output: Path) -> Path:
    """The command of bench/peers, whose lines of JSON are kept in raw/."""
    print("report: Flink and Storm", file=sys.stderr, flush=True)
    with output.open("w") as file:
        done = subprocess.run([sys.executable, script, *words], stdout=file, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise ReportError(f"{script.relative_to(ROOT)} {' '.join(words)} ended with "
                          f"{done.returncode}")
    return output


def keep(store: Store, name: str, text: str) -> None:
    (store.folder / name).write_text(text)

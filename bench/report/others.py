# SPDX-License-Identifier: Apache-2.0
"""What the peers reached: Flink and Storm by bench/peers/peers.py, WindFlow by a file that is
measured beside the project. README.md describes both formats."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cases import ROOT, Case
from reporting import PERCENTILES, median
from store import ReportError

SCRIPT = ROOT / "bench/peers/peers.py"


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


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def read_runs(folder: Path) -> Peers:
    """Files as `peers.py throughput` and `peers.py latency` write them with --output. The degree of
    parallelism with the highest median is the best; of latencies the lowest median counts."""
    peers: Peers = {}
    for path in files_of(folder):
        try:
            found = json.loads(path.read_text())
            name, latency = found["application"], found["purpose"] == "latency"
            rounds: dict[tuple, list[dict]] = {}
            for row in found["rounds"]:
                if row["engine"] != "strid":
                    rounds.setdefault((row["engine"], row["parallelism"]), []).append(row)
        except (ValueError, KeyError, TypeError) as error:
            raise ReportError(f"{path}: no file of peers.py --output: {error}") from None
        for (engine, degree), rows in rounds.items():
            peer = peers.setdefault(engine.capitalize(), {}).setdefault(name, Peer())
            if latency:
                add_latency(peer, rows, path)
            else:
                rates = [float(row["records_per_second"]) for row in rows]
                if degree == 1:
                    peer.one = rates
                if not peer.best or median(rates) > median(peer.best):
                    peer.best, peer.best_text = rates, f"parallelism {degree}"
    if not peers:
        raise ReportError(f"{folder}: there is no file of peers.py --output")
    return peers


def add_latency(peer: Peer, rows: list[dict], path: Path) -> None:
    """Percentile by percentile the median of the rounds."""
    each = [percentiles(row["latency_us"], path) for row in rows if "latency_us" in row]
    if not each:
        return
    found = {name: median(one[name] for one in each) for name in PERCENTILES}
    if not peer.latency_us or found["50"] < peer.latency_us["50"]:
        peer.latency_us = found


def built_engines() -> list[str]:
    """Those of which `peers.py build` left the classes."""
    return [engine for engine in ("flink", "storm")
            if (ROOT / "build/peers" / engine / "classpath").exists()]


def run_peers(case: Case, purpose: str, words: list[str], output: Path) -> str:
    """Measures an application on Flink and Storm, its rounds as JSON into `output`; returns why it
    could not be, or nothing."""
    if output.exists():
        return ""
    output.parent.mkdir(parents=True, exist_ok=True)
    print(f"report: {purpose} of {case.name} on Flink and Storm", file=sys.stderr, flush=True)
    unfinished = output.with_suffix(".unfinished")
    command = [sys.executable, str(SCRIPT), purpose, case.name, *words, "--output",
               str(unfinished)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        said = (done.stderr.strip() or "it said nothing").splitlines()
        return f"peers.py ended with {done.returncode}: {said[-1]}"
    unfinished.replace(output)
    return ""

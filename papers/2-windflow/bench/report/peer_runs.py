# SPDX-License-Identifier: Apache-2.0
"""Flink and Storm, measured by peers/peers.py before our own runs, and what the page says of
how the peers were measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cases import LATENCY_NAMES, ROOT, Case
from context import Context
from others import ENGINES, Peer, PeerFile, read_runs
from store import RunError

SCRIPT = ROOT / "papers/2-windflow/bench/peers/peers.py"
SECONDS_MIN = 5  # of a round: the Java machine goes on compiling in the first ones
BEFORE = "measured before Strid, not by turns with it"
ELSEWHERE = "measured at another time (a file that was given), not by turns with Strid"


def built_engines() -> list[str]:
    """Those of which `peers.py build` left the classes."""
    return [engine for engine in ENGINES
            if (ROOT / "build/peers" / engine / "classpath").exists()]


def peers_script(words: list[str]) -> str:
    """Why it failed, or nothing."""
    done = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True,
                          check=False, cwd=ROOT)
    if done.returncode == 0:
        return ""
    said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
    return f"peers.py ended with {done.returncode}: {said[-1]}"


def measure_peers(context: Context, figures: list[str]) -> dict[str, str]:
    """Adds Flink and Storm to the context; returns what is left out, and why."""
    engines = built_engines()
    if not engines:
        return {"Flink, Storm": "`papers/2-windflow/bench/peers/peers.py build` was not run"}
    left_out = {}
    files = []
    for case in context.cases:
        purposes = [purpose for purpose, figure, names in (
            ("throughput", "12", (case.name,)), ("latency", "16", LATENCY_NAMES))
            if figure in figures and case.name in names]
        why = answers_of(context, case, engines) if purposes else ""
        for purpose in purposes:
            path = context.store.folder / "peers" / f"{case.name}-{purpose}.json"
            why = why or measure(context, case, purpose, engines, path)
            if why:
                left_out[f"{case.name} on {', '.join(engines)}, {purpose}"] = why
            else:
                files.append(path)
    context.peers.update(read_runs(files))
    return left_out


def degrees(context: Context) -> str:
    return ",".join(str(count) for count in dict.fromkeys((1, context.cores_all)))


def answers_of(context: Context, case: Case, engines: list[str]) -> str:
    """The peers' answers for the bundled input, held against the oracle's once."""
    def check() -> dict:
        progress(f"answers of {case.name}", engines)
        return {"why": peers_script(["check", case.name, "--engines", ",".join(engines),
                                     "--parallelism", degrees(context)])}
    return context.store.once(("peers' answer", case.name), check)["why"]


def progress(what: str, engines: list[str]) -> None:
    print(f"report: {what} on {', '.join(engines)}", file=sys.stderr, flush=True)


def measure(context: Context, case: Case, purpose: str, engines: list[str], output: Path) -> str:
    """Rounds as JSON into `output`, where they are not there yet; returns why not, or nothing."""
    if not output.exists():
        context.store.deadline.before_measuring()
        progress(f"{purpose} of {case.name}", engines)
        output.parent.mkdir(parents=True, exist_ok=True)
        unfinished = output.with_suffix(".unfinished")
        words = [purpose, case.name, "--parallelism",
                 degrees(context) if purpose == "throughput" else "1", "--rounds",
                 str(context.size.rounds), "--duration",
                 f"{max(context.size.seconds, SECONDS_MIN):g}s", "--warmup", "10s", "--engines",
                 ",".join(engines), "--output", str(unfinished)]
        if case.replays:
            words += ["--input", str(context.runner.input(case))]
        why = peers_script(words)
        if why:
            return why
        unfinished.replace(output)
        context.store.deadline.after_measuring()
    for (engine, degree), rows in PeerFile.read(output).rounds.items():
        for row in rows:
            try:
                context.runner.check_results(case, row["records"], row["results"],
                                             f"{engine}, parallelism {degree}")
            except RunError as error:
                return str(error)
    return ""


def settings_of(peers: dict[str, Peer], given: bool) -> str:
    """A cell of the page's table of settings."""
    def distinct(texts: list[str]) -> str:
        return " or ".join(dict.fromkeys(text for text in texts if text))
    texts = [distinct([peer.version for peer in peers.values()]) or "version not said"]
    for purpose in ("throughput", "latency"):
        found = distinct([peer.settings.get(purpose, "") for peer in peers.values()])
        if found:
            texts.append(f"{purpose}: {found}")
    texts.append("answers not compared by this report" if given else
                 "answers for the bundled input are those of the oracles, results a record those "
                 "of Strid within a factor of 2")
    return "; ".join([*texts, ELSEWHERE if given else BEFORE])

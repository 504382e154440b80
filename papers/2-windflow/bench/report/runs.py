# SPDX-License-Identifier: Apache-2.0
"""Runs of the applications, each with its answer checked.

A way to run an application is checked once before it is measured, batched_words by itself: a whole
pass over the bundled input gives the rows of the application's oracle, in whatever order. A
measured run replays the long input from memory for a time. It has to emit as many results a record
as one whole pass or a second of replay does on one worker, within a factor: state goes on from pass
to pass, and the sources of a replay mix the records of a key. In a pipeline no record may get lost
between two operators.
"""

from __future__ import annotations

import collections
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import (APPS, EVENTS_A_SECOND, EVENTS_OF_A_PASS, LINES, ROOT, Case, Variant, affinity,
                   draw, variants)
from reporting import command_text
from store import RunError, Store

TIMEOUT_S = 300
RESULTS_FACTOR = 2
RESULTS_SURE = 100  # where so many are expected there are some


def call(words: list[str], output: Path | None = None) -> str:
    try:
        with (output.open("w") if output else tempfile.TemporaryFile("w+")) as file:
            done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=TIMEOUT_S, cwd=ROOT)
            if done.returncode != 0:
                said = done.stderr.strip().splitlines()
                raise RunError(f"`{command_text(words)}` ended with {done.returncode}: "
                                  f"{said[-1] if said else 'it said nothing'}")
            if output:
                return ""
            file.seek(0)
            return file.read()
    except subprocess.TimeoutExpired:
        raise RunError(f"`{command_text(words)}` took more than {TIMEOUT_S} s") from None
    except OSError as error:
        raise RunError(f"{words[0]}: {error.strerror}: `make report` builds it") from None


class Runner:
    def __init__(self, build: Path, folder: Path, store: Store, cores: int, quick: bool):
        self.strid = str(build / "tools/strid")
        self.programs = build / "papers/2-windflow/bench"
        self.folder = folder
        self.store = store
        self.quick = quick
        self.variants = variants(cores)
        self.expects: set[str] = set()  # applications whose expected rows are there
        self.known = set(line.split()[0] for line in call([self.strid, "list"]).splitlines())
        folder.mkdir(parents=True, exist_ok=True)

    def missing(self, case: Case) -> str:
        """Why the application cannot be measured; empty where it can."""
        if case.program and not (self.programs / case.program).exists():
            return f"{case.program} is not built"
        if case.name not in self.known:
            return "it is not in this build of strid"
        return case.missing()

    # Inputs

    def input(self, case: Case) -> Path:
        """The input that is measured: of many lines, made once; in a quick report the bundled
        one."""
        bundled = case.data / case.bundled
        if self.quick:
            return bundled
        count = LINES
        made = self.folder / f"{case.name}-{count}.input"
        if made.exists():
            return made
        print(f"report: making the input of {case.name}", file=sys.stderr, flush=True)
        unfinished = made.with_suffix(".unfinished")
        if case.made_by:
            call([self.strid, *case.fill(case.made_by, made=unfinished, count=count,
                                         cars=count // 200)])
        else:
            draw(bundled, count, unfinished)
        unfinished.rename(made)
        return made

    def options(self, case: Case) -> list[str]:
        return case.fill(case.options)

    # Commands

    def placed(self, variant: Variant, words: list[str]) -> list[str]:
        """The command with the options of a variant; where that places the tasks, with an affinity
        for as many as strid says there are."""
        words = [*words, *variant.options]
        if not variant.placed:
            return words
        asked = subprocess.run([*words, "--affinity", affinity("one core", 1)[0]],
                               capture_output=True, text=True, check=False, cwd=ROOT,
                               timeout=TIMEOUT_S)
        found = re.search(r"for (\d+) tasks:", asked.stderr)
        if not found:
            raise RunError(f"`{command_text(words)}` with --affinity: "
                              f"{asked.stderr.strip() or 'there is one task, which has no place'}")
        return [*words, "--affinity", ",".join(affinity(variant.placed, int(found.group(1))))]

    def command(self, case: Case, variant: Variant, seconds: float, rate: int = 0) -> list[str]:
        if case.program:
            return self.placed(variant, [str(self.programs / case.program), "--events",
                                         str(round(seconds * EVENTS_A_SECOND))])
        words = [self.strid, "run", case.name, *self.options(case), "--input",
                 str(self.input(case)), "--duration", f"{seconds * 1000:.0f}ms"]
        if rate:
            words += ["--rate", str(rate)]
        return self.placed(variant, words)

    # Answers

    def expected(self, case: Case) -> Path:
        """The rows of the oracle for the bundled input."""
        path = self.folder / f"{case.name}.expected"
        golden = APPS / case.name / case.golden
        if case.name in self.expects:
            return path
        self.expects.add(case.name)
        if case.golden and golden.exists():
            data = golden.read_bytes()
            path.write_bytes(gzip.decompress(data) if golden.suffix == ".gz" else data)
        elif case.oracle:
            words = case.fill(case.oracle)
            call([sys.executable, *words] if words[0].endswith(".py") else words, path)
        else:
            raise RunError(f"{golden}: no such file")
        return path

    def check(self, case: Case, words: list[str], variant: Variant) -> None:
        """A command that handles the bundled input once writes the oracle's rows. It is placed
        with its output, which may be a task."""
        expected = self.expected(case)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            words = self.placed(variant, [*words, "--quiet", "--output", str(rows)])
            call(words)
            if (collections.Counter(rows.read_bytes().split(b"\n"))
                    == collections.Counter(expected.read_bytes().split(b"\n"))):
                return
            done = subprocess.run([sys.executable, ROOT / "apps/compare.py", expected, rows],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RunError(f"`{command_text(words)}` has another answer than the oracle: "
                                  f"{(done.stdout + done.stderr).strip().splitlines()[0]}")

    def check_once(self, case: Case, words: list[str], variant: Variant) -> None:
        def measure() -> dict:
            self.check(case, [*words, "--input", str(case.data / case.bundled)], variant)
            return {"right": True}
        self.store.once(("answer", case.name, variant.name), measure)

    def checked(self, case: Case, variant: Variant) -> Variant:
        """The variant, whose answer is that of the oracle."""
        self.check_once(case, [self.strid, "run", case.name, *self.options(case),
                               *case.fill(case.golden_options)], variant)
        return variant

    def results_per_record(self, case: Case) -> tuple[float, float]:
        """Least and most: of one whole pass over the input that is measured, and of a second of
        replay, in which state goes on from pass to pass. One replica and one worker."""
        def measure(more: list[str]) -> dict:
            words = [*([str(self.programs / case.program), "--events", str(EVENTS_OF_A_PASS)]
                       if case.program else
                       [self.strid, "run", case.name, *self.options(case), "--input",
                        str(self.input(case)), "--output", "/dev/null"]),
                     "--quiet", "--parallelism", "1", "--workers", "1", "--metrics", "-", *more]
            metrics = json.loads(call(words))
            return {"command": command_text(words), "records": metrics["records_in"],
                    "results": metrics["records_out"]}
        rows = [self.store.once(("pass", case.name), lambda: measure([]))]
        if case.replays:
            rows.append(self.store.once(("replay", case.name),
                                        lambda: measure(["--duration", "1s"])))
        ratios = [row["results"] / row["records"] for row in rows]
        return min(ratios), max(ratios)

    def check_counts(self, case: Case, metrics: dict, words: list[str]) -> None:
        command = f"`{command_text(words)}`"
        if case.linear:
            check_conservation(metrics, words)
        self.check_results(case, metrics["records_in"], metrics["records_out"], command)

    def check_results(self, case: Case, records: int, results: int, what: str) -> None:
        """Whether a run had about as many results a record as it has to have."""
        least, most = self.results_per_record(case)
        if records == 0:
            raise RunError(f"{what} read no record")
        if results == 0 and least * records >= RESULTS_SURE:
            raise RunError(f"{what} gave no result of {records} records")
        if records < self.store.rows["pass", case.name]["records"]:
            return  # less than a pass: how many results it has depends on where it ended
        found = results / records
        if not least / RESULTS_FACTOR <= found <= most * RESULTS_FACTOR:
            raise RunError(f"{what} gave {found:.4g} results a record, expected are "
                              f"{least:.4g} to {most:.4g}")

    # Measuring

    def throughput(self, case: Case, name: str, seconds: float, number: int) -> dict:
        variant = self.checked(case, self.variants[name])

        def measure() -> dict:
            return self.measure(case, self.command(case, variant, seconds))
        return self.store.once(("throughput", case.name, name, number), measure)

    def measure(self, case: Case, words: list[str], histogram: bool = False) -> dict:
        metrics = json.loads(call([*words, "--quiet", "--metrics", "-"]))
        self.check_counts(case, metrics, words)
        row = figures_of(metrics, words)
        if histogram:
            row["histogram_ns"] = metrics["latency"]["histogram_ns"]
        if metrics.get("path", {}).get("records"):
            row["path"] = metrics["path"]
            row["segments"] = [{"operators": [one["name"] for one in segment["operators"]],
                                "split": segment["split"]} for segment in metrics["segments"]]
        return row

    def words(self, batch: int, seconds: float, more: list[str]) -> dict:
        """Word count with batches of so many words; 0: the engine's."""
        case = next(one for one in self.cases_with_words())
        variant = Variant(f"batches of {batch} {' '.join(more)}", tuple(more), "")
        words = [str(self.programs / "batched_words"), "--batch", str(batch)]
        self.check_once(case, words, variant)
        words += [*variant.options, "--input", str(self.input(case)), "--duration",
                  f"{seconds * 1000:.0f}ms"]
        metrics = json.loads(call([*words, "--quiet", "--metrics", "-"]))
        self.check_counts(case, metrics, words)
        row = figures_of(metrics, words)
        row["batches"] = metrics["segments"][-1]["batches"]
        row["words"] = metrics["records_out"]
        if batch and row["words"] > batch * row["batches"]:
            raise RunError(f"`{command_text(words)}` had {row['words']} words in "
                              f"{row['batches']} batches")
        return row

    @staticmethod
    def cases_with_words() -> list[Case]:
        from cases import CASES
        return [case for case in CASES if case.name == "word-count"]


def figures_of(metrics: dict, words: list[str]) -> dict:
    return {"command": command_text(words), "records": metrics["records_in"],
            "results": metrics["records_out"], "seconds": metrics["seconds"],
            "workers": metrics["workers"], "tasks": metrics["tasks"],
            "p50_ns": metrics["latency"]["p50_ns"], "p99_ns": metrics["latency"]["p99_ns"]}


def check_conservation(metrics: dict, words: list[str]) -> None:
    """In a pipeline each operator takes what the one before it emitted."""
    operators = [one for segment in metrics["segments"] for one in segment["operators"]]
    for before, one in zip(operators, operators[1:]):
        if before["records_out"] != one["records_in"]:
            raise RunError(f"`{command_text(words)}`: {before['name']} emitted "
                              f"{before['records_out']} records, {one['name']} took "
                              f"{one['records_in']}")

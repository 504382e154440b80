#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 12 to 20 and tables 3 and 4 of paper 2 on this machine, as one page.

    report.py --build build/release --output out/report [--quick] [--resume]
              [--minutes N] [--figures 12,16,T3] [--apps word-count,...] [--rounds N]
              [--seconds S]
              [--windflow FILE] [--peers FOLDER | --no-peers]

Writes into the output folder:

  index.html      the page, plots within it
  figures.md      the page of papers/pages.py: values beside those of the paper
  figure_*.svg    the plots
  *.csv           a row for every run, by kind
  raw/            runs.jsonl, a line of JSON for every run; settings.json; rounds of the peers

Every way to run an application is held against its oracle before it is measured, every run is held
against the number of results that a record has. --quick: whether everything works, in a minute or
two; its figures say nothing. After an interruption, and after --minutes, --resume goes on. Without
it an older report in the output folder is moved to that name with a number (out/report.1).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path[:0] = [str(HERE), str(ROOT / "bench"), str(ROOT / "papers/pages")]
if (ROOT / "build/peers/python").is_dir():
    sys.path.append(str(ROOT / "build/peers/python"))

from cases import CASES, VARIANTS_OF, Case, core_counts, processors  # noqa: E402
from reporting import (command_text, commit_text, load_text, machine_text,  # noqa: E402
                       positive_number, whole_number)
from store import Deadline, RunError, Store, add_piece_options, in_pieces  # noqa: E402

FIGURES = ("12", "13", "14", "15", "16", "17", "18", "19", "20", "T3")
TITLE = "Building blocks for streams: figures 12 to 20 and tables 3 and 4 of paper 2"


def figures_of(text: str) -> list[str]:
    """`T4` and `4` are part of 12, which measures it."""
    names = [{"3": "T3", "4": "12", "T4": "12"}.get(name.upper(), name.upper())
             for name in text.split(",")]
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: the figures are "
                                         f"{', '.join(FIGURES)}, T4")
    return [name for name in FIGURES if name in names]


def cases_of(text: str) -> list[Case]:
    names = text.split(",")
    unknown = [name for name in names
               if name not in [word for case in CASES for word in (case.name, case.short)]]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no {', '.join(unknown)}: the applications are "
            f"{', '.join(case.name for case in CASES)}")
    return [case for case in CASES if case.name in names or case.short in names]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=Path, default=ROOT / "build/release", help="a release build")
    add("--output", type=Path, default=Path("out/report"))
    add("--quick", action="store_true", help="short runs, few points")
    add_piece_options(parser)
    add("--figures", type=figures_of, default=list(FIGURES), metavar="N[,N...]",
        help=f"of {', '.join(FIGURES)}; T4 comes with 12")
    add("--apps", type=cases_of, default=CASES, metavar="APP[,APP...]",
        help="names or the paper's letters, as word-count or WC")
    add("--rounds", type=whole_number, metavar="N",
        help="of every case, instead of 5; 1 in quick mode")
    add("--seconds", type=positive_number, metavar="S",
        help="of a run for throughput, instead of 2")
    add("--windflow", type=Path, metavar="FILE", help="figures of WindFlow as JSON (README.md)")
    add("--peers", type=Path, metavar="FOLDER",
        help="files of peers/peers.py --output, instead of running it")
    add("--no-peers", action="store_true", help="leave Flink and Storm out")
    return parser.parse_args()


def make_context(options: argparse.Namespace):
    from context import QUICK, WHOLE, Context
    from dataclasses import replace
    from others import files_of, read_runs, windflow
    from runs import Runner
    size = QUICK if options.quick else WHOLE
    size = replace(size, rounds=options.rounds or size.rounds,
                   seconds=options.seconds or size.seconds)
    output = options.output.resolve()
    build = options.build.resolve()
    cores = core_counts(len(processors()))
    # Read before an older report is moved, as they may lie in it.
    found = windflow(options.windflow, options.apps) if options.windflow else {}
    peers = {"WindFlow": found} if found else {}
    kept = {"windflow.json": options.windflow.read_bytes()} if found else {}
    if options.peers:
        files = files_of(options.peers)
        engines = read_runs(files)
        peers |= engines
        if not any(case.name in one for one in engines.values() for case in options.apps):
            raise RunError(f"{options.peers}: there is no file of peers.py --output for "
                              f"{', '.join(case.name for case in options.apps)}")
        kept |= {f"given/{path.name}": path.read_bytes() for path in files}
    for program in (build / "tools/strid", build / "papers/2-windflow/bench/batched_words"):
        if not program.exists():
            raise RunError(f"{program} is not built: `make report` builds it")
    store = Store(output, 2, {
        "quick": options.quick, "rounds": size.rounds, "seconds": size.seconds,
        "commit": commit_text(), "machine": machine_text(build), "cores": cores},
        options.resume, Deadline(options.minutes))
    for name, data in kept.items():
        (store.folder / name).parent.mkdir(exist_ok=True)
        (store.folder / name).write_bytes(data)
    runner = Runner(build, output / "inputs", store, cores[-1], options.quick)
    there = [case for case in options.apps if not runner.missing(case)]
    left_out = {case.name: runner.missing(case) for case in options.apps if case not in there}
    if not there:
        name, why = next(iter(left_out.items()))
        raise RunError(f"no application is left: {name}: {why}")
    context = Context(output, size, cores, store, runner, there, peers,
                      f"{machine_text(build)}; {load_text()}")
    left_out |= add_peers(context, options)
    return context, left_out


def add_peers(context, options: argparse.Namespace) -> dict[str, str]:
    """Flink and Storm; returns what is left out."""
    left_out = {} if options.windflow else {"WindFlow": "no --windflow"}
    if options.no_peers:
        return {**left_out, "Flink, Storm": "--no-peers"}
    if options.peers:
        return left_out
    if options.quick:
        return {**left_out, "Flink, Storm": "not run by --quick"}
    from peer_runs import measure_peers
    return left_out | measure_peers(context, options.figures)


def sections_of(context, figures: list[str]) -> list:
    from context import measure_throughput
    import other_figures as other
    import throughput_figures as throughput
    names = list(dict.fromkeys(name for figure in figures
                               for name in VARIANTS_OF.get(figure, ())))
    if names:
        measure_throughput(context, names)
    parts: dict[str, Callable] = {
        "12": throughput.figure_12, "13": throughput.figure_13, "14": other.figure_14,
        "15": throughput.figure_15, "16": other.figure_16, "17": other.figure_17,
        "18": throughput.figure_18, "19": other.figure_19, "20": other.figure_20,
        "T3": other.table_3}
    return [section for figure in figures for section in parts[figure](context)]


def commands_of(context, figures: list[str]) -> list:
    from html_page import Section
    found = []
    used = list(dict.fromkeys(name for figure in figures for name in VARIANTS_OF.get(figure, ())))
    commands = []
    for name in used:
        rows = [row for row in context.store.of("throughput") if row["key"][2] == name]
        if rows:
            commands.append([context.runner.variants[name].text, f"`{rows[0]['command']}`"])
    for kind, title in (("batch", "batches of WC"), ("waiting", "waiting"),
                        ("latency", "latency"), ("cores", "cores")):
        rows = context.store.of(kind)
        if rows:
            commands.append([title, f"`{rows[0]['command']}`"])
    if commands:
        found.append(Section("Commands", "A command of each way to run, in the project's folder; "
                             "every run with its own is in raw/runs.jsonl.",
                             tables=[(["way", "command"], commands)]))
    return found


def write(context, options: argparse.Namespace, sections: list, left_out: dict[str, str],
          seconds: float) -> None:
    from html_page import page
    from peer_runs import settings_of
    settings = (f"{context.size.rounds} round{'s' if context.size.rounds > 1 else ''} by turns, "
                f"{context.size.seconds:g} s a run for throughput; medians, with the least and "
                "the most of the rounds")
    own = command_text(word for word in sys.argv if word != "--resume")
    about = [("machine", context.machine),
             ("commit", commit_text()),
             ("command", f"`{own}`"),
             ("settings", settings),
             *((engine, settings_of({case.name: peers[case.name] for case in context.cases
                                     if case.name in peers},
                                    given=engine == "WindFlow" or options.peers is not None))
               for engine, peers in context.peers.items()),
             ("made", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
              + f", in {max(seconds / 60, 1):.0f} min")]
    if left_out:
        about.append(("left out", "; ".join(f"{name}: {why}" for name, why in left_out.items())))
    introduction = [
        "The evaluation of paper 2 (WindFlow, building blocks for data stream processing), "
        "repeated with Strid and its peers on the machine below. FD, SD, TM, WC, YB, LR and VS "
        "are the paper's seven applications. Each figure has one sentence on what it shows and "
        "one on what is worse than a peer or than another setting.",
        "Strid runs with its defaults where nothing else is said. Input is replayed from memory. "
        "Every way to run Strid gave the answer of the application's oracle for the bundled input "
        "before it was measured (without a rate, which changes when records come, and on YB "
        "each run against a loop by hand)."]
    warning = ("Made with --quick: short runs of one round, on small inputs. It shows that "
               "everything works; its figures say nothing." if options.quick else "")
    text = page(TITLE, about, warning, introduction, sections)
    unfinished = context.output / ".index.html"
    unfinished.write_text(text)
    unfinished.replace(context.output / "index.html")


def main() -> int:
    options = arguments()
    try:
        import plots  # noqa: F401  (whether there is matplotlib)
    except ImportError as missing:
        print(f"report: error: {missing}: scripts/install-dependencies --bench", file=sys.stderr)
        return 1

    def work() -> None:
        from figure_pages import write_page_of_run
        from measured_rows import write_rows
        begin = time.monotonic()
        context, left_out = make_context(options)
        sections = sections_of(context, options.figures)
        sections += commands_of(context, options.figures)
        write_rows(context)
        write(context, options, sections, left_out, time.monotonic() - begin)
        context.store.finish()
        write_page_of_run(context.output)
        print(f"The report is {options.output / 'index.html'}.")
    return in_pieces("report", options, work)


if __name__ == "__main__":
    sys.exit(main())

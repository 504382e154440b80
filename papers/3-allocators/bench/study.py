#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The study of paper 3 on the exchange: which allocator, on how many cores.

    study.py --build build/release --output out/study [--quick] [--resume] [--repeat N]
             [--minutes N] [--cores 1,2] [--allocators A,B=PATH] [--loads w1,w2] [--orders N]
             [--seed N]

Runs the three programs of the exchange under each allocator on each number of cores, in random
order, under the load generators w1 and w2. Writes into the output folder:

  study.html    figures 8 to 13, tables I to VI, and what differs from the paper
  study.md      the text of that, with the tables
  w1/, w2/      each experiment: runs.csv (every run), results.json, report.html
  sizes.csv     the requests of each program by size (figures 8 to 10)
  figures.md    the page that papers/pages.py makes of it, out of sizes.csv, w1_runs.csv,
                w2_runs.csv, means.csv and variance.csv

--quick: whether everything works, two allocators, two repetitions, few orders. After an
interruption, and after --minutes, --resume goes on.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import random
import shlex
import sys
from types import ModuleType

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [
    str(ROOT / "memory-tools/memory"),
    str(pathlib.Path(__file__).resolve().parent),
    str(ROOT / "bench"),
    str(ROOT / "papers/pages"),
]
if (ROOT / "build/peers/python").is_dir():
    sys.path.append(str(ROOT / "build/peers/python"))

import middleware  # noqa: E402  (the paths come first)
from strid_memory import measures, processors  # noqa: E402
from strid_memory.allocators import Allocator, choose  # noqa: E402
from strid_memory.errors import MemoryToolError  # noqa: E402
from strid_memory.experiment import Folder, perform, plan  # noqa: E402
from strid_memory.output_file import write_whole  # noqa: E402
from reporting import commit_text, machine_text  # noqa: E402
from figure_pages import write_page_of_run  # noqa: E402
from request_sizes import sizes_csv  # noqa: E402
from store import Deadline, RunError, Store, add_piece_options, in_pieces  # noqa: E402

# The paper: 15 repetitions, 20,000 orders, one to all cores.
WHOLE = {"repeat": 15, "orders": 20_000, "sessions": 20, "allocators": None}
QUICK = {"repeat": 2, "orders": 300, "sessions": 4, "allocators": 2}
TIMEOUT_S = 600


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=ROOT / "build/release")
    add("--output", type=pathlib.Path, default=pathlib.Path("out/study"))
    add("--quick", action="store_true")
    add_piece_options(parser)
    add("--repeat", type=int)
    add("--cores", type=lambda text: sorted({int(n) for n in text.split(",")}))
    add("--allocators")
    add("--loads", type=lambda text: text.split(","), default=["w2", "w1"])
    add("--orders", type=int)
    add("--seed", type=int)
    options = parser.parse_args()
    if set(options.loads) - {"w1", "w2"}:
        parser.error("--loads: w1 and w2 are known")
    sizes = QUICK if options.quick else WHOLE
    options.repeat = options.repeat or sizes["repeat"]
    options.orders = options.orders or sizes["orders"]
    options.sessions = sizes["sessions"]
    options.allocators_max = sizes["allocators"]
    return options


def chosen_allocators(options: argparse.Namespace) -> tuple[dict[str, Allocator], list[str]]:
    found, missing = choose(options.allocators)
    if options.allocators is None and options.allocators_max:
        found = dict(list(found.items())[: options.allocators_max])
    return found, missing


def all_counts() -> list[int]:
    """One to all cores; powers of two and all where there are more than eight."""
    count = len(os.sched_getaffinity(0))
    if count <= 8:
        return list(range(1, count + 1))
    return sorted({*(1 << i for i in range(count.bit_length()) if 1 << i < count), count})


def new_settings(options: argparse.Namespace, load: middleware.Load) -> dict:
    """The contents of experiment.json, as strid memory compare writes it."""
    allocators, missing = chosen_allocators(options)
    cores = options.cores or all_counts()
    sets = processors.sets_of(cores)
    event, no_event = measures.extfrag_event()
    words = middleware.load_command(options.build, load, 0)
    words[0] = os.path.basename(words[0])
    return {
        "command": words,
        "command_text": f"the exchange under {shlex.join(words)}",
        "allocators": {a.name: a.library and str(a.library) for a in allocators.values()},
        "not_installed": missing,
        "left_out": {},
        "live_bytes": {},
        "cores": cores,
        "processors": {str(count): chosen for count, chosen in sets.items()},
        "spare_processors": bool(processors.others(sets[cores[-1]])),
        "repeat": options.repeat,
        "seed": random.SystemRandom().randrange(2**32) if options.seed is None else options.seed,
        "metric": None,
        "event": event,
        "not_measured": {
            **({"extfrag_events": no_event} if no_event else {}),
            "mean_bytes": "the runs end before three samples are taken",
        },
        "machine": f"{platform.system()} {platform.release()}, {os.cpu_count()} processors",
        "load": vars(load),
    }


def trace(options: argparse.Namespace, load: middleware.Load, settings: dict) -> dict:
    """A traced run under each allocator, for its live bytes; returns that under the C library."""
    first = {}
    for name, library in settings["allocators"].items():
        try:
            found = middleware.traced_run(options.build, load, library and pathlib.Path(library))
        except MemoryToolError as error:
            settings["not_measured"]["not_live_bytes"] = f"no trace: {error}"
            return first
        settings["live_bytes"][name] = sum(one.peak_bytes for one in found.values())
        first = first or found
    return first


def perform_load(options: argparse.Namespace, kind: str, deadline: Deadline) -> Folder:
    """The experiment under one load; the first one writes the sizes of the requests."""
    load = middleware.Load(kind, options.orders, options.sessions, 1, TIMEOUT_S)
    folder = Folder(options.output / kind)
    if options.resume and (folder.path / "experiment.json").exists():
        settings = folder.settings()
        load = middleware.Load(**settings["load"])
    else:
        folder.check_new()
        settings = new_settings(options, load)
        traces = trace(options, load, settings)
        if traces and kind == options.loads[0]:
            write_whole(options.output / "sizes.csv", sizes_csv(traces).encode())
        folder.begin(settings)
    allocators = {
        name: Allocator(name, path and pathlib.Path(path))
        for name, path in settings["allocators"].items()
    }
    sets = processors.sets_of(settings["cores"])

    def run(setting) -> dict:
        deadline.before_measuring()
        values = middleware.measured_run(
            options.build,
            load,
            allocators[setting.allocator],
            sets[setting.cores],
            settings["event"],
        )
        live = settings["live_bytes"].get(setting.allocator)
        values["not_live_bytes"] = None if live is None else values["peak_bytes"] - live
        deadline.after_measuring()
        return values

    print(f"{kind}: seed {settings['seed']}, runs in {folder.path}", file=sys.stderr)
    perform(
        plan(list(allocators), settings["cores"], settings["repeat"], settings["seed"]), run, folder
    )
    return folder


def measure(options: argparse.Namespace, study_text: ModuleType) -> None:
    store = Store(
        options.output,
        3,
        {
            "quick": options.quick,
            "commit": commit_text(),
            "machine": machine_text(options.build),
        },
        options.resume,
        Deadline(options.minutes),
    )
    experiments = {kind: perform_load(options, kind, store.deadline) for kind in options.loads}
    study_text.write(options.output, experiments)
    store.finish()
    write_page_of_run(options.output)
    print(f"The study is {options.output / 'study.html'}.")


def main() -> int:
    options = arguments()
    try:
        import study_text
    except ImportError as missing:
        print(f"study: error: {missing}: scripts/install-dependencies --bench", file=sys.stderr)
        return 1
    folders = [options.build / "tools/memory", options.build / "tools", options.build / "malloc"]
    os.environ.setdefault("STRID_MEMORY_LIBRARIES", ":".join(str(f.absolute()) for f in folders))
    # Where the trace library is looked for.
    sys.argv[0] = str((options.build / "tools/strid-memory").absolute())

    def work() -> None:
        try:
            chosen_allocators(options)  # a wrong option leaves an older run where it is
            measure(options, study_text)
        except MemoryToolError as error:
            raise RunError(str(error)) from None

    return in_pieces("study", options, work)


if __name__ == "__main__":
    sys.exit(main())

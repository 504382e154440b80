#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table of paper 5 beside the same on this machine, with plots.

    layouts.py --build build/release --output out/layouts [--quick] [--repeat N]
               [--only TABLE[,TABLE...]] [--resume] [--minutes N]

Writes figures.md (the page that papers/pages.py makes of it), a CSV of every measurement, and plots
where gnuplot is installed. Every program checks its own answers; a wrong one ends this. After an
interruption, and after --minutes, --resume goes on. The tables: allocators, access, classes,
pointers, trees, hash-sets, min-max, changing, hot, streams.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "bench"), str(HERE.parents[1] / "pages")]
from figure_pages import write_page_of_run  # noqa: E402
from figure_values import read_printed  # noqa: E402
from layout_values import values_of  # noqa: E402
from reporting import (commit_text, find_allocators, machine_text, plot,  # noqa: E402
                       whole_number, write_csv)
from store import Deadline, RunError, Store, add_piece_options, in_pieces  # noqa: E402

PROGRAMS = ["layouts_bench", "linked_lists", "stream_of_types_bench"]
LISTS_QUICK = ["--frames", "50", "--states", "200"]


class Programs:
    """Of one build. Each run is measured once: `store` holds those that were."""

    def __init__(self, build: Path, quick: bool, repeat: int, store: Store):
        self.folder = build / "papers/5-layouts/bench"
        self.libraries = build / "malloc"
        self.quick = quick
        self.repeat = repeat
        self.store = store

    def run(self, program: str, arguments: list[str], preload: str | None = None) -> list[dict]:
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = preload
        done = subprocess.run([self.folder / program, *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunError(f"{program} {' '.join(arguments)} ended with {done.returncode}: "
                           f"{done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def once(self, key: tuple, program: str, arguments: list[str],
             preload: str | None = None) -> list[dict]:
        """The lines that the program prints, with these repetitions."""
        arguments = [*arguments, "--repeat", str(self.repeat)]
        return self.store.once(key, lambda: {
            "program": program, "arguments": arguments,
            "printed": self.run(program, arguments, preload)})["printed"]


def check_built(build: Path) -> None:
    for name in PROGRAMS:
        program = build / "papers/5-layouts/bench" / name
        if not program.exists():
            raise RunError(f"{program} is not built: `make layouts` builds it")


def progress(what: str) -> None:
    print(f"layouts: {what}", file=sys.stderr, flush=True)


def measure_table(programs: Programs, name: str) -> None:
    size = "quick" if programs.quick else "whole"
    if name == "streams":
        programs.once(("cells", name), "stream_of_types_bench", ["--size", size])
    else:
        programs.once(("cells", name), "layouts_bench", ["--table", name, "--size", size])


def measure_allocators(programs: Programs, _: str) -> None:
    found, missing = find_allocators(["glibc", "tcmalloc", "jemalloc", "mimalloc", "tbb",
                                      "hoard"])
    if missing:
        progress(f"not installed and left out: {', '.join(missing)}")
    for library in sorted(programs.libraries.glob("libstrid_*.so")):
        found[library.stem.removeprefix("lib")] = str(library)
    options = LISTS_QUICK if programs.quick else []
    for name, library in found.items():
        checked = ["--library", Path(library).name] if library else []
        programs.once(("allocators", name), "linked_lists", [*options, *checked], library)
    programs.once(("allocators", "glibc, nodes recycled"), "linked_lists",
                  [*options, "--nodes", "recycled"])


PARTS = {"allocators": measure_allocators, **{name: measure_table for name in (
    "access", "classes", "pointers", "trees", "hash-sets", "min-max", "changing", "hot",
    "streams")}}


def write_rows(store: Store, output: Path) -> None:
    """cells.csv and allocators.csv, a row for each repetition."""
    cells = [{"table": cell["table"], "row": cell["row"], "column": cell["column"],
              "round": number, "seconds": seconds, "elements": cell["elements"],
              "bytes": cell["bytes"]}
             for row in store.of("cells") for cell in row["printed"]
             for number, seconds in enumerate(cell["seconds"])]
    lists = [{"allocator": row["key"][1], "round": number, "seconds": seconds,
              "resident_bytes": row["printed"][0]["resident_bytes"]}
             for row in store.of("allocators")
             for number, seconds in enumerate(row["printed"][0]["seconds"])]
    for name, rows in (("cells", cells), ("allocators", lists)):
        if rows:
            write_csv(output / f"{name}.csv", rows)


def write_for_plots(output: Path) -> None:
    """A file for each table, row by row: the paper's figure and ours."""
    folder = output / "plots"
    folder.mkdir(exist_ok=True)
    printed = read_printed(HERE.parent / "paper.csv")
    tables: dict[str, list[dict]] = {}
    for value in values_of(output):
        paper = printed.get(value.key)
        tables.setdefault(value.figure, []).append({
            "row": value.series.replace(",", ""), "column": value.at,
            "paper": paper.text if paper else "", "here": value.value})
    for name, rows in tables.items():
        write_csv(folder / f"{name}.csv", rows)


def parts_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: the tables are "
                                         f"{', '.join(PARTS)}")
    return names


def size_text(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def caches_of(programs: Programs) -> str:
    machine, = programs.run("layouts_bench", ["--table", "machine"])
    return (f"first cache {size_text(machine['first_cache_bytes'])}, last "
            f"{size_text(machine['last_cache_bytes'])}, lines of {machine['line_bytes']} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/layouts"))
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="TABLE[,TABLE...]",
                        help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true",
                        help="small data: whether everything works and answers, in seconds")
    parser.add_argument("--repeat", type=whole_number, metavar="N", default=0,
                        help="of every cell, instead of 5; 1 in quick mode")
    add_piece_options(parser)
    options = parser.parse_args()

    def work() -> None:
        output, build = options.output, options.build.resolve()
        check_built(build)
        repeat = options.repeat or (1 if options.quick else 5)
        programs = Programs(build, options.quick, repeat, None)
        programs.store = Store(output, 5, {
            "quick": options.quick, "repeat": repeat, "commit": commit_text(),
            "machine": f"{machine_text(build)}; {caches_of(programs)}"},
            options.resume, Deadline(options.minutes))
        for name in options.only:
            progress(name)
            PARTS[name](programs, name)
        write_rows(programs.store, output)
        write_for_plots(output)
        plot(HERE / "layouts.gp", output)
        programs.store.finish()
        write_page_of_run(output)
    return in_pieces("layouts", options, work)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table of paper 5 beside the same on this machine, with plots.

    layouts.py --build build/release --output out/layouts [--quick] [--repeat N]
               [--only TABLE[,TABLE...]]

Writes index.html, layouts.md, a CSV and the raw lines of every measurement, and plots where gnuplot
is installed; prints the Markdown. Every program checks its own answers; a wrong one ends this. The
tables: allocators, access, classes, pointers, trees, hash-sets, min-max, changing, hot, streams.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "bench")]
import paper5  # noqa: E402
from page import Section, markdown, page  # noqa: E402
from reporting import describe_machine, find_allocators, plot, write_csv  # noqa: E402

PROGRAMS = ["layouts_bench", "linked_lists", "stream_of_types_bench"]
LISTS_QUICK = ["--frames", "50", "--states", "200"]
TIE = 1.05  # closer than this is no order


class Programs:
    """Of one build; keeps every line that they print."""

    def __init__(self, build: Path, quick: bool, repeat: int):
        self.folder = build / "papers/5-layouts/bench"
        self.quick = quick
        self.repeat = repeat
        self.raw: list[dict] = []
        for program in PROGRAMS:
            if not (self.folder / program).exists():
                sys.exit(f"strid: error: {self.folder / program} is not built: `make layouts` "
                         "builds it")

    def run(self, program: str, arguments: list[str], preload: str | None = None) -> list[dict]:
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = preload
        done = subprocess.run([self.folder / program, *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"strid: error: {program} {' '.join(arguments)} ended with "
                     f"{done.returncode}: {done.stderr.strip()}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.raw += [{"program": program, "arguments": arguments, **row} for row in rows]
        return rows

    def table(self, name: str) -> list[dict]:
        size = "quick" if self.quick else "whole"
        return self.run("layouts_bench", ["--table", name, "--size", size, "--repeat",
                                          str(self.repeat)])


def progress(what: str) -> None:
    print(f"layouts: {what}", file=sys.stderr, flush=True)


def milliseconds(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def cell_text(row: dict) -> str:
    seconds = row["seconds"]
    text = milliseconds(statistics.median(seconds))
    if len(seconds) > 1:
        text += f" ({milliseconds(min(seconds))} to {milliseconds(max(seconds))})"
    return text


def per_element_ns(row: dict) -> float:
    return statistics.median(row["seconds"]) / row["elements"] * 1e9


def order_of(table: paper5.Table, measured: dict[tuple[str, str], float]) -> str:
    """Which pairs of the paper's cells stand in the other order here."""
    def named(row: str) -> str:
        return table.names.get(row, row)

    compared = [key for key in table.paper if key in measured]
    differ = []
    pairs = 0
    for one in compared:
        for other in compared:
            in_row = one[0] == other[0] and table.along in ("row", "both")
            in_column = one[1] == other[1] and table.along in ("column", "both")
            if in_row == in_column or table.paper[other] < table.paper[one] * TIE:
                continue
            pairs += 1
            if measured[one] > measured[other] * TIE:
                where, fast, slow = ((named(one[0]), other[1], one[1]) if in_row else
                                     (one[1], named(other[0]), named(one[0])))
                differ.append(f"{where + ': ' if where else ''}here {fast} is faster than {slow}, "
                              f"{measured[one] / measured[other]:.2f} times")
    if not pairs:
        return "The text of the paper has no numbers to compare with."
    if not differ:
        return "The order is the paper's."
    return f"The order differs from the paper's: {'; '.join(differ)}."


def curve(table: paper5.Table, cells: dict[tuple[str, str], dict]) -> Section:
    """A table without figures of the paper, or of one row: a column of each kind of figure."""
    section = Section(table.title, [f"Paper: {table.slide}.", table.text])
    for row in table.rows:
        columns = [column for column in table.columns if (row, column) in cells]
        first = columns[0]
        head = [table.names.get(row, row), "paper, ms", "paper, times the first", "here, ms",
                "here, times the first", f"here, ns each {table.unit}"]
        lines = []
        for column in columns:
            paper = table.paper.get((row, column))
            ns = per_element_ns(cells[row, column])
            lines.append([column, f"{paper:g}" if paper else "",
                          f"{paper / table.paper[row, first]:.2f}" if paper else "",
                          cell_text(cells[row, column]),
                          f"{ns / per_element_ns(cells[row, first]):.2f}", f"{ns:.2f}"])
        if not table.paper:
            head, lines = ([head[0], *head[3:]], [[line[0], *line[3:]] for line in lines])
        section.tables.append((head, lines))
    return section


def grid(table: paper5.Table, cells: dict[tuple[str, str], dict]) -> Section:
    """A table of several rows: the paper's and ours side by side."""
    section = Section(table.title, [f"Paper: {table.slide}.", table.text])
    columns = [column for column in table.columns if any((row, column) in cells
                                                         for row in table.rows)]
    rows = [row for row in table.rows if any(cell[0] == row for cell in cells)]
    printed = {column for _, column in table.paper}
    milli: list[list[str]] = [["ms"]] + [[table.names.get(row, row)] for row in rows]
    nano: list[list[str]] = [[f"here, ns each {table.unit}"]] + [line[:] for line in milli[1:]]
    for column in columns:
        milli[0] += [f"{column}: paper", f"{column}: here"] if column in printed else [column]
        nano[0].append(column)
        for i, row in enumerate(rows, 1):
            cell = cells.get((row, column))
            paper = table.paper.get((row, column))
            if column in printed:
                milli[i].append(f"{paper:g}" if paper else "")
            milli[i].append(cell_text(cell) if cell else "")
            nano[i].append(f"{per_element_ns(cell):.1f}" if cell else "")
    section.tables += [(milli[0], milli[1:]), (nano[0], nano[1:])]
    return section


def section_of(table: paper5.Table, rows: list[dict], output: Path) -> Section:
    cells = {(row["row"], row["column"]): row for row in rows
             if row["table"] == (table.cells_of or table.name) and row["row"] in table.rows}
    missing = [row for row in table.rows if not any(cell[0] == row for cell in cells)]
    section = (grid if table.is_grid else curve)(table, cells)
    any_cell = next(iter(cells.values()))
    section.paragraphs.append(f"Here: {any_cell['elements']:,} {table.plural} a cell; median of "
                              "the repetitions (least to largest).")
    if missing:
        section.notes.append(f"Not in this build and left out: {'; '.join(missing)}.")
    measured = {key: per_element_ns(row) for key, row in cells.items()}
    section.notes += [order_of(table, measured), table.why]
    write_csv(output / f"{table.name}.csv", [
        {"row": row.replace(",", ""), "column": column,
         "paper_ms": table.paper.get((row, column), ""),
         "here_ms": statistics.median(cell["seconds"]) * 1e3, "ns": measured[row, column],
         "elements": cell["elements"], "bytes": cell["bytes"]}
        for (row, column), cell in cells.items()])
    section.plots = [f"{table.name}.svg"]
    return section


def measured_tables(name: str):
    def measure(programs: Programs, output: Path) -> list[Section]:
        rows = programs.table(name)
        present = {row["table"] for row in rows}
        return [section_of(table, rows, output) for table in paper5.TABLES
                if (table.cells_of or table.name) in present]
    return measure


def streams(programs: Programs, output: Path) -> list[Section]:
    rows = programs.run("stream_of_types_bench",
                        ["--size", "quick" if programs.quick else "whole", "--repeat",
                         str(programs.repeat)])
    return [section_of(paper5.STREAMS, rows, output)]


def allocators(programs: Programs, output: Path) -> list[Section]:
    found, missing = find_allocators(["glibc", "tcmalloc", "jemalloc", "mimalloc", "tbbmalloc",
                                      "hoard"])
    for library in sorted((programs.folder.parent.parent / "malloc").glob("libstrid_*.so")):
        found[library.stem.removeprefix("lib")] = str(library)
    options = ["--repeat", str(programs.repeat), *(LISTS_QUICK if programs.quick else [])]
    rows = []
    for name, library in found.items():
        checked = ["--library", Path(library).name] if library else []
        row, = programs.run("linked_lists", [*options, *checked], library)
        rows.append({"allocator": name, **row})
    row, = programs.run("linked_lists", [*options, "--nodes", "recycled"])
    rows.append({"allocator": "glibc, nodes recycled", **row})
    first = statistics.median(rows[0]["seconds"])
    lines = []
    for row in rows:
        paper = paper5.ALLOCATORS_PAPER.get(row["allocator"])
        seconds = statistics.median(row["seconds"])
        lines.append([row["allocator"], f"{paper[0]:g} s" if paper else "",
                      f"{paper[0] / paper5.ALLOCATORS_PAPER['glibc'][0]:.2f}" if paper else "",
                      cell_text(row), f"{seconds / first:.2f}",
                      f"{paper[1]} MB" if paper else "", f"{row['resident_bytes'] / 1e6:.0f} MB"])
    section = Section("Allocator test", ["Paper: Allocator test - results.",
                                         paper5.ALLOCATORS_TEXT])
    section.tables.append((["", "paper", "paper, times glibc", "here, ms", "here, times glibc",
                            "paper, memory", "here, memory"], lines))
    measured = {("", row["allocator"]): statistics.median(row["seconds"]) for row in rows}
    names = list(paper5.ALLOCATORS_PAPER)
    compared = paper5.Table("", "", "", names, [""], "", {
        ("", name): figures[0] for name, figures in paper5.ALLOCATORS_PAPER.items()}, "", "")
    if missing:
        section.notes.append(f"Not installed and left out: {', '.join(missing)}.")
    section.notes += [order_of(compared, measured), paper5.ALLOCATORS_WHY]
    write_csv(output / "allocators.csv", [
        {"allocator": row["allocator"].replace(",", ""),
         "here_ms": statistics.median(row["seconds"]) * 1e3,
         "memory_mb": row["resident_bytes"] / 1e6} for row in rows])
    section.plots = ["allocators.svg"]
    return [section]


PARTS = {"allocators": allocators, **{name: measured_tables(name) for name in (
    "access", "classes", "pointers", "trees", "hash-sets", "min-max", "changing", "hot")},
         "streams": streams}


def parts_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}: the tables are "
                                         f"{', '.join(PARTS)}")
    return names


def repetitions(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of repetitions")
    return int(text)


def size_text(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--output", type=Path, default=Path("out/layouts"))
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="TABLE[,TABLE...]",
                        help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true",
                        help="small data: whether everything works and answers, in seconds")
    parser.add_argument("--repeat", type=repetitions, metavar="N", default=0,
                        help="of every cell, instead of 5; 1 in quick mode")
    arguments = parser.parse_args()
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    programs = Programs(arguments.build.resolve(), arguments.quick,
                        arguments.repeat or (1 if arguments.quick else 5))
    machine, = programs.table("machine")
    introduction = (
        f"{describe_machine(arguments.build.resolve())}; first cache "
        f"{size_text(machine['first_cache_bytes'])}, last {size_text(machine['last_cache_bytes'])}"
        f", lines of {machine['line_bytes']} bytes, memory {size_text(machine['memory_bytes'])}. "
        "Times are processor time of the one thread that works, but those of streams. Sizes are "
        "the paper's, or more where the caches are larger, or less where the memory is smaller: "
        "milliseconds compare within a table, nanoseconds with other machines."
        + (" QUICK: small data, which fits the caches; the figures say nothing."
           if arguments.quick else ""))
    title = "The tables of paper 5"
    # All files appear at the end: an error or Ctrl-C leaves what was there.
    with tempfile.TemporaryDirectory(dir=output, prefix=".unfinished-") as folder:
        unfinished = Path(folder)
        sections: list[Section] = []
        for name in arguments.only:
            progress(name)
            sections += PARTS[name](programs, unfinished)
        plot(HERE / "layouts.gp", unfinished)
        for section in sections:
            section.plots = [file for file in section.plots if (unfinished / file).exists()]
        text = markdown(title, introduction, sections)
        (unfinished / "raw.jsonl").write_text("".join(json.dumps(row) + "\n"
                                                     for row in programs.raw))
        (unfinished / "layouts.md").write_text(text)
        (unfinished / "index.html").write_text(page(title, introduction, sections))
        for file in unfinished.iterdir():
            os.replace(file, output / file.name)
    print(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

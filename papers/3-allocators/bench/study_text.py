# SPDX-License-Identifier: Apache-2.0
"""The study as a page and a text: figures, tables, and a comparison with the paper."""

from __future__ import annotations

import csv
import dataclasses
import pathlib

from matplotlib.figure import Figure

import paper
from request_sizes import APPS
from study_rows import write_rows
from strid_memory import page, plots, tables
from strid_memory.advice import cores_text, listed
from strid_memory.analysis import Analysis
from strid_memory.experiment import Folder
from strid_memory.measures import MEASURES, WALL, Measure
from strid_memory.output_file import write_whole
from strid_memory.report import Report

TITLES = {
    "core": "App1, core services",
    "session": "App2, session manager",
    "data": "App3, data manager",
}
FIGURES = {"core": "8", "session": "9", "data": "10"}
PLOT_BYTES_MAX = 1024
# Instead of the time of a command: what the load generator measures.
STUDY_MEASURES = [
    dataclasses.replace(WALL, note="of all orders: from the first request to the last answer"),
    *MEASURES[1:],
    Measure("order_p50_ms", "Time to the answer of an order, median", "ms"),
    Measure("order_p99_ms", "Time to the answer of an order, 99 %", "ms"),
]
OURS = "strid"
NAMES_OF_SOURCES = {
    "allocator": "allocator",
    "cores": "cores",
    "allocator vs. cores": "interaction",
    "Error": "error",
}
EVENTS = "extfrag_events"
# Figure 13 counts events of the kernel. Where it counts none, two other measures stand for them.
IN_PLACE_OF_EVENTS = {
    "unusable_change": "The kernel's free blocks (/proc/buddyinfo) are the other view from outside:"
    " how much of the free memory lies in blocks smaller than a huge page, after a run less before"
    " it. It is of the whole machine, so other programs change it too.",
    "not_live_bytes": "What an allocator holds and the program does not use is fragmentation of"
    " another kind, inside the allocator; other programs do not change it.",
}
# The differences between the two studies, whatever the numbers are.
DIFFERENCES = [
    "The paper's allocators are of 2008 to 2011; jemalloc, tcmalloc and the C library's have"
    " changed since. The C library has had a cache for each thread since 2.26: what the paper"
    " names as the advantage of the others.",
    "In the paper database and load generators run on machines of their own, behind a network."
    " Here all run on one machine; the generator has the processors that the exchange leaves, and"
    " on all cores it shares them.",
    "The paper's middleware is not published. The exchange is written after its description; its"
    " records keep strings and maps on the heap, and its queues and blocks of records come from"
    " Strid's slabs, which are the same under every allocator.",
    "The paper does not name the unit of its response times, nor the number of sessions. Compare"
    " orders and shares, not seconds.",
    "Resident memory is the sum over three programs, as in the paper; transparent huge pages, which"
    " the paper's kernels did not have or use alike, change what a page is.",
]


class Sizes:
    """The requests of one program."""

    def __init__(self, rows: list[dict]):
        self.seconds = float(rows[0]["seconds"])
        self.requests = {int(row["bytes_at_most"]): int(row["requests"]) for row in rows}

    @property
    def total(self) -> int:
        return sum(self.requests.values())

    @property
    def most_frequent(self) -> int:
        return max(self.requests, key=lambda size: self.requests[size])

    def share_to(self, size: int) -> float:
        return sum(n for at, n in self.requests.items() if at <= size) / self.total

    def plot(self, title: str) -> str:
        """Figures 8 to 10: how many requests are of at most so many bytes."""
        figure = Figure(figsize=(7, 3), layout="constrained")
        axes = figure.add_subplot()
        sizes = sorted(self.requests)
        sums = [sum(self.requests[s] for s in sizes if s <= size) for size in sizes]
        axes.step([0, *sizes], [0, *sums], where="post", linewidth=1.2)
        axes.axvline(paper.SMALL_BYTES, linewidth=0.6, linestyle=":", color="grey")
        axes.set_xlim(0, PLOT_BYTES_MAX)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes asked for, at most")
        axes.set_ylabel("requests")
        axes.set_title(title, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        return plots.svg_of(figure)


def read_sizes(path: pathlib.Path) -> dict[str, Sizes]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: Sizes([row for row in rows if row["program"] == name])
        for name in APPS
        if any(row["program"] == name for row in rows)
    }


def sizes_text(sizes: dict[str, Sizes]) -> list[str]:
    if not sizes:
        return ["Figures 8 to 10 are missing: there was no trace (strid memory trace)."]
    lines = []
    for name, one in sizes.items():
        lines.append(
            f"{TITLES[name]}: {one.total} requests, {one.total / one.seconds:.0f} a second (paper:"
            f" {paper.REQUESTS_PER_SECOND[name]}); {100 * one.share_to(paper.SMALL_BYTES):.0f} % of"
            f" at most {paper.SMALL_BYTES} bytes (paper: most); {one.most_frequent} bytes are asked"
            f" for most often (paper: {paper.MOST_FREQUENT_BYTES})."
        )
    return lines


def orders_of_ours(report: Report) -> list[str]:
    """Orders a second with our malloc, as a part of those with the best other allocator."""
    analysis = report.of("wall_s")
    lines = []
    for number in report.cores:
        means = {c.allocator: c.mean for c in analysis.cells if c.cores == number}
        ours = means.pop(OURS, None)
        if ours is None or not means:
            return [f"{OURS} (libstrid_malloc.so) is not among the allocators."]
        best = best_first(means)[0]
        note = "" if analysis.differ(number, OURS, best) else " (not significantly different)"
        lines.append(
            f"On {cores_text(number)}: {means[best] / ours:.3f} of the orders a second with"
            f" {best}{note}."
        )
    return lines


def pairs(count: int) -> str:
    return "1 pair of allocators" if count == 1 else f"{count} pairs of allocators"


def best_first(means: dict[str, float]) -> list[str]:
    return sorted(means, key=lambda name: means[name])


def compare(
    analysis: Analysis, cores: list[int], table: paper.PaperTable | None = None
) -> list[str]:
    """Our outcome of a measure beside the paper's: shares of the variance, order, reversals."""
    table = table or paper.PAPER[analysis.measure.key]
    if not analysis.cells:
        return [f"{analysis.measure.title}: not measured here: {analysis.missing}."]
    lines = []
    if analysis.missing:
        return [f"No tests here: {analysis.missing}.", paper_order(table)]
    total = analysis.sources[-1].ss
    shares = [(NAMES_OF_SOURCES[s.name], s.ss / total) for s in analysis.sources[:-1]]
    ours = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares)
    theirs = [100 * ss / sum(table.ss) for ss in table.ss]
    lines.append(
        f"Of the variance: {ours} here; allocator {theirs[0]:.0f} %, cores {theirs[1]:.0f} %,"
        f" interaction {theirs[2]:.0f} %, error {theirs[3]:.0f} % in the paper (transformed values"
        " in both)."
    )
    number = cores[-1]
    column = {c.allocator: c.mean for c in analysis.cells if c.cores == number}
    lines.append(f"Here, on {cores_text(number)}, the least first: {listed(best_first(column))}.")
    return [*lines, paper_order(table), *reversals(analysis, table, number)]


def paper_order(table: paper.PaperTable) -> str:
    means = {name: values[-1][0] for name, values in table.means.items()}
    return f"In the paper, on 4 cores: {listed(best_first(means))}."


def reversals(analysis: Analysis, table: paper.PaperTable, cores: int) -> list[str]:
    """Pairs that differ significantly in both studies: the same way, or the other way round."""
    both = [c.allocator for c in analysis.cells if c.cores == cores and c.allocator in paper.NAMES]
    same, turned, open_pairs = [], [], 0
    for at, one in enumerate(both):
        for other in both[at + 1 :]:
            (mean_1, letters_1), (mean_2, letters_2) = (
                table.means[paper.NAMES[name]][-1] for name in (one, other)
            )
            if not analysis.differ(cores, one, other) or set(letters_1) & set(letters_2):
                open_pairs += 1
                continue
            here = analysis.cell(one, cores).mean < analysis.cell(other, cores).mean
            (same if here == (mean_1 < mean_2) else turned).append((one, other, here))
    texts = []
    if same:
        verb = "differs" if len(same) == 1 else "differ"
        texts.append(f"{pairs(len(same))} {verb} significantly, the same way in both studies.")
    for one, other, here in turned:
        less, more = (one, other) if here else (other, one)
        texts.append(
            f"{less} is less than {more} here, significantly; in the paper {paper.NAMES[less]} is"
            f" more than {paper.NAMES[more]}."
        )
    if open_pairs:
        verb = "does" if open_pairs == 1 else "do"
        texts.append(f"{pairs(open_pairs)} {verb} not differ significantly in one study or both.")
    return texts


class Study:
    """All that is written, from the folders of the experiments."""

    def __init__(self, experiments: dict[str, Folder], sizes: dict[str, Sizes]):
        self.reports = {
            kind: Report(folder, STUDY_MEASURES) for kind, folder in experiments.items()
        }
        self.sizes = sizes

    def comparison(self) -> list[tuple[str, list[str]]]:
        """(heading, sentences); the paper shows w2."""
        found = [("Request sizes", sizes_text(self.sizes))]
        kind = "w2" if "w2" in self.reports else next(iter(self.reports))
        report = self.reports[kind]
        for key in paper.PAPER:
            analysis = report.of(key)
            heading = f"{analysis.measure.title} under {kind}"
            found.append((heading, compare(analysis, report.cores)))
        if report.of(EVENTS).missing:
            found.append((f"In the place of figure 13, under {kind}", self.why_instead(report)))
            for measure, text in IN_PLACE_OF_EVENTS.items():
                analysis = report.of(measure)
                lines = [text, *compare(analysis, report.cores, paper.PAPER[EVENTS])]
                found.append((f"{analysis.measure.title} under {kind}", lines))
        for each, one in self.reports.items():
            found.append((f"Our malloc and the best other one under {each}", orders_of_ours(one)))
        found.append(("What the two studies have not in common", DIFFERENCES))
        return found

    @staticmethod
    def why_instead(report: Report) -> list[str]:
        return [
            "An event is that the kernel takes pages from a block of another kind, because those"
            " of the right kind are used up; the paper's machine had 2 GiB. Here no events are"
            f" compared: {report.of(EVENTS).missing}. Two measures below are compared with the"
            " paper's events instead, and neither is what the paper measured."
        ]

    def html(self) -> str:
        sections = ["<h2>Requests by size</h2>\n"]
        for name, one in self.sizes.items():
            title = f"Figure {FIGURES[name]}: {TITLES[name]}"
            sections.append(page.inline_svg(one.plot(title)))
        for kind, report in self.reports.items():
            sections.append(f"<h2>Under {kind}</h2>\n" + page.paragraph(report.advice, "advice"))
            for analysis in report.analyses:
                sections.append(self.section(kind, report, analysis))
        for heading, lines in self.comparison():
            sections.append(f"<h2>{heading}: here and in the paper</h2>\n")
            sections += [page.paragraph(line) for line in lines]
        lead, advice, notes = [], "", []
        for kind, report in self.reports.items():
            lead += [f"{kind}: {line}" for line in report.lead]
            advice += f"{kind}: {report.advice} "
            notes += [f"{kind}: {note}" for note in report.notes]
        return page.page("Allocators under the exchange", lead, advice.strip(), sections, notes)

    def section(self, kind: str, report: Report, analysis: Analysis) -> str:
        table = paper.PAPER.get(analysis.measure.key)
        plot = None
        if analysis.cells and not analysis.is_constant:
            plot = plots.means_plot(analysis, report.allocators, report.cores)
        text = page.section(analysis, report.allocators, report.cores, plot)
        if analysis.measure.key in IN_PLACE_OF_EVENTS and report.of(EVENTS).missing:
            text = text.replace("<h2>", "<h2>In the place of figure 13: ", 1)
        if table and kind == "w2":
            names = f"Figure {table.figure}, tables {table.variance} and {table.tukey}: "
            text = text.replace("<h2>", "<h2>" + names, 1)
        return text

    def markdown(self) -> str:
        lines = ["# Allocators under the exchange", ""]
        for kind, report in self.reports.items():
            lines += [f"## Under {kind}", "", report.advice, ""]
            for analysis in report.analyses:
                text = tables.terminal_text(analysis, report.allocators, report.cores)
                lines += ["```text", *text, "```", ""]
        lines += ["## Here and in the paper", ""]
        for heading, sentences in self.comparison():
            lines += [f"### {heading}", "", *(f"- {sentence}" for sentence in sentences), ""]
        return "\n".join(lines)


def write(output: pathlib.Path, experiments: dict[str, Folder]):
    study = Study(experiments, read_sizes(output / "sizes.csv"))
    for report in study.reports.values():
        report.write()
    write_whole(output / "study.html", study.html().encode())
    write_whole(output / "study.md", study.markdown().encode())
    write_rows(output, study.reports)
    for name, one in study.sizes.items():
        title = f"Figure {FIGURES[name]}: {TITLES[name]}"
        write_whole(output / f"{FIGURES[name]}.svg", one.plot(title).encode())
    report = study.reports.get("w2")
    for key, table in paper.PAPER.items() if report else ():
        analysis = report.of(key)
        if analysis.cells and not analysis.is_constant:
            text = plots.means_plot(analysis, report.allocators, report.cores)
            write_whole(output / f"{table.figure}.svg", text.encode())

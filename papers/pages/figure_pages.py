# SPDX-License-Identifier: Apache-2.0
"""The page of a paper: every figure and table of it, its values, ours beside them, and whether they
agree. Its text is figures.toml of the paper's folder, its numbers are paper.csv there and
values.csv of the results; nothing else is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from claims import HOLDS, IN_PART, NOT, Claim, claims_of, read_claims
from figure_values import (Key, Printed, Value, number, read_rows, read_values, table,
                           write_values)
from paper_texts import Figure, Paper, measured_values, read_paper

SIDE = 1.03  # closer to 1 than this is neither above nor below
TIE = 1.05  # two values closer than this have no order
COLUMNS_MAX = 8
NOT_RUN = "Not run"
SAID = {IN_PART: "holds in part", NOT: "does not hold"}


# Whether a figure agrees


def side(value: float) -> int:
    return (value > SIDE) - (value < 1 / SIDE)


def agrees(printed: Printed, value: Value) -> bool | None:
    """None: the two are not compared."""
    if printed.rule == "ratio":
        return side(printed.value) == side(value.value)
    if printed.rule in ("equal", "cell"):
        return printed.value == value.value
    return None


def order_of(printed: list[Printed], ours: dict[Key, Value], along: str) -> tuple[int, list[str]]:
    """How many pairs of cells the paper has in an order, and those that have the other one
    here."""
    cells = [one for one in printed if one.rule == "order" and one.key in ours]
    pairs, differ = 0, []
    for one in cells:
        for other in cells:
            in_row = one.series == other.series and along in ("row", "both")
            in_column = one.at == other.at and along in ("column", "both")
            if in_row == in_column or other.value < one.value * TIE:
                continue
            pairs += 1
            here, there = ours[one.key].value, ours[other.key].value
            if here > there * TIE:
                where, less, more = ((one.series, other.at, one.at) if in_row else
                                     (one.at, other.series, one.series))
                differ.append(f"{where}: {less} is below {more}")
    return pairs, differ


@dataclass
class Verdict:
    """Of a figure: how many comparisons were made, and which of them differ."""

    compared: int = 0
    differ: list[str] = field(default_factory=list)
    has_values: bool = False
    is_drawn: bool = False

    @property
    def word(self) -> str:
        if self.is_drawn:
            return "Drawn"
        if not self.has_values:
            return NOT_RUN
        if not self.compared:
            return "Not compared"
        if not self.differ:
            return "Agrees"
        return "Agrees in part" if len(self.differ) < self.compared else "Does not agree"

    @property
    def text(self) -> str:
        if self.is_drawn:
            return "**Drawn** here; there is no value to compare."
        if not self.has_values:
            return f"**{NOT_RUN}**: no run of this figure is stored."
        if not self.compared:
            return ("**Not compared**: the text of the paper has no number here that another "
                    "machine could repeat.")
        if not self.differ:
            return f"**{self.word}**, in all that is compared."
        return f"**{self.word}**. Otherwise than in the paper: {'; '.join(self.differ)}."


def verdict_of(figure: Figure, printed: list[Printed], ours: dict[Key, Value], files: set[str],
               claimed: list[tuple[str, str]]) -> Verdict:
    """`claimed`: the claims of this figure, and whether they hold."""
    found = Verdict(has_values=any(key[0] == figure.name for key in ours),
                    is_drawn=not figure.raw and bool(files.intersection(figure.plots)))
    for one in printed:
        answer = agrees(one, ours[one.key]) if one.key in ours else None
        found.compared += answer is not None
        if answer is False:
            found.differ.append(one.statement)
    pairs, differ = order_of(printed, ours, figure.order)
    found.compared += pairs + sum(verdict in (HOLDS, IN_PART, NOT) for _, verdict in claimed)
    found.differ += differ
    found.differ += [f"the claim \"{claim}\" {SAID[verdict]}" for claim, verdict in claimed
                     if verdict in SAID]
    return found


# The text of a page


def shown(value: Value | Printed | None) -> str:
    if value is None:
        return ""
    if isinstance(value, Printed):
        return value.text
    text = number(value.value)
    low, high = number(value.low), number(value.high)
    return text if low == high else f"{text} ({low} to {high})"


def statements(printed: list[Printed], ours: dict[Key, Value]) -> list[str]:
    def row(one: Printed) -> list[str]:
        value = ours.get(one.key)
        answer = agrees(one, value) if value else None
        verdict = {True: "agrees", False: "differs", None: ""}[answer]
        return [one.statement, f"{one.text} {one.unit}".strip(),
                f"{shown(value)} {value.unit}".strip() if value else NOT_RUN.lower(), verdict]
    return table(["", "paper", "here", ""], map(row, printed))


def columns_of(outer: list[str], inner: list[str], printed: list[Printed], ours: list[Value],
               at: Callable[[str, str], tuple[str, str]]) -> list[list[str]]:
    """A column for each of `outer`, its title first: the paper's before ours. `at` makes (series,
    place) of outer and inner; units stand in the titles where a table has the paper's."""
    theirs = {(one.series, one.at): one for one in printed}
    mine = {(one.series, one.at): one for one in ours}
    columns = []
    for one in outer:
        for found, who in ((theirs, "paper"), (mine, "here")):
            cells = [found.get(at(one, other)) for other in inner]
            units = {cell.unit for cell in cells if cell}
            if not units:
                continue
            title = [f"{one}: {who}" if printed else one or "all"]
            title += [unit for unit in units if printed and len(units) == 1 and unit]
            columns.append([", ".join(title), *(shown(cell) for cell in cells)])
    return columns


def grid(printed: list[Printed], ours: list[Value]) -> list[str]:
    """A table of series and places; of many places a row each."""
    cells = [(one.series, one.at) for one in (*printed, *ours)]
    series = list(dict.fromkeys(cell[0] for cell in cells))
    places = list(dict.fromkeys(cell[1] for cell in cells))
    names = {one.series: one.name for one in printed if one.name}
    titles = [name if names.get(name, name) == name else f"{names[name]} ({name})"
              for name in series]
    columns = columns_of(places, series, printed, ours, lambda at, name: (name, at))
    if len(columns) > COLUMNS_MAX > 2 * len(series):
        columns = columns_of(series, places, printed, ours, lambda name, at: (name, at))
        titles = places
    return table(["", *(column[0] for column in columns)],
                 [[title, *(column[row] for column in columns)]
                  for row, title in enumerate(titles, 1)])


def grids(printed: list[Printed], ours: list[Value]) -> list[str]:
    """One with the paper's cells, else one for all series of a unit that have the same places."""
    if printed or not ours:
        return grid(printed, ours) if printed or ours else []
    places: dict[tuple[str, str], list[str]] = {}
    for value in ours:
        places.setdefault((value.unit, value.series), []).append(value.at)
    lines = []
    for unit, at in dict.fromkeys((unit, tuple(found)) for (unit, _), found in places.items()):
        same = [value for value in ours if value.unit == unit
                and tuple(places[unit, value.series]) == at]
        lines += [f"Here, {unit}:" if unit else "Here:", "", *grid([], same)]
    return lines


def section(figure: Figure, paper: Paper, ours: dict[Key, Value], results: str, files: set[str],
            verdict: Verdict) -> list[str]:
    """`results`: the folder of the raw files and plots, as a link names it; `files` are there."""
    printed = paper.printed_of(figure)
    told = [one for one in printed if not one.is_cell]
    keys = {one.key for one in told}
    rest = [value for key, value in ours.items() if key[0] == figure.name and key not in keys]
    lines = [f"## {figure.title}", "", f"Paper: {figure.section}", "", f"Here: {figure.here}", ""]
    lines += [line for file in figure.plots if file in files
              for line in (f"![{figure.title}]({results}{file})", "")]
    if told:
        lines += statements(told, ours)
    lines += grids([one for one in printed if one.is_cell], rest)
    lines += [verdict.text, "", figure.why, ""]
    raw = [file for file in figure.raw if file in files]
    if raw and any(key[0] == figure.name for key in ours):
        lines += ["Raw data: " + ", ".join(f"[{file}]({results}{file})" for file in raw) + ".", ""]
    return lines


def provenance(runs: list[dict[str, str]]) -> list[str]:
    if not runs:
        return ["No run is stored yet: each figure says what is to be measured.", ""]
    found: dict[tuple, list[str]] = {}
    for run in runs:
        found.setdefault(tuple(run[name] for name in ("date", "commit", "machine", "command")),
                         []).append(run["file"])
    return table(["measured", "commit", "machine", "command", "files"], [
        [date, f"`{commit[:12]}`{commit[40:]}", machine,
         " ".join(f"`{word}`" for word in command.split("; ")), ", ".join(files)]
        for (date, commit, machine, command), files in found.items()])


def page(paper: Paper, claims: list[Claim], ours: dict[Key, Value], runs: list[dict[str, str]],
         results: str, files: set[str]) -> str:
    lines = [f"# {paper.title}", "", paper.text, "", paper.left_out, ""]
    lines += provenance(runs)
    verdicts = {figure.name: verdict_of(figure, paper.printed_of(figure), ours, files,
                                        claims_of(claims, paper.number, figure.name, ours))
                for figure in paper.figures}
    lines += table(["figure or table", ""], [
        [f"[{figure.title}](#{figure.anchor})", verdicts[figure.name].word.lower()]
        for figure in paper.figures])
    for figure in paper.figures:
        lines += section(figure, paper, ours, results, files, verdicts[figure.name])
    return "\n".join(lines).rstrip("\n") + "\n"


def page_of_results(paper: Paper, claims: list[Claim]) -> str:
    """Of what is stored."""
    folder = paper.results
    files = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    return page(paper, claims, read_values(folder / "values.csv"),
                read_rows(folder / "runs.csv"), "results/", files)


def runs_of(settings: dict, files: Iterable[str]) -> list[dict[str, str]]:
    """Where each file of a run comes from."""
    return [{"file": file, "date": settings.get("finished", settings["begun"]),
             "commit": settings["commit"], "machine": settings["machine"],
             "command": "; ".join(settings["commands"])} for file in sorted(files)]


def write_page_of_run(output: Path) -> None:
    """figures.md, beside the files of a run that the drivers made, and values.csv."""
    from store import read_settings
    settings = read_settings(output)
    paper = read_paper(settings["paper"])
    write_values(output / "values.csv", measured_values(paper.number, output))
    files = {file.name for file in output.iterdir()}
    raw = {file for figure in paper.figures for file in figure.raw} & files
    text = page(paper, read_claims(), read_values(output / "values.csv"), runs_of(settings, raw),
                "", files)
    if settings.get("quick"):
        text = text.replace("\n\n", "\n\nQuick: small data; the numbers mean nothing.\n\n", 1)
    (output / "figures.md").write_text(text)
    print(f"The page is {output / 'figures.md'}.")

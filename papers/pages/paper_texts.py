# SPDX-License-Identifier: Apache-2.0
"""The papers as their folders have them: the text of each figure (figures.toml), the printed values
(paper.csv), and the module that makes values out of the rows of a run."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from figure_values import Key, Printed, Value, read_printed

PAPERS = Path(__file__).resolve().parents[1]
# The folder of each paper, where its module of values lies, and the name of that.
FOLDERS = {1: ("1-stream-memory", "bench", "trading_values"),
           2: ("2-windflow", "bench/report", "report_values"),
           3: ("3-allocators", "bench", "study_values"),
           4: ("4-fastflow", "bench", "pattern_values"),
           5: ("5-layouts", "bench", "layout_values")}


@dataclass(frozen=True)
class Figure:
    """`here`: what is measured on this machine; `why`: why the two agree, or do not; `raw`: files
    of the results. `order`: whether the cells of a row, of a column or both are compared.
    `settings`: numbers of the texts that are no results."""

    name: str
    title: str  # the heading: "Figure 5a: ..."
    section: str
    here: str
    why: str
    raw: list[str]
    plots: list[str] = field(default_factory=list)
    order: str = ""
    settings: list[float] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """As GitHub and MkDocs make it of the heading."""
        kept = (c for c in self.title.lower() if c.isalnum() or c in " -_")
        return "".join(kept).replace(" ", "-")


@dataclass(frozen=True)
class Paper:
    number: int
    folder: Path
    title: str
    text: str
    left_out: str
    settings: list[float]  # numbers of these two texts
    figures: list[Figure]
    printed: dict[Key, Printed]

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def printed_of(self, figure: Figure) -> list[Printed]:
        return [one for one in self.printed.values() if one.figure == figure.name]


def paper_folder(one: int, papers: Path = PAPERS) -> Path:
    return papers / FOLDERS[one][0]


def read_paper(one: int, papers: Path = PAPERS) -> Paper:
    folder = paper_folder(one, papers)
    found = tomllib.loads((folder / "figures.toml").read_text())
    figures = [Figure(**{name: " ".join(value.split()) if isinstance(value, str) else value
                         for name, value in figure.items()}) for figure in found["figure"]]
    printed = read_printed(folder / "paper.csv")
    unknown = {key[0] for key in printed} - {figure.name for figure in figures}
    if unknown:
        raise ValueError(f"{folder / 'paper.csv'}: no figure {', '.join(sorted(unknown))}")
    return Paper(one, folder, found["title"], found["text"].strip(), found["left_out"].strip(),
                 found.get("settings", []), figures, printed)


def measured_values(one: int, folder: Path) -> list[Value]:
    """Out of the raw files in a folder."""
    _, place, module = FOLDERS[one]
    path = str(paper_folder(one) / place)
    if path not in sys.path:
        sys.path.append(path)
    return import_module(module).values_of(folder)

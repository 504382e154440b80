# SPDX-License-Identifier: Apache-2.0
"""The report of an experiment: analyses of its runs, a page, numbers as JSON, text for the
terminal."""

import dataclasses
import json

from strid_memory import page, plots, tables
from strid_memory.advice import advice
from strid_memory.analysis import Analysis, analyse
from strid_memory.experiment import RUNS, Folder
from strid_memory.measures import MEASURES, Measure

PAGE = "report.html"
NUMBERS = "results.json"


def measures_of(settings: dict) -> list[Measure]:
    """The measures of an experiment; the one that the command prints comes first."""
    metric = settings.get("metric")
    if not metric:
        return MEASURES
    own = Measure(
        "metric",
        metric["name"],
        "",
        more_is_better=metric["more_is_better"],
        note=f"what the command prints: {metric['pattern']}",
    )
    return [own, *MEASURES]


class Report:
    """The analyses of an experiment's runs, of these measures or of its own; costs seconds for
    hundreds of runs."""

    def __init__(self, folder: Folder, measures: list[Measure] | None = None):
        self.folder = folder
        self.settings = folder.settings()
        self.rows = folder.runs()
        left_out = self.settings.get("left_out", {})
        self.allocators = [name for name in self.settings["allocators"] if name not in left_out]
        self.cores = self.settings["cores"]
        self.analyses = [
            analyse(measure, self.rows, self.allocators, self.cores)
            for measure in measures or measures_of(self.settings)
        ]
        for analysis in self.analyses:
            reason = self.settings.get("not_measured", {}).get(analysis.measure.key)
            if not analysis.cells and reason:
                analysis.missing = reason

    def of(self, key: str) -> Analysis:
        return next(a for a in self.analyses if a.measure.key == key)

    @property
    def advice(self) -> str:
        return advice(self.analyses[0], self.of("peak_bytes"), self.cores)

    @property
    def notes(self) -> list[str]:
        notes = [f"{name} is left out: {why}" for name, why in self.settings["left_out"].items()]
        if missing := self.settings.get("not_installed"):
            notes.append(f"Not installed: {', '.join(missing)}.")
        behind = sum(1 for row in self.rows if row.get("left_behind"))
        if behind:
            notes.append(
                f"In {behind} runs the command left processes behind, which were killed and are not"
                " measured."
            )
        if not self.settings.get("spare_processors"):
            notes.append(
                "On all cores the program that samples memory shares them with the command; it"
                " takes at most 2 % of one."
            )
        return notes

    @property
    def lead(self) -> list[str]:
        settings = self.settings
        sets = (f"{n}: {', '.join(map(str, settings['processors'][str(n)]))}" for n in self.cores)
        return [
            f"Command: {settings['command_text']}",
            f"{len(self.rows)} runs: {len(self.allocators)} allocators, {settings['repeat']}"
            f" repetitions, in random order (seed {settings['seed']}). Processors by number of"
            f" cores: {'; '.join(sets)}.",
            f"Machine: {settings['machine']}",
        ]

    def write(self):
        """Writes the page and the numbers into the folder."""
        sections = []
        for analysis in self.analyses:
            plot = None
            if analysis.cells and not analysis.is_constant:
                plot = plots.means_plot(analysis, self.allocators, self.cores)
            sections.append(page.section(analysis, self.allocators, self.cores, plot))
        raw = (self.folder.path / RUNS).read_text()
        sections.append(page.raw_data(raw, RUNS))
        text = page.page("Allocators compared", self.lead, self.advice, sections, self.notes)
        self.folder.write(PAGE, text)
        self.folder.write(NUMBERS, json.dumps(self.numbers(), indent=1) + "\n")

    def numbers(self) -> dict:
        return {
            "settings": self.settings,
            "advice": self.advice,
            "notes": self.notes,
            "measures": [analysis_numbers(analysis) for analysis in self.analyses],
        }

    def text(self) -> str:
        """For the terminal."""
        lines = []
        missing = []
        for analysis in self.analyses:
            if analysis.cells:
                text = tables.terminal_text(analysis, self.allocators, self.cores)
                lines += [*text, ""]
            else:
                missing.append(f"{analysis.measure.title} not measured: {analysis.missing}")
        letters = {tables.notes_of_letters(analysis) for analysis in self.analyses} - {""}
        for note in [*sorted(letters), *missing, *self.notes]:
            lines += tables.wrapped(note, "")
        return "\n".join([*lines, "", *tables.wrapped(self.advice, "")])


def analysis_numbers(analysis: Analysis) -> dict:
    measure = analysis.measure
    return {
        "key": measure.key,
        "title": measure.title,
        "unit_divides_by": measure.scale,
        "unit": measure.unit,
        "missing": analysis.missing,
        "transformation": analysis.transformation,
        "box_cox": analysis.box_cox,
        "assumptions": analysis.assumptions and dataclasses.asdict(analysis.assumptions),
        "untransformed": analysis.untransformed and dataclasses.asdict(analysis.untransformed),
        "cells": [dataclasses.asdict(cell) for cell in analysis.cells],
        "anova": [dataclasses.asdict(source) for source in analysis.sources],
        "kruskal_p": analysis.kruskal,
        "tukey_allocators": [
            {"cores": n, "pair": [one, other], "p": p}
            for (n, one, other), p in analysis.between_allocators.items()
        ],
        "tukey_cores": [
            {"allocator": name, "pair": [one, other], "p": p}
            for (name, one, other), p in analysis.between_cores.items()
        ],
    }

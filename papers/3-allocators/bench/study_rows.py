# SPDX-License-Identifier: Apache-2.0
"""The results of the study as CSV: every run (w1_runs.csv, w2_runs.csv), and of each measure the
means with their letters (means.csv) and the table of the analysis of variance (variance.csv)."""

from __future__ import annotations

import csv
import pathlib
import shutil

from strid_memory.experiment import RUNS
from strid_memory.report import Report

MEANS = ["load", "measure", "allocator", "cores", "runs", "mean", "half_width", "letters"]
VARIANCE = ["load", "measure", "transformation", "source", "df", "ss", "ms", "f", "p"]


def write_table(path: pathlib.Path, head: list[str], rows: list[list]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)


def write_rows(output: pathlib.Path, reports: dict[str, Report]) -> None:
    means, variance = [], []
    for load, report in reports.items():
        shutil.copyfile(report.folder.path / RUNS, output / f"{load}_{RUNS}")
        for analysis in report.analyses:
            key, scale = analysis.measure.key, analysis.measure.scale
            means += [
                [load, key, cell.allocator, cell.cores, cell.runs, cell.mean / scale]
                + [cell.half_width and cell.half_width / scale]
                + [cell.among_cores.upper() + cell.among_allocators]
                for cell in analysis.cells
            ]
            variance += [
                [load, key, analysis.transformation, one.name, one.df, one.ss, one.ms, one.f, one.p]
                for one in analysis.sources
            ]
    write_table(output / "means.csv", MEANS, means)
    write_table(output / "variance.csv", VARIANCE, variance)

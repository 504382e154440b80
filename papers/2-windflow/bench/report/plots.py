# SPDX-License-Identifier: Apache-2.0
"""The plots of the report, SVG by matplotlib."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "strid", "font.family": "sans-serif",
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#e4e4e4", "axes.axisbelow": True,
    "axes.edgecolor": "#888888", "legend.frameon": False,
})
from matplotlib.figure import Figure  # noqa: E402  (the settings come first)
from matplotlib.ticker import FuncFormatter, NullFormatter, ScalarFormatter  # noqa: E402

from reporting import median  # noqa: E402

COLOURS = {"Strid": "#2e7d4f", "Strid, thread per operator": "#9ccdae", "WindFlow": "#4e79a7",
           "Flink": "#e07b39", "Storm": "#b0545c"}
MORE = ["#2e7d4f", "#4e79a7", "#e0a030", "#b0545c", "#7a6fa8", "#6d6d6d", "#9ccdae"]
WIDTH = 8.2

Series = dict[str, list[float]]  # by the name under the axis: the values of the rounds


def quantity(value: float) -> str:
    for bound, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= bound:
            return f"{value / bound:.3g}{unit}"
    return f"{value:.3g}"


def colour(name: str, place: int) -> str:
    return COLOURS.get(name, MORE[place % len(MORE)])


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})


def bars(path: Path, groups: list[str], series: dict[str, Series], label: str, *,
         logarithmic: bool = False, line_at: float | None = None) -> None:
    """A group of bars for each name under the axis, medians with the spread of the rounds."""
    figure = Figure(figsize=(WIDTH, 3.4))
    axes = figure.subplots()
    width = 0.82 / max(len(series), 1)
    for place, (name, values) in enumerate(series.items()):
        at, heights, below, above = [], [], [], []
        for group, title in enumerate(groups):
            found = values.get(title)
            if not found:
                continue
            middle = median(found)
            at.append(group + (place - (len(series) - 1) / 2) * width)
            heights.append(middle)
            below.append(middle - min(found))
            above.append(max(found) - middle)
        axes.bar(at, heights, width * 0.92, color=colour(name, place), label=name)
        axes.errorbar(at, heights, [below, above], fmt="none", ecolor="#444444", elinewidth=0.9,
                      capsize=2)
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(label)
    if logarithmic:
        axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
    if line_at is not None:
        axes.axhline(line_at, color="#444444", linewidth=0.9)
    if len(series) > 1:
        figure.legend(loc="upper center", ncols=5, fontsize=9, bbox_to_anchor=(0.5, 1.02))
    save(figure, path)


def lines(path: Path, series: dict[str, list[tuple[float, list[float]]]], across: str, label: str,
          *, levels: dict[str, list[float]] | None = None, powers: bool = False) -> None:
    """Points with the spread of the rounds, and levels as lines over the whole width."""
    figure = Figure(figsize=(WIDTH, 3.4))
    axes = figure.subplots()
    ticks: set[float] = set()
    for place, (name, points) in enumerate(series.items()):
        places = [x for x, _ in points]
        middles = [median(values) for _, values in points]
        ticks.update(places)
        errors = [[middle - min(values) for middle, (_, values) in zip(middles, points)],
                  [max(values) - middle for middle, (_, values) in zip(middles, points)]]
        axes.errorbar(places, middles, errors, marker="o", markersize=4, capsize=2,
                      elinewidth=0.9, color=colour(name, place), label=name)
    for place, (name, values) in enumerate((levels or {}).items(), len(series)):
        axes.axhline(median(values), color=colour(name, place), linestyle="--", linewidth=1.2,
                     label=name)
    if powers:
        axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(ticks))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(across)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
    figure.legend(loc="upper center", ncols=5, fontsize=9, bbox_to_anchor=(0.5, 1.02))
    save(figure, path)


def boxes(path: Path, found: list[tuple[str, str, dict[str, float]]], label: str) -> None:
    """(application, engine, percentiles): a box of the 25th to the 75th with whiskers to the 5th
    and 95th, a dot at the 99th and a small one at the 99.9th."""
    figure = Figure(figsize=(WIDTH, 3.8))
    axes = figure.subplots()
    applications = list(dict.fromkeys(row[0] for row in found))
    engines = list(dict.fromkeys(row[1] for row in found))
    width = 0.8 / len(engines)
    for application, engine, values in found:
        at = (applications.index(application)
              + (engines.index(engine) - (len(engines) - 1) / 2) * width)
        shade = colour(engine, engines.index(engine))
        axes.bxp([{"med": values["50"], "q1": values["25"], "q3": values["75"],
                   "whislo": values["5"], "whishi": values["95"], "fliers": []}],
                 positions=[at], widths=width * 0.7, showfliers=False, patch_artist=True,
                 manage_ticks=False, boxprops={"facecolor": shade, "edgecolor": shade},
                 medianprops={"color": "white", "linewidth": 1.6},
                 whiskerprops={"color": shade}, capprops={"color": shade})
        axes.plot([at], [values["99"]], "o", color=shade, markersize=5)
        axes.plot([at], [values["99.9"]], "o", color=shade, markersize=3)
    for place, engine in enumerate(engines):
        axes.bar([0], [0], color=colour(engine, place), label=engine)
    axes.set_yscale("log")
    axes.set_xticks(range(len(applications)), applications)
    axes.set_ylabel(label)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
    figure.legend(loc="upper center", ncols=5, fontsize=9, bbox_to_anchor=(0.5, 1.0))
    save(figure, path)


def stacks(path: Path, rows: dict[str, dict[str, float]], label: str) -> None:
    """A lying bar for each row, parts beside each other."""
    figure = Figure(figsize=(WIDTH, 0.6 + 0.42 * len(rows)))
    axes = figure.subplots()
    shades = {"user code": "#2e7d4f", "engine": "#b07a3a", "waiting": "#bbbbbb"}
    names = list(rows)
    left = [0.0] * len(names)
    for part in next(iter(rows.values())):
        values = [rows[name][part] for name in names]
        axes.barh(names, values, left=left, color=shades.get(part), label=part)
        left = [a + b for a, b in zip(left, values)]
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label)
    figure.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.15))
    save(figure, path)

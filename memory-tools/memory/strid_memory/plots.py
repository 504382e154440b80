# SPDX-License-Identifier: Apache-2.0
"""Plots of an analysis as SVG, as figures 11 to 13 of paper 3: means by allocator and cores."""

import io

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from strid_memory.analysis import Analysis

matplotlib.use("svg")
# Text stays text; the same data give the same file.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "strid", "font.size": 9})
MARKERS = "osD^vP*X<>hp"


def svg_of(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def means_plot(analysis: Analysis, allocators: list[str], cores: list[int]) -> str:
    """The mean of each allocator over the numbers of cores, with its 95 % interval."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.add_subplot()
    colours = matplotlib.colormaps["tab10"].colors
    width = min(0.12, 0.6 / max(1, len(allocators) - 1))
    for place, name in enumerate(allocators):
        cells = [analysis.cell(name, number) for number in cores]
        points = [(i, cell) for i, cell in enumerate(cells) if cell]
        shift = (place - (len(allocators) - 1) / 2) * width
        scale = analysis.measure.scale
        axes.errorbar(
            [i + shift for i, _ in points],
            [cell.mean / scale for _, cell in points],
            yerr=[(cell.half_width or 0) / scale for _, cell in points],
            color=colours[place % len(colours)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            linestyle=":" if len(cores) > 1 else "none",
            linewidth=0.8,
            elinewidth=1.2,
            capsize=3,
            label=name,
        )
    axes.set_xticks(range(len(cores)), [str(number) for number in cores])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(-0.5, len(cores) - 0.5)
    axes.set_xlabel("cores")
    axes.set_ylabel(analysis.measure.label)
    if all(cell.mean - (cell.half_width or 0) >= 0 for cell in analysis.cells):
        axes.set_ylim(bottom=0)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False)
    return svg_of(figure)

# SPDX-License-Identifier: Apache-2.0
"""The plots of a trace: cumulative distribution of request sizes, rates and live bytes over time.

The first is figures 8 to 10 of Ferreira et al., "An Experimental Study on Memory Allocators in
Multicore and Multithreaded Applications" (2011).
"""

from __future__ import annotations

import io
import os

from strid_memory.errors import MemoryToolError
from strid_memory.trace_file import EXACT_MAX, FIRST_OCTAVE, OCTAVES, Counters
from strid_memory.trace_report import rates
from strid_memory.traced import TracedRun

_PROCESSES_MAX = 8
_NAME_COLUMNS = 40


def cumulative(counters: Counters) -> tuple[list[int], list[int]]:
    """(sizes in bytes, calls for at most so many), at each size where it rises."""
    sizes, calls = [], []
    seen = 0
    steps = [(size, counters.calls_of_size(size)) for size in range(EXACT_MAX + 1)]
    steps += [
        (1 << octave + 1, counters.calls_of_octave(octave)[0])
        for octave in range(FIRST_OCTAVE, FIRST_OCTAVE + OCTAVES)
    ]
    for size, count in steps:
        if count:
            seen += count
            sizes.append(size)
            calls.append(seen)
    return sizes, calls


def _matplotlib():
    # Its cache of fonts goes to a folder that can be written, whatever HOME is.
    os.environ.setdefault("MPLBACKEND", "svg")
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MemoryToolError(
            "--svg needs matplotlib: python3 -m pip install matplotlib"
        ) from None
    return pyplot


def check_available() -> None:
    _matplotlib()


def _draw_sizes(axes, total: Counters) -> None:
    sizes, calls = cumulative(total)
    # 0 bytes have no place on a logarithmic axis: they count at 1.
    at = [max(1, size) for size in sizes]
    axes.step(at, calls, where="post", color="tab:blue")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("request size, bytes (above 1,024: the octave's upper bound)")
    axes.set_ylabel("calls for at most so many bytes")
    axes.set_ylim(bottom=0)
    axes.axvline(64, color="gray", linewidth=0.8, linestyle="--")
    right = axes.secondary_yaxis(
        "right",
        functions=(
            lambda count: 100 * count / max(1, total.calls),
            lambda percent: percent * max(1, total.calls) / 100,
        ),
    )
    right.set_ylabel("%")
    axes.set_title("Request size distribution")
    axes.grid(alpha=0.3)


def _draw_series(rate_axes, live_axes, run: TracedRun) -> None:
    processes = sorted(run.processes, key=lambda one: -one.counters.calls)[:_PROCESSES_MAX]
    for process in processes:
        if not process.samples:
            continue
        begin_s = (process.begin_ns - run.begin_ns) / 1e9
        name = f"{process.pid} {' '.join(process.command)[:_NAME_COLUMNS]}".replace("$", r"\$")
        points = rates(process)
        rate_axes.plot(
            [begin_s + time_s for time_s, _ in points], [rate for _, rate in points],
            label=name, linewidth=0.9,
        )
        live_axes.plot(
            [(one.time_ns - run.begin_ns) / 1e9 for one in process.samples],
            [one.live_bytes / 2**20 for one in process.samples],
            label=name, linewidth=0.9,
        )
    rate_axes.set_ylabel("requests a second")
    live_axes.set_ylabel("live, MiB (as requested)")
    for axes in (rate_axes, live_axes):
        axes.set_xlabel("time, s")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    if live_axes.get_legend_handles_labels()[0]:
        live_axes.legend(fontsize="x-small")


def svg(run: TracedRun) -> bytes:
    """One picture: the distribution over all processes, then the two series by process."""
    pyplot = _matplotlib()
    total = Counters()
    for process in run.processes:
        total.add(process.counters)
    figure, axes = pyplot.subplots(3, 1, figsize=(8, 12), layout="constrained")
    _draw_sizes(axes[0], total)
    _draw_series(axes[1], axes[2], run)
    title = " ".join(run.command)[: 2 * _NAME_COLUMNS].replace("$", r"\$")
    figure.suptitle(title, fontsize="medium")
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return data.getvalue()

# SPDX-License-Identifier: Apache-2.0
"""The table of a trace, as text."""

from __future__ import annotations

import shlex

from strid_memory.symbols import all_named_stacks
from strid_memory.trace_file import (
    EXACT_MAX,
    FIRST_OCTAVE,
    KINDS,
    LIFETIME_BUCKETS,
    OCTAVES,
    RELEASES,
    SIZE_GROUPS,
    TIME_BOUNDS_NS,
    TIME_BUCKETS,
    Counters,
    ProcessTrace,
)
from strid_memory.traced import TracedRun

DETAILED_MAX = 10
THREADS_MAX = 20
STACKS_MAX = 10
FRAMES_MAX = 8
NAME_COLUMNS = 100
COMMON_MAX = 5
COMMAND_COLUMNS = 70
CLASSES = [0, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, EXACT_MAX]
_ENDS = {
    "exit": "exited",
    "exec": "executed another program",
    "killed": "ended by a signal or _exit",
    "running": "still runs",
}
_BARS = " .:-=+*#%@"


def number(value: int) -> str:
    return f"{value:,}"


def size(value: float) -> str:
    """Of bytes, with three digits that count."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    return ""


def duration(nanoseconds: float) -> str:
    for limit, unit, divisor in ((1e3, "ns", 1), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return f"{nanoseconds / divisor:.3g} {unit}"
    return f"{nanoseconds / 1e9:.4g} s"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def rows_of_sizes(counters: Counters) -> list[tuple[int, int, int, int]]:
    """(above, up to, calls, bytes) of each class that has calls; the first class is 0 bytes."""
    rows = []
    for low, high in zip([-1, *CLASSES[:-1]], CLASSES):
        by_size = [(n, counters.calls_of_size(n)) for n in range(low + 1, high + 1)]
        calls = sum(calls for _, calls in by_size)
        if calls:
            rows.append((low, high, calls, sum(n * calls for n, calls in by_size)))
    for octave in range(FIRST_OCTAVE, FIRST_OCTAVE + OCTAVES):
        calls, bytes_ = counters.calls_of_octave(octave)
        if calls:
            rows.append((1 << octave, 1 << octave + 1, calls, bytes_))
    return rows


def aligned(rows: list[list[str]], indent: str = "  ") -> list[str]:
    """Columns to the right, the first one to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        indent
        + "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def _bound(value: int) -> str:
    return str(value) if value <= EXACT_MAX else size(value).replace(".0 ", " ")


def _sizes(counters: Counters) -> list[str]:
    table = [["request, bytes", "calls", "share", "cumulative", "bytes", "share"]]
    seen = 0
    for low, high, calls, bytes_ in rows_of_sizes(counters):
        seen += calls
        name = "0" if high == 0 else f"{_bound(low + 1 if low < EXACT_MAX else low)}"
        table.append(
            [
                name if high == 0 else f"{name} to {_bound(high)}",
                number(calls),
                share(calls, counters.calls),
                share(seen, counters.calls),
                size(bytes_),
                share(bytes_, counters.bytes_allocated),
            ]
        )
    common = sorted(
        ((counters.calls_of_size(n), n) for n in range(EXACT_MAX + 1)), reverse=True
    )[:COMMON_MAX]
    names = [f"{n} ({share(calls, counters.calls)})" for calls, n in common if calls]
    return [*aligned(table), f"  most frequent sizes: {', '.join(names)}"] if names else []


def _lifetimes(counters: Counters, sample_period: int) -> list[str]:
    heads = ["up to 64 B", "up to 1 KiB", "larger"]
    lines = []
    if any(counters.lifetimes):
        table = [["lifetime, allocations of its thread", *heads]]
        groups = [
            counters.lifetimes[i * LIFETIME_BUCKETS : (i + 1) * LIFETIME_BUCKETS]
            for i in range(len(SIZE_GROUPS))
        ]
        # Buckets 0 and 1 are lifetimes of 0 and 1; then four octaves a row.
        low = 0
        while low < LIFETIME_BUCKETS:
            high = min(LIFETIME_BUCKETS, low + (1 if low == 0 else 3))
            counts = [sum(group[low:high]) for group in groups]
            if any(counts):
                table.append([f"below {number(1 << high - 1)}", *map(number, counts)])
            low = high
        lines += aligned(table)
    if any(counters.lifetimes_ns):
        table = [[f"lifetime, of 1 block in {sample_period}", *heads]]
        groups = [
            counters.lifetimes_ns[i * TIME_BUCKETS : (i + 1) * TIME_BUCKETS]
            for i in range(len(SIZE_GROUPS))
        ]
        for low in range(0, TIME_BUCKETS, 3):
            counts = [sum(group[max(0, low - 2) : low + 1]) for group in groups]
            if any(counts):
                bound = TIME_BOUNDS_NS[low] if low < len(TIME_BOUNDS_NS) else None
                name = f"below {duration(bound)}" if bound else "longer"
                table.append([name, *map(number, counts)])
        lines += aligned(table)
    return lines


def _threads(process: ProcessTrace) -> list[str]:
    threads = sorted(process.threads, key=lambda one: -(one.births + one.resizes))
    table = [["thread", "calls", "requested", "blocks ended", "of other threads"]]
    for thread in threads[:THREADS_MAX]:
        table.append(
            [
                f"{thread.name} ({thread.thread_id})",
                number(thread.births + thread.resizes),
                size(thread.bytes_allocated),
                number(thread.deaths),
                number(thread.foreign_frees),
            ]
        )
    lines = aligned(table)
    if len(threads) > THREADS_MAX:
        lines.append(f"  and {number(len(threads) - THREADS_MAX)} threads with fewer calls")
    return lines


def rates(process: ProcessTrace) -> list[tuple[float, float]]:
    """(seconds since the beginning, calls a second up to then) between samples."""
    found = []
    before_ns, before = process.begin_ns, 0
    for sample in process.samples:
        # The last sample may come right behind the one before.
        if sample.time_ns - before_ns >= process.series_interval_ns // 2:
            rate = (sample.calls - before) * 1e9 / (sample.time_ns - before_ns)
            found.append(((sample.time_ns - process.begin_ns) / 1e9, rate))
            before_ns, before = sample.time_ns, sample.calls
    return found


def _series(process: ProcessTrace, columns: int = 60) -> list[str]:
    """Live bytes over time as one line of characters."""
    if len(process.samples) < 2 or not process.peak_bytes:
        return []
    begin, end = process.begin_ns, max(process.last_seen_ns(), process.samples[-1].time_ns)
    levels = [0] * columns
    for sample in process.samples:
        column = min(columns - 1, (sample.time_ns - begin) * columns // max(1, end - begin))
        levels[column] = max(levels[column], sample.live_bytes)
    bars = "".join(
        _BARS[min(len(_BARS) - 1, -(-level * (len(_BARS) - 1) // process.peak_bytes))]
        for level in levels
    )
    return [f"  live bytes over time |{bars}|"]


def _overview(counters: Counters, lifetime_s: float) -> list[str]:
    calls = [
        f"{name.replace('_', ' ')} {number(counters.calls_of_kind(i))}"
        for i, name in enumerate(KINDS)
        if counters.calls_of_kind(i)
    ]
    ends = [
        f"{name} {number(count)}" for name, count in zip(RELEASES, counters.releases) if count
    ]
    rate = f", {counters.calls / lifetime_s:,.0f} a second" if lifetime_s > 0 else ""
    lines = [
        f"  requests: {number(counters.calls)} for {size(counters.bytes_allocated)}{rate}"
        f" ({', '.join(calls) or 'none'})",
        f"  releases: {number(counters.deaths + counters.unknown_frees)}"
        f" ({', '.join(ends) or 'none'}); by another thread {number(counters.foreign_frees)}"
        f" ({share(counters.foreign_frees, counters.deaths)})",
    ]
    if counters.unknown_frees:
        lines.append(
            f"  of these {number(counters.unknown_frees)} of blocks from before the trace or fork"
        )
    if counters.failures:
        lines.append(f"  refused by the allocator: {number(counters.failures)}")
    return lines


def process_lines(process: ProcessTrace) -> list[str]:
    counters = process.counters
    command = shlex.join(process.command)
    lifetime_ns = process.last_seen_ns() - process.begin_ns
    lines = [
        f"process {process.pid}: {command[:COMMAND_COLUMNS]}",
        f"  {process.executable}, child of {process.parent_pid}, began by {process.began_by},"
        f" {duration(lifetime_ns)}, {_ENDS[process.ended]}",
        f"  allocator {process.allocator}",
        *_overview(counters, lifetime_ns / 1e9),
        f"  live at most {size(process.peak_bytes)} in about {number(process.peak_blocks)} blocks,"
        f" after {duration(max(0, process.peak_ns - process.begin_ns))};"
        f" at the end {size(counters.live_bytes)} in {number(counters.live_blocks)}",
    ]
    fastest = max((rate for _, rate in rates(process)), default=0)
    if fastest:
        lines.append(
            f"  fastest in {duration(process.series_interval_ns)}: {fastest:,.0f} requests a second"
        )
    lines += _series(process)
    if process.untracked:
        lines.append(f"  calls that could not be followed: {number(process.untracked)}")
    lines += _sizes(counters)
    lines += _lifetimes(counters, process.sample_period)
    if len(process.threads) > 1:
        lines += _threads(process)
    return lines


def _process_table(processes: list[ProcessTrace]) -> list[str]:
    table = [["process", "requests", "requested", "live at most", "live at the end"]]
    for one in processes:
        table.append(
            [
                f"{one.pid} {shlex.join(one.command)[:40]}{' (fork)' * (one.began_by == 'fork')}",
                number(one.counters.calls),
                size(one.counters.bytes_allocated),
                size(one.peak_bytes),
                size(one.counters.live_bytes),
            ]
        )
    return aligned(table)


def _stacks(run: TracedRun) -> list[str]:
    """The stacks that ask for most bytes, the function that asks first."""
    stacks = all_named_stacks(run.processes)
    total = sum(bytes_ for bytes_, _ in stacks.values())
    lines = [f"call stacks by requested bytes, a sample for {size(run.stack_period)}:"]
    if not stacks:
        return [f"{lines[0]} none"]
    by_bytes = sorted(stacks.items(), key=lambda one: (-one[1][0], one[0]))
    for frames, (bytes_, calls) in by_bytes[:STACKS_MAX]:
        lines.append(
            f"  {size(bytes_)}, {share(bytes_, total)}, about {number(round(calls))} requests"
        )
        inner = frames[::-1]
        lines += [f"    {name[:NAME_COLUMNS]}" for name in inner[:FRAMES_MAX]]
        if len(inner) > FRAMES_MAX:
            lines.append(f"    and {len(inner) - FRAMES_MAX} callers")
    if len(by_bytes) > STACKS_MAX:
        rest = sum(bytes_ for _, (bytes_, _) in by_bytes[STACKS_MAX:])
        lines.append(f"  {number(len(by_bytes) - STACKS_MAX)} other stacks: {size(rest)}")
    lost = sum(process.stack_bytes_lost for process in run.processes)
    if lost:
        lines.append(f"  of stacks beyond 15,360 in a process: {size(lost)}")
    return lines


def report(run: TracedRun) -> str:
    """All of it: the processes with most requests in full, every one in a line."""
    processes = run.processes
    lines = [f"strid memory trace: {shlex.join(run.command)[:COMMAND_COLUMNS]}"]
    plural = "" if len(processes) == 1 else "es"
    lines.append(
        f"{number(len(processes))} process{plural}, {run.duration_s:.3f} s, status {run.status}"
    )
    if run.note:
        lines.append(f"the command itself was not traced: {run.note}")
    by_calls = sorted(processes, key=lambda one: -one.counters.calls)
    if len(processes) > 1:
        total = Counters()
        for one in processes:
            total.add(one.counters)
        lines += ["", "all processes", *_overview(total, run.duration_s), *_sizes(total), ""]
        lines += _process_table(by_calls[: 2 * DETAILED_MAX])
        if len(by_calls) > 2 * DETAILED_MAX:
            rest = len(by_calls) - 2 * DETAILED_MAX
            lines.append(f"  and {number(rest)} processes with fewer requests")
    if run.stack_period:
        lines += ["", *_stacks(run)]
    for one in by_calls[:DETAILED_MAX]:
        lines += ["", *process_lines(one)]
    if len(by_calls) > DETAILED_MAX:
        lines += ["", f"the other {number(len(by_calls) - DETAILED_MAX)} processes: --json"]
    return "\n".join(lines) + "\n"

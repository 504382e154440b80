# SPDX-License-Identifier: Apache-2.0
"""A trace as JSON; memory-tools/memory/README.md describes it."""

from __future__ import annotations

import json

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

FORMAT = "strid-memory-trace"
VERSION = 1


def _by_kind(counts: list[int]) -> dict[str, int]:
    return {name: count for name, count in zip(KINDS, counts) if count}


def _sizes(counters: Counters) -> list[dict]:
    found = []
    for size in range(EXACT_MAX + 1):
        calls = counters.calls_of_size(size)
        if calls:
            kinds = [counters.calls_of_size(size, kind) for kind in range(len(KINDS))]
            found.append({"bytes": size, "calls": calls, "by_kind": _by_kind(kinds)})
    return found


def _octaves(counters: Counters) -> list[dict]:
    found = []
    for octave in range(FIRST_OCTAVE, FIRST_OCTAVE + OCTAVES):
        calls, requested = counters.calls_of_octave(octave)
        if calls:
            at = octave - FIRST_OCTAVE
            found.append(
                {
                    "above_bytes": 1 << octave,
                    "up_to_bytes": 1 << octave + 1,
                    "calls": calls,
                    "requested_bytes": requested,
                    "by_kind": _by_kind(counters.octave_calls[at::OCTAVES]),
                }
            )
    return found


def _histogram(counts: list[int], buckets: int, bounds: list[int | None], unit: str) -> list[dict]:
    groups = [counts[i * buckets : (i + 1) * buckets] for i in range(len(SIZE_GROUPS))]
    return [
        {f"below_{unit}": bounds[i], "blocks_by_size_group": [group[i] for group in groups]}
        for i in range(buckets)
        if any(group[i] for group in groups)
    ]


def counters_object(counters: Counters) -> dict:
    return {
        "calls": counters.calls,
        "calls_by_kind": {
            name: counters.calls_of_kind(kind) for kind, name in enumerate(KINDS)
        },
        "requested_bytes": counters.bytes_allocated,
        "blocks_begun": counters.births,
        "blocks_ended": counters.deaths,
        "blocks_resized": counters.resizes,
        "releases_by_kind": dict(zip(RELEASES, counters.releases)),
        "releases_of_null": counters.null_frees,
        "releases_of_unknown_blocks": counters.unknown_frees,
        "releases_by_another_thread": counters.foreign_frees,
        "bytes_released_by_another_thread": counters.foreign_bytes,
        "refused": counters.failures,
        "live_bytes_at_end": counters.live_bytes,
        "live_blocks_at_end": counters.live_blocks,
        "sizes": _sizes(counters),
        "octaves": _octaves(counters),
        "size_groups_up_to_bytes": list(SIZE_GROUPS),
        "lifetimes_in_allocations": _histogram(
            counters.lifetimes, LIFETIME_BUCKETS, [1 << i for i in range(LIFETIME_BUCKETS)], "calls"
        ),
        "lifetimes_in_time_sampled": _histogram(
            counters.lifetimes_ns, TIME_BUCKETS, [*TIME_BOUNDS_NS, None], "ns"
        ),
    }


def process_object(process: ProcessTrace, origin_ns: int) -> dict:
    """Times in seconds since the command began."""

    def seconds(moment_ns: int | None) -> float | None:
        return None if moment_ns is None else round((moment_ns - origin_ns) / 1e9, 9)

    return {
        "pid": process.pid,
        "parent_pid": process.parent_pid,
        "began_by": process.began_by,
        "command": process.command,
        "executable": process.executable,
        "allocator": process.allocator,
        "begin_s": seconds(process.begin_ns),
        "end_s": seconds(process.end_ns),
        "ended": process.ended,
        "peak": {
            "live_bytes": process.peak_bytes,
            "live_blocks": process.peak_blocks,
            "time_s": seconds(process.peak_ns),
        },
        "calls_not_followed": process.untracked,
        "lifetime_sample_period": process.sample_period,
        "counters": counters_object(process.counters),
        "threads_without_record": process.threads_unnamed,
        "threads": [
            {
                "thread_id": one.thread_id,
                "name": one.name,
                "begin_s": seconds(one.begin_ns),
                "end_s": seconds(one.end_ns),
                "calls": one.births + one.resizes,
                "requested_bytes": one.bytes_allocated,
                "blocks_ended": one.deaths,
                "releases_of_other_threads": one.foreign_frees,
            }
            for one in process.threads
        ],
        "series": {
            "interval_s": process.series_interval_ns / 1e9,
            "columns": [
                "time_s", "calls", "blocks_ended", "requested_bytes", "live_bytes", "live_blocks"
            ],
            "rows": [
                [
                    seconds(one.time_ns),
                    one.calls,
                    one.deaths,
                    one.bytes_allocated,
                    one.live_bytes,
                    one.live_blocks,
                ]
                for one in process.samples
            ],
        },
    }


def run_object(run: TracedRun) -> dict:
    total = Counters()
    for process in run.processes:
        total.add(process.counters)
    return {
        "format": FORMAT,
        "version": VERSION,
        "command": run.command,
        "status": run.status,
        "timed_out": run.timed_out,
        "duration_s": run.duration_s,
        "not_traced": run.note,
        "total": counters_object(total),
        "stack_period_bytes": run.stack_period,
        "stacks": [
            {"bytes": bytes_, "calls": calls, "functions": list(frames)}
            for frames, (bytes_, calls) in sorted(
                all_named_stacks(run.processes).items(), key=lambda one: -one[1][0]
            )
        ],
        "stack_bytes_lost": sum(one.stack_bytes_lost for one in run.processes),
        "processes": [process_object(one, run.begin_ns) for one in run.processes],
    }


def dump(run: TracedRun) -> bytes:
    return json.dumps(run_object(run), separators=(",", ":")).encode() + b"\n"

# SPDX-License-Identifier: Apache-2.0
"""Which processors a run uses: one of each core first, so that 2 cores are two and not one."""

import os
import pathlib

from strid_memory.errors import UsageError

TOPOLOGY = pathlib.Path("/sys/devices/system/cpu")


def core_of(processor: int) -> tuple:
    """The identity of a processor's core; the processor itself where the kernel hides it."""
    folder = TOPOLOGY / f"cpu{processor}" / "topology"
    try:
        return tuple(
            int((folder / name).read_text()) for name in ("physical_package_id", "core_id")
        )
    except (OSError, ValueError):
        return (-1, processor)


def by_core(processors) -> list[int]:
    """The processors in the order in which they are used: the first of each core, then the rest."""
    first, rest, seen = [], [], set()
    for processor in sorted(processors):
        core = core_of(processor)
        (rest if core in seen else first).append(processor)
        seen.add(core)
    return first + rest


def sets_of(counts: list[int]) -> dict[int, list[int]]:
    """The processors of each count, out of those that this process may use."""
    usable = by_core(os.sched_getaffinity(0))
    for count in counts:
        if count > len(usable):
            raise UsageError(f"--cores {count}: this process may use {len(usable)} processors")
    return {count: sorted(usable[:count]) for count in counts}


def others(chosen: list[int]) -> list[int]:
    """Those that stay for the measuring program; empty where all are chosen."""
    return sorted(os.sched_getaffinity(0) - set(chosen))


def default_counts() -> list[int]:
    """1 and all."""
    return sorted({1, len(os.sched_getaffinity(0))})

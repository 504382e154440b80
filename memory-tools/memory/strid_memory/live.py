# SPDX-License-Identifier: Apache-2.0
"""The peak of a command's live bytes under an allocator, from one run under the trace library."""

import subprocess

from strid_memory import traced
from strid_memory.allocators import Allocator
from strid_memory.errors import MemoryToolError
from strid_memory.runner import RunSettings


class NotTraced(Exception):
    """There is no trace; the text says why. The rest is measured without."""


def peak_of(processes: list) -> int:
    """The most bytes that were live in all processes together: exact for one process; for more,
    from the samples that each took, and at least the peak of each."""
    peak = max((process.peak_bytes for process in processes), default=0)
    if len(processes) < 2:
        return peak
    changes = []
    for process in processes:
        before = 0
        for sample in process.samples:
            changes.append((sample.time_ns, sample.live_bytes - before))
            before = sample.live_bytes
        changes.append((process.last_seen_ns() + 1, -before))
    live = 0
    for _, change in sorted(changes):
        live += change
        peak = max(peak, live)
    return peak


def peak_live_bytes(settings: RunSettings, allocator: Allocator) -> int:
    """Runs the command once, traced. Raises NotTraced, and KeyboardInterrupt after a signal."""
    stdin = open(settings.stdin, "rb") if settings.stdin else subprocess.DEVNULL
    try:
        run = traced.run(
            settings.command,
            preload=[allocator.library] if allocator.library else [],
            timeout_s=None if settings.timeout_s is None else 10 * settings.timeout_s,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except MemoryToolError as error:
        raise NotTraced(f"the trace failed: {error}") from None
    finally:
        if settings.stdin:
            stdin.close()
    if run.interrupted:
        raise KeyboardInterrupt
    if run.timed_out or run.status not in settings.expect_status or not run.processes:
        raise NotTraced(f"the traced run under {allocator.name} did not end as the others do")
    return peak_of(run.processes)

# SPDX-License-Identifier: Apache-2.0
"""The processes that a process started, as /proc has them."""

from __future__ import annotations

import os
import pathlib
import signal
import time

_STOP_S = 1  # a process in a system call that cannot be interrupted stops later


def _stats() -> dict[int, list[str]]:
    """The fields of each process, from its state on."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in parentheses may hold spaces and parentheses.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(entry.name)] = fields
    return found


def descendants(root: int) -> set[int]:
    """The process and what it started, as far as their parents still live."""
    parents = {pid: int(fields[1]) for pid, fields in _stats().items()}
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def terminated(root: int) -> set[int]:
    """Sends SIGTERM to the process and to all that it started, and returns them. They are stopped
    before, so that none of them starts another one that is not among them."""
    found: set[int] = set()
    end = time.monotonic() + _STOP_S
    while more := descendants(root) - found:
        signal_all(more, signal.SIGSTOP)
        found |= more
        while _are_running(found) and time.monotonic() < end:
            time.sleep(0.001)
    signal_all(found, signal.SIGTERM)
    signal_all(found, signal.SIGCONT)
    return found


def _are_running(pids: set[int]) -> bool:
    stats = _stats()
    return any(stats[pid][0] not in "TtZX" for pid in pids & stats.keys())


def signal_all(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            continue

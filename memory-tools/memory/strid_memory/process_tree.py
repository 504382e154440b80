# SPDX-License-Identifier: Apache-2.0
"""The processes that a process started, as /proc has them."""

from __future__ import annotations

import os
import pathlib


def _parents() -> dict[int, int]:
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in parentheses may hold spaces and parentheses.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(entry.name)] = int(fields[1])
    return found


def descendants(root: int) -> set[int]:
    """The process and what it started, as far as their parents still live."""
    parents = _parents()
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def signal_all(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            continue

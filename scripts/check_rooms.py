#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a room of the library includes only rooms above it, and a folder of the repository
only folders that it may.

The rooms stand in the order of the table in ARCHITECTURE.md. A room has its public headers in
include/strid/<room>, those of the engine in include/strid/engine/<room>, its sources in src/<room>.
A header of the library is always included as <strid/room/file.hpp>; "file.hpp" is for a private
header beside the source that includes it. Only <strid/strid.hpp>, which belongs to no room, may
include every room.

The folders stand in the second table of ARCHITECTURE.md. Every folder may include headers of the
library; "file.hpp" lies beside the file that includes it, "folder/file.hpp" beside it or below the
root. A paper includes no other paper, and no other folder includes a paper.

    check_rooms.py [ROOT]      prints each violation as file:line: what, and fails if there is one
"""

import re
import sys
from pathlib import Path

from source_text import code_files

ROOMS = [
    "base",
    "memory",
    "state",
    "search",
    "channel",
    "http",
    "tls",
    "message",
    "block",
    "runtime",
    "operator",
    "kernel",
    "window",
    "pattern",
    "stream",
    "program",
    "operate",
    "test",
    "connector",
    "table",
    "kafka",
    "mqtt",
    "nats",
    "parquet",
    "postgres",
    "redis",
    "rocksdb",
    "sqlite",
    "webhook",
    "test",
]
# Folders of the engine that belong to a room of another name.
ROOM_OF_FOLDER = {"plan": "stream"}
UMBRELLA = Path("include/strid/strid.hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
LIBRARY_HEADER = re.compile(r"strid/(?:engine/)?([a-z_]+)/([a-z0-9_]+/)*[a-z0-9_]+\.hpp")
# Folder -> what its files may include besides the library and themselves.
FOLDERS = {
    "apps": ["tools/common"],
    "bench": [],
    "examples": [],
    "memory-tools": ["tests"],
    "papers": ["apps", "bench", "tests", "tools/common"],
    "tests": ["src", "tools"],
    "tools": [],
}


def room_of(path: Path) -> str:
    """The room that a file of the library lies in, by its folder."""
    parts = [part for part in path.parts if part not in ("include", "strid", "engine", "src")]
    return ROOM_OF_FOLDER.get(parts[0], parts[0])


def fault_of_include(root: Path, path: Path, quote: str, target: str) -> str | None:
    """The fault of one include of the library's file `path`, or None."""
    if quote == '"':
        if path.parts[0] == "include":
            return f'"{target}" in a public header: write <strid/room/file.hpp>'
        if "/" in target or not (root / path.parent / target).is_file():
            return f'"{target}" is not a private header beside this file'
        return None
    if not target.startswith("strid/"):
        return None
    found = LIBRARY_HEADER.fullmatch(target)
    if not found:
        return f"<{target}> is not of the form <strid/room/file.hpp>"
    if not (root / "include" / target).is_file():
        return f"<{target}> does not exist"
    if path == UMBRELLA:
        return None
    here, there = room_of(path), ROOM_OF_FOLDER.get(found.group(1), found.group(1))
    if there not in ROOMS:
        return f"<{target}> lies in no room"
    if ROOMS.index(there) > ROOMS.index(here):
        return f"room {here} must not know room {there}: <{target}>"
    return None


def unit_of(path: Path) -> str:
    """A folder of the repository, or one paper: its files may include each other."""
    return "/".join(path.parts[: 2 if path.parts[0] == "papers" else 1])


def fault_between_folders(root: Path, path: Path, target: str) -> str | None:
    """The fault of #include "target" in a file beside the library, or None."""
    for start in (root / path.parent, root):
        file = (start / target).resolve()
        if file.is_file() and file.is_relative_to(root):
            there = file.relative_to(root)
            break
    else:
        return None  # of a folder that the compiler is told, below the same unit
    allowed = [unit_of(path), *FOLDERS[path.parts[0]]]
    if any(there.is_relative_to(folder) for folder in allowed):
        return None
    return f"{allowed[0]} must not include {unit_of(there)}: \"{target}\""


def check_folders(root: Path) -> list[str]:
    faults = []
    for file in code_files(root, list(FOLDERS)):
        path = file.relative_to(root)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found.group(1) == '"':
                fault = fault_between_folders(root, path, found.group(2))
                faults += [f"{path}:{number}: {fault}"] if fault else []
    return faults


def check(root: Path) -> list[str]:
    """Every violation of the tree at `root`, one line each."""
    faults = check_folders(root)
    files = code_files(root, ["include/strid", "src"])
    if not files:
        faults.append(f"{root}: no file of the library found")
    for file in files:
        path = file.relative_to(root)
        in_room = path != UMBRELLA
        if in_room and (len(path.parts) < 3 or room_of(path) not in ROOMS):
            faults.append(f"{path}:1: lies in no room")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            fault = found and fault_of_include(root, path, found.group(1), found.group(2))
            if fault:
                faults.append(f"{path}:{number}: {fault}")
    return faults


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    faults = check(root.resolve())
    print("\n".join(faults) if faults else "rooms: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Whether a program can be traced: which file a command is, and what the loader does with it."""

from __future__ import annotations

import os
import pathlib
import shutil
import stat
import struct
import sys

from strid_memory.errors import MemoryToolError

_SCRIPT_DEPTH_MAX = 4
_PT_INTERP = 3


def find_command(name: str, environment: dict[str, str]) -> pathlib.Path:
    """The file that the command is; MemoryToolError if there is none that can be run."""
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found:
        return pathlib.Path(found)
    path = pathlib.Path(name)
    if "/" not in name:
        raise MemoryToolError(f"{name}: command not found")
    if path.is_dir():
        raise MemoryToolError(f"{name}: Is a directory")
    if path.exists():
        raise MemoryToolError(f"{name}: Permission denied")
    raise MemoryToolError(f"{name}: No such file or directory")


def _interpreter(head: bytes) -> str | None:
    """Of a script: the program that its first line names."""
    if not head.startswith(b"#!"):
        return None
    words = head[2:].split(b"\n", 1)[0].split()
    if not words:
        return None
    name = words[0].decode(errors="replace")
    if os.path.basename(name) == "env":
        arguments = [word.decode(errors="replace") for word in words[1:] if word[:1] != b"-"]
        return shutil.which(arguments[0]) if arguments else name
    return name


def _has_loader(path: pathlib.Path, head: bytes) -> bool:
    """Whether the ELF file names a loader of shared libraries."""
    offset = struct.unpack_from("=Q", head, 32)[0]
    size, count = struct.unpack_from("=HH", head, 54)
    with path.open("rb") as file:
        file.seek(offset)
        table = file.read(size * count)
    kinds = [
        struct.unpack_from("=I", table, i)[0] for i in range(0, len(table) - size + 1, size)
    ]
    return _PT_INTERP in kinds


def untraceable_reason(path: pathlib.Path, depth: int = 0) -> str | None:
    """Why the loader will preload nothing into this program; None if it should."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(256)
    except OSError:
        return None  # it may be run without being read
    script = _interpreter(head)
    if script and depth < _SCRIPT_DEPTH_MAX:
        return untraceable_reason(pathlib.Path(script), depth + 1)
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return f"{path} is set-uid: the loader ignores preloaded libraries"
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getegid():
        return f"{path} is set-gid: the loader ignores preloaded libraries"
    if "security.capability" in _attributes(path) and os.geteuid() != 0:
        return f"{path} has file capabilities: the loader ignores preloaded libraries"
    if not head.startswith(b"\x7fELF"):
        return None
    own_class = 2 if sys.maxsize > 2**32 else 1
    if head[4] != own_class:
        return f"{path} is not a program of {64 if own_class == 2 else 32} bits"
    if len(head) >= 64 and not _has_loader(path, head):
        return f"{path} is statically linked: it has no loader that preloads libraries"
    return None


def _attributes(path: pathlib.Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []

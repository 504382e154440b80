# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import pathlib
import stat
import tempfile

from strid_memory.errors import MemoryToolError


def write_whole(path: str | os.PathLike, data: bytes) -> None:
    """Replaces the file at once, when all of `data` is on the disk; else leaves it as it is."""
    path = pathlib.Path(path)
    if path.exists() and not path.is_file():
        # A device or a pipe is written to; renaming would replace it.
        try:
            path.write_bytes(data)
        except OSError as error:
            raise MemoryToolError(f"{path}: {error.strerror}") from None
        return
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # By descriptor: another user of the folder may have put a link in its place.
            os.fchmod(file.fileno(), _mode_of(path))
            os.fsync(file.fileno())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise MemoryToolError(f"{path}: {error.strerror}") from None
    finally:
        if temporary:
            os.unlink(temporary)


def _mode_of(path: pathlib.Path) -> int:
    """The permissions of the file that is replaced, or of any new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def check_writable(path: str | os.PathLike) -> None:
    """Fails before a long run rather than after it."""
    path = pathlib.Path(path)
    if path.is_dir():
        raise MemoryToolError(f"{path}: Is a directory")
    if not path.parent.is_dir():
        raise MemoryToolError(f"{path}: No such file or directory")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise MemoryToolError(f"{path}: Permission denied")

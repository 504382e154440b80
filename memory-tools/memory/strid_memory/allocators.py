# SPDX-License-Identifier: Apache-2.0
"""Finds the allocators that a program can be run under: libraries to preload, by name."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

from strid_memory.errors import MemoryToolError, UsageError

GLIBC = "glibc"
# By name, the files that the allocator is known as, the best first. The C library is preloaded by
# nothing.
FILES = {
    "jemalloc": ["libjemalloc.so.2", "libjemalloc.so"],
    "tcmalloc": ["libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so", "libtcmalloc.so.4"],
    "mimalloc": ["libmimalloc.so.2.0", "libmimalloc.so.2"],
    "mimalloc3": ["libmimalloc.so.3", "libmimalloc.so.3.0"],
    "tbb": ["libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so"],
    "hoard": ["libhoard.so"],
    "snmalloc": ["libsnmallocshim.so", "libsnmalloc.so"],
    "rpmalloc": ["librpmallocwrap.so", "librpmalloc.so"],
    "strid": ["libstrid_malloc.so"],
    "strid-tlsf": ["libstrid_tlsf.so"],
    "strid-miser": ["libstrid_miser.so"],
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
ELF_MAGIC = b"\x7fELF"


@dataclasses.dataclass(frozen=True)
class Allocator:
    """An allocator; `library` is None for that of the C library."""

    name: str
    library: pathlib.Path | None


def program_folders() -> list[pathlib.Path]:
    """Where the parts of this program lie: beside it in a build, below lib where installed. A link
    to the program counts as it, and what it points to."""
    chosen = os.environ.get("STRID_MEMORY_LIBRARIES")
    folders = list(map(pathlib.Path, chosen.split(":") if chosen else []))
    program = os.path.abspath(sys.argv[0])
    for here in (pathlib.Path(program).parent, pathlib.Path(os.path.realpath(program)).parent):
        folders += [here / "memory", here.parent / "malloc"]
        several = (f"lib/{path.name}" for path in here.parent.glob("lib/*-linux-*"))
        for library in ("lib", "lib64", *several):
            folders += [here.parent / library / "strid" / "memory", here.parent / library]
    return list(dict.fromkeys(folders))


def part_of_program(file: str) -> pathlib.Path:
    """A file that is built with this program."""
    for folder in program_folders():
        if (folder / file).is_file():
            return folder / file
    raise MemoryToolError(
        f"{file} is not beside {sys.argv[0]}: build it (target strid_memory), or name its folder"
        " in STRID_MEMORY_LIBRARIES"
    )


def library_folders() -> list[pathlib.Path]:
    """Where the loader looks, and what is usual beside it."""
    folders = [pathlib.Path(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    environment = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/sbin:/usr/sbin"}
    try:
        cache = subprocess.run(
            ["ldconfig", "-p"], capture_output=True, text=True, env=environment, timeout=20
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        cache = ""
    folders += [pathlib.Path(path).parent for path in re.findall(r"=> (/\S+)", cache)]
    folders += map(pathlib.Path, ["/usr/local/lib", "/usr/lib", "/usr/lib64"])
    return list(dict.fromkeys(folders))


def installed() -> dict[str, Allocator]:
    """Those found on this machine, by name, glibc first."""
    folders = program_folders() + library_folders()
    found = {GLIBC: Allocator(GLIBC, None)}
    for name, files in FILES.items():
        paths = (folder / file for file in files for folder in folders)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found[name] = Allocator(name, path)
    return found


def choose(text: str | None) -> tuple[dict[str, Allocator], list[str]]:
    """The allocators of a list `NAME,NAME=PATH,...`, or all that are found; and the names of those
    that are known and not found."""
    here = installed()
    missing = [name for name in FILES if name not in here]
    if text is None:
        return here, missing
    chosen: dict[str, Allocator] = {}
    for word in filter(None, text.split(",")):
        name, given, path = word.partition("=")
        if not NAME.fullmatch(name):
            raise UsageError(f"--allocators {word}: not the name of an allocator")
        if name in chosen:
            raise UsageError(f"--allocators {text}: {name} is there twice")
        if given:
            chosen[name] = Allocator(name, checked(name, pathlib.Path(path)))
        elif name in here:
            chosen[name] = here[name]
        elif name in FILES:
            raise MemoryToolError(
                f"--allocators {name}: {' or '.join(FILES[name])} is not installed;"
                f" {name}=PATH names the file"
            )
        else:
            raise UsageError(
                f"--allocators {name}: unknown; known are {', '.join([GLIBC, *FILES])}, and"
                " NAME=PATH"
            )
    if not chosen:
        raise UsageError("--allocators names none")
    return chosen, []


def checked(name: str, path: pathlib.Path) -> pathlib.Path:
    """The path as the loader takes it; an error where it can load nothing from it."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(ELF_MAGIC))
    except OSError as error:
        raise MemoryToolError(f"--allocators {name}: {path}: {error.strerror}") from None
    if magic != ELF_MAGIC:
        raise MemoryToolError(f"--allocators {name}: {path}: not a library")
    absolute = path.absolute()
    # The list of LD_PRELOAD is divided by colons and blanks, and has no way to quote them.
    if re.search(r"[:\s]", str(absolute)):
        raise MemoryToolError(
            f"--allocators {name}: {absolute}: a library with a colon or a blank in its path"
            " cannot be preloaded"
        )
    return absolute

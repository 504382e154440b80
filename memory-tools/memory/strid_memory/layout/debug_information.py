# SPDX-License-Identifier: Apache-2.0
"""Opens the debug information of a file: its own, or the separate file that it names."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pathlib
import struct

from strid_memory.errors import MemoryToolError
from strid_memory.layout.relocation import relocated_dwarf

COMPRESSION = (
    "its debug information is compressed in a way that is not read: "
    "objcopy --decompress-debug-sections makes a file that is"
)
DEBUG_FOLDER = pathlib.Path("/usr/lib/debug")


def library():
    """pyelftools, or an error that says how to get it."""
    try:
        importlib.import_module("elftools.elf.elffile")
        return importlib.import_module("elftools")
    except ImportError:
        raise MemoryToolError(
            "reading debug information needs the package pyelftools: "
            "python3 -m pip install pyelftools"
        ) from None


@contextlib.contextmanager
def damage_is_an_error(path: pathlib.Path):
    """Whatever the library meets in a file that is cut or damaged becomes one line."""
    from elftools.common.exceptions import DWARFError, ELFCompressionError, ELFError

    try:
        yield
    except (MemoryToolError, KeyboardInterrupt, BrokenPipeError):
        raise
    except ELFCompressionError as error:
        raise MemoryToolError(f"{path}: {COMPRESSION} ({error})") from None
    except NotImplementedError as error:
        raise MemoryToolError(f"{path}: a form of debug information is not read: {error}") from None
    except OSError as error:
        raise MemoryToolError(f"{path}: {error.strerror or error}") from None
    except (
        ELFError, DWARFError, ArithmeticError, AssertionError, AttributeError, LookupError,
        RecursionError, TypeError, ValueError, struct.error, MemoryError,
    ) as error:  # fmt: skip
        what = str(error) or type(error).__name__
        raise MemoryToolError(f"{path}: is cut or damaged: {what.splitlines()[0]}") from None


def build_identity(elf) -> str:
    """In hexadecimal digits, or nothing."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    if section is None:
        return ""
    for note in section.iter_notes():
        if note["n_type"] == "NT_GNU_BUILD_ID":
            return note["n_desc"]
    return ""


def separate_files(path: pathlib.Path, elf) -> list[pathlib.Path]:
    """Where the debug information of a stripped file may be, as gdb looks for it."""
    found = []
    identity = build_identity(elf)
    if identity:
        found.append(DEBUG_FOLDER / ".build-id" / identity[:2] / f"{identity[2:]}.debug")
    link = elf.get_section_by_name(".gnu_debuglink")
    if link is not None:
        name = os.fsdecode(link.data().split(b"\0")[0])
        folder = path.resolve().parent
        found += [folder / name, folder / ".debug" / name]
        found.append(DEBUG_FOLDER / folder.relative_to("/") / name)
    return [file for file in found if file.is_file()]


def loader_beside(path: pathlib.Path):
    """Opens the file that debug information was moved to, named from the folder of `path`."""

    def load(name):
        try:
            return open(path.resolve().parent / os.fsdecode(name), "rb")
        except OSError as error:
            raise MemoryToolError(
                f"{path}: its debug information needs {os.fsdecode(name)}: {error.strerror}"
            ) from None

    return load


def open_elf(path: pathlib.Path):
    from elftools.elf.elffile import ELFFile

    try:
        content = path.read_bytes()
    except OSError as error:
        raise MemoryToolError(f"{path}: {error.strerror}") from None
    if content.startswith(b"!<arch>\n"):
        raise MemoryToolError(f"{path}: is an archive: extract an object file from it (ar x)")
    if not content.startswith(b"\x7fELF"):
        raise MemoryToolError(f"{path}: is no object file or executable (ELF)")
    with damage_is_an_error(path):
        elf = ELFFile(io.BytesIO(content), loader_beside(path))
        end = elf["e_shoff"] + elf["e_shnum"] * elf["e_shentsize"]
        for section in elf.iter_sections():
            if section["sh_type"] != "SHT_NOBITS":
                end = max(end, section["sh_offset"] + section["sh_size"])
        if end > len(content):
            raise MemoryToolError(
                f"{path}: is cut: {len(content)} bytes of at least {end} are there"
            )
        return elf


def dwarf_of(path: pathlib.Path):
    """The debug information of `path` as pyelftools gives it."""
    elf = open_elf(path)
    with damage_is_an_error(path):
        candidates = [] if elf.has_dwarf_info(True) else separate_files(path, elf)
        for candidate in candidates:
            other = open_elf(candidate)
            if other.has_dwarf_info(True) and build_identity(other) == build_identity(elf):
                elf = other
                break
        if not elf.has_dwarf_info(True):
            stripped = elf.get_section_by_name(".symtab") is None
            why = "it was stripped, or compiled without -g" if stripped else "compile with -g"
            raise MemoryToolError(f"{path}: has no debug information ({why})")
        names = [section.name for section in elf.iter_sections()]
        if names.count(".debug_info") > 1 or names.count(".debug_types") > 1:
            raise MemoryToolError(
                f"{path}: its types are in sections of their own (-fdebug-types-section): "
                "name the executable that is linked of it"
            )
        if ".zdebug_info" in names and elf["e_type"] == "ET_REL":
            raise MemoryToolError(f"{path}: {COMPRESSION} (zlib-gnu)")
        return relocated_dwarf(elf)

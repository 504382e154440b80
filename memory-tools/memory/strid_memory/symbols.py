# SPDX-License-Identifier: Apache-2.0
"""The names of functions: of addresses in memory, by the symbol tables of the files that the code
is from. A file without symbols, or that is gone, gives its own name and the address in it."""

from __future__ import annotations

import bisect
import ctypes
import functools
import mmap
import os
import struct

from strid_memory.trace_file import ProcessTrace
from strid_memory.trace_stacks import Module

_SYMBOL = struct.Struct("=IBBHQQ")
_SECTION = struct.Struct("=IIQQQQIIQQ")
_SYMTAB, _DYNSYM = 2, 11
_FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_OWN = ("libstrid_trace.so", "libstrid_stacks.so", "libunwind.so.8")


@functools.cache
def _demangler():
    try:
        function = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return function


@functools.lru_cache(maxsize=65536)
def demangled(name: str) -> str:
    function = _demangler() if name.startswith("_Z") else None
    if not function:
        return name
    status = ctypes.c_int()
    text = function(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(text)


def _read_symbols(path: str) -> list[tuple[int, int, str]]:
    """(address, bytes, name) of each function, by address; of a file that is no ELF file, none."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:5] != b"\x7fELF\x02":
            return []
        offset, size, count = *struct.unpack_from("=Q", data, 40), *struct.unpack_from(
            "=HH", data, 58
        )
        sections = [_SECTION.unpack_from(data, offset + i * size) for i in range(count)]
        found = [one for one in sections if one[1] == _SYMTAB] or [
            one for one in sections if one[1] == _DYNSYM
        ]
        symbols = {}
        for section in found:
            texts = sections[section[6]]
            text = data[texts[4] : texts[4] + texts[5]]
            table = data[section[4] : section[4] + section[5] // _SYMBOL.size * _SYMBOL.size]
            for name, info, _, defined, address, length in _SYMBOL.iter_unpack(table):
                if defined and info & 15 in _FUNCTIONS:
                    end = text.find(b"\0", name)
                    symbols[address] = (address, length, text[name:end].decode(errors="replace"))
        return sorted(symbols.values())


@functools.lru_cache(maxsize=256)
def _symbols(path: str) -> list[tuple[int, int, str]]:
    try:
        return _read_symbols(path)
    except (OSError, ValueError, IndexError, struct.error):
        return []


def _function_at(module: Module, address: int) -> str:
    symbols = _symbols(module.path)
    place = address - module.base
    at = bisect.bisect_right(symbols, (place, 1 << 64, "")) - 1
    if at >= 0 and place < symbols[at][0] + max(symbols[at][1], 1):
        return demangled(symbols[at][2])
    return f"{os.path.basename(module.path)}+{place:#x}"


def named_stacks(process: ProcessTrace) -> dict[tuple[str, ...], tuple[float, float]]:
    """(bytes, calls) of each stack of names, the outermost first. The trace's own frames are left
    out, operator new among them, so that the last name is the function that asks."""
    names: dict[int, str] = {}

    def name_of(address: int) -> str:
        # A call may be the last instruction of a function: the return address is behind it.
        place = address - 1
        module = next((m for m in process.modules if m.begin <= place < m.end), None)
        if module is None:
            return f"{address:#x}"
        if os.path.basename(module.path) in _OWN:
            return ""
        return _function_at(module, place)

    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for stack in process.stacks:
        for address in stack.frames:
            if address not in names:
                names[address] = name_of(address)
        frames = tuple(filter(None, (names[address] for address in reversed(stack.frames))))
        bytes_, calls = found.get(frames, (0, 0.0))
        found[frames] = (bytes_ + stack.bytes, calls + stack.calls)
    return found


def all_named_stacks(processes: list[ProcessTrace]) -> dict[tuple[str, ...], tuple[float, float]]:
    """Of all processes together."""
    total: dict[tuple[str, ...], tuple[float, float]] = {}
    for process in processes:
        for frames, (bytes_, calls) in named_stacks(process).items():
            before = total.get(frames, (0, 0.0))
            total[frames] = (before[0] + bytes_, before[1] + calls)
    return total

# SPDX-License-Identifier: Apache-2.0
"""Reads the call stacks of a traced process, and the files that their code is in, from its file;
their form is trace/trace_format.hpp."""

from __future__ import annotations

import dataclasses
import struct

_HEAD_BYTES = 16
_STACK_FRAMES = 59
_STACK = struct.Struct(f"=dQQQ{_STACK_FRAMES}Q")
_MODULE = struct.Struct("=QQQ232s")
_CHUNK_STACKS, _CHUNK_MODULES = 5, 6


@dataclasses.dataclass
class Stack:
    """Requests from one place; `frames` are return addresses, the innermost first."""

    bytes: int
    calls: float  # estimated from the bytes
    frames: tuple[int, ...]


@dataclasses.dataclass
class Module:
    """A file of code; an address in memory less `base` is one in the file."""

    base: int
    begin: int
    end: int
    path: str


def read_stacks(data: bytes, chunks: list[tuple[int, int, int]]) -> tuple[list[Stack], int]:
    """The stacks, and the bytes of those that were not kept; a chunk is (type, index, offset)."""
    stacks, lost = [], 0
    for kind, _, offset in sorted(chunks, key=lambda chunk: chunk[1]):
        if kind != _CHUNK_STACKS:
            continue
        used, lost_here = struct.unpack_from("=QQ", data, offset + _HEAD_BYTES)
        lost += lost_here
        for i in range(used):
            calls, bytes_, _, depth, *frames = _STACK.unpack_from(
                data, offset + _HEAD_BYTES + 16 + i * _STACK.size
            )
            stacks.append(Stack(bytes_, calls, tuple(frames[:depth])))
    return stacks, lost


def read_modules(
    data: bytes, chunks: list[tuple[int, int, int]], executable: str
) -> list[Module]:
    modules = []
    for kind, _, offset in sorted(chunks, key=lambda chunk: chunk[1]):
        if kind != _CHUNK_MODULES:
            continue
        (used,) = struct.unpack_from("=Q", data, offset + _HEAD_BYTES)
        for i in range(used):
            base, begin, end, path = _MODULE.unpack_from(
                data, offset + _HEAD_BYTES + 8 + i * _MODULE.size
            )
            name = path.partition(b"\0")[0].decode(errors="replace")
            modules.append(Module(base, begin, end, name or executable))
    return modules

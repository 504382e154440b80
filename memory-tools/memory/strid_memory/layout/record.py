# SPDX-License-Identifier: Apache-2.0
"""A class as it lies in memory: plain values, read from debug information by `types`."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Member:
    """A part of an object. Positions are in bits, because of bit-fields."""

    kind: str  # member, base, vptr, virtual base
    name: str
    type_name: str
    bit: int | None  # from the beginning of the object; None: decided when the program runs
    bits: int  # 0: an empty base or a flexible array
    alignment: int
    is_bit_field: bool = False
    storage_bytes: int = 0  # of a bit-field: its declared type
    type_record: Record | None = None  # where the type is a class, through type names
    may_overlap: bool = False  # an empty class: other members may lie at its place

    @property
    def offset(self) -> int:
        return self.bit // 8

    @property
    def end(self) -> int:
        """The first byte behind."""
        return (self.bit + self.bits + 7) // 8

    @property
    def bytes(self) -> int:
        return self.end - self.offset

    @property
    def text(self) -> str:
        """As in a declaration."""
        if self.kind == "member":
            return f"{self.type_name} {self.name}".strip()
        if self.kind == "vptr":
            return "pointer to the virtual functions"
        return f"{self.kind} {self.type_name}"


@dataclasses.dataclass
class Record:
    """A class, struct or union."""

    kind: str
    name: str
    bytes: int
    alignment: int = 1
    file: str = ""
    line: int = 0
    members: list[Member] = dataclasses.field(default_factory=list)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def is_empty(self) -> bool:
        return all(member.kind == "base" and member.bits == 0 for member in self.members)

    @property
    def is_packed(self) -> bool:
        """A member lies where its type may not lie."""
        return self.bytes % self.alignment != 0 or any(
            member.bit is not None
            and not member.is_bit_field
            and member.bits
            and member.offset % member.alignment != 0
            for member in self.members
        )

    @property
    def key(self) -> tuple:
        """Equal for the same class of several units."""
        return self.name, self.bytes, tuple((m.name, m.bit, m.bits) for m in self.members)

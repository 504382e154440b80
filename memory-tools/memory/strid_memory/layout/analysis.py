# SPDX-License-Identifier: Apache-2.0
"""The cost of a layout: holes, lines, an order of members that is smaller, members used
together."""

from __future__ import annotations

import dataclasses
import math

from strid_memory.layout.record import Member, Record


@dataclasses.dataclass
class Hole:
    """Bits that no member uses."""

    bit: int
    bits: int
    at_end: bool = False

    @property
    def bytes(self) -> int:
        """Whole bytes of it; 0 for the rest of a byte with bit-fields in it."""
        return max(0, (self.bit + self.bits) // 8 - (self.bit + 7) // 8)


def has_virtual_bases(record: Record) -> bool:
    """Its own or those of its bases: debug information does not say where they lie."""
    return any(
        member.bit is None
        or (member.kind == "base" and member.type_record and has_virtual_bases(member.type_record))
        for member in record.members
    )


def data_end(record: Record) -> int:
    """The bit behind the last one that is used; a class may lay members of its own from there."""
    ends = [0]
    for member in record.members:
        if member.bit is not None:
            is_base = member.kind == "base" and member.bits and member.type_record
            ends.append(member.bit + (data_end(member.type_record) if is_base else member.bits))
    return max(ends)


def used_end(member: Member, others: list[Member]) -> int:
    """The bit behind a member; of one whose end others use, behind the data of its class."""
    end = member.bit + member.bits
    shared = any(member.bit < other.bit < end for other in others if other is not member)
    if shared and member.type_record is not None:
        return member.bit + data_end(member.type_record)
    return end


def placed_members(record: Record) -> list[Member]:
    placed = [member for member in record.members if member.bit is not None]
    return sorted(placed, key=lambda member: member.bit)


def holes_of(record: Record) -> list[Hole]:
    """In order. Behind the last member of a class with virtual bases nothing is known: no hole."""
    holes: list[Hole] = []
    if record.is_empty:
        return holes
    covered = 0
    placed = placed_members(record)
    others = placed if record.kind != "union" else []
    for member in placed:
        if member.may_overlap and member.bit < covered:
            continue
        if member.bit > covered:
            holes.append(Hole(covered, member.bit - covered))
        covered = max(covered, used_end(member, others))
    if covered < 8 * record.bytes and not has_virtual_bases(record):
        holes.append(Hole(covered, 8 * record.bytes - covered, at_end=True))
    return holes


def wasted_bytes(record: Record) -> int:
    return sum(hole.bytes for hole in holes_of(record))


def wasted_inside(record: Record) -> int:
    """Unused bytes of the bases and members of class type, and of theirs; of a union none."""
    wasted = 0
    placed = placed_members(record) if record.kind != "union" else []
    for member in placed:
        inner = member.type_record
        if inner is None or not member.bits or not inner.bytes:
            continue
        unused = wasted_bytes(inner) + wasted_inside(inner)
        # Bytes of its end that others use are not unused.
        unused -= (member.bit + member.bits - used_end(member, placed)) // 8
        wasted += member.bytes // inner.bytes * max(0, unused)
    return wasted


def straddles(member: Member, line_bytes: int) -> bool:
    """Lies on two lines and would fit on one, in an object that begins on a line."""
    if member.bit is None or not 0 < member.bytes <= line_bytes:
        return False
    return member.offset // line_bytes != (member.end - 1) // line_bytes


def lines_of(size: int, line_bytes: int) -> int:
    return -(-size // line_bytes)


def objects_on_more_lines(record: Record, line_bytes: int) -> tuple[int, int]:
    """In an array that begins on a line: (objects on one line more than needed, of how many)."""
    if record.bytes == 0:
        return 0, 1
    count = math.lcm(record.bytes, line_bytes) // record.bytes
    least = lines_of(record.bytes, line_bytes)
    more = 0
    for index in range(count):
        first = index * record.bytes
        lines = (first + record.bytes - 1) // line_bytes - first // line_bytes + 1
        more += lines > least
    return more, count


# An order that is smaller


@dataclasses.dataclass
class Unit:
    """The parts that an order moves as one: a member, or bit-fields that follow each other."""

    members: list[Member]
    bytes: int
    alignment: int


def units_of(members: list[Member]) -> list[Unit]:
    units: list[Unit] = []
    for member in members:
        last = units[-1].members[-1] if units else None
        if member.is_bit_field and last is not None and last.is_bit_field:
            units[-1].members.append(member)
            continue
        units.append(Unit([member], member.bytes, member.alignment))
    for unit in units:
        if unit.members[0].is_bit_field:
            first = min(member.bit for member in unit.members)
            end = max(member.bit + member.bits for member in unit.members)
            # Moved as one by its own declared type, the group keeps its inner places.
            unit.alignment = max(member.alignment for member in unit.members)
            first -= first % (8 * unit.alignment)
            unit.bytes = -(-(end - first) // 8)
    return units


def end_of(units: list[Unit], start: int) -> int:
    for unit in units:
        start = -(-start // unit.alignment) * unit.alignment + unit.bytes
    return start


def densest_order(units: list[Unit], start: int) -> list[Unit]:
    """The better of: by falling alignment; always what fits here with the least padding."""
    by_alignment = sorted(units, key=lambda unit: (-unit.alignment, -unit.bytes))
    rest = list(by_alignment)
    fitting = []
    at = start
    while rest:
        best = min(rest, key=lambda unit: (-at % unit.alignment, -unit.alignment, -unit.bytes))
        rest.remove(best)
        fitting.append(best)
        at = end_of([best], at)
    return min(by_alignment, fitting, key=lambda order: end_of(order, start))


@dataclasses.dataclass
class Order:
    """A declaration order and the size that the class has with it."""

    names: list[str]
    bytes: int
    front_bytes: int = 0  # from the first byte of the members that come first to their last
    front_end: int = 0


def own_members(record: Record) -> list[Member]:
    return [member for member in record.members if member.kind == "member"]


def order_can_be_judged(record: Record) -> bool:
    """Not of unions, of what is packed, overlaps, has virtual bases or ends in a flexible array."""
    return (
        record.kind != "union"
        and not record.is_packed
        and not has_virtual_bases(record)
        and not any(m.may_overlap for m in record.members)
        and all(m.bits or m.kind == "base" for m in record.members)
        and len(own_members(record)) > 1
    )


def prefix_end(record: Record) -> int:
    """Where members may begin: behind the bases, or in the padding of the last where one does."""
    fixed = [m.end for m in record.members if m.kind in ("base", "vptr") and m.bits]
    return min(max(fixed, default=0), min(member.offset for member in own_members(record)))


def smaller_order(record: Record, first: list[str] | None = None) -> Order | None:
    """The declaration order that makes the class smaller, or with `first` puts these in front."""
    if not order_can_be_judged(record):
        return None
    units = units_of(own_members(record))
    start = prefix_end(record)
    if end_of(units, start) > record.bytes:
        return None  # the model of this layout is not the compiler's
    front_begin = front_end = start
    if first:
        front = [unit for unit in units if any(m.name in first for m in unit.members)]
        rest = [unit for unit in units if unit not in front]
        order = densest_order(front, start)
        front_begin += -start % order[0].alignment
        front_end = end_of(order, start)
        order += densest_order(rest, front_end)
    else:
        order = densest_order(units, start)
    end = end_of(order, start)
    size = max(1, -(-end // record.alignment) * record.alignment)
    if not first and size >= record.bytes:
        return None
    names = [member.name for unit in order for member in unit.members]
    return Order(names, size, front_end - front_begin, front_end)


# Members that are used together


@dataclasses.dataclass
class Together:
    """Where the named members lie in relation to each other."""

    members: dict[str, tuple[int, int]]  # path -> offset and end
    span_bytes: int
    lines_at_line: int  # in an object that begins on a line
    places: int  # where an object may begin within a line, by its alignment
    places_on_one_line: int

    @property
    def always(self) -> bool:
        return self.places == self.places_on_one_line


def find(record: Record, path: str) -> tuple[int, int] | None:
    """Offset and end of a member by name: a.b of a member, or of a base or an anonymous part."""
    name, _, rest = path.partition(".")
    for member in own_members(record):
        if member.name != name or member.bit is None:
            continue
        if not rest:
            return member.offset, member.end
        inner = find(member.type_record, rest) if member.type_record else None
        return inner and (member.offset + inner[0], member.offset + inner[1])
    for member in record.members:
        if member.type_record is None or member.bit is None:
            continue
        if member.kind == "base" or not member.name:
            inner = find(member.type_record, path)
            if inner:
                return member.offset + inner[0], member.offset + inner[1]
    return None


def together(record: Record, paths: list[str], line_bytes: int) -> Together | None:
    """None where a name is missing."""
    found = {path: find(record, path) for path in paths}
    if None in found.values():
        return None

    def lines_from(begin: int) -> set[int]:
        lines: set[int] = set()
        for offset, end in found.values():
            last = begin + max(end, offset + 1) - 1
            lines.update(range((begin + offset) // line_bytes, last // line_bytes + 1))
        return lines

    begins = range(0, line_bytes, min(record.alignment, line_bytes))
    one = sum(len(lines_from(begin)) == 1 for begin in begins)
    span = max(end for _, end in found.values()) - min(offset for offset, _ in found.values())
    return Together(found, span, len(lines_from(0)), len(begins), one)

# SPDX-License-Identifier: Apache-2.0
"""The properties of a class as text and as JSON."""

from __future__ import annotations

import dataclasses

from strid_memory.layout import analysis, size_classes
from strid_memory.layout.record import Member, Record


@dataclasses.dataclass
class Judged:
    """A class with what its layout costs."""

    record: Record
    wasted: int
    inside: int
    straddling: list[Member]
    order: analysis.Order | None

    @property
    def saved(self) -> int:
        return self.record.bytes - self.order.bytes if self.order else 0


def judge(record: Record, line_bytes: int) -> Judged:
    return Judged(
        record,
        analysis.wasted_bytes(record),
        analysis.wasted_inside(record),
        [member for member in record.members if analysis.straddles(member, line_bytes)],
        analysis.smaller_order(record),
    )


def count_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def of_bits(bits: int) -> str:
    return str(bits // 8) if bits % 8 == 0 else count_of(bits, "bit")


# Tables of all classes


def overview(judged: list[Judged], limit: int, line_bytes: int) -> list[str]:
    """A line for each class, the first `limit` of them."""
    rows = [("bytes", "unused", "inside", "saves", "lines", "straddle", "class")]
    for one in judged[:limit]:
        record = one.record
        numbers = (record.bytes, one.wasted, one.inside, one.saved,
                   analysis.lines_of(record.bytes, line_bytes), len(one.straddling))  # fmt: skip
        name = f"{record.name} ({record.place})" if record.place else record.name
        rows.append((*map(str, numbers), name))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths)) + f"  {row[6]}"
        for row in rows
    ]
    if len(judged) > limit:
        lines.append(f"and {len(judged) - limit} more (--limit)")
    return lines


# One class


def parts(record: Record) -> list[tuple[int, int, str]]:
    """(bit, bits, text) of members and holes, in order."""
    found = [(m.bit, m.bits, m.text) for m in record.members if m.bit is not None]
    for hole in analysis.holes_of(record):
        found.append((hole.bit, hole.bits, "-- padding at the end" if hole.at_end else "-- hole"))
    return sorted(found, key=lambda part: part[0])


def member_table(record: Record, line_bytes: int) -> list[str]:
    lines = ["    offset    bytes  line  member"]
    straddling = [m.bit for m in record.members if analysis.straddles(m, line_bytes)]
    for bit, bits, text in parts(record):
        offset = f"{bit // 8}" if bit % 8 == 0 else f"{bit // 8}.{bit % 8}"
        first = bit // 8 // line_bytes
        last = max(bit // 8, (bit + bits + 7) // 8 - 1) // line_bytes
        where = str(first) if first == last else f"{first}-{last}"
        note = "  << on two lines" if bit in straddling and not text.startswith("--") else ""
        lines.append(f"    {offset:>6}  {of_bits(bits):>7}  {where:>4}  {text}{note}")
    for member in record.members:
        if member.bit is None:
            lines.append(f"    {'?':>6}  {of_bits(member.bits):>7}  {'?':>4}  {member.text}")
    return lines


def size_advice(record: Record, line_bytes: int) -> list[str]:
    """The size against cache lines and against the blocks of allocators (paper 5)."""
    size = record.bytes
    lines = analysis.lines_of(size, line_bytes)
    more, count = analysis.objects_on_more_lines(record, line_bytes)
    advice = []
    if size < line_bytes:
        text = f"a line of {line_bytes} bytes holds {count_of(line_bytes // size, 'object')}"
    else:
        loaded = lines * line_bytes
        text = f"an object takes {size} of the {loaded} bytes of {count_of(lines, 'line')}"
    if more:
        where = f"on {lines + 1} lines instead of {lines}"
        text += f"; in an array {more} of {count} objects lie {where}"
    advice.append(text)
    over = size % line_bytes
    if lines > 1 and 0 < over <= line_bytes // 4:
        advice.append(f"{count_of(over, 'byte')} less would need a line less")
    # A member with a larger alignment is not rounded by these rules.
    blocks = size_classes.blocks(size) if record.alignment <= 16 else {}
    if blocks:
        each = ", ".join(f"{name} {bytes_}" for name, bytes_ in blocks.items())
        advice.append(f"bytes of a block on the heap: {each}")
        smaller = smaller_block(size, blocks)
        if smaller:
            advice.append(smaller)
    return advice


def smaller_block(size: int, blocks: dict[str, int]) -> str:
    """How few bytes less would take a smaller block everywhere, where that is near."""
    for less in range(1, min(size, 1 + size // 8)):
        now = size_classes.blocks(size - less)
        if all(now[name] < blocks[name] for name in blocks):
            return f"{count_of(less, 'byte')} less would take a smaller block in each of them"
    return ""


def unused_text(one: Judged) -> str:
    holes = analysis.holes_of(one.record)
    inner = [hole.bytes for hole in holes if not hole.at_end and hole.bytes]
    at_end = sum(hole.bytes for hole in holes if hole.at_end)
    bits = sum(hole.bits - 8 * hole.bytes for hole in holes)
    found = []
    if inner:
        found.append(f"{count_of(sum(inner), 'byte')} in {count_of(len(inner), 'hole')}")
    if at_end:
        found.append(f"{count_of(at_end, 'byte')} of padding at the end")
    if bits:
        found.append(f"{count_of(bits, 'bit')} beside bit-fields")
    if one.inside:
        found.append(f"{count_of(one.inside, 'byte')} inside members and bases")
    return f"unused: {', '.join(found) or 'nothing'}"


def details(one: Judged, line_bytes: int) -> list[str]:
    record = one.record
    place = f" ({record.place})" if record.place else ""
    lines = analysis.lines_of(record.bytes, line_bytes)
    text = [
        f"{record.kind} {record.name}{place}",
        f"  {count_of(record.bytes, 'byte')}, alignment {record.alignment}, "
        f"{count_of(lines, 'line')} of {line_bytes} bytes",
    ]
    if record.is_packed:
        text[1] += ", packed"
    text += member_table(record, line_bytes)
    text.append(f"  {unused_text(one)}")
    if any(member.bit is None for member in record.members):
        text.append("  where a virtual base lies is not in the debug information: not judged")
    if any(member.alignment >= line_bytes for member in record.members):
        text.append("  a member asks for a line of its own: what is unused beside it may be meant")
    text += [f"  {line}" for line in size_advice(record, line_bytes)] if record.bytes else []
    if one.order:
        text.append(
            f"  smaller in this order, {count_of(one.order.bytes, 'byte')} "
            f"({one.saved} less): {', '.join(one.order.names)}"
        )
    return text


def together_text(record: Record, found: analysis.Together, line_bytes: int) -> list[str]:
    """Whether named members share a line, and an order in which they lie side by side."""
    names = ", ".join(f"{name} at {offset}" for name, (offset, _) in found.members.items())
    if found.always:
        verdict = "always on one line"
    elif found.places_on_one_line == 0:
        verdict = "never on one line"
    else:
        verdict = (
            f"on one line in {found.places_on_one_line} of the {found.places} places where "
            f"an object may begin (alignment {record.alignment})"
        )
    lines = [
        f"  used together: {names}",
        f"    they span {count_of(found.span_bytes, 'byte')}: {verdict}; in an object that begins "
        f"on a line they lie on {count_of(found.lines_at_line, 'line')}",
    ]
    order = analysis.smaller_order(record, [name.split(".")[0] for name in found.members])
    if order and (
        order.front_bytes < found.span_bytes
        or analysis.lines_of(order.front_end, line_bytes) < found.lines_at_line
    ):
        lines.append(
            f"    side by side in this order, {count_of(order.bytes, 'byte')}: "
            f"{', '.join(order.names)}"
        )
    return lines


def as_json(one: Judged, line_bytes: int, together: analysis.Together | None) -> dict:
    record = one.record
    more, count = analysis.objects_on_more_lines(record, line_bytes)
    result = {
        "name": record.name,
        "kind": record.kind,
        "file": record.file,
        "line": record.line,
        "bytes": record.bytes,
        "alignment": record.alignment,
        "packed": record.is_packed,
        "lines": analysis.lines_of(record.bytes, line_bytes),
        "unused_bytes": one.wasted,
        "unused_bytes_inside": one.inside,
        "members": [
            {
                "kind": member.kind,
                "name": member.name,
                "type": member.type_name,
                "bit": member.bit,
                "bits": member.bits,
                "bit_field": member.is_bit_field,
                "straddles": member in one.straddling,
            }
            for member in record.members
        ],
        "holes": [
            {"bit": hole.bit, "bits": hole.bits, "bytes": hole.bytes, "at_end": hole.at_end}
            for hole in analysis.holes_of(record)
        ],
        "array": {"objects": count, "on_more_lines": more},
        "heap_block_bytes": size_classes.blocks(record.bytes) if record.alignment <= 16 else {},
        "smaller_order": one.order and {"members": one.order.names, "bytes": one.order.bytes},
    }
    if together:
        result["together"] = {
            "offsets": {name: offset for name, (offset, _) in together.members.items()},
            "span_bytes": together.span_bytes,
            "lines_at_line": together.lines_at_line,
            "places": together.places,
            "places_on_one_line": together.places_on_one_line,
        }
    return result

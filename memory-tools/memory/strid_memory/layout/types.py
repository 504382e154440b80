# SPDX-License-Identifier: Apache-2.0
"""Reads the classes of a file's debug information (DWARF 2 to 5)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from strid_memory.layout.record import Member, Record

RECORDS = {
    "DW_TAG_structure_type": "struct",
    "DW_TAG_class_type": "class",
    "DW_TAG_union_type": "union",
}
POINTERS = {
    "DW_TAG_pointer_type": "*",
    "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
QUALIFIERS = {
    "DW_TAG_const_type": "const",
    "DW_TAG_volatile_type": "volatile",
    "DW_TAG_restrict_type": "restrict",
    "DW_TAG_atomic_type": "_Atomic",
}
SPLIT = ("DW_AT_dwo_name", "DW_AT_GNU_dwo_name")
FUNCTIONS = {"DW_TAG_subprogram", "DW_TAG_lexical_block"}


def text_of(die, name: str) -> str:
    attribute = die.attributes.get(name)
    return attribute.value.decode(errors="replace") if attribute else ""


def number_of(die, name: str) -> int | None:
    """The value where it is a constant: expressions and references are None."""
    attribute = die.attributes.get(name)
    return attribute.value if attribute and isinstance(attribute.value, int) else None


def location_of(die) -> int | None:
    """Where a member lies; None where only the running program knows it."""
    attribute = die.attributes.get("DW_AT_data_member_location")
    if attribute is None or isinstance(attribute.value, int):
        return attribute and attribute.value
    operation, *operand = attribute.value
    if operation != 0x23:  # DW_OP_plus_uconst, as DWARF 2 and 3 have it
        return None
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(operand))


def forget(unit) -> None:
    """Drops what pyelftools keeps of a unit, some 60 times its size; it reads again if asked."""
    for kept in ("_dielist", "_diemap"):
        if hasattr(unit, kept):
            getattr(unit, kept).clear()


class TypeReader:
    """The classes of one file."""

    def __init__(self, dwarf, with_local: bool = False):
        self.dwarf = dwarf
        self.with_local = with_local
        self.by_place: dict[tuple, Record] = {}
        self.seen: set[tuple] = set()
        self.files: dict[tuple, str] = {}
        self.by_signature: dict[int, object] | None = None
        self.split_units = 0  # their types are in other files

    def target_of(self, die, name: str = "DW_AT_type"):
        """The entry that an attribute refers to, or None; one in a unit of its own is followed
        there."""
        if name not in die.attributes:
            return None
        attribute = die.attributes[name]
        if attribute.form == "DW_FORM_ref_sig8":
            return self.with_signature(attribute.raw_value)
        target = die.get_DIE_from_attribute(name)
        return self.target_of(target, "DW_AT_signature") or target

    def with_signature(self, signature: int):
        """Units of types are in a section of their own in DWARF 4, among the others in 5."""
        if self.by_signature is None:
            units = [unit for unit in self.dwarf.iter_CUs() if "type_signature" in unit.header]
            if self.dwarf.debug_types_sec is not None:
                units += self.dwarf.iter_TUs()
            self.by_signature = {
                unit["type_signature" if "type_signature" in unit.header else "signature"]: unit
                for unit in units
            }
        unit = self.by_signature[signature]
        return unit.get_DIE_from_refaddr(unit.cu_offset + unit["type_offset"])

    def records(self) -> Iterator[Record]:
        """Every class that is complete, once."""
        parts = [self.dwarf]
        if self.dwarf.supplementary_dwarfinfo:
            parts.append(self.dwarf.supplementary_dwarfinfo)
        for part in parts:
            units = [part.iter_CUs()]
            if part.debug_types_sec is not None:
                units.append(part.iter_TUs())
            for unit in (unit for group in units for unit in group):
                top = unit.get_top_DIE()
                self.split_units += any(name in top.attributes for name in SPLIT)
                yield from self.below(top, "")
                forget(unit)

    def below(self, die, prefix: str) -> Iterator[Record]:
        for child in die.iter_children():
            if child.tag == "DW_TAG_namespace":
                name = text_of(child, "DW_AT_name") or "(anonymous namespace)"
                yield from self.below(child, f"{prefix}{name}::")
            elif child.tag in RECORDS:
                yield from self.record_and_below(child, prefix)
            elif self.with_local and child.tag in FUNCTIONS:
                name = text_of(child, "DW_AT_name")
                yield from self.below(child, f"{prefix}{name}()::" if name else prefix)

    def record_and_below(self, die, prefix: str) -> Iterator[Record]:
        if "DW_AT_signature" in die.attributes:
            return  # its unit of its own has it
        declared = self.target_of(die, "DW_AT_specification")
        if declared is not None:
            prefix = self.scope_of(declared)
        record = self.record_of(die)
        name = f"{prefix}{self.own_name(die)}"
        if record is not None:
            record.name = name
            if record.key not in self.seen:
                self.seen.add(record.key)
                yield record
        yield from self.below(die, f"{name}::")

    def scope_of(self, die) -> str:
        """The names of what a declaration is in."""
        parent = die.get_parent()
        if parent is None or parent.tag not in ("DW_TAG_namespace", *RECORDS):
            return ""
        if parent.tag == "DW_TAG_namespace":
            name = text_of(parent, "DW_AT_name") or "(anonymous namespace)"
        else:
            name = self.own_name(parent)
        return f"{self.scope_of(parent)}{name}::"

    def own_name(self, die) -> str:
        """Without the namespaces; of what has none, where it is declared."""
        origin = self.target_of(die, "DW_AT_specification")
        name = text_of(die, "DW_AT_name") or (origin and text_of(origin, "DW_AT_name"))
        if name:
            return name
        file, line = self.place_of(die)
        return f"({RECORDS[die.tag]} at {os.path.basename(file)}:{line})"

    def place_of(self, die) -> tuple[str, int]:
        line = number_of(die, "DW_AT_decl_line") or 0
        index = number_of(die, "DW_AT_decl_file")
        if index is None:
            return "", line
        top = die.cu.get_top_DIE()
        key = (id(die.dwarfinfo), top.attributes.get("DW_AT_stmt_list"), index)
        if key not in self.files:
            self.files[key] = self.file_name(die, index)
        return self.files[key], line

    @staticmethod
    def file_name(die, index: int) -> str:
        program = die.dwarfinfo.line_program_for_CU(die.cu)
        if program is None:
            return ""
        header = program.header
        is_new = header["version"] >= 5
        entries = header["file_entry"]
        at = index if is_new else index - 1
        if not 0 <= at < len(entries):
            return ""
        name = entries[at].name.decode(errors="replace")
        directories = header["include_directory"]
        # Before version 5, directory 0 is that of the compilation, which is not in the list.
        folder = entries[at].dir_index - (0 if is_new else 1)
        if not os.path.isabs(name) and 0 <= folder < len(directories):
            name = os.path.join(directories[folder].decode(errors="replace"), name)
        return os.path.normpath(name)

    def record_of(self, die) -> Record | None:
        """The class of a DIE; None where it is declared only."""
        size = number_of(die, "DW_AT_byte_size")
        if "DW_AT_declaration" in die.attributes or size is None:
            return None
        key = (id(die.dwarfinfo), die.stream is not die.dwarfinfo.debug_info_sec.stream, die.offset)
        if key in self.by_place:
            return self.by_place[key]
        file, line = self.place_of(die)
        record = Record(RECORDS[die.tag], self.own_name(die), size, 1, file, line)
        self.by_place[key] = record
        for child in self.parts_of(die):
            member = self.member_of(child, record)
            if member is not None:
                record.members.append(member)
        record.members.sort(key=lambda m: (m.bit is None, m.bit or 0, m.kind != "base", m.bits))
        record.alignment = max(
            [number_of(die, "DW_AT_alignment") or 1]
            + [m.alignment for m in record.members if m.bit is not None]
        )
        self.lower_alignment_of_packed(record)
        return record

    def parts_of(self, die) -> Iterator:
        """The children; of alternatives, as Rust has them, all."""
        for child in die.iter_children():
            if child.tag in ("DW_TAG_variant_part", "DW_TAG_variant"):
                yield from self.parts_of(child)
            else:
                yield child

    @staticmethod
    def lower_alignment_of_packed(record: Record) -> None:
        """A packed class aligns less than its members: the size and the places show how much."""
        places = [record.bytes]
        places += [m.offset for m in record.members if m.bits and not m.is_bit_field and m.bit]
        if record.is_packed:
            while record.alignment > 1 and any(place % record.alignment for place in places):
                record.alignment //= 2

    def member_of(self, die, record: Record) -> Member | None:
        if die.tag == "DW_TAG_inheritance":
            return self.base_of(die)
        if die.tag != "DW_TAG_member" or self.is_static(die, record):
            return None
        type_die = self.target_of(die)
        size, alignment = self.size_of(type_die)
        alignment = number_of(die, "DW_AT_alignment") or alignment
        name = text_of(die, "DW_AT_name")
        type_record = self.type_record(type_die)
        width = number_of(die, "DW_AT_bit_size")
        start = location_of(die) or 0
        if width is not None:
            bit = self.bit_field_place(die, start, width, size)
            return Member("member", name, self.type_name(type_die), bit, width, alignment,
                          is_bit_field=True, storage_bytes=size)  # fmt: skip
        is_artificial = "DW_AT_artificial" in die.attributes
        kind = "vptr" if is_artificial and name.startswith("_vptr") else "member"
        may_overlap = type_record is not None and type_record.is_empty and type_record.bytes == 1
        return Member(kind, name, self.type_name(type_die), 8 * start, 8 * size, alignment,
                      type_record=type_record, may_overlap=may_overlap)  # fmt: skip

    @staticmethod
    def is_static(die, record: Record) -> bool:
        if "DW_AT_external" in die.attributes or "DW_AT_declaration" in die.attributes:
            return True
        placed = ("DW_AT_data_member_location", "DW_AT_data_bit_offset", "DW_AT_bit_offset")
        return record.kind != "union" and not any(name in die.attributes for name in placed)

    def base_of(self, die) -> Member:
        type_die = self.target_of(die)
        size, alignment = self.size_of(type_die)
        base = self.type_record(type_die)
        start = location_of(die)
        name = self.type_name(type_die)
        if "DW_AT_virtuality" in die.attributes or start is None:
            return Member("virtual base", name, name, None, 8 * size, alignment, type_record=base)
        bits = 0 if base is not None and base.is_empty else 8 * size
        return Member("base", name, name, 8 * start, bits, alignment, type_record=base)

    @staticmethod
    def bit_field_place(die, start: int, width: int, storage_bytes: int) -> int:
        first = number_of(die, "DW_AT_data_bit_offset")
        if first is not None:
            return first
        # The older form counts from the most significant bit of the storage.
        from_top = number_of(die, "DW_AT_bit_offset") or 0
        storage = number_of(die, "DW_AT_byte_size") or storage_bytes
        if die.dwarfinfo.config.little_endian:
            return 8 * start + 8 * storage - from_top - width
        return 8 * start + from_top

    def type_record(self, die) -> Record | None:
        while die is not None and (die.tag == "DW_TAG_typedef" or die.tag in QUALIFIERS):
            die = self.target_of(die)
        return self.record_of(die) if die is not None and die.tag in RECORDS else None

    def size_of(self, die) -> tuple[int, int]:
        """Bytes and alignment of a type."""
        if die is None:
            return 0, 1
        declared = number_of(die, "DW_AT_alignment") or 1
        size = number_of(die, "DW_AT_byte_size")
        address = die.cu["address_size"]
        if die.tag in RECORDS:
            record = self.record_of(die)
            return (record.bytes, max(record.alignment, declared)) if record else (0, 1)
        if die.tag == "DW_TAG_typedef" or die.tag in QUALIFIERS:
            size, alignment = self.size_of(self.target_of(die))
            return size, max(alignment, declared)
        if die.tag == "DW_TAG_array_type":
            each, alignment = self.size_of(self.target_of(die))
            if "DW_AT_GNU_vector" in die.attributes:
                size = each * self.elements_of(die)
                alignment = 1 << (size - 1).bit_length() if size else alignment
            size = each * self.elements_of(die) if size is None else size
            return size, max(alignment, declared)
        if die.tag in POINTERS:
            return size or address, max(address, declared)
        if die.tag == "DW_TAG_ptr_to_member_type":
            to = self.target_of(die)
            is_function = to is not None and to.tag == "DW_TAG_subroutine_type"
            return size or (2 * address if is_function else address), address
        if die.tag == "DW_TAG_unspecified_type":  # std::nullptr_t
            return size or address, address
        if number_of(die, "DW_AT_encoding") == 3 and size:  # a complex number: two parts
            return size, max(size // 2 & -(size // 2), declared)
        size = size if size is not None else self.size_of(self.target_of(die))[0]
        return size, max(size & -size if size else 1, declared)

    @staticmethod
    def elements_of(die) -> int:
        count = 1
        for child in die.iter_children():
            if child.tag not in ("DW_TAG_subrange_type", "DW_TAG_enumeration_type"):
                continue
            elements = number_of(child, "DW_AT_count")
            if elements is None:
                first = number_of(child, "DW_AT_lower_bound") or 0
                last = number_of(child, "DW_AT_upper_bound")
                elements = 0 if last is None else last - first + 1
            # An array without a length has the last index -1, in some width.
            count *= elements if 0 <= elements < 1 << 31 else 0
        return count

    def type_name(self, die) -> str:
        """As in C++, the short form."""
        if die is None:
            return "void"
        if die.tag in RECORDS:
            return self.own_name(die)
        name = text_of(die, "DW_AT_name")
        if name:
            return name
        if die.tag in POINTERS:
            to = self.target_of(die)
            if to is not None and to.tag == "DW_TAG_subroutine_type":
                return f"{self.type_name(self.target_of(to))} ({POINTERS[die.tag]})(...)"
            return f"{self.type_name(to)}{POINTERS[die.tag]}"
        if die.tag in QUALIFIERS:
            to = self.target_of(die)
            if to is not None and to.tag in POINTERS:
                return f"{self.type_name(to)} {QUALIFIERS[die.tag]}"
            return f"{QUALIFIERS[die.tag]} {self.type_name(to)}"
        if die.tag == "DW_TAG_array_type":
            return f"{self.type_name(self.target_of(die))}[{self.elements_of(die)}]"
        if die.tag == "DW_TAG_ptr_to_member_type":
            owner = self.target_of(die, "DW_AT_containing_type")
            return f"{self.type_name(self.target_of(die))} {self.type_name(owner)}::*"
        if die.tag == "DW_TAG_enumeration_type":
            return "enum"
        if die.tag == "DW_TAG_subroutine_type":
            return f"{self.type_name(self.target_of(die))} (...)"
        return "?"

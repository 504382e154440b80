# SPDX-License-Identifier: Apache-2.0
"""Relocations of the debug information of an object file, all of a section at once.

In an object file each name is an offset that the linker has yet to fill in. Done one by one in
pyelftools that takes longer than to read the classes.
"""

from __future__ import annotations

import struct

# Bytes that a relocation writes: symbol + addend.
WIDTHS = {
    "EM_X86_64": {1: 8, 10: 4, 11: 4},
    "EM_AARCH64": {257: 8, 258: 4},
}
# Offsets of variables of a thread: no class needs them.
SKIPPED = {"EM_X86_64": {0, 17, 21}, "EM_AARCH64": {0, 1028, 1029}}
SECTIONS = ("debug_info", "debug_types", "debug_line", "debug_str_offsets")


def symbol_values(table) -> list[int]:
    return [value for *_, value, _ in struct.iter_unpack("<IBBHQQ", table.data())]


def entries(elf, name: str) -> list[tuple[int, int, int, int]] | None:
    """(offset, type, symbol, addend) of a section; None: in a form that is not known here."""
    section = elf.get_section_by_name(f".rela.{name}")
    if section is None:
        return None if elf.get_section_by_name(f".rel.{name}") else []
    known = WIDTHS[elf["e_machine"]].keys() | SKIPPED[elf["e_machine"]]
    found = [
        (offset, information & 0xFFFFFFFF, information >> 32, addend)
        for offset, information, addend in struct.iter_unpack("<QQq", section.data())
    ]
    return found if all(entry[1] in known for entry in found) else None


def relocated_dwarf(elf):
    """The debug information with its relocations applied, by pyelftools where it must be."""
    machine = elf["e_machine"]
    if elf["e_type"] != "ET_REL" or elf.elfclass != 64 or not elf.little_endian:
        return elf.get_dwarf_info()
    if machine not in WIDTHS:
        return elf.get_dwarf_info()
    relocations = {name: entries(elf, name) for name in SECTIONS}
    symbols = elf.get_section_by_name(".symtab")
    if symbols is None or None in relocations.values():
        return elf.get_dwarf_info()
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
    values = symbol_values(symbols)
    for name, found in relocations.items():
        descriptor = getattr(dwarf, f"{name}_sec")
        if descriptor is None:
            continue
        with descriptor.stream.getbuffer() as memory:
            for offset, kind, symbol, addend in found:
                width = WIDTHS[machine].get(kind)
                if width is not None:
                    value = (values[symbol] + addend) % (1 << 8 * width)
                    struct.pack_into("<Q" if width == 8 else "<I", memory, offset, value)
    return dwarf

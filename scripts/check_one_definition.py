#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a class name has one definition in a program (C++'s rule of one definition).

Two headers that define strid::test::Numbers compile, and link: of their inline functions the linker
keeps one, and the other class runs it. Neither compiler nor linker reports that; with optimisation
the functions are inlined, and most tests pass.

A program here is all files of the library and of one unit: a folder of tests with what the tests
share, a program's folder below apps, tools, bench, examples or memory-tools, a folder of a paper.
Names in an unnamed namespace belong to their file. Each allocator of memory-tools/malloc is a
program of its own; tests/compile_fail makes none.

    check_one_definition.py [ROOT]   prints the places of each second definition, and fails for any
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from source_text import code_files, without_comments_and_strings

FOLDERS = [
    "apps", "bench", "examples", "include", "memory-tools", "papers", "src", "tests", "tools",
]
NO_PROGRAM = Path("tests/compile_fail")
PROGRAM_BY_FILE = Path("memory-tools/malloc")
LIBRARY = "the library"
SHARED = "tests/support"

# Namespaces are not indented, so that a definition in one begins its line.
BEGIN = re.compile(r"(?:inline )?namespace ?([A-Za-z0-9_:]*) ?\{")
CLASS = re.compile(
    r"(?:template <.*> )?(?:class|struct|union|enum class|enum)"
    r"(?: alignas\(.*?\)| \[\[\w+\]\])* (\w+)(?: final)?(?: ?[:{][^:].*| \{|)$"
)

Place = tuple[Path, int]


def classes_of(text: str) -> Iterator[tuple[str, int]]:
    """The full name and the line of each class that the file defines outside its own namespace."""
    open_ones: list[str] = []
    inside = False  # a function, a class or an array, whose end begins a line
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        begun = BEGIN.match(line)
        if begun:
            if not line.rstrip().endswith("}"):
                open_ones.append(begun.group(1))
        elif line.startswith("}") and inside:
            inside = False
        elif line.startswith("}") and open_ones:
            open_ones.pop()
        else:
            found = CLASS.match(line.rstrip())
            if found and "" not in open_ones:
                yield "::".join([*open_ones, found.group(1)]), number
            inside = inside or (line.rstrip().endswith("{") and not line.startswith(" "))


def unit_of(path: Path) -> str:
    """The program that the file is part of."""
    if path.parts[0] in ("include", "src"):
        return LIBRARY
    if path.is_relative_to(PROGRAM_BY_FILE):
        return str(path)
    return "/".join(path.parts[: 3 if path.parts[0] == "papers" else 2])


def check(root: Path) -> list[str]:
    """Every second definition of the tree at `root`, one line each."""
    defined: dict[str, dict[str, list[Place]]] = defaultdict(lambda: defaultdict(list))
    files = code_files(root, FOLDERS)
    if not files:
        return [f"{root}: no source found"]
    for file in files:
        path = file.relative_to(root)
        if path.is_relative_to(NO_PROGRAM):
            continue
        for name, number in classes_of(file.read_text()):
            defined[name][unit_of(path)].append((path, number))
    faults = []
    for name, units in sorted(defined.items()):
        for unit, places in units.items():
            others = units.get(LIBRARY, []) if unit != LIBRARY else []
            if unit.startswith("tests/") and unit != SHARED:
                others = others + units.get(SHARED, [])
            first, *seconds = others + places
            faults += [
                f"{path}:{number}: class {name} is defined in {first[0]}:{first[1]} as well"
                for path, number in seconds
            ]
    return sorted(set(faults))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    faults = check(root.resolve())
    print("\n".join(faults) if faults else "definitions: one of each class")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the part of the house style (CONTRIBUTING.md) that a script can see.

Everywhere: the SPDX line, lines of at most 100 columns, files of at most 400 lines, nothing left
open. Everywhere but in tests/: functions of at most 70 lines. In the library: no process-ending
call, no printing, no standalone fence, no free-standing `new` or `delete` outside the room memory,
and a partner named beside every non-relaxed atomic operation.

A file with a reason is listed in scripts/style_exceptions.txt as `rule path reason`; an entry
that is not needed any more is a violation too.

    check_style.py [ROOT]      prints each violation as file:line: what, and fails if there is one
"""

import re
import sys
from pathlib import Path

from source_text import code_files, line_of, without_comments_and_strings

COLUMNS_MAX = 100
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
PARTNER_LINES = 12
SPDX = "SPDX-License-Identifier: Apache-2.0"
LIBRARY = ["include", "src"]
PRODUCT = LIBRARY + ["apps", "tools", "memory-tools", "papers", "bench", "examples"]
SCRIPTED = ["tests", "apps", "memory-tools", "papers", "bench", "examples"]
EXCEPTIONS = "scripts/style_exceptions.txt"
ENDING = re.compile(r"(?<![.>])\b(?:exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(")
PRINTING = re.compile(r"\bstd::(?:cout|cerr|clog|puts|printf)\b|(?<![\w:])(?:printf|puts)\s*\("
                      r"|\bfmt::print\s*\(\s*(?:\"|std(?:out|err)\b)|\bstd(?:out|err)\b")
FENCE = re.compile(r"\batomic_(?:thread|signal)_fence\b")
# `Handle(new T)` is owned at once, `::new (place) T` allocates nothing.
ALLOCATION = re.compile(
    r"(?<!operator )(?<!\()\bnew\s+[A-Za-z_:]|(?<!= )(?<!operator )\bdelete\b(?!\s*;)"
)
NOT_RELAXED = re.compile(r"\bmemory_order(?:_|::)(?:acquire|release|acq_rel|seq_cst|consume)\b")
PARTNER = re.compile(r"//.*\b(?:pairs?\b|as (?:in |are )?[\w:]+\(\))", re.IGNORECASE)
# In two halves, so that this file passes its own check.
OPEN_END = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
NOT_A_FUNCTION = re.compile(
    r"\b(?:namespace|class|struct|union|enum|concept)\b(?!.*\)\s*$)", re.DOTALL
)


def long_functions(code: str) -> list[tuple[int, int]]:
    """(first line, lines) of each outermost braced body after a `)` that is too long."""
    found = []
    inside = None
    depth = 0
    statement = 0
    for at in re.finditer(r"[{};]", code):
        mark, offset = at.group(), at.start()
        if mark == "{":
            head = code[statement:offset]
            if inside is None and ")" in head and not NOT_A_FUNCTION.search(head):
                start = statement + len(head) - len(head.lstrip())
                inside = (depth, line_of(code, start))
            depth += 1
        elif mark == "}":
            depth -= 1
            if inside is not None and depth == inside[0]:
                lines = line_of(code, offset) - inside[1] + 1
                if lines > FUNCTION_LINES_MAX:
                    found.append((inside[1], lines))
                inside = None
        statement = at.end()
    return found


def faults_of_text(text: str) -> list[tuple[str, int, str]]:
    """The rules for every file: (rule, line, what)."""
    lines = text.splitlines()
    faults = []
    if not any(SPDX in line for line in lines[:2]):
        faults.append(("spdx", 1, f"does not open with {SPDX}"))
    if len(lines) > FILE_LINES_MAX:
        faults.append(("file-lines", 1, f"{len(lines)} lines, more than {FILE_LINES_MAX}"))
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            faults.append(("columns", number, f"{len(line)} columns, more than {COLUMNS_MAX}"))
        if OPEN_END.search(line):
            faults.append(("open-end", number, "left open: finish it, or open an issue"))
    return faults


def faults_of_library(path: Path, text: str, code: str) -> list[tuple[str, int, str]]:
    """The rules for include and src: (rule, line, what)."""
    patterns = [
        ("ending", ENDING, "ends the process: report an error"),
        ("printing", PRINTING, "prints: the library leaves that to its caller"),
        ("fence", FENCE, "standalone fence: order the atomic operation itself"),
    ]
    if "memory" not in path.parts:
        patterns.append(("allocation", ALLOCATION, "new or delete outside the room memory"))
    faults = [
        (rule, line_of(code, found.start()), what)
        for rule, pattern, what in patterns
        for found in pattern.finditer(code)
    ]
    lines = text.splitlines()
    for found in NOT_RELAXED.finditer(code):
        number = line_of(code, found.start())
        near = lines[max(0, number - 1 - PARTNER_LINES) : number + 1]
        if not any(PARTNER.search(line) for line in near):
            faults.append(("partner", number, "an ordered atomic without its `pairs with` comment"))
    return faults


def faults_of_file(root: Path, file: Path) -> list[tuple[str, int, str]]:
    path = file.relative_to(root)
    text = file.read_text()
    faults = faults_of_text(text)
    if file.suffix == ".py" or path.parts[0] not in PRODUCT:
        return faults
    code = without_comments_and_strings(text)
    for number, lines in long_functions(code):
        faults.append(
            ("function-lines", number, f"function of {lines} lines, more than {FUNCTION_LINES_MAX}")
        )
    if path.parts[0] in LIBRARY:
        faults += faults_of_library(path, text, code)
    return faults


def read_exceptions(root: Path) -> dict[tuple[str, str], str]:
    """(rule, path) -> reason, of the file of exceptions; an entry without reason is an error."""
    exceptions = {}
    file = root / EXCEPTIONS
    if not file.is_file():
        return exceptions
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rule, path, reason = line.split(maxsplit=2)
            exceptions[rule, path] = reason
    return exceptions


def script_files(root: Path) -> list[Path]:
    """Python and shell: by suffix, or without one in the folders of scripts."""
    return sorted(
        file
        for folder in ["scripts", ".ci", *SCRIPTED]
        for file in (root / folder).rglob("*")
        if file.is_file()
        and (file.suffix in {".py", ".sh"} or not file.suffix and folder in {"scripts", ".ci"})
    )


def check(root: Path) -> list[str]:
    """Every violation of the tree at `root`, one line each."""
    files = code_files(root, PRODUCT + ["tests"])
    scripts = script_files(root)
    if not files:
        return [f"{root}: no C++ file found"]
    exceptions = read_exceptions(root)
    used = set()
    faults = []
    for file in files + scripts:
        path = file.relative_to(root).as_posix()
        for rule, number, what in faults_of_file(root, file):
            if (rule, path) in exceptions:
                used.add((rule, path))
            else:
                faults.append(f"{path}:{number}: {what} [{rule}]")
    for rule, path in exceptions.keys() - used:
        faults.append(f"{EXCEPTIONS}:1: not needed any more: {rule} {path}")
    return faults


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    faults = check(root.resolve())
    print("\n".join(faults) if faults else "style: kept")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

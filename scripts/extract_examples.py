#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the programs and commands out of Markdown files, so that the tests can build and run them.

A fenced block is picked up when the comment right above it names it:

    <!-- example: NAME -->             a whole C++ program
    <!-- command: NAME -->             lines of sh, for which `strid` is the command line
    <!-- input: NAME FILE -->          a file that lies in the folder the program is started in
    <!-- output: NAME -->              what it must print on standard output, line for line
    <!-- output: NAME FILE -->         what it must leave in that file
    <!-- rows: NAME FILE -->           the same where the lines may come in any order

Writes TARGET/NAME.cpp or NAME.sh and, below TARGET/NAME/, input/FILE, output/FILE, rows/FILE and
stdout. Files that are right already keep their time; those that are in no page any more go. TARGET
must be absent or of an earlier run. Every block of C++ in the pages must be such a program.

    extract_examples.py TARGET PAGE...     prints NAME.cpp or NAME.sh of each, one a line
"""

import re
import sys
from pathlib import Path

MARK = re.compile(r"<!-- (example|command|input|output|rows): ([a-z0-9_]+)(?: (\S+))? -->")
FENCE = re.compile(r"```(\w*)")
PROGRAMS = {"example": "cpp", "command": "sh"}
STAMP = "written-by-extract-examples"


class Fault(Exception):
    """A page is not written as described above."""


def target_of(kind: str, name: str, file: str | None) -> str:
    if kind in PROGRAMS:
        return f"{name}.{PROGRAMS[kind]}"
    if kind in ("input", "rows") and not file:
        raise Fault(f"{kind} of {name} names no file")
    return f"{name}/{kind}/{file}" if file else f"{name}/stdout"


def blocks_of(page: str) -> dict[str, str]:
    """Relative target -> text, of every marked block of the page."""
    blocks = {}
    mark = None
    lines = iter(enumerate(page.splitlines(), 1))
    for number, line in lines:
        fence = FENCE.fullmatch(line)
        if not fence:
            mark = MARK.fullmatch(line) or (mark if not line.strip() else None)
            continue
        body = []
        for _, inner in lines:
            if inner == "```":
                break
            body.append(inner + "\n")
        else:
            raise Fault(f"line {number}: the block does not end")
        if mark:
            target = target_of(*mark.groups())
            if target in blocks:
                raise Fault(f"line {number}: a second {target}")
            blocks[target] = "".join(body)
        elif fence.group(1) == "cpp":
            raise Fault(f"line {number}: a C++ block without <!-- example: name -->")
        mark = None
    return blocks


def extract(target: Path, pages: list[Path]) -> list[str]:
    """Writes what the pages hold; the files of the programs, sorted."""
    blocks = {}
    for page in pages:
        try:
            found = blocks_of(page.read_text())
        except Fault as fault:
            raise Fault(f"{page}: {fault}") from None
        if blocks.keys() & found.keys():
            raise Fault(f"{page}: named twice: {sorted(blocks.keys() & found.keys())}")
        blocks.update(found)
    programs = sorted(path for path in blocks if "/" not in path)
    names = {program.split(".")[0] for program in programs}
    if len(names) < len(programs):
        raise Fault(f"a name of a program and of a command: {programs}")
    strangers = {path.split("/")[0] for path in blocks if "/" in path} - names
    if strangers:
        raise Fault(f"inputs or outputs of no example: {sorted(strangers)}")
    if target.exists() and not (target / STAMP).is_file():
        raise Fault(f"{target} is not a folder of extracted examples")
    blocks[STAMP] = ""
    for path, text in blocks.items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
    for file in target.rglob("*"):
        if file.is_file() and file.relative_to(target).as_posix() not in blocks:
            file.unlink()
    return programs


def main() -> int:
    try:
        programs = extract(Path(sys.argv[1]), [Path(page) for page in sys.argv[2:]])
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    print("\n".join(programs))
    return 0


if __name__ == "__main__":
    sys.exit(main())

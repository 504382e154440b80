#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a fuzzed parser (corpus/SUBJECT.txt beside it) as files of a folder, and back.

An input is a line: its name, a space, and its bytes. A byte that is not printable ASCII, a
backslash and a space at the end are written \\xNN. The name is `found-...` for what was found once,
else `input`.

  fuzz_corpus.py unpack ARCHIVE FOLDER
  fuzz_corpus.py pack FOLDER ARCHIVE
"""
import pathlib
import re
import sys


def text_of(data: bytes) -> str:
    text = "".join(chr(b) if 32 <= b < 127 and b != ord("\\") else f"\\x{b:02x}" for b in data)
    return text[:-1] + "\\x20" if text.endswith(" ") else text


def bytes_of(text: str) -> bytes:
    plain = re.sub(r"\\x(..)", lambda digits: chr(int(digits[1], 16)), text)
    return plain.encode("latin-1")


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(archive.read_text("ascii").splitlines()):
        name, text = line.split(" ", 1)
        path = folder / (name if name != "input" else f"input-{number}")
        path.write_bytes(bytes_of(text))


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    lines = set()
    for path in folder.iterdir():
        name = path.name if path.name.startswith("found-") else "input"
        lines.add(f"{name} {text_of(path.read_bytes())}\n")
    archive.write_text("".join(sorted(lines)), "ascii")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))

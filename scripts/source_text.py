# SPDX-License-Identifier: Apache-2.0
"""Reads C++ files for the checkers: which files there are, and what of them is code."""

import re
from pathlib import Path

CODE_SUFFIXES = {".hpp", ".cpp"}

# A comment, a raw string, a string or a character; a quote inside a number (1'000) is none.
_NOT_CODE = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL,
)


def code_files(root: Path, folders: list[str]) -> list[Path]:
    """Every C++ file below the named folders of `root`, sorted; a folder may be absent."""
    return sorted(
        path
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in CODE_SUFFIXES and path.is_file()
    )


def without_comments_and_strings(text: str) -> str:
    """The text with every comment, string and character blanked; lines keep their numbers."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def line_of(text: str, offset: int) -> int:
    """The number, from 1, of the line that holds `offset`."""
    return text.count("\n", 0, offset) + 1

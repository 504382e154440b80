# SPDX-License-Identifier: Apache-2.0
"""Reads the text that people read, for the checker of English: comments, docstrings and pages.

A paragraph is (line, text), with the words of its lines joined. A row of a table, a line of a
drawing and a comment behind code are paragraphs of their own, so that no sentence spans them.
"""

import ast
import io
import re
import subprocess
import tokenize
from pathlib import Path

SLASHES = {".hpp", ".cpp", ".java"}
HASHES = {".cmake", ".sh", ".gp", ".R"}
SUFFIXES = SLASHES | HASHES | {".py", ".md"}
# Files without a suffix, or with one that says nothing, whose comments begin with a hash.
HASHED_NAMES = re.compile(r"(?:^|/)(?:CMakeLists\.txt|Makefile|run)$|^scripts/[^.]+$")
# Data, and the texts of others. The data manager of the exchange is code.
NOT_OURS = re.compile(
    r"(?:^|/)(?:(?<!3-allocators/exchange/)data|golden|licenses|corpus|build|out|shared|\.git)/"
    r"|^LICENSE$")

COMMENT_LINE = re.compile(r"^\s*//+[<!]?(.*)$")
TRAILING_COMMENT = re.compile(r"(?:\s\s|[;{},])\s*///?<?\s(.*)$")
HASH_LINE = re.compile(r"^\s*#+(?!!)(.*)$")
COLUMNS = re.compile(r"\S\s{2,}\S")  # a row of a table, or of a drawing
DRAWING = re.compile(r"[│─┌┐└┘├┤▲▼◀▶]|--+>|<--+|\+--+|^\s*[|+].*[|+]$")
CODE_INDENT = 4  # columns by which code and drawings in a comment are moved to the right


def files_of(root: Path, paths: list[str]) -> list[str]:
    """The names below `root` of the files to read: git's where there is a repository, else all."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "--", *paths]
    listed = (root / ".git").exists() and subprocess.run(command, capture_output=True, text=True)
    if listed and listed.returncode == 0:
        names = [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    else:
        names = [file.relative_to(root).as_posix() for path in paths or ["."]
                 for file in [root / path, *(root / path).rglob("*")] if file.is_file()]
    return sorted({name for name in names if not NOT_OURS.search(name)
                   and (Path(name).suffix in SUFFIXES or HASHED_NAMES.search(name))})


def joined(lines):
    """(line, paragraph) of (line, text): an empty text ends a paragraph, a dash begins one."""
    gathered, first = [], 0
    for number, text in lines:
        item = re.match(r"(?:[-*+]|\d+\.)\s+(.*)", text)
        if gathered and (item or not text):
            yield first, " ".join(gathered)
            gathered = []
        if text:
            first = first if gathered else number
            gathered.append(item.group(1) if item else text)
    if gathered:
        yield first, " ".join(gathered)


def of_comment_lines(lines):
    """Paragraphs of (line, what follows the mark of a comment), rows and drawings apart."""
    prose = []
    for number, text in lines:
        indent = len(text) - len(text.lstrip())
        item = re.match(r"\s*(?:[-*+]|\d+\.)\s", text)
        row = COLUMNS.search(text.strip()) or DRAWING.search(text)
        if row or (indent > CODE_INDENT and not item and not (prose and prose[-1][1])):
            yield number, text.strip()
            prose.append((number, ""))
        else:
            prose.append((number, text.strip()))
    yield from joined(prose)


def paragraphs_by_marks(text: str, mark: re.Pattern, trailing: re.Pattern | None):
    """Of each block of lines that match `mark`; a comment behind code stands by itself."""
    block = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = None if "SPDX-License-Identifier" in line else mark.match(line)
        if comment:
            block.append((number, comment.group(1)))
            continue
        yield from of_comment_lines(block)
        block = []
        behind = trailing.search(line) if trailing else None
        if behind:
            yield number, behind.group(1)
    yield from of_comment_lines(block)


def paragraphs_of_python(text: str):
    """Of docstrings and of comments. Deeper lines of a docstring show how the program is called."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node)
            if docstring:
                first = node.body[0].lineno
                yield from joined((first + number, "" if line.startswith("  ") else line.strip())
                                  for number, line in enumerate(docstring.splitlines()))
    comments = [(token.start[0], token.string.lstrip("#"))
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type == tokenize.COMMENT and not token.string.startswith("#!")]
    apart = []
    for number, comment in comments:
        if apart and number != apart[-1][0] + 1:
            apart.append((number, ""))
        apart.append((number, comment))
    yield from of_comment_lines(apart)


def paragraphs_of_page(text: str):
    """Paragraphs, headings, items of lists and cells of tables, without blocks of code."""
    lines, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        mark = re.match(r"(```+|~~~+)", stripped)
        if mark and (fence is None or stripped.startswith(fence)):
            fence = None if fence else mark.group(1)
            stripped = ""
        elif fence or stripped.startswith(("<", "---")):
            stripped = ""
        elif stripped.startswith("#"):
            yield number, stripped.lstrip("# ")
            stripped = ""
        elif stripped.startswith("|"):
            yield from ((number, cell.strip()) for cell in stripped.split("|") if cell.strip())
            stripped = ""
        lines.append((number, stripped.lstrip("> ")))
    yield from joined(lines)


def paragraphs(name: str, text: str):
    """(line, text) of every paragraph of the file `name`."""
    suffix = Path(name).suffix
    if suffix == ".md":
        return paragraphs_of_page(text)
    if suffix == ".py":
        return paragraphs_of_python(text)
    if suffix in SLASHES:
        return paragraphs_by_marks(text, COMMENT_LINE, TRAILING_COMMENT)
    return paragraphs_by_marks(text, HASH_LINE, None)


def sentences(paragraph: str) -> list[str]:
    """Parts that end in a full stop, a question mark, a colon or a semicolon and a space."""
    paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", without_code(paragraph))
    return re.split(r"(?<=[.?!:;])[\"')\]*_]*\s+", paragraph)


def without_code(paragraph: str) -> str:
    """The paragraph with one word in place of each piece of code in backticks."""
    return re.sub(r"`[^`]*`", "CODE", paragraph)

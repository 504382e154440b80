#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a script can see of plain technical English (CONTRIBUTING.md), in comments and pages.

- persons: threads, tasks and records are not persons ("who", "nobody", "somebody", ...).
- law: the field's word is invariant, or rule; a law with a name (Zipf's law) is one.
- sentence: at most 40 words. Code in backticks counts as one word; headings, tables and blocks
  of code in pages are no sentences.
- link: a link of a page leads to a file, and to a heading of it, that exist.
- example: a page of docs/ has a block of code.

A file with a reason is listed in scripts/english_exceptions.txt as `rule path reason`; an entry
that is not needed any more is a violation too.

    check_english.py [--only RULE] [ROOT [PATH...]]   prints each violation as file:line: what
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

SENTENCE_WORDS_MAX = 40
EXCEPTIONS = "scripts/english_exceptions.txt"
RULES = ("persons", "law", "sentence", "link", "example")
PERSONS = re.compile(
    r"\b(?:who|whom|whoever|nobody|somebody|anybody|everybody|someone|anyone|everyone|no one)\b"
    r"|\b(?:one's|its|their) own (?:idea|opinion|mind)\b", re.IGNORECASE)
LAW = re.compile(r"(?<!'s )(?<!s' )\blaws?\b", re.IGNORECASE)
COMMENT_OF_CPP = re.compile(r"^\s*//+[<!]?\s?(.*)$")
TRAILING_COMMENT = re.compile(r"(?:\s\s|[;{},])\s*///?<?\s(.*)$")
COLUMNS = re.compile(r"\S\s{2,}\S")  # a row of a table, or of a drawing
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
# Data, and the texts of others.
NOT_OURS = re.compile(r"(?:^|/)(?:data|golden|licenses)/|^LICENSE$")


def tracked(root, paths):
    command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard", "--", *paths]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in names
            if name.rsplit(".", 1)[-1] in ("hpp", "cpp", "py", "md") and not NOT_OURS.search(name)]


def joined(lines):
    """(line, paragraph) of (line, text): an empty text ends a paragraph, a dash begins one."""
    gathered, first = [], 0
    for number, said in lines:
        item = re.match(r"(?:[-*+]|\d+\.)\s+(.*)", said)
        if gathered and (item or not said):
            yield first, " ".join(gathered)
            gathered = []
        if said:
            first = first if gathered else number
            gathered.append(item.group(1) if item else said)
    if gathered:
        yield first, " ".join(gathered)


def paragraphs_of_cpp(text):
    """Of each block of comment lines; a comment behind code is a paragraph of its own."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("//"):
            said = COMMENT_OF_CPP.match(line).group(1).strip()
            lines.append((number, "" if COLUMNS.search(said) else said))
            continue
        yield from joined(lines)
        lines = []
        trailing = TRAILING_COMMENT.search(line)
        if trailing:
            yield number, trailing.group(1)
    yield from joined(lines)


def paragraphs_of_python(text):
    """Of docstrings and of comments. Deeper lines of a docstring show how the program is called."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            docstring = ast.get_docstring(node)
            if docstring:
                first = node.body[0].lineno
                yield from joined((first + number, "" if line.startswith("  ") else line.strip())
                                  for number, line in enumerate(docstring.splitlines()))
    comments = [(token.start[0], token.string.lstrip("#").strip())
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type == tokenize.COMMENT]
    apart = []
    for number, said in comments:
        if apart and number != apart[-1][0] + 1:
            apart.append((number, ""))
        apart.append((number, said))
    yield from joined(apart)


def paragraphs_of_page(text):
    """Paragraphs and items of lists, without headings, tables, HTML comments and blocks of code."""
    lines, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        mark = re.match(r"(```+|~~~+)", stripped)
        if mark and (fence is None or stripped.startswith(fence)):
            fence = None if fence else mark.group(1)
            stripped = ""
        elif fence or stripped.startswith(("#", "|", "<", "---")):
            stripped = ""
        lines.append((number, stripped.lstrip("> ")))
    yield from joined(lines)


def paragraphs(name, text):
    if name.endswith(".md"):
        return paragraphs_of_page(text)
    return paragraphs_of_python(text) if name.endswith(".py") else paragraphs_of_cpp(text)


def sentences(paragraph):
    """Parts that end in a full stop, a question mark, a colon or a semicolon and a space."""
    paragraph = re.sub(r"`[^`]*`", "CODE", paragraph)
    paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    return re.split(r"(?<=[.?!:;])[\"')\]*_]*\s+", paragraph)


def anchors(text):
    """The names that headings get on the pages of a repository."""
    found = set()
    for line in text.splitlines():
        if line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def faults_of_links(root, name, text):
    without_code = re.sub(r"^(```+)[^\n]*\n.*?^\1", lambda m: "\n" * m.group(0).count("\n"), text,
                          flags=re.DOTALL | re.MULTILINE)
    for number, line in enumerate(without_code.splitlines(), 1):
        for found in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = found.group(1) or found.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            path, _, heading = target.partition("#")
            file = (root / name).parent / path if path else root / name
            if not file.exists():
                yield "link", number, f"{target} leads nowhere"
            elif heading and file.suffix == ".md" and heading not in anchors(file.read_text()):
                yield "link", number, f"{target}: there is no such heading"


def faults_of(root, name):
    """(rule, line, what) of one file."""
    text = (root / name).read_text(encoding="utf-8")
    for first, paragraph in paragraphs(name, text):
        plain = re.sub(r"`[^`]*`", "CODE", paragraph)
        for rule, pattern in (("persons", PERSONS), ("law", LAW)):
            for found in pattern.finditer(plain):
                yield rule, first, f"'{found.group(0)}' in: {paragraph[:90]}"
        for sentence in sentences(paragraph):
            words = len(re.findall(r"[\w'’.-]*\w", sentence))
            if words > SENTENCE_WORDS_MAX:
                yield "sentence", first, f"{words} words: {sentence[:90]}"
    if name.endswith(".md"):
        yield from faults_of_links(root, name, text)
        if name.startswith("docs/") and name.count("/") == 1 and "\n```" not in text:
            yield "example", 1, "a page without an example"


def read_exceptions(root):
    """{(rule, path)}: each line is `rule path reason`."""
    file = root / EXCEPTIONS
    if not file.exists():
        return set()
    return {tuple(line.split()[:2]) for line in file.read_text().splitlines()
            if line.strip() and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=RULES, help="this rule alone")
    parser.add_argument("root", nargs="?", default=".", type=Path)
    parser.add_argument("paths", nargs="*", help="files and folders below the root; default: all")
    arguments = parser.parse_args()
    exceptions, used = read_exceptions(arguments.root), set()
    count = 0
    for name in tracked(arguments.root, arguments.paths):
        for rule, line, what in faults_of(arguments.root, name):
            if arguments.only not in (None, rule):
                continue
            if (rule, name) in exceptions:
                used.add((rule, name))
                continue
            print(f"{name}:{line}: {what} [{rule}]")
            count += 1
    if not arguments.paths and arguments.only is None:
        for rule, name in sorted(exceptions - used):
            print(f"{EXCEPTIONS}: {rule} {name} is not needed")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

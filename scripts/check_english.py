#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the part of plain technical English (CONTRIBUTING.md) that a script can see.

In comments, docstrings, pages and names:

- persons: threads, tasks and records are not persons. No "who", "nobody", "somebody", "whoever";
  a person may be one ("a user who").
- invariant: that is the field's word, or "rule", where "law" would stand. Zipf's law has a name.
- name: nor is there such a word in the names of C++ code: "told", "said", "tell", "wants".
- sentence: 40 words at most, from one full stop, colon or semicolon to the next. Code in
  backticks is one word.
- inversion: a sentence begins with its subject, not with a clause: no "What is late is dropped".
  Questions and headings may begin with "What".

In pages:

- link: each link leads to a file, and to a heading in it, that exist.
- example: each page of docs/ has a block of code; the table of contents needs none.

A file with a reason is listed in scripts/english_exceptions.txt as `rule path reason`; an entry
that is not needed any more is a violation too.

    check_english.py [--only RULE] [ROOT [PATH...]]

It prints each violation as file:line: what, and fails if there is one.
"""

import argparse
import re
import sys
from pathlib import Path

from prose_text import files_of, paragraphs, sentences, without_code
from source_text import CODE_SUFFIXES, line_of, without_comments_and_strings

SENTENCE_WORDS_MAX = 40
EXCEPTIONS = "scripts/english_exceptions.txt"
RULES = ("persons", "name", "invariant", "sentence", "inversion", "link", "example")
# After these nouns a relative clause may begin with "who".
PEOPLE = (r"users?|people|persons?|newcomers?|programmers?|authors?|contributors?|maintainers?"
          r"|telemarketers?|drivers?|traders?")
PERSONS = re.compile(
    rf"(?P<people>\b(?:{PEOPLE}),? )?\b(?:(?P<relative>who|whom|whose)|whoever|whomever|nobody"
    r"|somebody|anybody|everybody|someone|anyone|everyone|no one|one's own|(?:its|their) own"
    r" (?:idea|opinion|mind))\b", re.IGNORECASE)
PERSONS_NAME = re.compile(
    r"\b(?:\w*_)?(?:told|tells?|said|wants?|promised|heeds?|nobody|somebody)(?:_\w*)?\b"
    r"|\b\w*(?:Told|Tells|Said|Wants|Nobody|Somebody)(?=[A-Z]\w*|\b|_)")
NAMED_LAW = re.compile(r"\b[A-Z]\w+(?:'s|s') (?:first |second )?laws?\b"
                       r"|\b(?:kinetic|power|rate|conservation) laws?\b|\blaws? of physics\b")
LAW = re.compile(r"\blaws?\b", re.IGNORECASE)
MENTIONED = re.compile(r'"\w+(?: \w+)?"')  # a word that is spoken of
# A clause that begins with "what" and is the subject: of a sentence, or behind a colon or semicolon
# where the verb of the clause is followed by that of the sentence.
WHAT = re.compile(r"[\"'(*_\[]*What\b")
CLAUSE = re.compile(r"what (?:is|was|are|were|has|have|had)\b[^,.:;]*?"
                    r" (?:is|was|are|were|has|have|goes|must|cannot|stays)\b")
WORD = re.compile(r"[\w'’.,-]*\w")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: +(\S+)", re.MULTILINE)
FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1", re.DOTALL | re.MULTILINE)
SCHEME = re.compile(r"[a-z]+:")


def persons_in(text: str):
    """The words that make a person of a thing."""
    for found in PERSONS.finditer(text):
        relative = found.group("relative")
        # "whose" is the possessive of things as well.
        if relative and (found.group("people") or relative.lower() == "whose"):
            continue
        yield found.group(0)


def is_inversion(sentence: str, is_page: bool) -> bool:
    """Whether a clause is the subject. A heading or a cell of a page has no full stop."""
    end = sentence.rstrip("\"')*_]")[-1:]
    if WHAT.match(sentence):
        return end in ".:;" if is_page else end != "?"
    return end != "?" and CLAUSE.match(sentence) is not None


def faults_of_words(first: int, paragraph: str, is_page: bool):
    """The rules for sentences and their words: (rule, line, what) of one paragraph."""
    plain = MENTIONED.sub("MENTIONED", without_code(paragraph))
    for word in persons_in(plain):
        yield "persons", first, f"'{word}' in: {paragraph[:90]}"
    for found in LAW.finditer(NAMED_LAW.sub("NAMED", plain)):
        yield "invariant", first, f"'{found.group(0)}' in: {paragraph[:90]}"
    for sentence in sentences(paragraph):
        words = len(WORD.findall(sentence))
        if words > SENTENCE_WORDS_MAX:
            yield "sentence", first, f"{words} words: {sentence[:90]}"
        if is_inversion(sentence, is_page):
            yield "inversion", first, sentence[:90]


def faults_of_names(text: str):
    code = without_comments_and_strings(text)
    for found in PERSONS_NAME.finditer(code):
        yield "name", line_of(code, found.start()), f"'{found.group(0)}'"


def blanked(pattern: re.Pattern, text: str) -> str:
    """Without what matches; lines keep their numbers."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def anchors(text: str) -> set[str]:
    """The names that headings have as targets of links."""
    found = set()
    for line in blanked(FENCED, text).splitlines():
        if line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def faults_of_links(root: Path, name: str, text: str):
    text = blanked(re.compile(r"`[^`\n]*`"), blanked(FENCED, text))
    for found in LINK.finditer(text):
        target = found.group(1) or found.group(2)
        if SCHEME.match(target):
            continue
        number = line_of(text, found.start())
        path, _, heading = target.partition("#")
        file = (root / name).parent / path if path else root / name
        if not file.exists():
            yield "link", number, f"{target} leads nowhere"
        elif heading and file.suffix == ".md" and heading not in anchors(file.read_text()):
            yield "link", number, f"{target}: there is no such heading"


def faults_of_page(root: Path, name: str, text: str):
    yield from faults_of_links(root, name, text)
    path = Path(name)
    if path.parent == Path("docs") and path.name != "README.md" and not FENCED.search(text):
        yield "example", 1, "a page without an example"


def faults_of_file(root: Path, name: str) -> list[tuple[str, int, str]]:
    """(rule, line, what) of one file."""
    text = (root / name).read_text(encoding="utf-8")
    faults = [fault for first, paragraph in paragraphs(name, text)
              for fault in faults_of_words(first, paragraph, name.endswith(".md"))]
    if Path(name).suffix in CODE_SUFFIXES:
        faults += faults_of_names(text)
    if name.endswith(".md"):
        faults += faults_of_page(root, name, text)
    return sorted(faults, key=lambda fault: fault[1])


def read_exceptions(root: Path) -> dict[tuple[str, str], str]:
    """(rule, path) -> reason; an entry without a reason is an error."""
    exceptions = {}
    file = root / EXCEPTIONS
    if not file.is_file():
        return exceptions
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rule, path, reason = line.split(maxsplit=2)
            exceptions[rule, path] = reason
    return exceptions


def check(root: Path, paths: list[str] | None = None, only: str | None = None) -> list[str]:
    """Every violation of the tree at `root`, or of the named paths in it, one line each."""
    names = files_of(root, paths or [])
    if not names:
        return [f"{root}: no file found"]
    exceptions, used, faults = read_exceptions(root), set(), []
    for name in names:
        for rule, number, what in faults_of_file(root, name):
            if only not in (None, rule):
                continue
            if (rule, name) in exceptions:
                used.add((rule, name))
            else:
                faults.append(f"{name}:{number}: {what} [{rule}]")
    if not paths and only is None:
        faults += [f"{EXCEPTIONS}:1: not needed any more: {rule} {name}"
                   for rule, name in sorted(exceptions.keys() - used)]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=RULES, help="this rule alone")
    parser.add_argument("root", nargs="?", default=Path(__file__).parent.parent, type=Path)
    parser.add_argument("paths", nargs="*", help="files and folders below the root; default: all")
    arguments = parser.parse_args()
    faults = check(arguments.root.resolve(), arguments.paths, arguments.only)
    print("\n".join(faults) if faults else "english: plain")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

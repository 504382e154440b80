# SPDX-License-Identifier: Apache-2.0
"""Checks that sources compile, and that their bad twins do not, with readable messages.

A source holds the wrong lines between `#ifdef STRID_MUST_NOT_COMPILE` and, best after an `#else`
with the right ones, `#endif`. A comment `// error: words` for each wrong line names words of a line
of the compiler that says `error`, the one that a user reads; there is no other such line. So one
run of the compiler shows for each that what it says first is what is wrong. Where compilers differ,
name what they share.

A source whose errors have others in their train has comments `// expect: words` instead: the
compiler must print the words somewhere.

Most of a compilation is what all sources have in common. So the valid twins are compiled in one
run, each in a namespace of its name, and in another run the bad twins that have comments
`// error:` only. The errors of that run must be those of the comments of all its sources. A bad
twin with `// expect:` is compiled alone; so are both twins of a source with an explicit
specialisation or instantiation, which stands in no namespace.

    must_not_compile.py SOURCE... -- COMPILER [FLAG...]
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMMENT = re.compile(r"^\s*// (expect|error): *(\S.*?)\s*$", re.MULTILINE)
INCLUDE = re.compile(r"^#include ([<\"])([^>\"]+)[>\"]", re.MULTILINE)
EXPLICIT = re.compile(r"^template (<>|class|struct)", re.MULTILINE)
SHOWN_LINES = 40


class Source:
    def __init__(self, path: Path):
        self.path = path.resolve()
        text = path.read_text()
        self.comments = COMMENT.findall(text)
        self.errors = [words for kind, words in self.comments if kind == "error"]
        self.stands_alone = bool(EXPLICIT.search(text))
        # Included in front of the namespaces, and then once more without effect.
        self.includes = [f"<{name}>" if kind == "<" else f'"{self.path.parent / name}"'
                         for kind, name in INCLUDE.findall(text)]


def together(sources: list[Source]) -> str:
    """One text that compiles them."""
    if len(sources) == 1:
        return f'#include "{sources[0].path}"\n'
    includes = dict.fromkeys(one for source in sources for one in source.includes)
    return "".join(f"#include {one}\n" for one in includes) + "".join(
        f'namespace {source.path.stem} {{\n#include "{source.path}"\n}}\n' for source in sources)


def compiled(sources: list[Source], compiler: list[str]) -> subprocess.CompletedProcess:
    """Runs the compiler without output files; its messages are plain English."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(together(sources))
        file.flush()
        return subprocess.run([*compiler, "-fsyntax-only", file.name], capture_output=True,
                              text=True, env={**os.environ, "LC_ALL": "C"}, check=False)


def fault_of_errors(output: str, sources: list[Source]) -> str | None:
    """Which line that says `error` was not expected, or which is missing."""
    missing = [(source, words) for source in sources for words in source.errors]
    for line in output.splitlines():
        if "error:" not in line:
            continue
        # Of a line that names one of the sources, the words are those of that source.
        named = next((source for source in sources if line.startswith(f"{source.path}:")), None)
        found = next((one for one in missing
                      if one[1] in line and (named is None or one[0] is named)), None)
        if found is None:
            return f"the compiler says what is not expected: {line}"
        missing.remove(found)
    if not missing:
        return None
    return f"{missing[0][0].path}: no line that says error has `{missing[0][1]}`"


def fault_of_bad_twins(sources: list[Source], compiler: list[str]) -> str | None:
    bad = compiled(sources, [*compiler, "-DSTRID_MUST_NOT_COMPILE"])
    names = ", ".join(source.path.name for source in sources)
    if bad.returncode == 0:
        return f"the bad twin compiles: {names}"
    fault = next((f"the compiler's message lacks `{words}`" for source in sources
                  for kind, words in source.comments
                  if kind == "expect" and words not in bad.stderr), None)
    if not fault and any(source.errors for source in sources):
        fault = fault_of_errors(bad.stderr, sources)
    shown = "\n".join(bad.stderr.splitlines()[:SHOWN_LINES])
    return f"{fault}; the message of {names} begins:\n{shown}" if fault else None


def fault_of(sources: list[Source], compiler: list[str]) -> str | None:
    """The fault of the pairs of twins, or None."""
    for source in sources:
        if not source.comments:
            return f"{source.path} names no message: add a comment `// error: words`"
    alone = [[source] for source in sources if source.stands_alone]
    others = [source for source in sources if not source.stands_alone]
    for group in filter(None, [others, *alone]):
        valid = compiled(group, compiler)
        if valid.returncode != 0:
            return f"the valid twin does not compile:\n{valid.stderr}"
    exact = [source for source in others
             if all(kind == "error" for kind, _ in source.comments)]
    rest = [[source] for source in others if source not in exact]
    return next(filter(None, (fault_of_bad_twins(group, compiler)
                              for group in [exact, *alone, *rest] if group)), None)


def main() -> int:
    split = sys.argv.index("--")
    fault = fault_of([Source(Path(name)) for name in sys.argv[1:split]], sys.argv[split + 1:])
    if fault:
        print(fault)
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())

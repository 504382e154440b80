# SPDX-License-Identifier: Apache-2.0
"""Checks that a source compiles, and that its bad twin does not, with a readable message.

A source holds the wrong line between `#ifdef STRID_MUST_NOT_COMPILE` and, best after an `#else`
with the right one, `#endif`. Each comment `// expect: words` names words that the compiler must
print when it refuses the bad twin; where compilers differ, name what they share.

A source of several wrong lines has a comment `// error: words` for each instead: the words stand in
a line that says `error`, the one that a user reads, and there is no other such line. So one run of
the compiler shows for each that what it says first is what is wrong.

    must_not_compile.py SOURCE COMPILER [FLAG...]
"""

import os
import re
import subprocess
import sys
from pathlib import Path

EXPECT = re.compile(r"^\s*// (expect|error): *(\S.*?)\s*$", re.MULTILINE)
SHOWN_LINES = 40


def compile_source(command: list[str]) -> subprocess.CompletedProcess:
    """Runs the compiler without output files; its messages are plain English."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def fault_of_errors(output: str, expected: list[str]) -> str | None:
    """Which line that says `error` was not expected, or which is missing."""
    missing = list(expected)
    for line in output.splitlines():
        if "error:" not in line:
            continue
        found = next((words for words in missing if words in line), None)
        if found is None:
            return f"the compiler says what is not expected: {line}"
        missing.remove(found)
    return f"no line that says error has `{missing[0]}`" if missing else None


def fault_of(source: Path, compiler: list[str]) -> str | None:
    """The fault of the pair of twins in `source`, or None."""
    comments = EXPECT.findall(source.read_text())
    if not comments:
        return "names no message: add a comment `// expect: words`"
    command = [*compiler, "-fsyntax-only", str(source)]
    valid = compile_source(command)
    if valid.returncode != 0:
        return f"the valid twin does not compile:\n{valid.stderr}"
    bad = compile_source([*command, "-DSTRID_MUST_NOT_COMPILE"])
    if bad.returncode == 0:
        return "the bad twin compiles"
    shown = "\n".join(bad.stderr.splitlines()[:SHOWN_LINES])
    for kind, words in comments:
        if kind == "expect" and words not in bad.stderr:
            return f"the compiler's message lacks `{words}`; it begins:\n{shown}"
    errors = [words for kind, words in comments if kind == "error"]
    fault = fault_of_errors(bad.stderr, errors) if errors else None
    return f"{fault}; the message begins:\n{shown}" if fault else None


def main() -> int:
    fault = fault_of(Path(sys.argv[1]), sys.argv[2:])
    if fault:
        print(f"{sys.argv[1]}: {fault}")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())

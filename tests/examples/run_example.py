# SPDX-License-Identifier: Apache-2.0
"""Runs one example in a folder of its own and compares what it prints and writes.

    run_example.py PROGRAM FOLDER [STRID]    FOLDER: input/*, output/*, rows/*, stdin, stdout, each
                                             where there is one; PROGRAM.sh calls STRID by the name
                                             of strid
"""

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_S = 50


def difference(what: str, expected: str, found: str) -> str:
    """Nothing where the texts are equal, else a readable comparison."""
    lines = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), "the page", what, lineterm=""
    )
    return "\n".join(lines)


def command_of(program: Path) -> list[str]:
    """Of a script: each line must succeed."""
    return ["sh", "-e", str(program)] if program.suffix == ".sh" else [str(program)]


def faults_of(program: Path, folder: Path, strid: Path | None = None) -> list[str]:
    environment = dict(os.environ)
    if strid:
        environment["PATH"] = f"{strid.parent}:{environment['PATH']}"
    with tempfile.TemporaryDirectory() as place:
        for file in folder.glob("input/*"):
            shutil.copy(file, place)
        stdin = folder / "stdin"
        run = subprocess.run(
            command_of(program),
            input=stdin.read_text() if stdin.is_file() else "",
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        faults = [f"exit status {run.returncode}\n{run.stderr}"] if run.returncode != 0 else []
        expected = folder / "stdout"
        if expected.is_file():
            faults.append(difference("standard output", expected.read_text(), run.stdout))
        for file in [*folder.glob("output/*"), *folder.glob("rows/*")]:
            written = Path(place) / file.name
            found = written.read_text() if written.is_file() else "(no such file)"
            texts = [file.read_text(), found]
            if file.parent.name == "rows":
                texts = ["".join(sorted(text.splitlines(keepends=True))) for text in texts]
            faults.append(difference(file.name, *texts))
    return [fault for fault in faults if fault]


def main() -> int:
    faults = faults_of(*map(Path, sys.argv[1:]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

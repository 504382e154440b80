# SPDX-License-Identifier: Apache-2.0
"""Runs one extracted example in a folder of its own and compares what it prints and writes.

    run_example.py PROGRAM FOLDER      FOLDER: input/*, output/*, stdout, each where there is one
"""

import difflib
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


def faults_of(program: Path, folder: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        for file in folder.glob("input/*"):
            shutil.copy(file, place)
        run = subprocess.run(
            [program], cwd=place, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        faults = [f"exit status {run.returncode}\n{run.stderr}"] if run.returncode != 0 else []
        expected = folder / "stdout"
        if expected.is_file():
            faults.append(difference("standard output", expected.read_text(), run.stdout))
        for file in folder.glob("output/*"):
            written = Path(place) / file.name
            found = written.read_text() if written.is_file() else "(no such file)"
            faults.append(difference(file.name, file.read_text(), found))
    return [fault for fault in faults if fault]


def main() -> int:
    faults = faults_of(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

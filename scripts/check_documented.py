#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a public name has no documentation, or one that Doxygen cannot read.

What is public, docs/design/0022-what-is-public.md decides and docs/site/Doxyfile lists.

    check_documented.py ROOT     a line for each fault; status 1 where there is one, 77 (skipped)
                                 without doxygen
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOXYFILE = "docs/site/Doxyfile"
SKIPPED = 77


def run_doxygen(root: Path, output: Path, settings: dict[str, str]) -> list[str]:
    """Runs Doxygen over the headers of `root` and returns its warnings, without repetitions."""
    warnings = output / "warnings"
    settings = {"OUTPUT_DIRECTORY": str(output), "WARN_LOGFILE": str(warnings), **settings}
    text = (root / DOXYFILE).read_text()
    text += "".join(f'{name} = "{value}"\n' for name, value in settings.items())
    done = subprocess.run(
        ["doxygen", "-"], input=text, text=True, cwd=root, capture_output=True, check=False
    )
    lines = warnings.read_text().splitlines() if warnings.exists() else []
    lines = [re.sub(r"^.*?/(include/)", r"\1", line) for line in lines]
    if done.returncode != 0:
        lines.append(f"doxygen ended with {done.returncode}: {done.stderr.strip()}")
    return list(dict.fromkeys(lines))


def check(root: Path) -> list[str]:
    """The faults of the headers below `root`."""
    with tempfile.TemporaryDirectory() as folder:
        return run_doxygen(root, Path(folder), {"GENERATE_HTML": "NO"})


def main() -> int:
    if not shutil.which("doxygen"):
        print("skipped: no doxygen (scripts/install-dependencies --ci)")
        return SKIPPED
    faults = check(Path(sys.argv[1]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

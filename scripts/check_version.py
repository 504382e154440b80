#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version is the same wherever it is written: project() in CMakeLists.txt, the macros and the
constant of include/strid/base/version.hpp, the newest release of CHANGELOG.md, the package that
README.md installs, and the minor version that README.md and tests/install ask find_package for.

    check_version.py [ROOT] [--tag TAG]   prints each difference, and fails if there is one;
                                          TAG must be vMAJOR.MINOR.PATCH of that version
"""

import argparse
import re
import sys
from pathlib import Path

HEADER = "include/strid/base/version.hpp"


def found(text: str, pattern: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else "none"


def versions(root: Path) -> list[tuple[str, str]]:
    """(where, version) of each place that names all three parts."""
    header = (root / HEADER).read_text()
    macros = [found(header, rf"^#define STRID_VERSION_{part} (\d+)$")
              for part in ("MAJOR", "MINOR", "PATCH")]
    return [
        ("CMakeLists.txt", found((root / "CMakeLists.txt").read_text(),
                                 r"^project\(strid VERSION (\S+)")),
        (f"{HEADER}, macros", ".".join(macros)),
        (f"{HEADER}, constant", found(header, r'string_view version = "([^"]*)"')),
        ("README.md, the Debian package", found((root / "README.md").read_text(),
                                                r"strid_(\d+\.\d+\.\d+)_amd64\.deb")),
        ("CHANGELOG.md, newest release", found((root / "CHANGELOG.md").read_text(),
                                               r"^## (\d+\.\d+\.\d+)\b")),
    ]


def check(root: Path, tag: str | None = None) -> list[str]:
    (first, expected), *others = versions(root)
    faults = [f"{where} has version {version}, {first} {expected}"
              for where, version in others if version != expected]
    minor = expected.rpartition(".")[0]
    for name in ("README.md", "tests/install/consumer/CMakeLists.txt"):
        asked = found((root / name).read_text(), r"find_package\(strid (\S+) REQUIRED\)")
        if asked != minor:
            faults.append(f"{name} asks find_package for {asked}, {first} has {expected}")
    if tag is not None and tag != f"v{expected}":
        faults.append(f"the tag is {tag}, {first} has {expected}: v{expected}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="of a release, for example v0.1.0")
    parser.add_argument("root", nargs="?", default=".", type=Path)
    arguments = parser.parse_args()
    faults = check(arguments.root, arguments.tag)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

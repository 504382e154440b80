# SPDX-License-Identifier: Apache-2.0
"""Follows docs/getting-started.md against an installed copy: its blocks of C++ and CMake become
main.cpp and CMakeLists.txt, its commands run one after the other, each of which must succeed.
Commands that install packages and build the library are left out; the build is installed under
the prefix that the page names, in a home of its own.

    follow_page.py CMAKE BUILD SOURCE COMPILER
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PREFIX = ".local/strid"
FILES = {"cpp": "main.cpp", "cmake": "CMakeLists.txt"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MEANS = ["boiler,10000,70", "boiler,5000,62", "cellar,5000,10"]


def script_of(page: str) -> str:
    """The page as lines of sh; a file becomes a here-document."""
    lines = []
    for language, body in BLOCK.findall(page):
        if language in FILES:
            lines.append(f"cat > {FILES[language]} <<'END OF FILE'\n{body}END OF FILE\n")
        elif language == "sh" and "install-dependencies" not in body:
            lines.append(body)
    return "".join(lines)


def follow(script: str, home: Path, compiler: str) -> list[str]:
    """The faults afterwards."""
    clone = home / "clone"
    clone.mkdir()
    environment = {**os.environ, "HOME": str(home), "CXX": compiler}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=clone, env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"]
    first = home / "first"
    means = sorted((first / "means.csv").read_text().splitlines())
    faults = [] if means == MEANS else [f"means.csv has {means}"]
    faults += [f"{name} is empty" for name in ("metrics.json", "means.txt")
               if not (first / name).read_text()]
    if not re.search(r"^boiler,\d{13},\d", done.stdout, re.MULTILINE):
        faults.append(f"the live graph wrote no mean: {done.stdout}")
    return faults


def main() -> int:
    cmake, build, source, compiler = sys.argv[1:]
    page = (Path(source) / "docs/getting-started.md").read_text()
    if f'--prefix "$HOME/{PREFIX}"' not in page:
        print(f"the page does not install to $HOME/{PREFIX}")
        return 1
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        subprocess.run([cmake, "--install", build, "--prefix", home / PREFIX], check=True,
                       stdout=subprocess.DEVNULL)
        faults = follow(script_of(page), home, compiler)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

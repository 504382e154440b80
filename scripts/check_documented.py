#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a public name has no documentation, or one that Doxygen cannot read.

docs/design/0022-what-is-public.md decides what is public: every header outside
include/strid/engine, but for the namespaces that the Doxyfile in docs/site leaves out.

    check_documented.py ROOT     a line for each fault; status 1 where there is one, 77 (skipped)
                                 without doxygen
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

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


def has_text(element: ElementTree.Element) -> bool:
    return any("".join(part.itertext()).strip() for part in element if "description" in part.tag)


def undocumented_enumerators(xml: Path) -> list[str]:
    """Doxygen does not warn of them."""
    faults = []
    for file in sorted(xml.glob("*.xml")):
        for compound in ElementTree.parse(file).iter("compounddef"):
            if compound.get("kind") == "file" or compound.get("prot") == "private":
                continue
            for member in compound.iter("memberdef"):
                place = member.find("location")
                if member.get("kind") == "enum" and member.get("prot") == "public":
                    faults += [
                        f"include/{place.get('file')}:{place.get('line')}: enumerator "
                        f"{member.findtext('name')}::{value.findtext('name')} is not documented."
                        for value in member.iter("enumvalue")
                        if not has_text(value)
                    ]
    return faults


def check(root: Path) -> list[str]:
    """The faults of the headers below `root`."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        settings = {"GENERATE_HTML": "NO", "GENERATE_XML": "YES", "XML_PROGRAMLISTING": "NO"}
        warnings = run_doxygen(root, output, settings)
        return warnings + undocumented_enumerators(output / "xml")


def stale(root: Path) -> list[str]:
    """Paths that the Doxyfile leaves out and that are not there any more."""
    faults = []
    for path in re.findall(r"include/strid/[\w/.]+", (root / DOXYFILE).read_text()):
        if not (root / path).exists():
            faults.append(f"{DOXYFILE}: {path} is not there")
    return faults


def main() -> int:
    if not shutil.which("doxygen"):
        print("skipped: no doxygen (scripts/install-dependencies --ci)")
        return SKIPPED
    faults = stale(Path(sys.argv[1])) + check(Path(sys.argv[1]))
    print("\n".join(faults) if faults else "public names: all documented")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

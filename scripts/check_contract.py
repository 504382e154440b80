#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where the engine looks for a member of an operator, a source or a function by a name that
include/strid/operator/contract.hpp does not list.

It reads the requires-expressions of include/strid and src. A member is one of such a class if it is
asked of a type or a variable of a name in ROLES, by which the code calls them.

    check_contract.py ROOT     a line for each fault; status 1 where there is one
"""

import re
import sys
from pathlib import Path

CONTRACT = "include/strid/operator/contract.hpp"
ROLES = r"Operator|Class|Stage|Sink|Source|Function|S|F|First|Second|N"
VARIABLES = (
    r"one|source_?|sink_?|function_?|stage|last|first_?|second_?|operator_|prototype_|fold_|"
    r"combine_|writer_?"
)
# Members that are asked of something else by these names: an aggregate of windows, the description
# of a node of a pattern, a strategy of watermarks, and a call.
OTHERS = {"of_content", "type", "operator", "observe", "never_goes_back"}
REQUIRES = re.compile(r"\brequires\b\s*(\((?P<parameters>[^{};]*)\))?\s*\{")

PARAMETER = re.compile(r"[\w>][&*]{0,2} \w+\s*$")


def expressions(text: str):
    """The parameters, the body and the line of each requires-expression."""
    for match in REQUIRES.finditer(text):
        if match["parameters"] and not PARAMETER.search(match["parameters"]):
            continue  # a clause, and the body of its function
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        line = text.count("\n", 0, match.start()) + 1
        yield match["parameters"] or "", text[match.end() : end - 1], line


def names_in(parameters: str, body: str) -> set[str]:
    """The members that an expression asks of operators, sources and functions."""
    declared = re.findall(rf"\b(?:{ROLES})&?&?\s+(\w+)", parameters)
    variables = "|".join([VARIABLES, *map(re.escape, declared)])
    found = re.findall(rf"\b(?:{variables})(?:\(\))?\.(?:template )?(\w+)", body)
    found += re.findall(rf"\b(?:{ROLES})::(\w+)", body)
    return set(found)


def check(root: Path) -> list[str]:
    listed = set(re.findall(r"\w+", (root / CONTRACT).read_text()))
    faults = []
    for folder in ("include/strid", "src"):
        for file in sorted((root / folder).rglob("*.[hc]pp")):
            text = re.sub(r"//[^\n]*", "", file.read_text())
            for parameters, body, line in expressions(text):
                for name in sorted(names_in(parameters, body) - listed - OTHERS):
                    faults.append(
                        f"{file.relative_to(root)}:{line}: asks a class for `{name}`, which "
                        f"{CONTRACT} does not list"
                    )
    return faults


def main() -> int:
    faults = check(Path(sys.argv[1]))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

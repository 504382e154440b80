# SPDX-License-Identifier: Apache-2.0
"""Checks that the state of every operator of the library is tested.

An operator is a class with `static constexpr OperatorTraits traits`. For each there is a test
TEST(Restored, CLASS) in restored_*_test.cpp beside this file, maybe of one kind of
it (CLASSOfTexts), or a reason in NO_TEST below.

    operators_listed.py ROOT      prints each operator without a test, and each reason that is none
"""

import re
import sys
from pathlib import Path

NODE = "a node inside a pattern, and no operator of a stream: a pattern is drained at a cut"
NO_TEST = {
    "Aligned": "stateless: what holds it back is asked for again in every run",
    "KeyCheck": "stateless",
    "HashKey": "stateless",
    "Identity": "stateless",
    "PatternOperator": "its tasks are in lanes of other threads: it is drained at a cut",
    "Take": "the sink of the harness itself",
    "LateObserved": "the harness's, around an operator: the state is the operator's",
    "TableStep": "beside the operators that it has: tests/table/operator_test.cpp",
    "ToChunks": "stateless: the last of the records that came together sends the chunk",
    "ToRecords": "stateless",
    "WithLate": "an operator with its late records: the state is the operator's",
    "Comb": NODE,
    "EmittingStep": NODE,
    "EmitterNode": NODE,
    "EndOfFlight": NODE,
    "Marking": NODE,
    "MaybeStep": NODE,
    "Step": NODE,
    "TaggedOperator": NODE,
    "UsingOperator": NODE,
}
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TRAITS = re.compile(r"static constexpr OperatorTraits traits\b")
CLASS = re.compile(r"^[ ]*(?:class|struct)\s+(\w+)[^;{]*\{", re.MULTILINE)
TEST = re.compile(r"TEST\(Restored, (\w+)\)")


def operators(root: Path) -> set[str]:
    """The name of the class in front of each declaration of traits."""
    found = set()
    for header in sorted((root / "include/strid").rglob("*.hpp")):
        lines = STRING.sub('""', header.read_text()).splitlines()
        text = "\n".join(line.split("//")[0] for line in lines)
        for traits in TRAITS.finditer(text):
            names = CLASS.findall(text, 0, traits.start())
            if names:
                found.add(names[-1])
    return found


def main() -> int:
    root = Path(sys.argv[1])
    tests = set()
    for source in (root / "tests/test").glob("restored_*_test.cpp"):
        tests.update(TEST.findall(source.read_text()))
    classes = operators(root)
    if len(classes) < 20:
        print(f"only {len(classes)} operators found: the search is broken")
        return 1
    faults = []
    for name in sorted(classes):
        own = re.compile(name + "((Of|With|By)[A-Z].*)?")  # of one of its kinds
        is_tested = any(own.fullmatch(test) for test in tests)
        if is_tested == (name in NO_TEST):
            faults.append(f"{name}: " + ("has a test and a reason for none" if is_tested else
                                         "no TEST(Restored, ...) shows that its state is complete"))
    faults += [f"{name}: there is no such operator" for name in sorted(NO_TEST.keys() - classes)]
    print("\n".join(faults) if faults else f"{len(classes)} operators: tested, or with a reason")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of strid memory compare: programs that are compiled here, and its
runs."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

from program import PROGRAM, SOURCE, Case

sys.path.insert(0, str(SOURCE / "memory-tools/memory"))
os.environ["STRID_MEMORY_LIBRARIES"] = str(pathlib.Path(PROGRAM).parent / "memory")
from strid_memory.allocators import installed  # noqa: E402  (the path comes first)

CC = shutil.which("cc")
# Allocates as a program does, and prints a number.
CHURN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
    enum { slots = 500 };
    static char* held[slots];
    unsigned seed = 1;
    for (int i = 0; i < (count > 1 ? atoi(words[1]) : 20000); ++i) {
        seed = seed * 1664525u + 1013904223u;
        char** slot = &held[(seed >> 8) % slots];
        free(*slot);
        *slot = malloc(16 + (seed >> 20) % 500);
        memset(*slot, 1, 16);
    }
    printf("rounds per second: %d\n", 1250);
    return 0;
}
"""


class CompareCase(Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def compiled(self, name: str, source: str, *options: str) -> pathlib.Path:
        if CC is None:
            self.skipTest("no C compiler")
        path = self.folder / name
        result = subprocess.run(
            [CC, "-O1", "-w", "-x", "c", "-", "-o", path, *options],
            input=source.encode(),
            capture_output=True,
        )
        if result.returncode:
            self.skipTest(f"cannot be compiled here: {result.stderr.decode()[-200:]}")
        return path

    def churn(self, *options: str) -> pathlib.Path:
        return self.compiled("churn", CHURN, *options)

    def other(self) -> str:
        """An allocator beside glibc."""
        for name in installed():
            if name != "glibc":
                return name
        self.skipTest("no other allocator is installed")

    def compare(self, *words, code=0):
        self.needs_package("statsmodels")
        return self.run_program("compare", "--output", self.out, *words, code=code)

    def refuses(self, *words, code=1):
        """The line of an error; the line of the seed may come before it."""
        result = self.compare(*words, code=code)
        lines = [
            line
            for line in result.stderr.decode(errors="replace").splitlines()
            if not line.startswith("seed ")
        ]
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("strid: error: "), lines)
        return lines[0]

    def rows(self) -> list[dict]:
        with (self.out / "runs.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def results(self) -> dict:
        return json.loads((self.out / "results.json").read_text())

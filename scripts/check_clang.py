#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks through the library, the tools, the applications and the papers with the other compiler,
without making code: what a build by GCC compiles, Clang has to compile without a warning. A whole
build and its tests are the preset `clang`.

    check_clang.py BUILD [--compiler clang++-16] [--jobs N] [--all]

BUILD has a compile_commands.json. --all: the tests and the benchmarks as well.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Of GCC alone, or about output that there is none of.
UNKNOWN = ("--param=", "-Wa,", "-Winvalid-pch", "-Wno-stringop-overflow", "-Wno-restrict",
           "-mbranches-within")
WITH_ARGUMENT = {"-o", "-MF", "-MT"}
USUAL = re.compile(r"(src|tools|memory-tools|apps|papers)/(?!.*\b(tests|bench)/)")
INCLUDED = re.compile(r'^#include "(.*\.cpp)"$', re.MULTILINE)


def each_alone(entry):
    """The compilations of the sources that the build compiles together (cmake/together.cmake)."""
    file = entry["file"]
    if os.path.basename(os.path.dirname(file)) != "Unity":
        return [entry]
    with open(file, encoding="utf-8") as unit:
        return [{**entry, "file": source, "command": entry["command"].replace(file, source)}
                for source in INCLUDED.findall(unit.read())]


def arguments_of(entry, compiler):
    """The compilation of `entry` as one that makes nothing."""
    words = shlex.split(entry["command"])
    while not os.path.basename(words[0]).endswith(("c++", "g++", "gcc", "clang++")):
        words.pop(0)  # the compiler cache and its settings
    kept = [compiler, "-fsyntax-only"]
    skip = False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif word in WITH_ARGUMENT or (word == "-include" and "cmake_pch" in words[index + 1]):
            skip = True
        elif word not in ("-MD", "-c") and not word.startswith(UNKNOWN):
            kept.append(word)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--compiler", default="clang++-16")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(options.build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [one for entry in json.load(file) for one in each_alone(entry)]
    chosen = [entry for entry in entries
              if options.all or USUAL.match(os.path.relpath(entry["file"], root))]
    if not chosen:
        sys.exit(f"{options.build} compiles nothing that is looked at")

    def look(entry):
        done = subprocess.run(arguments_of(entry, options.compiler), cwd=entry["directory"],
                              capture_output=True, text=True, check=False)
        return done.returncode == 0, os.path.relpath(entry["file"], root), done.stderr

    with ThreadPoolExecutor(options.jobs) as pool:
        bad = [(name, said) for good, name, said in pool.map(look, chosen) if not good]
    for name, said in bad:
        print(f"{name}:\n{said[:4000]}")
    print(f"{options.compiler}: {len(chosen)} units, {len(bad)} refused")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the compilation of programs that use the library, against a budget.

    budget.py --build build/release [--rounds N]

Compiles examples of the pages with the compiler and the folders of a build, at -O2 and without a
cache: processor seconds, of the rounds the least, and the most memory that a compiler took. One of
them is also compiled as development builds may have it (docs/compile-times.md): whole segments
only, without and with a precompiled header. By turns with them it compiles reference.cpp, which
uses the standard library alone: seconds are divided by how much slower this machine compiles that
than the one on which the bars were set.
Where one of them is above 1.3 of its bar, all are measured for as many rounds again, up to three
times; exits with 1 if that is still so.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ALLOWED = 1.3
TRIES = 3
# Processor seconds of reference.cpp on the machine on which the bars were set: 0.73 of
# what the README's program took there before the last change, as it does elsewhere.
REFERENCE = Path(__file__).resolve().with_name("reference.cpp")
REFERENCE_SECONDS = 4.3
# Program, bars: processor seconds, and MB of memory.
BUDGET = [("spike_detection", 4.7, 390), ("delays", 6.0, 440), ("log_analyser", 15.0, 720)]
# The same of the first program for development. Before they were there it took 4.7 s: the bars are
# 0.8 and 0.55 of that.
WHOLE = ("spike_detection, whole segments", 3.7, 370)
PRECOMPILED = ("spike_detection, whole segments, precompiled", 2.6, 330)


def compilation_of(build, program):
    """The options for the language and the folders in the build's command for an extracted
    example."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if Path(entry["file"]).name != f"{program}.cpp" or "extracted" not in entry["file"]:
            continue
        words = [word for word in shlex.split(entry["command"]) if "ccache" not in word]
        kept = [word for word in words[1:] if word.startswith(("-I", "-D", "-std="))]
        return [words[0], *kept, "-O2", "-c", entry["file"]], entry["directory"]
    sys.exit(f"{build} has no example '{program}': it is configured with the tests")


def cost_of(words, directory):
    """Processor seconds and megabytes of one compilation."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            os.chdir(directory)
            os.execvp(words[0], [*words, "-o", f"{folder}/program.o"])
        _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{shlex.join(words)}\ndoes not compile")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def precompiled(words, directory, folder):
    """The same compilation with the library's header precompiled in `folder`."""
    *flags, _, source = words
    header = Path(folder, "precompiled.hpp")
    header.write_text("#include <strid/strid.hpp>\n")
    subprocess.run([*flags, "-x", "c++-header", header, "-o", f"{header}.gch"], cwd=directory,
                   check=True)
    return [*flags, "-Werror=invalid-pch", "-include", str(header), "-c", source]


def compare(costs):
    """Prints what was measured; whether all of it is allowed."""
    seconds_of = {program: min(cost[0] for cost in all) for program, all in costs.items()}
    slower = seconds_of[REFERENCE.stem] / REFERENCE_SECONDS
    print(f"This machine takes {seconds_of[REFERENCE.stem]:.1f} s for the reference, {slower:.2f} "
          "times as long as the one of the bars: seconds are of that one.\n\n"
          "| program | processor seconds | bar | MB | bar | |\n|---|---:|---:|---:|---:|---|")
    is_within = True
    for program, seconds_bar, megabytes_bar in [*BUDGET, WHOLE, PRECOMPILED]:
        seconds = seconds_of[program] / slower
        megabytes = max(cost[1] for cost in costs[program])
        over = max(seconds / seconds_bar, megabytes / megabytes_bar)
        verdict = "met" if over <= 1 else f"{over:.2f} of the bar"
        if over > ALLOWED:
            verdict += ": TOO MUCH"
            is_within = False
        print(f"| {program} | {seconds:.1f} | {seconds_bar} | {megabytes:.0f} | {megabytes_bar} "
              f"| {verdict} |", flush=True)
    return is_within


def measure(compilations, rounds):
    """Whether all of it is allowed, at the last try."""
    costs = {program: [] for program in compilations}
    for _ in range(TRIES):
        for _ in range(rounds):
            for program, compilation in compilations.items():
                costs[program].append(cost_of(*compilation))
        if compare(costs):
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="a build of any preset")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    options = parser.parse_args()
    compilations = {program: compilation_of(options.build, program) for program, _, _ in BUDGET}
    words, directory = next(iter(compilations.values()))
    compilations[REFERENCE.stem] = [words[0], "-std=c++20", "-O2", "-c", str(REFERENCE)], directory
    whole = [words[0], "-DSTRID_WHOLE_SEGMENTS", *words[1:]]
    compilations[WHOLE[0]] = whole, directory
    with tempfile.TemporaryDirectory() as folder:
        compilations[PRECOMPILED[0]] = precompiled(whole, directory, folder), directory
        return 0 if measure(compilations, options.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions per record of applications, as bench/instructions/count.py does of the
engine; the answers are those of the applications' oracles.

    count_applications.py --build build/release [--store] [RUN...]
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAPER = HERE.parents[1]
sys.path.insert(0, str(HERE.parents[3] / "bench/instructions"))

import count  # noqa: E402  (the path comes first)


def application(build, name, data, oracle, *options, records_of=len):
    text = (PAPER / name / "data" / data).read_text()

    def lines(times):
        return (times * text).splitlines(keepends=True)

    # Callgrind would not follow `strid run` into the program that it becomes.
    program = build / "tools/applications" / name
    return count.ToolRun(program, name, lines, ["run", *options], oracle, records_of)


def words_of(lines):
    return sum(len(line.split()) for line in lines)


def all_runs(build):
    python = sys.executable
    model = PAPER / "fraud-detection/data/model.txt"
    program = build / "papers/2-windflow/bench/counted_applications"
    return [
        *count.graph_runs(program),
        application(build, "word-count", "opticks.txt",
                    lambda source: count.output_of("awk", "-f", PAPER / "word-count/oracle.awk",
                                                   source),
                    records_of=words_of),
        application(build, "spike-detection", "readings.csv",
                    lambda source: count.output_of(python, PAPER / "spike-detection/oracle.py",
                                                   source)),
        application(build, "fraud-detection", "transactions.csv",
                    lambda source: count.output_of(python, PAPER / "fraud-detection/oracle.py",
                                                   source, "--model", model),
                    "--model", model),
    ]


if __name__ == "__main__":
    sys.exit(count.main(all_runs, HERE / "figures.csv"))

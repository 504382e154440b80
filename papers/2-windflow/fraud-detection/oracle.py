#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of fraud-detection, computed without the engine.

    oracle.py INPUT [--model MODEL] [--threshold 0.96]
              [--score miss-probability|miss-rate|entropy-reduction]

Reads account,transaction,state; writes account,transaction,score in the order of the input, each
score with the digits that tell it apart. The last five records of an account are kept; once there
are five, the score of the newest is computed over the four transitions between them, and written
where it exceeds the threshold:
  miss-probability   the mean of the probability mass, in the row of the state before, of all
                     states but the one that came
  miss-rate          the share of transitions that did not go to the likeliest next state (the
                     first of several equally likely ones)
  entropy-reduction  the entropy of the rows of the states before without the terms of the states
                     that came, summed over the transitions, over the sum of the whole entropies
"""
import argparse
import collections
import math
import pathlib
import sys

RECORDS = 5


def read_model(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    states = lines[0].split(",")
    rows = [[float(cell) for cell in line.split(",")] for line in lines[1:] if line]
    assert len(rows) == len(states) and all(len(row) == len(states) for row in rows)
    return states, rows


def miss_probability(rows, transitions):
    missed = sum(p for before, came in transitions for j, p in enumerate(rows[before]) if j != came)
    return missed / len(transitions)


def miss_rate(rows, transitions):
    missed = sum(came != rows[before].index(max(rows[before])) for before, came in transitions)
    return missed / len(transitions)


def entropy_reduction(rows, transitions):
    whole = without = 0.0
    for before, came in transitions:
        for j, p in enumerate(rows[before]):
            term = -p * math.log(p) if p > 0 else 0.0
            whole += term
            without += term if j != came else 0.0
    return without / whole


SCORES = {
    "miss-probability": miss_probability,
    "miss-rate": miss_rate,
    "entropy-reduction": entropy_reduction,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--model", default=pathlib.Path(__file__).parent / "data" / "model.txt")
    parser.add_argument("--threshold", type=float, default=0.96)
    parser.add_argument("--score", choices=SCORES, default="miss-probability")
    options = parser.parse_args()
    states, rows = read_model(options.model)
    index = {state: i for i, state in enumerate(states)}
    score_of = SCORES[options.score]
    recent = collections.defaultdict(lambda: collections.deque(maxlen=RECORDS))
    with open(options.input, encoding="utf-8") as file:
        for line in file:
            account, transaction, state = line.rstrip("\n").split(",")
            window = recent[account]
            window.append(index[state])
            if len(window) == RECORDS:
                sequence = list(window)
                score = score_of(rows, list(zip(sequence, sequence[1:])))
                if score > options.threshold:
                    sys.stdout.write(f"{account},{transaction},{score!r}\n")


if __name__ == "__main__":
    main()

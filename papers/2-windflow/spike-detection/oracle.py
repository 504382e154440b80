#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of spike-detection, computed by SQLite's window functions.

    oracle.py INPUT [--threshold 0.25]

Reads device,value; writes device,value,mean in the order of the input, each number with the
digits that tell it apart. The mean is over the last 1,000 readings of the device, this one
included, or over all of them while there are fewer. A spike is a reading with |value - mean| >
threshold * mean.
"""
import argparse
import csv
import sqlite3
import sys

SPIKES = """
    SELECT device, value, mean
    FROM (SELECT position, device, value,
                 avg(value) OVER (PARTITION BY device ORDER BY position ROWS 999 PRECEDING) AS mean
          FROM readings)
    WHERE abs(value - mean) > :threshold * mean
    ORDER BY position
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--threshold", type=float, default=0.25)
    options = parser.parse_args()
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE TABLE readings (position INTEGER PRIMARY KEY, device INTEGER, value REAL)"
    )
    with open(options.input, encoding="ascii", newline="") as file:
        rows = ((int(device), float(value)) for device, value in csv.reader(file))
        database.executemany("INSERT INTO readings (device, value) VALUES (?, ?)", rows)
    for device, value, mean in database.execute(SPIKES, {"threshold": options.threshold}):
        sys.stdout.write(f"{device},{value!r},{mean!r}\n")


if __name__ == "__main__":
    main()

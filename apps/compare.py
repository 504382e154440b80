#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of two CSV files regardless of their order.

    compare.py EXPECTED ACTUAL [--key-order COLUMN] [--relative-tolerance 1e-9]

Cells are equal as text, or as numbers within the tolerance (which leaves room for sums taken in
another order). With --key-order the rows that share the text of that column (counted from 1) must
follow each other as in EXPECTED; rows of different keys may mix in any way. Exits with 1 and
names the first differences when the files differ.
"""
import argparse
import collections
import csv
import math
import re
import sys

SHOWN = 5
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def number(cell):
    return float(cell) if NUMBER.fullmatch(cell) else None


def same_cell(a, b, tolerance):
    if a == b:
        return True
    x, y = number(a), number(b)
    if x is None or y is None:
        return False
    return math.isclose(x, y, rel_tol=tolerance)


def same_row(a, b, tolerance):
    return len(a) == len(b) and all(same_cell(x, y, tolerance) for x, y in zip(a, b))


def canonical(row):
    """Text before numbers, so that the rounding of a number decides last."""
    text = [cell for cell in row if number(cell) is None]
    numbers = [value for value in map(number, row) if value is not None]
    return (text, numbers)


def groups(rows, key_order):
    if not key_order:
        return {"": sorted(rows, key=canonical)}
    result = collections.defaultdict(list)
    for row in rows:
        result[row[key_order - 1]].append(row)
    return result


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return [row for row in csv.reader(file) if row]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("expected")
    parser.add_argument("actual")
    parser.add_argument("--key-order", type=int, default=0, metavar="COLUMN")
    parser.add_argument("--relative-tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    expected = groups(read(options.expected), options.key_order)
    actual = groups(read(options.actual), options.key_order)
    differences = []
    for key in sorted(expected.keys() | actual.keys()):
        wanted, got = expected.get(key, []), actual.get(key, [])
        if len(wanted) != len(got):
            where = f"key {key}: " if key else ""
            differences.append(f"{where}{len(wanted)} rows expected, {len(got)} found")
        for a, b in zip(wanted, got):
            if not same_row(a, b, options.relative_tolerance):
                differences.append(f"expected {','.join(a)}  found {','.join(b)}")
                break
    for difference in differences[:SHOWN]:
        print(difference, file=sys.stderr)
    if len(differences) > SHOWN:
        print(f"and {len(differences) - SHOWN} differences more", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

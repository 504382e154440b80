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
import functools
import math
import re
import sys

SHOWN = 5
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Number(float):
    """A cell that is a number, and how it is written."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self):
        return self.text


@functools.lru_cache(maxsize=1 << 20)
def value(cell):
    return Number(cell) if NUMBER.fullmatch(cell) else cell


def same_cell(a, b, tolerance):
    if a == b:
        return True
    are_numbers = isinstance(a, Number) and isinstance(b, Number)
    return are_numbers and math.isclose(a, b, rel_tol=tolerance)


def same_row(a, b, tolerance):
    return len(a) == len(b) and all(same_cell(x, y, tolerance) for x, y in zip(a, b))


def canonical(row):
    """Text before numbers, so that the rounding of a number decides last."""
    text = [cell for cell in row if not isinstance(cell, Number)]
    numbers = [cell for cell in row if isinstance(cell, Number)]
    return (text, numbers)


def groups(rows, key_order):
    if not key_order:
        return {"": rows}
    result = collections.defaultdict(list)
    for row in rows:
        result[str(row[key_order - 1])].append(row)
    return result


def in_one_order(wanted, got):
    """Both sorted, without the rows that are equal without rounding: mostly that leaves none."""
    only_wanted, only_got = collections.Counter(wanted), collections.Counter(got)
    both = only_wanted & only_got
    return (sorted((only_wanted - both).elements(), key=canonical),
            sorted((only_got - both).elements(), key=canonical))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return [tuple(map(value, row)) for row in csv.reader(file) if row]


def text_of(row):
    return ",".join(map(str, row))


def differences_of(expected_path, actual_path, key_order=0, tolerance=1e-9):
    """Sentences, the first of each group of rows."""
    csv.field_size_limit(sys.maxsize)
    expected = groups(read(expected_path), key_order)
    actual = groups(read(actual_path), key_order)
    differences = []
    for key in sorted(expected.keys() | actual.keys()):
        wanted, got = expected.get(key, []), actual.get(key, [])
        if wanted == got:
            continue
        if len(wanted) != len(got):
            where = f"key {key}: " if key else ""
            differences.append(f"{where}{len(wanted)} rows expected, {len(got)} found")
        if not key_order:
            wanted, got = in_one_order(wanted, got)
        for a, b in zip(wanted, got):
            if not same_row(a, b, tolerance):
                differences.append(f"expected {text_of(a)}  found {text_of(b)}")
                break
    return differences


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("expected")
    parser.add_argument("actual")
    parser.add_argument("--key-order", type=int, default=0, metavar="COLUMN")
    parser.add_argument("--relative-tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    differences = differences_of(options.expected, options.actual, options.key_order,
                                 options.relative_tolerance)
    for difference in differences[:SHOWN]:
        print(difference, file=sys.stderr)
    if len(differences) > SHOWN:
        print(f"and {len(differences) - SHOWN} differences more", file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of trading in plain Python: all quotes of a symbol side by side, every window cut out
of them, and the polynomial of the least squares in exact fractions.

    oracle.py QUOTES [--window 1000] [--slide 25] [--resolution-ns 1000000] [--degree 3]
              [--unit-ns 1000000] [--decimals 4]

QUOTES has a header with symbol, time, bid, ask, bid_size and ask_size, and times in numbers. Prints
symbol,window,time,price,volume.
"""
import argparse
import csv
import decimal
import fractions
import sys

FIELDS = ("bid", "ask", "bid_size", "ask_size")


def solve(matrix, right):
    """The solution of a regular system, by elimination."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for at in range(size):
        pivot = next(row for row in range(at, size) if rows[row][at] != 0)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(at + 1, size):
            factor = rows[row][at] / rows[at][at]
            rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at])]
    solution = [fractions.Fraction(0)] * size
    for at in reversed(range(size)):
        known = sum(rows[at][column] * solution[column] for column in range(at + 1, size))
        solution[at] = (rows[at][size] - known) / rows[at][at]
    return solution


def forecast(points, degree):
    """`points`: (interval, price) in order. The value of the polynomial one interval on."""
    count = min(degree + 1, len(points))
    first, last = points[0][0], points[-1][0]
    # Whole numbers, which are faster: times around the middle, doubled; prices times a power of 2.
    at = [2 * interval - first - last for interval, _ in points]
    scale = max(price.as_integer_ratio()[1] for _, price in points)
    prices = [int(fractions.Fraction(price) * scale) for _, price in points]
    powers = [sum(x**power for x in at) for power in range(2 * count - 1)]
    matrix = [[fractions.Fraction(powers[row + column]) for column in range(count)]
              for row in range(count)]
    right = [fractions.Fraction(sum(price * x**power for x, price in zip(at, prices)), scale)
             for power in range(count)]
    next_at = 2 * (last + 1) - first - last
    return sum(c * next_at**power for power, c in enumerate(solve(matrix, right)))


def points_of(quotes, resolution):
    """One for each interval: the mean of bid and ask, weighted by the sizes."""
    sums = {}
    for time, bid, ask, bid_size, ask_size in quotes:
        value, weight = sums.get(time // resolution, (0, 0))
        size = bid_size + ask_size
        sums[time // resolution] = (value + (bid + ask) * size, weight + size)
    return [(interval, value / (2 * weight)) for interval, (value, weight) in sums.items()]


def read(path, options):
    """The quotes of each symbol; prices in ticks."""
    symbols = {}
    tick = decimal.Decimal(1).scaleb(-options.decimals)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            numbers = [decimal.Decimal(row[field] or 0) for field in FIELDS]
            if 0 in numbers:
                continue
            bid, ask = (int(price / tick) for price in numbers[:2])
            time = int(decimal.Decimal(row["time"]) * options.unit_ns)
            symbols.setdefault(row["symbol"], []).append((time, bid, ask, *map(int, numbers[2:])))
    return symbols


def number(value):
    """A decimal without zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quotes")
    for name, value in (("--window", 1000), ("--slide", 25), ("--resolution-ns", 1_000_000),
                        ("--degree", 3), ("--unit-ns", 1_000_000), ("--decimals", 4)):
        parser.add_argument(name, type=int, default=value)
    options = parser.parse_args()
    rows = csv.writer(sys.stdout, lineterminator="\n")
    for symbol, quotes in read(options.quotes, options).items():
        starts = range(0, len(quotes) - options.window + 1, options.slide)
        for window, start in enumerate(starts):
            content = quotes[start : start + options.window]
            points = points_of(content, options.resolution_ns)
            price = float(forecast(points, options.degree) / 10**options.decimals)
            time = decimal.Decimal((points[-1][0] + 1) * options.resolution_ns) / options.unit_ns
            volume = sum(bid_size + ask_size for *_, bid_size, ask_size in content)
            rows.writerow([symbol, window, number(time), repr(price), volume])


if __name__ == "__main__":
    main()

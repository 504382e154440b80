#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a road over time: how fast its segments are, where accidents are, what is paid.

    picture.py INPUT ANSWERS OUTPUT.svg [--road XWAY,DIR]

A cell is a segment in a minute: its colour is the mean speed of its reports, a number in it the
toll that cars were told there (hundreds), a cross that cars were told of an accident in it.
"""
import argparse
import collections
import csv
import gzip
import pathlib

CELL_W, CELL_H, LEFT, TOP = 44, 11, 60, 46


def rows_of(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rt") as file:
        yield from csv.reader(file)


def colour(speed):
    """From red (standing) over yellow to green (65 miles an hour)."""
    share = min(speed / 65, 1)
    return f"hsl({120 * share:.0f},65%,{62 + 10 * share:.0f}%)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("answers")
    parser.add_argument("output")
    parser.add_argument("--road", default="0,0", metavar="XWAY,DIR")
    options = parser.parse_args()
    xway, direction = options.road.split(",")
    speeds, segment_of = collections.defaultdict(list), {}
    for row in rows_of(options.input):
        if row[0] == "0" and (row[4], row[6]) == (xway, direction):
            speeds[int(row[1]) // 60, int(row[7])].append(int(row[3]))
            segment_of[row[2], row[1]] = int(row[7])
    tolls, accidents = {}, set()
    for row in rows_of(options.answers):
        if row[0] == "0" and (row[1], row[2]) in segment_of and int(row[5]) > 0:
            tolls[int(row[2]) // 60, segment_of[row[1], row[2]]] = int(row[5])
        elif row[0] == "1" and (row[3], row[1]) in segment_of:
            accidents.add((int(row[1]) // 60, int(row[4])))
    first = min((minute for minute, _ in speeds), default=0)
    minutes = max((minute for minute, _ in speeds), default=first) + 1 - first
    width, height = LEFT + minutes * CELL_W + 20, TOP + 100 * CELL_H + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="9">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{LEFT}" y="18" font-size="14">Expressway {xway}, direction {direction}: '
             'speed by segment and minute</text>',
             f'<text x="{LEFT}" y="34">green 65 mph, red standing; number: toll / 100; '
             'X: accident that is told of</text>']
    for (minute, segment), values in sorted(speeds.items()):
        x, y = LEFT + (minute - first) * CELL_W, TOP + segment * CELL_H
        parts.append(f'<rect x="{x}" y="{y}" width="{CELL_W - 1}" height="{CELL_H - 1}" '
                     f'fill="{colour(sum(values) / len(values))}"/>')
        if (minute, segment) in tolls:
            parts.append(f'<text x="{x + 4}" y="{y + 8}">{tolls[minute, segment] / 100:.0f}</text>')
    for minute, segment in sorted(accidents):
        parts.append(f'<text x="{LEFT + (minute - first + 1) * CELL_W - 14}" '
                     f'y="{TOP + segment * CELL_H + 9}" font-weight="bold">X</text>')
    for segment in range(0, 100, 10):
        parts.append(f'<text x="{LEFT - 34}" y="{TOP + segment * CELL_H + 8}">{segment}</text>')
    parts.append(f'<text x="6" y="{TOP - 6}">segment</text>')
    for minute in range(minutes):
        parts.append(f'<text x="{LEFT + minute * CELL_W + 16}" y="{TOP + 100 * CELL_H + 14}">'
                     f'{first + minute}</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP + 100 * CELL_H + 30}">minute</text></svg>')
    pathlib.Path(options.output).write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

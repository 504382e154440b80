#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundled input: seven minutes of traffic on two expressways, and a history.

    prepare.py STRID [FOLDER]

STRID is the command line; writes cars.csv.gz and history.csv into FOLDER, that of this script
unless another one is named. Three questions in four find a toll in the history.
"""
import gzip
import pathlib
import random
import subprocess
import sys

TRAFFIC = ["--minutes", "7", "--expressways", "2", "--cars", "2200", "--accident-every", "1m",
           "--write-input"]


def main():
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent
    made = subprocess.run([sys.argv[1], "run", "linear-road", *TRAFFIC, "--quiet"],
                          capture_output=True, check=True).stdout
    with open(folder / "cars.csv.gz", "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(made)
    chance = random.Random(1)
    days = set()
    for line in made.decode().splitlines():
        row = line.split(",")
        if row[0] == "3" and chance.random() < 0.75:
            days.add((int(row[2]), int(row[14]), int(row[4])))
    for _ in range(300):
        days.add((chance.randrange(4000), chance.randint(1, 69), chance.randrange(2)))
    with open(folder / "history.csv", "w", encoding="ascii") as file:
        for car, day, xway in sorted(days):
            print(car, day, xway, chance.randint(10, 99), sep=",", file=file)


if __name__ == "__main__":
    main()

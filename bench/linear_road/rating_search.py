# SPDX-License-Identifier: Apache-2.0
"""The search for an L-rating, whichever engine is tried: options, trials, result."""
import argparse
import json
import pathlib


def parser(description):
    """Of a program that rates an engine, with what every such program is told."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("strid")
    made.add_argument("--minutes", type=int, default=3)
    made.add_argument("--cars", type=int, default=50_000, help="on each at its end")
    made.add_argument("--from", dest="first", type=int, default=8, metavar="EXPRESSWAYS")
    made.add_argument("--precision", type=float, default=0.05)
    made.add_argument("--parallelism", type=int, default=2)
    made.add_argument("--json", help="all trials go there")
    return made


def search(options, trial):
    """The most expressways that `trial(expressways)` sustained, and its rows, which are printed."""
    best, worst, expressways, rows = 0, None, options.first, []
    while True:
        row = trial(expressways)
        rows.append(row)
        print(json.dumps(row), flush=True)
        if row["sustained"]:
            best = expressways
        else:
            worst = expressways
        if worst is None:
            expressways = 2 * best
        elif worst - best <= max(1, options.precision * worst):
            return best, rows
        else:
            expressways = (best + worst) // 2


def report(options, name, best, rows):
    """Says and keeps the rating; the status of the program."""
    print(f"{name}: {best} expressways, {options.minutes} minutes, {options.cars} cars on each "
          "in the last second")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"l_rating": best, "minutes": options.minutes, "cars": options.cars, "trials": rows},
            indent=2) + "\n", encoding="utf-8")
    return 0 if best > 0 else 1

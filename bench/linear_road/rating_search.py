# SPDX-License-Identifier: Apache-2.0
"""The search for an L-rating, whichever engine is tried: options, trials, result."""
import argparse
import json
import pathlib


def at_least_one(text):
    """A whole number, 1 at the least."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, 1 at the least")
    return int(text)


def parser(description):
    """The options of a program that rates an engine, those that all of these programs have."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("strid", help="the command line")
    made.add_argument("--minutes", type=int, default=3)
    made.add_argument("--cars", type=int, default=50_000, help="on each at its end")
    made.add_argument("--from", dest="first", type=at_least_one, default=8,
                      metavar="EXPRESSWAYS", help="the first trial")
    made.add_argument("--precision", type=float, default=0.05)
    made.add_argument("--parallelism", type=int, default=2)
    made.add_argument("--json", help="all trials go there")
    return made


def search(options, trial):
    """The most expressways that `trial(expressways)` sustained, and its rows, which are printed.

    The number is doubled from `options.first` on until a trial fails. Then the gap between the most
    that was sustained and the least that failed is halved until it is 1, or at most
    `options.precision` of the latter. Where the first trial fails the gap reaches down to 0.
    """
    sustained, failed, expressways, rows = 0, None, options.first, []
    while True:
        row = trial(expressways)
        rows.append(row)
        print(json.dumps(row), flush=True)
        if row["sustained"]:
            sustained = expressways
        else:
            failed = expressways
        if failed is None:
            expressways = 2 * sustained
        elif failed - sustained <= max(1, options.precision * failed):
            return sustained, rows
        else:
            expressways = (sustained + failed) // 2


def report(options, name, best, rows):
    """Says and keeps the rating; the status of the program."""
    print(f"{name}: {best} expressways, {options.minutes} minutes, {options.cars} cars on each "
          "in the last second")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"l_rating": best, "minutes": options.minutes, "cars": options.cars, "trials": rows},
            indent=2) + "\n", encoding="utf-8")
    return 0 if best > 0 else 1

# SPDX-License-Identifier: Apache-2.0
"""The search for an L-rating, whichever engine is tried: options, trials, verdicts, result."""
import argparse
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] / "bench"))
from reporting import whole_number  # noqa: E402  (the path comes first)

SECONDS_TO_ANSWER = 5


def parser(description):
    """The options of a program that rates an engine, those that all of these programs have."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("strid", help="the command line")
    made.add_argument("--minutes", type=whole_number, default=3)
    made.add_argument("--cars", type=whole_number, default=50_000, help="on each at its end")
    made.add_argument("--from", dest="first", type=whole_number, default=8,
                      metavar="EXPRESSWAYS", help="the first trial")
    made.add_argument("--precision", type=float, default=0.05)
    made.add_argument("--parallelism", type=whole_number, default=2)
    made.add_argument("--json", help="all trials go there")
    return made


def row(options, expressways, *, on_time, records, answers, latency_ms, seconds):
    """Of a trial that ended well. `on_time`: no answer came too late, and no record was left out.
    A run that gave no answer has shown nothing, and sustains nothing."""
    overrun = seconds - (options.minutes * 60 - 1)
    made = {"expressways": expressways,
            "sustained": on_time and answers > 0 and overrun <= SECONDS_TO_ANSWER,
            "records": records, "answers": answers,
            **{f"latency {name} ms": round(value) for name, value in latency_ms.items()},
            "seconds": round(seconds, 2)}
    return made if answers > 0 else {**made, "why": "no answer came"}


def failed(expressways, why):
    """The row of a trial that ended with an error."""
    return {"expressways": expressways, "sustained": False, "why": why}


def search(options, trial):
    """The most expressways that `trial(expressways)` sustained, and its rows, which are printed.

    The number is doubled from `options.first` on until a trial fails. Then the gap between the most
    that was sustained and the least that failed is halved until it is 1, or at most
    `options.precision` of the latter. Where the first trial fails the gap reaches down to 0.
    """
    most, least_failed, expressways, rows = 0, None, options.first, []
    while True:
        tried = trial(expressways)
        rows.append(tried)
        print(json.dumps(tried), flush=True)
        if tried["sustained"]:
            most = expressways
        else:
            least_failed = expressways
        if least_failed is None:
            expressways = 2 * most
        elif least_failed - most <= max(1, options.precision * least_failed):
            return most, rows
        else:
            expressways = (most + least_failed) // 2


def report(options, name, best, rows):
    """Says and keeps the rating; the status of the program."""
    print(f"{name}: {best} expressways, {options.minutes} minutes, {options.cars} cars on each "
          "in the last second")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"l_rating": best, "minutes": options.minutes, "cars": options.cars, "trials": rows},
            indent=2) + "\n", encoding="utf-8")
    return 0 if best > 0 else 1

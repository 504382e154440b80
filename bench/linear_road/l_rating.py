#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The L-rating of Linear Road: the most expressways with every answer within 5 seconds.

    l_rating.py STRID [--minutes 3] [--cars 50000] [--from 8] [--precision 0.05] [--json FILE]

Each trial makes the traffic of some expressways on the fly, in the same process and on the same
cores, and hands each record out in the second that it names, at the real pace (`--pace 1`). Its
traffic grows evenly from 2 % to all cars in the last second. A trial passes where no answer came
more than 5 seconds behind its record, and the run ended no later than that behind its last second.

The benchmark asks for three hours (--minutes 180). A shorter run has the same traffic at its end,
but accounts of fewer cars; the rating is said with its minutes. The search doubles the number of
expressways until a trial fails, then halves the gap until it is within --precision.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SECONDS_TO_ANSWER = 5


def counter(report, name):
    return sum(one["counters"].get(name, 0) for segment in report["segments"]
               for one in segment["operators"] if "counters" in one)


def trial(options, expressways):
    """A row of what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = pathlib.Path(folder) / "metrics.json"
        command = [options.strid, "run", "linear-road", "--minutes", str(options.minutes),
                   "--cars", str(options.cars), "--expressways", str(expressways), "--pace", "1",
                   "--parallelism", str(options.parallelism), "--output", options.output,
                   "--metrics", str(metrics), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return {"expressways": expressways, "sustained": False, "why": done.stderr.strip()}
        report = json.loads(metrics.read_text())
    late = counter(report, "late answers")
    overrun = report["seconds"] - (options.minutes * 60 - 1)
    segments = report["segments"]
    return {"expressways": expressways,
            "sustained": late == 0 and overrun <= SECONDS_TO_ANSWER,
            "late answers": late,
            "records": sum(one["records_out"] for segment in segments
                           for one in segment["operators"] if one["kind"] == "source"),
            "answers": sum(one["records_in"] for segment in segments
                           for one in segment["operators"] if one["name"].startswith("write")),
            "latency max ms": round(report["latency"]["max_ns"] / 1e6),
            "latency p99 ms": round(report["latency"]["p99_ns"] / 1e6),
            "seconds": round(report["seconds"], 2)}


def search(options):
    best, worst, expressways, rows = 0, None, options.first, []
    while True:
        row = trial(options, expressways)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strid")
    parser.add_argument("--minutes", type=int, default=3)
    parser.add_argument("--cars", type=int, default=50_000, help="on each at its end")
    parser.add_argument("--from", dest="first", type=int, default=8, metavar="EXPRESSWAYS")
    parser.add_argument("--precision", type=float, default=0.05)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--output", default="/dev/null", help="where the answers go")
    parser.add_argument("--json", help="all trials go there")
    options = parser.parse_args()
    best, rows = search(options)
    print(f"L-rating: {best} expressways, {options.minutes} minutes, {options.cars} cars on each "
          "in the last second")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"l_rating": best, "minutes": options.minutes, "cars": options.cars, "trials": rows},
            indent=2) + "\n", encoding="utf-8")
    return 0 if best > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

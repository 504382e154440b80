#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The L-rating of Linear Road on Flink: the most expressways with every answer within 5 seconds.

    flink_l_rating.py STRID [--minutes 3] [--cars 50000] [--from 8] [--precision 0.05]
                            [--parallelism 2] [--heap 12g] [--json FILE]

The same search over the same traffic as bench/linear_road/l_rating.py for strid. STRID makes the
traffic of one expressway; Flink's sources read it from memory, emit each record once for each
expressway, with cars of its own, in the second that the record names, at the real pace. A trial is
a process of its own, which has run the job over the same records for --warmup before. It passes
where all records were emitted, no answer came more than 5 seconds behind its record, and the run
ended no later than that behind its last second.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import contestants

SECONDS_TO_ANSWER = 5
INPUTS = contestants.BUILD / "inputs" / "linear-road"


def traffic(options):
    """The file of one expressway, made where it is not there, and its number of records."""
    path = INPUTS / f"{options.minutes}-minutes-{options.cars}-cars.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        subprocess.run([options.strid, "run", "linear-road", "--minutes", str(options.minutes),
                        "--cars", str(options.cars), "--write-input", "--output", str(part),
                        "--quiet"], check=True)
        part.rename(path)
    with open(path, "rb") as file:
        return path, sum(1 for _ in file)


def trial(options, expressways, path, records):
    """A row of what came of it."""
    arguments = ["linear-road", "--input", str(path), "--pace", "1", "--expressways",
                 str(expressways), "--parallelism", str(options.parallelism), "--warmup",
                 options.warmup]
    command = contestants.engine_command(
        "flink", "latency", arguments, (f"-Xms{options.heap}", f"-Xmx{options.heap}"))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"expressways": expressways, "sustained": False, "why": "Flink ended with an error"}
    measured = json.loads(lines[-1])
    latency_ms = {name: us / 1e3 for name, us in measured["latency_us"].items()}
    overrun = measured["seconds"] - (options.minutes * 60 - 1)
    complete = measured["records"] == records * expressways
    return {"expressways": expressways,
            "sustained": complete and latency_ms["max"] <= SECONDS_TO_ANSWER * 1e3
            and overrun <= SECONDS_TO_ANSWER,
            "records": measured["records"],
            "answers": measured["results"],
            "latency max ms": round(latency_ms["max"]),
            "latency p99 ms": round(latency_ms["99"]),
            "seconds": round(measured["seconds"], 2)}


def search(options):
    path, records = traffic(options)
    best, worst, expressways, rows = 0, None, options.first, []
    while True:
        row = trial(options, expressways, path, records)
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
    parser.add_argument("--warmup", default="20s", metavar="TIME")
    parser.add_argument("--heap", default="12g", metavar="SIZE", help="of the Java machine")
    parser.add_argument("--json", help="all trials go there")
    options = parser.parse_args()
    try:
        best, rows = search(options)
    except contestants.Failure as failure:
        print(f"flink_l_rating.py: error: {failure}", file=sys.stderr)
        return 1
    print(f"L-rating on Flink: {best} expressways, {options.minutes} minutes, {options.cars} cars "
          "on each in the last second")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"l_rating": best, "minutes": options.minutes, "cars": options.cars, "trials": rows},
            indent=2) + "\n", encoding="utf-8")
    return 0 if best > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

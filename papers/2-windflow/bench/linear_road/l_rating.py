#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The L-rating of Linear Road: the most expressways with every answer within 5 seconds.

    l_rating.py STRID [--minutes 3] [--cars 50000] [--from 8] [--precision 0.05] [--json FILE]

Each trial makes the traffic of some expressways on the fly, in the same process and on the same
cores, and hands each record out in the second that it names, at the real pace (`--pace 1`). Its
traffic grows evenly from 2 % to all cars in the last second. A trial passes where answers came,
none more than 5 seconds behind its record, and the run ended no later than that behind its last
second.

The benchmark asks for three hours (--minutes 180). A shorter run has the same traffic at its end,
but accounts of fewer cars; the rating is said with its minutes. The search doubles the number of
expressways until a trial fails, then halves the gap until it is within --precision.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import rating_search

USAGE = 2  # the exit status for wrong options


def counter(report, name):
    return sum(one["counters"].get(name, 0) for segment in report["segments"]
               for one in segment["operators"] if "counters" in one)


def trial(options, expressways):
    """A row of what came of it. A run that fails is not sustained; options that no run takes end
    the search."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = pathlib.Path(folder) / "metrics.json"
        command = [options.strid, "run", "linear-road", "--minutes", str(options.minutes),
                   "--cars", str(options.cars), "--expressways", str(expressways), "--pace", "1",
                   "--parallelism", str(options.parallelism), "--output", options.output,
                   "--metrics", str(metrics), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == USAGE:
            sys.exit(done.stderr.strip())
        if done.returncode != 0:
            return rating_search.failed(expressways, done.stderr.strip())
        report = json.loads(metrics.read_text())
    late = counter(report, "late answers")
    operators = [one for segment in report["segments"] for one in segment["operators"]]
    row = rating_search.row(
        options, expressways, on_time=late == 0,
        records=sum(one["records_out"] for one in operators if one["kind"] == "source"),
        answers=sum(one["records_in"] for one in operators if one["name"].startswith("write")),
        latency_ms={name: report["latency"][f"{name}_ns"] / 1e6 for name in ("max", "p99")},
        seconds=report["seconds"])
    return {**row, "late answers": late}


def main():
    parser = rating_search.parser(__doc__)
    parser.add_argument("--output", default="/dev/null", help="where the answers go")
    options = parser.parse_args()
    best, rows = rating_search.search(options, lambda count: trial(options, count))
    return rating_search.report(options, "L-rating", best, rows)


if __name__ == "__main__":
    sys.exit(main())

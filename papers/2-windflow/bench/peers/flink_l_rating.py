#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The L-rating of Linear Road on Flink: the most expressways with every answer within 5 seconds.

    flink_l_rating.py STRID [--minutes 3] [--cars 50000] [--from 8] [--precision 0.05]
                            [--parallelism 2] [--heap 12g] [--json FILE]

The same search over the same traffic as linear_road/l_rating.py for strid. STRID makes the
traffic of one expressway; Flink's sources read it from memory, emit each record once for each
expressway, with cars of its own, in the second that the record names, at the real pace. A trial is
a process of its own, which has run the job over the same records for --warmup before. It passes
where all records were emitted, answers came, none more than 5 seconds behind its record, and the
run ended no later than that behind its last second.
"""
import contextlib
import pathlib
import subprocess
import sys

from java_engine import BUILD, START_S_MAX, Failure, JavaProcess, engine_command, seconds_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "linear_road"))
import rating_search  # noqa: E402  (of the folder beside)

INPUTS = BUILD / "inputs" / "linear-road"


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
    command = engine_command(
        "flink", "latency", arguments, (f"-Xms{options.heap}", f"-Xmx{options.heap}"))
    process = JavaProcess(f"flink, L-rating, {expressways} expressways", command)
    with contextlib.closing(process):
        try:
            measured = process.finish(START_S_MAX + 4 * seconds_of(options.warmup)
                                      + 2 * 60 * options.minutes)[-1]
        except (Failure, IndexError) as failure:
            return rating_search.failed(expressways, str(failure))
    latency_us = measured.get("latency_us", {"max": 0, "99": 0})  # none where no answer came
    complete = measured["records"] == records * expressways
    return rating_search.row(
        options, expressways,
        on_time=complete and latency_us["max"] <= rating_search.SECONDS_TO_ANSWER * 1e6,
        records=measured["records"], answers=measured["results"],
        latency_ms={"max": latency_us["max"] / 1e3, "p99": latency_us["99"] / 1e3},
        seconds=measured["seconds"])


def main():
    parser = rating_search.parser(__doc__)
    parser.add_argument("--warmup", default="20s", metavar="TIME")
    parser.add_argument("--heap", default="12g", metavar="SIZE", help="of the Java machine")
    options = parser.parse_args()
    try:
        path, records = traffic(options)
        best, rows = rating_search.search(
            options, lambda count: trial(options, count, path, records))
    except Failure as failure:
        print(f"flink_l_rating.py: error: {failure}", file=sys.stderr)
        return 1
    return rating_search.report(options, "L-rating on Flink", best, rows)


if __name__ == "__main__":
    sys.exit(main())

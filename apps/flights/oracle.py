#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answers of flights: by SQLite for delays, late flights and the weather, in plain Python for
rotations.

    oracle.py QUESTION FLIGHTS [WEATHER] [--window 7200] [--slide 1800] [--disorder 43200]
              [--gap 21600]

QUESTION is delays, rotations or joined, or one of the flights that come too late: late (for every
window of the delays), late-rotations or late-joined; durations are seconds. The latest flight
before it, less the disorder, decides which windows a flight can still change: windows that end by
then are over.
"""
import argparse
import collections
import csv
import sqlite3
import sys

NO_PROMISE = -9e18  # earlier than every time
# Each flight with the watermark before it, `promise`: windows that end by then are over.
PROMISED = """
    WITH RECURSIVE promised AS (
        SELECT position, time, airport, aircraft, delay,
               coalesce(max(time) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING
                                                               AND 1 PRECEDING) - :disorder,
                        :no_promise) AS promise
        FROM flights),
    steps(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM steps WHERE (n + 1) * :slide < :window),
    placed AS (  -- each flight in each of its windows
        SELECT *, time - ((time % :slide) + :slide) % :slide - n * :slide AS start
        FROM promised JOIN steps ON start + :window > time)
"""
DELAYS = PROMISED + """
    SELECT airport, start, start + :window, count(*), avg(delay), max(delay)
    FROM placed WHERE start + :window > promise GROUP BY airport, start ORDER BY airport, start
"""
LATE = PROMISED + """
    SELECT time, airport, aircraft, delay FROM placed
    GROUP BY position HAVING max(start) + :window <= min(promise) ORDER BY position
"""
JOINED = PROMISED + """
    SELECT f.time, f.airport, f.aircraft, f.delay, w.wind_speed, w.visibility
    FROM promised f JOIN weather w  -- of the last hour
      ON w.airport = f.airport AND w.time > f.time - 3600000 AND w.time <= f.time
    WHERE f.time >= promise ORDER BY f.position
"""
LATE_JOINED = PROMISED + """
    SELECT time, airport, aircraft, delay FROM promised WHERE time < promise ORDER BY position
"""


def rotations(rows, disorder, gap):
    """aircraft, start, end, flights, largest delay; and the flights that came too late."""
    going = collections.defaultdict(list)  # per aircraft: [first, last, flights, largest delay]
    over = collections.defaultdict(list)  # those that take no flight any more
    done = []
    late = []
    latest = None
    for time, airport, aircraft, delay in rows:
        promise = latest - disorder if latest is not None else NO_PROMISE
        latest = time if latest is None else max(latest, time)
        for session in [s for s in going[aircraft] if s[1] + gap < promise]:
            going[aircraft].remove(session)
            over[aircraft].append(session)
            done.append((aircraft, session[0], session[1] + gap, *session[2:]))
        near = [s for s in going[aircraft] if s[0] - gap <= time <= s[1] + gap]
        closed = any(s[0] - gap <= time <= s[1] + gap for s in over[aircraft])
        within = any(s[0] <= time for s in near)
        if closed or not within and time + gap < promise:
            late.append((time, airport, aircraft, delay))
            continue
        joined = [time, time, 1, delay]
        for session in near:
            going[aircraft].remove(session)
            joined = [min(joined[0], session[0]), max(joined[1], session[1]),
                      joined[2] + session[2], max(joined[3], session[3])]
        going[aircraft].append(joined)
    for aircraft, sessions in going.items():
        done += [(aircraft, s[0], s[1] + gap, *s[2:]) for s in sessions]
    return sorted(done), late


def table(path):
    with open(path, encoding="ascii", newline="") as file:
        return [(int(row[0]), *row[1:]) for row in csv.reader(file)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("question", choices=["delays", "late", "rotations", "late-rotations",
                                             "joined", "late-joined"])
    parser.add_argument("flights")
    parser.add_argument("weather", nargs="?")
    for name, seconds in (("window", 7200), ("slide", 1800), ("disorder", 43200), ("gap", 21600)):
        parser.add_argument(f"--{name}", type=int, default=seconds)
    options = parser.parse_args()
    rows = [(time, airport, aircraft, float(delay))
            for time, airport, aircraft, delay in table(options.flights)]
    if options.question in ("rotations", "late-rotations"):
        done, late = rotations(rows, options.disorder * 1000, options.gap * 1000)
        answer = done if options.question == "rotations" else late
    else:
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE flights (position INTEGER PRIMARY KEY, time INTEGER, "
                         "airport TEXT, aircraft TEXT, delay REAL)")
        database.executemany(
            "INSERT INTO flights (time, airport, aircraft, delay) VALUES (?, ?, ?, ?)", rows)
        database.execute("CREATE TABLE weather (time INTEGER, airport TEXT, wind_speed REAL, "
                         "visibility REAL)")
        if options.weather:
            database.executemany("INSERT INTO weather VALUES (?, ?, ?, ?)",
                                 table(options.weather))
        query = {"delays": DELAYS, "late": LATE, "joined": JOINED,
                 "late-joined": LATE_JOINED}[options.question]
        durations = {name: getattr(options, name) * 1000
                     for name in ("window", "slide", "disorder")}
        durations["no_promise"] = NO_PROMISE
        answer = database.execute(query, durations)
    for row in answer:
        sys.stdout.write(",".join(map(str, row)) + "\n")


if __name__ == "__main__":
    main()

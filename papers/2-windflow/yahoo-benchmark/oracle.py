#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of yahoo-benchmark, by SQLite.

    oracle.py EVENTS CAMPAIGNS [--window-ms 10000] [--disorder-ms 1000] [--late]

Reads user,page,ad,ad_type,event_type,event_time,ip and ad,campaign; writes
campaign,window_start,window_end,count, times in milliseconds. A view whose window is over when it
comes is left out: one that ends by the latest time among the views before it that have a campaign,
less the disorder. With --late those are written instead, as campaign,time in the order of EVENTS.
"""
import argparse
import csv
import sqlite3
import sys

PROMISED = """
    WITH joined AS (
        SELECT position, time, campaign, time - ((time % :window) + :window) % :window AS start
        FROM events JOIN campaigns USING (ad) WHERE event_type = 'view'),
    promised AS (
        SELECT *, max(time) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING
                                                             AND 1 PRECEDING) AS latest
        FROM joined)
"""
COUNTS = PROMISED + """
    SELECT campaign, start, start + :window, count(*) FROM promised
    WHERE latest IS NULL OR start + :window > latest - :disorder
    GROUP BY campaign, start ORDER BY campaign, start
"""
LATE = PROMISED + """
    SELECT campaign, time FROM promised
    WHERE start + :window <= latest - :disorder ORDER BY position
"""


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("events")
    parser.add_argument("campaigns")
    parser.add_argument("--window-ms", type=int, default=10_000)
    parser.add_argument("--disorder-ms", type=int, default=1_000)
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE events (position INTEGER PRIMARY KEY, ad INTEGER, "
                     "event_type TEXT, time INTEGER)")
    database.execute("CREATE TABLE campaigns (ad INTEGER PRIMARY KEY, campaign INTEGER)")
    database.executemany("INSERT INTO events (ad, event_type, time) VALUES (?, ?, ?)",
                         ((int(ad), event_type, int(time))
                          for _, _, ad, _, event_type, time, _ in rows(options.events)))
    database.executemany("INSERT INTO campaigns VALUES (?, ?)",
                         ((int(ad), int(campaign)) for ad, campaign in rows(options.campaigns)))
    settings = {"window": options.window_ms, "disorder": options.disorder_ms}
    for row in database.execute(LATE if options.late else COUNTS, settings):
        sys.stdout.write(",".join(map(str, row)) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answers of Linear Road, by the rules of README.md, one road after the other.

    oracle.py INPUT [--history FILE]

The whole input is in memory, and each rule is applied to all of a road before the next one: visits
of all minutes, then intervals of stops, then accidents, then what entering cars are told. Emit is
Time. INPUT may be packed by gzip.
"""
import argparse
import collections
import gzip
import itertools

UNIT = 2520  # of speeds: a mile an hour
EXIT = 4
Report = collections.namedtuple("Report", "time car speed lane segment position")


def lines_of(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rt") as file:
        for line in file:
            if line.strip():
                yield [int(cell) for cell in line.split(",")]


def trips_of(reports):
    """Each trip as the numbers of its reports in the road's input."""
    trips, running = [], {}
    for number, report in enumerate(reports):
        trip = running.get(report.car)
        if trip is None or report.time // 60 - reports[trip[-1]].time // 60 > 2:
            trip = running[report.car] = []
            trips.append(trip)
        trip.append(number)
    return trips


def means_of_visits(reports, trips):
    """(minute, segment) -> the mean speeds of its visits."""
    means = collections.defaultdict(list)
    for trip in trips:
        for place, visit in itertools.groupby(
                trip, lambda i: (reports[i].time // 60, reports[i].segment)):
            speeds = [reports[i].speed for i in visit]
            means[place].append(UNIT * sum(speeds) // len(speeds))
    return means


def stops_of(reports, trips):
    """place -> moments (minute, report, +1 or -1) at which a car stops there or is gone.

    The start of a minute is before its reports: report -1.
    """
    moments = collections.defaultdict(list)
    for trip in trips:
        runs = [(place, list(run)) for place, run in itertools.groupby(
            trip, lambda i: (reports[i].lane, reports[i].segment, reports[i].position))]
        for (place, run), (_, following) in itertools.zip_longest(runs, runs[1:],
                                                                  fillvalue=(None, None)):
            if len(run) < 4:
                continue
            moments[place].append((reports[run[3]].time // 60, run[3], 1))
            if following:
                end = (reports[following[0]].time // 60, following[0], -1)
            else:
                end = (reports[run[-1]].time // 60 + 3, -1, -1)
            moments[place].append(end)
    return moments


def accidents_of(reports, trips):
    """The (minute, segment) that have an accident at their start."""
    last = reports[-1].time // 60
    accidents = set()
    for (_, segment, _), moments in stops_of(reports, trips).items():
        moments.sort()
        stopped, since = 0, None
        for minute, report, change in moments:
            stopped += change
            if since is None and stopped >= 2:
                since = minute
            elif since is not None and stopped < 2:
                until = minute if report < 0 else minute + 1
                accidents.update((m, segment) for m in range(since + 1, min(until, last + 1)))
                since = None
    return accidents


def latest_average_velocity(means, minute, segment):
    known = [means[m, segment] for m in range(minute - 5, minute) if (m, segment) in means]
    return sum(sum(one) // len(one) for one in known) // len(known) if known else 0


def answers_of_road(direction, reports):
    """The rows of the road, and its charges as (car, time, toll)."""
    trips = trips_of(reports)
    means = means_of_visits(reports, trips)
    accidents = accidents_of(reports, trips)
    rows, charges = [], []
    for trip in trips:
        pending, before = 0, None
        for number in trip:
            report = reports[number]
            entered, before = report.segment != before, report.segment
            if not entered:
                continue
            if pending > 0:
                charges.append((report.car, report.time, pending))
            pending = 0
            if report.lane == EXIT:
                continue
            minute, segment = report.time // 60, report.segment
            velocity = latest_average_velocity(means, minute, segment)
            cars = len(means[minute - 1, segment]) if (minute - 1, segment) in means else 0
            ahead = [segment + (i if direction == 0 else -i) for i in range(5)]
            hit = [s for s in ahead if (minute, s) in accidents]
            if velocity < 40 * UNIT and cars > 50 and not hit:
                pending = 2 * (cars - 50) ** 2
            rows.append((number, 0, report.car, report.time, report.time, velocity // UNIT,
                         pending))
            if hit:
                rows.append((number, 1, report.time, report.time, report.car, hit[0]))
    rows.sort()
    return [row[1:] for row in rows], charges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--history")
    options = parser.parse_args()
    roads, balances, expenditures = collections.defaultdict(list), [], []
    for kind, time, car, speed, xway, lane, direction, segment, position, query, *rest in lines_of(
            options.input):
        if kind == 0:
            roads[xway, direction].append(Report(time, car, speed, lane, segment, position))
        elif kind == 2:
            balances.append((time, car, query))
        elif kind == 3:
            expenditures.append((time, car, xway, query, rest[4]))
    account = collections.defaultdict(list)
    for (_, direction), reports in roads.items():
        rows, charges = answers_of_road(direction, reports)
        for row in rows:
            print(*row, sep=",")
        for car, time, toll in charges:
            account[car].append((time, toll))
    for time, car, query in balances:
        charged = [charge for charge in account.get(car, ()) if charge[0] < time]
        last = max((when for when, _ in charged), default=0)
        print(2, time, time, last, query, sum(toll for _, toll in charged), sep=",")
    paid = {}
    if options.history:
        paid = {(car, day, xway): toll for car, day, xway, toll in lines_of(options.history)}
    for time, car, xway, query, day in expenditures:
        print(3, time, time, query, paid.get((car, day, xway), 0), sep=",")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of traffic-monitoring by brute force: every fix against every road, by shapely.

    oracle.py ROADS.csv FIXES.csv [--emit updates|final|roads] [--matcher nearest|hidden-markov]
              [--tolerance 50] [--bearing-tolerance 45] [--position-error 10]
              [--columns 1,2,3,4,5] [--truth TRUTH.csv]

--emit roads prints the road of each fix instead, a line each, 0 where there is none. With --truth
the share of the fixes with a road that was matched right goes to standard error.
"""
import argparse
import csv
import math
import sys

import shapely

METRES_PER_DEGREE = math.radians(6371008.8)
DETOUR_M, LEAP = 20.0, -12.0
CANDIDATES = 16


class Network:
    def __init__(self, path, options):
        self.options = options
        points = {}
        self.one_way = {}
        with open(path, encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                road = int(row["road"])
                points.setdefault(road, []).append(
                    (float(row["latitude"]), float(row["longitude"])))
                self.one_way[road] = row["one_way"] != "0"
        latitudes = [latitude for road in points.values() for latitude, _ in road]
        longitudes = [longitude for road in points.values() for _, longitude in road]
        self.latitude = (min(latitudes) + max(latitudes)) / 2
        self.longitude = (min(longitudes) + max(longitudes)) / 2
        self.east = METRES_PER_DEGREE * math.cos(math.radians(self.latitude))
        self.segments = []
        self.roads = []  # of the segments
        self.bearings = []
        self.places = {}
        for road, positions in points.items():
            plane = [self.project(*position) for position in positions]
            self.places[road] = {(round_half_away(x), round_half_away(y)): (x, y)
                                 for x, y in reversed(plane)}
            for a, b in zip(plane, plane[1:]):
                if a != b:
                    self.segments.append(shapely.LineString([a, b]))
                    self.roads.append(road)
                    self.bearings.append(math.degrees(math.atan2(b[0] - a[0], b[1] - a[1])))

    def project(self, latitude, longitude):
        return ((longitude - self.longitude) * self.east,
                (latitude - self.latitude) * METRES_PER_DEGREE)

    def fits(self, segment, bearing):
        angle = abs((bearing - self.bearings[segment] + 180) % 360 - 180)
        if not self.one_way[self.roads[segment]]:
            angle = min(angle, 180 - angle)
        return angle <= self.options.bearing_tolerance

    def candidates(self, fix):
        """(millimetres, road, place on it) of the roads that fit, nearest first."""
        _, latitude, longitude, speed, bearing = fix
        place = shapely.Point(*self.project(latitude, longitude))
        nearest = {}
        for segment, distance in enumerate(shapely.distance(place, self.segments)):
            if distance > self.options.tolerance:
                continue
            if speed != 0 and not self.fits(segment, bearing):
                continue
            road = self.roads[segment]
            mm = int(math.floor(distance * 1000 + 0.5))
            if road not in nearest or mm < nearest[road][0]:
                on_road = shapely.shortest_line(place, self.segments[segment]).coords[-1]
                nearest[road] = mm, on_road
        return sorted((mm, road, on_road) for road, (mm, on_road) in nearest.items())

    def route(self, road, start, other, end):
        """Over one point that both roads have, in straight lines."""
        if road == other:
            return math.dist(start, end)
        ours, theirs = self.places[road], self.places[other]
        return min((math.dist(start, ours[place]) + math.dist(ours[place], end)
                    for place in ours.keys() & theirs.keys()), default=math.inf)


def round_half_away(value):
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def nearest_roads(network, fixes):
    for fix in fixes:
        found = network.candidates(fix)
        yield found[0][1] if found else None


def markov_roads(network, fixes):
    """The end of the most probable sequence of roads of the vehicle up to each fix."""
    chains = {}
    for fix in fixes:
        place = network.project(*fix[1:3])
        last, before = chains.get(fix[0], (place, {}))
        moved = math.dist(last, place)
        after = {}
        for mm, road, on_road in network.candidates(fix)[:CANDIDATES]:
            way = max((score + max(LEAP, -abs(network.route(old, start, road, on_road) - moved)
                                   / DETOUR_M)
                       for old, (score, start) in before.items()), default=0)
            deviation = mm / 1000 / network.options.position_error
            after[road] = way - deviation * deviation / 2, on_road
        most = max((score for score, _ in after.values()), default=0)
        chains[fix[0]] = place, {road: (score - most, on_road)
                                 for road, (score, on_road) in after.items()}
        yield min((road for road, (score, _) in after.items() if score == most), default=None)


def read_fixes(path, columns):
    with open(path, encoding="ascii", newline="") as file:
        for row in csv.reader(file):
            vehicle, *numbers = (row[column - 1] for column in columns)
            yield (int(vehicle), *map(float, numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("roads")
    parser.add_argument("fixes")
    parser.add_argument("--emit", choices=("updates", "final", "roads"), default="updates")
    parser.add_argument("--matcher", choices=("nearest", "hidden-markov"), default="nearest")
    parser.add_argument("--tolerance", type=float, default=50)
    parser.add_argument("--bearing-tolerance", type=float, default=45)
    parser.add_argument("--position-error", type=float, default=10)
    parser.add_argument("--columns", default="1,2,3,4,5")
    parser.add_argument("--truth")
    options = parser.parse_args()
    network = Network(options.roads, options)
    fixes = list(read_fixes(options.fixes, [int(c) for c in options.columns.split(",")]))
    matcher = nearest_roads if options.matcher == "nearest" else markov_roads
    matched = list(matcher(network, fixes))
    if options.truth:
        with open(options.truth, encoding="ascii") as file:
            truth = [int(line) for line in file]
        known = [(road, true) for road, true in zip(matched, truth) if true != 0]
        right = sum(road == true for road, true in known)
        print(f"{right} of {len(known)} fixes on a road are matched right, "
              f"{right / len(known):.4f}", file=sys.stderr)
    if options.emit == "roads":
        for road in matched:
            print(road or 0)
        return
    sums = {}
    for fix, road in zip(fixes, matched):
        if road is None:
            continue
        total, count = sums.get(road, (0.0, 0))
        sums[road] = total + fix[3], count + 1
        if options.emit == "updates":
            print(f"{road},{sums[road][0] / sums[road][1]!r},{sums[road][1]}")
    if options.emit == "final":
        for road, (total, count) in sums.items():
            print(f"{road},{total / count!r},{count}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a city of roads and vehicles that drive in it, with the road of each fix.

    generate_city.py FOLDER [--streets 9] [--vehicles 40] [--fixes 4000] [--error 8] [--seed 1]

FOLDER gets roads.csv (road,one_way,latitude,longitude), fixes.csv
(vehicle,latitude,longitude,speed,bearing,time) and truth.csv (the road of each fix, a line each; 0
for a vehicle that has left every road). The same arguments give the same files.

The city is a grid of --streets streets each way, about 200 m apart, not quite straight. Of every
three streets one has two one-way carriageways 18 m apart, and one a service road 18 m beside it,
both in use both ways: there the nearest road alone is often the wrong one.
A vehicle drives along roads, turns where they cross, and tells where it is every 5 seconds, with a
normal error of --error metres in each direction and of 8 degrees in its bearing. One fix in 50 is
of a vehicle that stands; one in 100 is from a place far from every road.
"""
import argparse
import math
import pathlib
import random

LATITUDE, LONGITUDE = 44.0, 10.4
BLOCK_M = 200
METRES_PER_DEGREE = math.radians(6371008.8)
APART_M = 18
FIX_S = 5
START_S = 1_700_000_000
BEARING_ERROR = 8
SPEEDS = (25, 35, 50, 60)
STANDS = 1 / 50
STRAYS = 1 / 100


def degrees(x, y):
    return (LATITUDE + y / METRES_PER_DEGREE,
            LONGITUDE + x / (METRES_PER_DEGREE * math.cos(math.radians(LATITUDE))))


class Road:
    def __init__(self, number, points, one_way):
        self.number, self.points, self.one_way = number, points, one_way
        self.lengths = [math.dist(a, b) for a, b in zip(points, points[1:])]
        self.length = sum(self.lengths)

    def at(self, along):
        """The place after `along` metres and the bearing of the road there."""
        for a, b, length in zip(self.points, self.points[1:], self.lengths):
            if along <= length or b is self.points[-1]:
                share = along / length
                x, y = b[0] - a[0], b[1] - a[1]
                return (a[0] + share * x, a[1] + share * y), math.degrees(math.atan2(x, y)) % 360
            along -= length
        raise AssertionError("a road has points")


def beside(a, middle, b, metres):
    """Three points `metres` to the right of the way from a over middle to b."""
    length = math.dist(a, b)
    x, y = (b[1] - a[1]) / length * metres, -(b[0] - a[0]) / length * metres

    def between(start, end, share):
        return (start[0] + share * (end[0] - start[0]) + x,
                start[1] + share * (end[1] - start[1]) + y)

    return between(a, middle, 0.2), between(a, middle, 1), between(middle, b, 0.8)


def make_roads(streets, chance):
    def place(i, j):
        return (BLOCK_M * i + chance.uniform(-15, 15), BLOCK_M * j + chance.uniform(-15, 15))

    crossings = {(i, j): place(i, j) for i in range(streets) for j in range(streets)}
    roads = []
    for street in range(streets):
        for vertical in (False, True):
            at = [crossings[(street, k) if vertical else (k, street)] for k in range(streets)]
            kind = street % 3
            # A road from crossing to crossing: vehicles turn at both of its ends.
            for a, b in zip(at, at[1:]):
                middle = ((a[0] + b[0]) / 2 + chance.uniform(-6, 6),
                          (a[1] + b[1]) / 2 + chance.uniform(-6, 6))
                right, left = (beside(a, middle, b, side * APART_M / 2) for side in (1, -1))
                if kind == 0:
                    roads.append(([a, middle, b], False))
                elif kind == 1:
                    roads.append(([a, *right, b], True))
                    roads.append(([b, *reversed(left), a], True))
                else:
                    roads.append(([a, *right, b], False))
                    roads.append(([a, *left, b], False))
    return [Road(number, points, one_way)
            for number, (points, one_way) in enumerate(roads, start=1)]


def leaving(roads):
    """From a place to the roads that lead away from it, and whether backwards."""
    ways = {}
    for road in roads:
        ways.setdefault(road.points[0], []).append((road, False))
        if not road.one_way:
            ways.setdefault(road.points[-1], []).append((road, True))
    return ways


class Vehicle:
    def __init__(self, number, ways, roads, chance):
        self.number, self.ways, self.chance = number, ways, chance
        self.take(chance.choice(roads), False)
        self.along = chance.uniform(0, self.road.length)

    def take(self, road, backwards):
        self.road, self.backwards, self.along = road, backwards, 0
        self.speed = self.chance.choice(SPEEDS)

    def drive(self, metres):
        self.along += metres
        while self.along > self.road.length:
            rest = self.along - self.road.length
            end = self.road.points[0 if self.backwards else -1]
            onward = [way for way in self.ways[end] if way[0] is not self.road]
            self.take(*self.chance.choice(onward or self.ways[end]))
            self.along = rest

    def place(self):
        if not self.backwards:
            return self.road.at(self.along)
        place, bearing = self.road.at(self.road.length - self.along)
        return place, (bearing + 180) % 360


def make_fixes(roads, options, chance):
    ways = leaving(roads)
    vehicles = [Vehicle(100 + i, ways, roads, chance) for i in range(options.vehicles)]
    for i in range(options.fixes):
        vehicle = vehicles[i % len(vehicles)]
        (x, y), bearing = vehicle.place()
        truth = vehicle.road.number
        speed = max(0.0, chance.gauss(vehicle.speed, 4))
        stands = chance.random() < STANDS
        if chance.random() < STRAYS:
            truth = 0
            x, y = x + chance.choice((-1, 1)) * 90, y + chance.choice((-1, 1)) * 90
        if stands:
            speed, bearing = 0.0, 0.0
        else:
            bearing = (bearing + chance.gauss(0, BEARING_ERROR)) % 360
            vehicle.drive(vehicle.speed / 3.6 * FIX_S)
        latitude, longitude = degrees(chance.gauss(x, options.error),
                                      chance.gauss(y, options.error))
        time = START_S + FIX_S * (i // len(vehicles))
        yield (f"{vehicle.number},{latitude:.6f},{longitude:.6f},{speed:.1f},{bearing:.1f},{time}",
               truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--streets", type=int, default=9)
    parser.add_argument("--vehicles", type=int, default=40)
    parser.add_argument("--fixes", type=int, default=4000)
    parser.add_argument("--error", type=float, default=8, help="metres")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.streets < 2 or options.vehicles < 1:
        parser.error("a city has at least 2 streets and 1 vehicle")
    chance = random.Random(options.seed)
    roads = make_roads(options.streets, chance)
    options.folder.mkdir(parents=True, exist_ok=True)
    with open(options.folder / "roads.csv", "w", encoding="ascii") as file:
        file.write("road,one_way,latitude,longitude\n")
        for road in roads:
            for point in road.points:
                latitude, longitude = degrees(*point)
                file.write(f"{road.number},{int(road.one_way)},{latitude:.7f},{longitude:.7f}\n")
    with open(options.folder / "fixes.csv", "w", encoding="ascii") as fixes, \
            open(options.folder / "truth.csv", "w", encoding="ascii") as truths:
        for fix, truth in make_fixes(roads, options, chance):
            fixes.write(fix + "\n")
            truths.write(f"{truth}\n")


if __name__ == "__main__":
    main()

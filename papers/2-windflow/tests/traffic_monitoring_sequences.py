# SPDX-License-Identifier: Apache-2.0
"""`strid run traffic-monitoring --matcher hidden-markov` against every sequence of roads there is.

The rules are those of traffic-monitoring/README.md, without Viterbi's algorithm: each sequence
of candidates of a vehicle is scored as a whole, and the best one says the road of its last fix.
"""

import itertools
import math
import random
import unittest

from command_line import Case

METRES_PER_DEGREE = math.radians(6371008.8)
LATITUDE, LONGITUDE = 50.0, 8.0
TOLERANCE_M = 50
LEAP, DETOUR_M = -12.0, 20.0
# Three streets to the east, 15 m apart, that two cross streets join. Each is one segment between
# two of these places; a cross street has a road for each gap.
WEST, EAST = -150.0, 150.0
NORTHS = (0.0, 15.0, 30.0)
ROADS = {1 + i: ((WEST, north), (EAST, north)) for i, north in enumerate(NORTHS)}
for x in (WEST, EAST):
    for below, above in zip((-60.0, *NORTHS), (*NORTHS, 90.0)):
        ROADS[len(ROADS) + 1] = ((x, below), (x, above))


def degrees(point):
    east = METRES_PER_DEGREE * math.cos(math.radians(LATITUDE))
    return LATITUDE + point[1] / METRES_PER_DEGREE, LONGITUDE + point[0] / east


def nearest_place(point, road):
    """On a road that runs along an axis."""
    return tuple(min(max(value, min(ends)), max(ends))
                 for value, ends in zip(point, zip(*ROADS[road])))


def candidates(point):
    found = []
    for road in ROADS:
        place = nearest_place(point, road)
        if math.dist(point, place) <= TOLERANCE_M:
            found.append((road, place))
    return found


def route(start, end):
    (road, place), (other, other_place) = start, end
    if road == other:
        return math.dist(place, other_place)
    shared = set(ROADS[road]) & set(ROADS[other])
    return min((math.dist(place, point) + math.dist(point, other_place) for point in shared),
               default=math.inf)


def likelihood(points, sequence, error_m):
    total = 0.0
    for point, (_, place) in zip(points, sequence):
        total -= (round(math.dist(point, place), 3) / error_m) ** 2 / 2
    for i in range(1, len(points)):
        detour = abs(route(sequence[i - 1], sequence[i]) - math.dist(points[i - 1], points[i]))
        total += max(LEAP, -detour / DETOUR_M)
    return total


def most_likely_ends(points, error_m):
    for count in range(1, len(points) + 1):
        best = max(itertools.product(*map(candidates, points[:count])),
                   key=lambda sequence: likelihood(points[:count], sequence, error_m))
        yield best[-1][0]


class MarkovSequences(Case):
    """Each road is that at the end of the most probable of all sequences up to its fix."""

    def roads_file(self):
        rows = ["road,one_way,latitude,longitude"]
        for road, ends in ROADS.items():
            rows += ["{},0,{:.9f},{:.9f}".format(road, *degrees(end)) for end in ends]
        # The middle of the plane is that of the box around all points.
        centre = [(min(axis) + max(axis)) / 2
                  for axis in zip(*(end for ends in ROADS.values() for end in ends))]
        self.assertEqual(centre[0], 0.0)
        return self.file("roads.csv", "\n".join(rows) + "\n")

    def drives(self, seed, vehicles, fixes, noise_m, jumps):
        """The places of each vehicle: along the streets, with noise; some change streets."""
        chance = random.Random(seed)
        for _ in range(vehicles):
            north, x, step = chance.choice(NORTHS), chance.uniform(-60, 0), chance.uniform(5, 30)
            points = []
            for _ in range(fixes):
                points.append((chance.gauss(x, noise_m), chance.gauss(north, noise_m)))
                x += step
                if chance.random() < 0.1:
                    north = chance.choice(NORTHS)
                if chance.random() < jumps:
                    x, north = chance.uniform(-140, 140), chance.choice(NORTHS)
            yield points

    def check(self, seed, noise_m, error_m, jumps=0.0):
        drives = list(self.drives(seed, vehicles=3, fixes=6, noise_m=noise_m, jumps=jumps))
        rows = []
        for i in range(len(drives[0])):
            for vehicle, points in enumerate(drives):
                # Standing still, by its speed: the bearing does not decide.
                rows.append("{},{:.9f},{:.9f},0,0,{}".format(vehicle, *degrees(points[i]), i))
        out = self.folder / "out.csv"
        self.strid("run", "traffic-monitoring", "--roads", self.roads_file(), "--input",
                   self.file("fixes.csv", "\n".join(rows) + "\n"), "--output", out,
                   "--matcher", "hidden-markov", "--position-error", error_m, "--parallelism", 1)
        found = [int(row.split(",")[0]) for row in out.read_text().splitlines()]
        expected = [road for roads in zip(*(most_likely_ends(points, error_m)
                                            for points in drives)) for road in roads]
        self.assertEqual(found, expected, f"seed {seed}")
        nearest = [min(candidates(points[i]), key=lambda one: math.dist(points[i], one[1]))[0]
                   for i in range(len(drives[0])) for points in drives]
        return sum(a != b for a, b in zip(expected, nearest))

    def test_parallel_streets(self):
        apart = sum(self.check(seed, noise_m=8, error_m=10) for seed in range(8))
        self.assertGreater(apart, 10)  # fixes whose nearest road is not the answer

    def test_little_error(self):
        for seed in range(8, 12):
            self.check(seed, noise_m=3, error_m=4)

    def test_jumps(self):
        for seed in range(12, 16):
            self.check(seed, noise_m=5, error_m=8, jumps=0.5)


if __name__ == "__main__":
    unittest.main()

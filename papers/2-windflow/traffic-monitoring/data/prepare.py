#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Infers a network of roads from the traces of vehicles, for places whose roads are not to be had.

    python3 prepare.py fixes.csv roads.csv
    python3 prepare.py taxi-traces.csv roads.csv --picture network.svg

The input has vehicle, latitude, longitude, speed, bearing and time (seconds, or ISO 8601), with or
without a header. The output has road,one_way,latitude,longitude, a row a point. The method:

1. Curves. A fix of a vehicle and the next that is --apart metres away or more, at most --gap
   seconds later and at a possible speed, the vehicle in motion all the time, are joined by the
   cubic (Hermite) curve that leaves and arrives with their bearings. A pair whose bearings differ
   by more than 60 degrees from the straight line between them is left out: its way is not known.
   A curve is sampled every half --radius.
2. Places. Samples within --radius metres of a place, whose heading differs from that of the place
   by 30 degrees at most, belong to the nearest such place; a sample without one founds one. A place
   moves to the mean of its samples. So the two directions of a street are places of their own.
3. Links. A curve links the places of its samples in their order. A link that passes by a third
   place between its ends is replaced by the two links through it. Links of less than --support
   curves are dropped: one vehicle on its own may have been anywhere.
4. Roads. Links are joined to polylines that end where links meet or part; dead ends shorter than
   --shortest are dropped; points within 15 m of the line between others are left out. Each is a
   one-way road, numbered from 1 in the order of its first point, south to north.

The same input gives the same roads. Distances are measured in the plane that touches the globe at
the median of the moving fixes.
"""
import argparse
import collections
import csv
import datetime
import math
import sys

from network_picture import draw

METRES_PER_DEGREE = 6_371_008.8 * math.pi / 180
SPEED_MAX_M_S = 130 / 3.6
BEND_MAX = 60
TURN_MAX = 30
TURNS_ABOUT = 45
LINE_ERROR_M = 15

Fix = collections.namedtuple("Fix", "vehicle latitude longitude speed bearing time")
Curve = collections.namedtuple("Curve", "samples")  # (x, y, east, north) each


def seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.datetime.fromisoformat(text).replace(
            tzinfo=datetime.timezone.utc).timestamp()


def usual_columns(path: str) -> str:
    with open(path, newline="", encoding="utf-8") as lines:
        return "2,4,5,6,7,3" if len(next(csv.reader(lines), ())) == 7 else "1,2,3,4,5,6"


def read_fixes(path: str, columns: list[int]) -> tuple[list[Fix], int]:
    """The fixes that are on the globe, and how many rows are not."""
    fixes, refused = [], 0
    with open(path, newline="", encoding="utf-8") as lines:
        for number, row in enumerate(csv.reader(lines)):
            try:
                vehicle, latitude, longitude, speed, bearing, time = (row[c - 1] for c in columns)
                fix = Fix(vehicle, float(latitude), float(longitude), float(speed),
                          float(bearing), seconds(time))
            except (ValueError, IndexError):
                refused += number > 0  # the first row may be a header
                continue
            # Receivers without a position say 0, 0. A NaN is in no bounds.
            if (0 < abs(fix.latitude) <= 90 and 0 < abs(fix.longitude) <= 180
                    and 0 <= fix.speed < math.inf and 0 <= fix.bearing <= 360):
                fixes.append(fix)
            else:
                refused += 1
    return fixes, refused


class Plane:
    """Metres east and north of the median of the fixes."""

    def __init__(self, fixes: list[Fix]) -> None:
        self.latitude = sorted(fix.latitude for fix in fixes)[len(fixes) // 2]
        self.longitude = sorted(fix.longitude for fix in fixes)[len(fixes) // 2]
        self.east = METRES_PER_DEGREE * math.cos(math.radians(self.latitude))

    def point(self, fix: Fix) -> tuple[float, float]:
        return ((fix.longitude - self.longitude) * self.east,
                (fix.latitude - self.latitude) * METRES_PER_DEGREE)

    def position(self, x: float, y: float) -> tuple[float, float]:
        return (self.latitude + y / METRES_PER_DEGREE, self.longitude + x / self.east)


def direction(bearing: float) -> tuple[float, float]:
    return math.sin(math.radians(bearing)), math.cos(math.radians(bearing))


def within(a: tuple[float, float], b: tuple[float, float], degrees: float) -> bool:
    """Whether two directions of length 1 differ by so much at most."""
    return a[0] * b[0] + a[1] * b[1] >= math.cos(math.radians(degrees))


def curve_between(plane: Plane, first: Fix, second: Fix, step: float) -> Curve | None:
    (x0, y0), (x1, y1) = plane.point(first), plane.point(second)
    length = math.hypot(x1 - x0, y1 - y0)
    if length > SPEED_MAX_M_S * (second.time - first.time):
        return None
    straight = ((x1 - x0) / length, (y1 - y0) / length)
    leaves, arrives = direction(first.bearing), direction(second.bearing)
    if not (within(leaves, straight, BEND_MAX) and within(arrives, straight, BEND_MAX)):
        return None
    samples = []
    steps = max(1, round(length / step))
    for i in range(steps + 1):
        t = i / steps
        u = 1 - t
        point, along = [], []
        for p0, p1, d0, d1 in ((x0, x1, leaves[0], arrives[0]), (y0, y1, leaves[1], arrives[1])):
            m0, m1 = d0 * length, d1 * length
            point.append(u * u * (1 + 2 * t) * p0 + t * u * u * m0
                         + t * t * (3 - 2 * t) * p1 - t * t * u * m1)
            along.append(6 * t * u * (p1 - p0) + u * (1 - 3 * t) * m0 + t * (3 * t - 2) * m1)
        norm = math.hypot(*along)
        if norm > 0:
            samples.append((*point, along[0] / norm, along[1] / norm))
    return Curve(samples)


def curves_of(fixes: list[Fix], plane: Plane, options: argparse.Namespace) -> list[Curve]:
    begun, curves = {}, []  # by vehicle: the fix that its next curve begins with
    for fix in fixes:
        if fix.speed == 0:
            begun.pop(fix.vehicle, None)
            continue
        first = begun.get(fix.vehicle)
        if first and 0 < fix.time - first.time <= options.gap:
            if math.dist(plane.point(first), plane.point(fix)) < options.apart:
                continue
            curve = curve_between(plane, first, fix, options.radius / 2)
            if curve:
                curves.append(curve)
        begun[fix.vehicle] = fix
    return curves


class Places:
    """Clusters of samples of one heading: sums of x, y, east, north, and their number."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.sums: list[list[float]] = []
        self.founded_in = collections.defaultdict(list)  # by cell of the grid

    def cell(self, x: float, y: float) -> tuple[int, int]:
        return math.floor(x / self.radius), math.floor(y / self.radius)

    def at(self, place: int) -> tuple[float, float]:
        x, y, _, _, count = self.sums[place]
        return x / count, y / count

    def heading(self, place: int) -> tuple[float, float]:
        _, _, east, north, _ = self.sums[place]
        norm = math.hypot(east, north)
        return east / norm, north / norm

    def nearest(self, sample: tuple[float, ...]) -> int | None:
        x, y, east, north = sample
        column, row = self.cell(x, y)
        best = (self.radius, -1)
        # A place may have moved out of the cell that it was founded in by one radius.
        for c in range(column - 2, column + 3):
            for r in range(row - 2, row + 3):
                for place in self.founded_in.get((c, r), ()):
                    px, py = self.at(place)
                    distance = math.hypot(px - x, py - y)
                    if (distance, place) < best and within(self.heading(place), (east, north),
                                                           TURN_MAX):
                        best = (distance, place)
        return best[1] if best[1] >= 0 else None

    def add(self, sample: tuple[float, ...]) -> None:
        place = self.nearest(sample)
        if place is None:
            self.founded_in[self.cell(*sample[:2])].append(len(self.sums))
            self.sums.append([*sample, 1])
            return
        for i, value in enumerate((*sample, 1)):
            self.sums[place][i] += value


def links_of(curves: list[Curve], places: Places, support: int) -> dict[int, set[int]]:
    """The places that follow each place."""
    counts = collections.Counter()
    for curve in curves:
        way = [place for place in map(places.nearest, curve.samples) if place is not None]
        counts.update({(a, b) for a, b in zip(way, way[1:]) if a != b})
    follows = collections.defaultdict(set)
    for a, b in counts:
        follows[a].add(b)
    # Long links first: what replaces them may be replaced too.
    for a, b in sorted(counts, key=lambda link: (-math.dist(*map(places.at, link)), link)):
        for middle in sorted(follows[a]):
            if middle != b and b in follows[middle] and (
                    math.dist(places.at(a), places.at(middle))
                    + math.dist(places.at(middle), places.at(b))
                    <= 1.1 * math.dist(places.at(a), places.at(b))):
                counts[a, middle] += counts[a, b]
                counts[middle, b] += counts[a, b]
                follows[a].discard(b)
                del counts[a, b]
                break
    kept = collections.defaultdict(set)
    for (a, b), count in sorted(counts.items()):
        if count >= support:
            kept[a].add(b)
    return kept


def chains_of(follows: dict[int, set[int]]) -> list[list[int]]:
    """Each link in one chain; chains end where links meet or part."""
    before = collections.Counter(b for others in follows.values() for b in others)
    runs_through = {place for place in follows
                    if len(follows[place]) == 1 and before[place] == 1}
    chains, used = [], set()
    starts = [place for place in sorted(follows) if place not in runs_through]
    for start in starts + sorted(runs_through):  # the latter: rings
        for following in sorted(follows[start]):
            if (start, following) in used:
                continue
            chain = [start]
            while (chain[-1], following) not in used:
                used.add((chain[-1], following))
                chain.append(following)
                if following not in runs_through:
                    break
                following = next(iter(follows[following]))
            chains.append(chain)
    return chains


def length_of(points: list[tuple[float, float]]) -> float:
    return sum(map(math.dist, points, points[1:]))


def distance_to(point: tuple[float, float], a: tuple[float, float],
                b: tuple[float, float]) -> float:
    x, y = b[0] - a[0], b[1] - a[1]
    square = x * x + y * y
    share = ((point[0] - a[0]) * x + (point[1] - a[1]) * y) / square if square else 0
    share = min(1.0, max(0.0, share))
    return math.dist(point, (a[0] + share * x, a[1] + share * y))


def simplified(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Douglas and Peucker's simplification."""
    if len(points) < 3:
        return points
    far = max(range(1, len(points) - 1),
              key=lambda i: distance_to(points[i], points[0], points[-1]))
    if distance_to(points[far], points[0], points[-1]) <= LINE_ERROR_M:
        return [points[0], points[-1]]
    return simplified(points[:far + 1])[:-1] + simplified(points[far:])


def roads_of(follows: dict[int, set[int]], places: Places,
             shortest: float) -> list[list[tuple[float, float]]]:
    for _ in range(2):  # what is left behind a dead end may be one itself
        into = collections.Counter(b for others in follows.values() for b in others)
        for chain in chains_of(follows):
            ends = not follows.get(chain[-1]) or not into[chain[0]]
            if ends and length_of([places.at(place) for place in chain]) < shortest:
                for a, b in zip(chain, chain[1:]):
                    follows[a].discard(b)
    chains = [[places.at(place) for place in chain] for chain in chains_of(follows)]
    roads = [simplified(chain) for chain in chains]
    # A small ring is left with its first place, twice.
    return sorted((road for road in roads if length_of(road) > LINE_ERROR_M),
                  key=lambda road: [(y, x) for x, y in road])


def share_on_roads(fixes: list[Fix], plane: Plane, roads: list[list[tuple[float, float]]],
                   tolerance: float) -> float:
    """Of the fixes in motion: those within the tolerance of a road that leads their way."""
    segments = collections.defaultdict(list)
    for road in roads:
        for a, b in zip(road, road[1:]):
            length = math.dist(a, b)
            heading = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
            low = [math.floor((min(a[i], b[i]) - tolerance) / tolerance) for i in (0, 1)]
            high = [math.floor((max(a[i], b[i]) + tolerance) / tolerance) for i in (0, 1)]
            for column in range(low[0], high[0] + 1):
                for row in range(low[1], high[1] + 1):
                    segments[column, row].append((a, b, heading))
    on_road = 0
    for fix in fixes:
        point = plane.point(fix)
        cell = tuple(math.floor(value / tolerance) for value in point)
        on_road += any(within(heading, direction(fix.bearing), TURNS_ABOUT)
                       and distance_to(point, a, b) <= tolerance
                       for a, b, heading in segments.get(cell, ()))
    return on_road / len(fixes)


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("fixes")
    options.add_argument("roads")
    options.add_argument("--columns", metavar="C,C,C,C,C,C",
                         help="numbers from 1 of the columns vehicle, latitude, longitude, speed, "
                         "bearing and time (default: 1,2,3,4,5,6; of rows with seven columns "
                         "2,4,5,6,7,3, as T-Drive's are)")
    options.add_argument("--picture", metavar="SVG", help="draws the network and the fixes")
    options.add_argument("--gap", type=float, default=75, help="seconds (default: %(default)s)")
    options.add_argument("--apart", type=float, default=100, help="metres (default: %(default)s)")
    options.add_argument("--radius", type=float, default=100, help="metres (default: %(default)s)")
    options.add_argument("--support", type=int, default=2, help="curves (default: %(default)s)")
    options.add_argument("--shortest", type=float, default=250,
                         help="metres (default: %(default)s)")
    return options.parse_args()


def main() -> None:
    options = read_options()
    columns = [int(text) for text in (options.columns or usual_columns(options.fixes)).split(",")
               if text.isdecimal()]
    if len(columns) != 6 or min(columns) < 1:
        sys.exit("prepare.py: error: --columns: needs six numbers from 1")
    fixes, refused = read_fixes(options.fixes, columns)
    moving = [fix for fix in fixes if fix.speed > 0]
    if not moving:
        sys.exit(f"prepare.py: error: {options.fixes}: no fix is in motion")
    plane = Plane(moving)
    curves = curves_of(fixes, plane, options)
    places = Places(options.radius)
    for curve in curves:
        for sample in curve.samples:
            places.add(sample)
    roads = roads_of(links_of(curves, places, options.support), places, options.shortest)
    if not roads:
        sys.exit(f"prepare.py: error: {options.fixes}: no {options.support} curves follow one way")
    with open(options.roads, "w", encoding="ascii") as out:
        out.write("road,one_way,latitude,longitude\n")
        for number, road in enumerate(roads, 1):
            for point in road:
                latitude, longitude = plane.position(*point)
                out.write(f"{number},1,{latitude:.6f},{longitude:.6f}\n")
    length_km = sum(map(length_of, roads)) / 1000
    print(f"{len(fixes)} fixes and {refused} rows that are none; {len(moving)} fixes in motion, "
          f"{len(curves)} curves, {len(places.sums)} places; {len(roads)} roads, "
          f"{length_km:.0f} km")
    for tolerance in (50, 100):
        share = share_on_roads(moving, plane, roads, tolerance)
        print(f"{share:.1%} of the fixes in motion are within {tolerance} m of a road their way")
    if options.picture:
        title = (f"{len(roads)} roads, {length_km:.0f} km, inferred from "
                 f"{len(moving)} fixes in motion")
        draw(options.picture, title, [plane.point(fix) for fix in moving], roads)


if __name__ == "__main__":
    main()

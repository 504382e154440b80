# SPDX-License-Identifier: Apache-2.0
"""The network that traffic-monitoring/data/prepare.py infers, against a city that is known."""

import csv
import math
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from bundled import PAPER
from command_line import Case

DATA = PAPER / "traffic-monitoring/data"
METRES_PER_DEGREE = math.radians(6371008.8)
STEP_M = 20
NEAR_M = 25
HEADINGS_APART_MAX = 30


def samples(path):
    """(x, y, bearing) every 20 m along the roads of a file, both ways where they are two-way."""
    roads = {}
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            latitude = float(row["latitude"])
            roads.setdefault((row["road"], row["one_way"]), []).append(
                (float(row["longitude"]) * METRES_PER_DEGREE * math.cos(math.radians(44)),
                 latitude * METRES_PER_DEGREE))
    for (_, one_way), points in roads.items():
        for a, b in zip(points, points[1:]):
            bearing = math.degrees(math.atan2(b[0] - a[0], b[1] - a[1]))
            steps = round(math.dist(a, b) / STEP_M) or 1
            for i in range(steps):
                share = (i + 0.5) / steps
                place = tuple(p + share * (q - p) for p, q in zip(a, b))
                yield (*place, bearing)
                if one_way == "0":
                    yield (*place, bearing + 180)


def share_near(some, others):
    """The share of some samples that have one of the others near, of the same heading."""
    cells = {}
    for sample in others:
        cells.setdefault((sample[0] // NEAR_M, sample[1] // NEAR_M), []).append(sample)

    def has_other(x, y, bearing):
        for column in (-1, 0, 1):
            for row in (-1, 0, 1):
                for ox, oy, other in cells.get((x // NEAR_M + column, y // NEAR_M + row), ()):
                    apart = abs((bearing - other + 180) % 360 - 180)
                    if math.hypot(x - ox, y - oy) <= NEAR_M and apart <= HEADINGS_APART_MAX:
                        return True
        return False

    return sum(has_other(*sample) for sample in some) / len(some)


class InferredNetwork(Case):
    """Roads from the fixes of a generated city, of which the true roads are known."""

    def prepare(self, source, *options):
        return subprocess.run(
            [sys.executable, DATA / "prepare.py", source, self.folder / "inferred.csv",
             *map(str, options)], capture_output=True, text=True, timeout=120)

    def test_roads_are_those_of_the_city(self):
        city = self.folder / "city"
        subprocess.run([sys.executable, DATA / "generate_city.py", city, "--streets", "6",
                        "--fixes", "9000", "--error", "4", "--seed", "3"], check=True, timeout=120)
        picture = self.folder / "network.svg"
        result = self.prepare(city / "fixes.csv", "--apart", 60, "--radius", 30, "--gap", 12,
                              "--shortest", 60, "--picture", picture)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found, true = (list(samples(path)) for path in
                       (self.folder / "inferred.csv", city / "roads.csv"))
        self.assertGreater(share_near(found, true), 0.95)
        self.assertGreater(share_near(true, found), 0.95)
        paths = [element for element in xml.etree.ElementTree.parse(picture).iter()
                 if element.tag.endswith("path")]
        self.assertEqual(sum(path.get("d").count("M") for path in paths[2:]),
                         len({row.split(",")[0] for row in
                              (self.folder / "inferred.csv").read_text().splitlines()[1:]}))
        # The application takes the file, and nearly every fix finds a road of it.
        out = self.folder / "out.csv"
        self.strid("run", "traffic-monitoring", "--roads", self.folder / "inferred.csv", "--input",
                   city / "fixes.csv", "--emit", "final", "--output", out)
        with open(out, newline="", encoding="ascii") as rows:
            matched = sum(int(count) for _, _, count in csv.reader(rows))
        self.assertGreater(matched, 0.97 * 9000)

    def rows_along(self, bearing, lines=200):
        """Fixes of two vehicles on one straight way to the north, 5 s and 60 m apart."""
        for vehicle in (1, 2):
            for i in range(lines // 2):
                yield f"{vehicle},{44 + 60 * i / METRES_PER_DEGREE:.6f},10,43,{bearing},{5 * i}"

    def test_a_road_is_straight_and_one_way(self):
        source = self.file("fixes.csv", "\n".join(self.rows_along(0)) + "\n")
        self.assertEqual(self.prepare(source).returncode, 0)
        header, first, last = (self.folder / "inferred.csv").read_text().splitlines()
        self.assertEqual(header, "road,one_way,latitude,longitude")
        self.assertEqual(first.split(",")[:2], ["1", "1"])
        self.assertLess(first.split(",")[2], last.split(",")[2])
        self.assertEqual({line.split(",")[3] for line in (first, last)}, {"10.000000"})

    def test_the_order_of_columns(self):
        source = self.file("a.csv", "\n".join(self.rows_along(0)))
        self.assertEqual(self.prepare(source).returncode, 0)
        roads = (self.folder / "inferred.csv").read_text()
        for order, options in (((6, 0, 5, 1, 2, 3, 4), ()),
                               ((5, 4, 3, 2, 1, 0), ("--columns", "6,5,4,3,2,1"))):
            with self.subTest(order=order):
                rows = [[*row.split(","), "reading"] for row in self.rows_along(0)]
                source = self.file("b.csv", "\n".join(",".join(row[i] for i in order)
                                                      for row in rows))
                self.assertEqual(self.prepare(source, *options).returncode, 0)
                self.assertEqual((self.folder / "inferred.csv").read_text(), roads)

    def test_a_bearing_across_the_way_makes_no_road(self):
        source = self.file("fixes.csv", "\n".join(self.rows_along(90)) + "\n")
        result = self.prepare(source)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no 2 curves follow one way", result.stderr)

    def test_rows_that_are_no_fixes_are_counted(self):
        bad = ["vehicle,latitude,longitude,speed,bearing,time", "1,nan,10,40,0,1", "1,91,10,40,0,2",
               "1,0,0,40,0,3", "1,44,10,-4,0,4", "1,44,10,40,361,5", "1,44,10,40,0",
               "1,44,10,inf,0,6"]
        source = self.file("fixes.csv", "\n".join([*bad, *self.rows_along(0)]) + "\n")
        result = self.prepare(source)
        self.assertEqual(result.returncode, 0)
        self.assertIn("200 fixes and 7 rows that are none", result.stdout)

    def test_columns(self):
        for columns in ("1,2,3", "1,2,3,4,5,x", "0,1,2,3,4,5"):
            with self.subTest(columns=columns):
                result = self.prepare(self.file("fixes.csv", ""), "--columns", columns)
                self.assertEqual(result.returncode, 1)
                self.assertIn("--columns: needs six numbers from 1", result.stderr)

    def test_no_fixes(self):
        for text in ("", "vehicle,latitude,longitude,speed,bearing,time\n", "1,44,10,0,0,1\n"):
            with self.subTest(text=text):
                result = self.prepare(self.file("fixes.csv", text))
                self.assertEqual(result.returncode, 1)
                self.assertIn("no fix is in motion", result.stderr)

    def test_jumps_make_no_road(self):
        rows = []
        for vehicle in (1, 2):
            for i in range(100):  # 3 km in 5 s
                rows.append(f"{vehicle},{44 + 3000 * i / METRES_PER_DEGREE:.6f},10,43,0,{5 * i}")
        result = self.prepare(self.file("fixes.csv", "\n".join(rows) + "\n"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no 2 curves follow one way", result.stderr)


if __name__ == "__main__":
    unittest.main()

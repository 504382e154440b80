#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid run traffic-monitoring` against its oracle, by shapely, and against bad input.

    traffic_monitoring.py CLASS...
"""
import csv
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

from bundled import PAPER
from command_line import SOURCE, Case

APP = PAPER / "traffic-monitoring"
ROADS, FIXES, TRUTH = (APP / "data" / name for name in ("roads.csv", "fixes.csv", "truth.csv"))
GOLDEN = APP / "golden"
COLUMNS_OF_TRACES = "2,4,5,6,7"
WAYS = (["--workers", 1], ["--parallelism", 3], ["--parallelism", 2, "--mode", "dedicated"],
        ["--no-fuse", "--parallelism", 2], ["--composition", "centralised", "--parallelism", 2],
        ["--mode", "simulation", "--seed", 3, "--parallelism", 3])
A_ROAD = "road,one_way,latitude,longitude\n7,0,44.0,10.0\n7,0,44.0,10.01\n"


def last_rows(path):
    """The row with the most fixes of each road, and the number of rows of each."""
    last, count = {}, {}
    with open(path, encoding="ascii", newline="") as file:
        for road, mean, fixes in csv.reader(file):
            count[road] = count.get(road, 0) + 1
            if int(fixes) >= int(last.get(road, (0, 0))[1]):
                last[road] = mean, fixes
    return last, count


class Traffic(Case):
    def run_traffic(self, *options, fixes=FIXES, roads=ROADS):
        out = self.folder / "out.csv"
        self.strid("run", "traffic-monitoring", "--roads", roads, "--input", fixes,
                   "--output", out, *options)
        return out

    def counters(self, *options, fixes=FIXES, roads=ROADS):
        metrics = self.folder / "metrics.json"
        self.run_traffic(*options, "--metrics", metrics, fixes=fixes, roads=roads)
        return next(one["counters"] for segment in json.loads(metrics.read_text())["segments"]
                    for one in segment["operators"] if one["name"] == "match")


class TrafficAnswers(Traffic):
    def test_final_means_in_every_way(self):
        for matcher in ("nearest", "hidden-markov"):
            for way in WAYS:
                with self.subTest(matcher=matcher, way=way):
                    out = self.run_traffic("--emit", "final", "--matcher", matcher, *way)
                    self.same_answer(GOLDEN / f"{matcher}-final.csv", out)

    def test_updates_of_one_replica_and_in_order(self):
        for way in (["--parallelism", 1], ["--ordered", "--parallelism", 3]):
            with self.subTest(way=way):
                self.same_answer(GOLDEN / "nearest-updates.csv", self.run_traffic(*way), 1)

    def test_the_papers_form_has_the_same_rows(self):
        for way in (["--workers", 1], ["--parallelism", 3], ["--mode", "dedicated"]):
            with self.subTest(way=way):
                out = self.run_traffic("--form", "paper", *way)
                self.same_answer(GOLDEN / "nearest-updates.csv", out, 1)
        for option in (["--emit", "final"], ["--matcher", "hidden-markov"]):
            error = self.fails("run", "traffic-monitoring", "--roads", ROADS, "--input", FIXES,
                               "--form", "paper", *option, code=2)
            self.assertIn("--form paper goes with --matcher nearest and --emit updates", error)

    def test_updates_end_as_the_final_means(self):
        last, count = last_rows(self.run_traffic("--parallelism", 3))
        with open(GOLDEN / "nearest-final.csv", encoding="ascii", newline="") as file:
            final = {road: (mean, fixes) for road, mean, fixes in csv.reader(file)}
        self.assertEqual(last.keys(), final.keys())
        for road, (mean, fixes) in final.items():
            self.assertEqual(last[road][1], fixes)
            self.assertEqual(count[road], int(fixes))
            self.assertAlmostEqual(float(last[road][0]), float(mean), places=9)

    def test_real_traces(self):
        traces = SOURCE.parent / "shared/datasets/traffic-monitoring/taxi-traces.csv"
        if not traces.exists():
            self.skipTest("the shared datasets are not there")
        python = python_with_shapely()
        start = self.file("start.csv", "".join(traces.read_text().splitlines(True)[:3000]))
        roads = self.folder / "roads.csv"
        subprocess.run([sys.executable, APP / "data/prepare.py", traces, roads], check=True,
                       capture_output=True)
        options = ["--emit", "final", "--columns", COLUMNS_OF_TRACES]
        expected = subprocess.run([python, APP / "oracle.py", roads, start, *options], check=True,
                                  capture_output=True).stdout
        self.assertGreater(expected.count(b"\n"), 20)
        out = self.run_traffic(*options, fixes=start, roads=roads)
        self.same_answer(self.file("expected.csv", expected), out)

    def test_the_golden_answers_are_those_of_the_oracle(self):
        python = python_with_shapely()
        for matcher in ("nearest", "hidden-markov"):
            answer = subprocess.run(
                [python, APP / "oracle.py", ROADS, FIXES, "--emit", "final", "--matcher", matcher],
                check=True, capture_output=True).stdout
            self.same_answer(GOLDEN / f"{matcher}-final.csv", self.file("answer.csv", answer))

    def test_the_sequence_of_roads_is_better_than_the_nearest_road(self):
        python = python_with_shapely()
        shares = {}
        for matcher in ("nearest", "hidden-markov"):
            said = subprocess.run(
                [python, APP / "oracle.py", ROADS, FIXES, "--emit", "roads", "--matcher", matcher,
                 "--truth", TRUTH], check=True, capture_output=True, text=True).stderr
            shares[matcher] = float(said.rsplit(" ", 1)[1])
        self.assertGreater(shares["nearest"], 0.85)
        self.assertGreater(shares["hidden-markov"], shares["nearest"] + 0.02)


def python_with_shapely():
    """An interpreter, or the test is skipped: PYTHONPATH leads to the wheels of peers."""
    if subprocess.run([sys.executable, "-c", "import shapely"], capture_output=True).returncode:
        raise unittest.SkipTest("no shapely: its oracle is not asked")
    return sys.executable


class TrafficRoads(Traffic):
    """The same network in three formats, and files that are none."""

    def write_geojson(self, change=lambda features: features):
        points, one_way = {}, {}
        with open(ROADS, encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                points.setdefault(row["road"], []).append(
                    [float(row["longitude"]), float(row["latitude"])])
                one_way[row["road"]] = row["one_way"] == "1"
        features = [{"type": "Feature", "properties": {"osm_id": road,
                                                       "oneway": "yes" if one_way[road] else "no"},
                     "geometry": {"type": "LineString", "coordinates": line}}
                    for road, line in points.items()]
        features.insert(3, {"type": "Feature", "properties": None,
                            "geometry": {"type": "Point", "coordinates": [10.4, 44.0]}})
        text = json.dumps({"type": "FeatureCollection", "features": change(features)})
        return self.file("roads.geojson", text), points, one_way

    def test_geojson(self):
        roads, _, _ = self.write_geojson()
        self.same_answer(GOLDEN / "nearest-final.csv",
                         self.run_traffic("--emit", "final", roads=roads))

    def write_shapefile(self):
        """By its published description (ESRI, 1998): .shp, .shx and .dbf."""
        _, points, one_way = self.write_geojson()
        shapes, index, records, at = b"", b"", b"", 50
        for number, (road, line) in enumerate(points.items(), start=1):
            xs, ys = [p[0] for p in line], [p[1] for p in line]
            content = struct.pack("<i4d3i", 3, min(xs), min(ys), max(xs), max(ys), 1, len(line), 0)
            content += b"".join(struct.pack("<2d", *point) for point in line)
            shapes += struct.pack(">2i", number, len(content) // 2) + content
            index += struct.pack(">2i", at, len(content) // 2)
            at += 4 + len(content) // 2
            records += b" " + road.rjust(10).encode() + (b"F" if one_way[road] else b"B")
        everything = [p for line in points.values() for p in line]
        box = struct.pack("<4d", *(f(p[i] for p in everything) for f, i in
                                   ((min, 0), (min, 1), (max, 0), (max, 1)))) + bytes(32)

        def header(words):
            return (struct.pack(">7i", 9994, 0, 0, 0, 0, 0, words) +
                    struct.pack("<2i", 1000, 3) + box)

        dbf = struct.pack("<4B", 3, 126, 1, 1)
        dbf += struct.pack("<IHH", len(points), 97, 12) + bytes(20)
        for name, kind, size in ((b"osm_id", b"N", 10), (b"oneway", b"C", 1)):
            dbf += name.ljust(11, b"\0") + kind + bytes(4) + bytes([size, 0]) + bytes(14)
        self.file("roads.shp", header(at) + shapes)
        self.file("roads.shx", header(50 + 4 * len(points)) + index)
        self.file("roads.dbf", dbf + b"\r" + records + b"\x1a")
        return self.folder / "roads.shp"

    def test_shapefile(self):
        roads = self.write_shapefile()
        self.same_answer(GOLDEN / "nearest-final.csv",
                         self.run_traffic("--emit", "final", roads=roads))

    def refused(self, roads, *words):
        line = self.fails("run", "traffic-monitoring", "--roads", roads, "--input", FIXES,
                          code=1)
        for word in (pathlib.Path(roads).name, *words):
            self.assertIn(word, line)

    def test_files_that_are_cut(self):
        roads, _, _ = self.write_geojson()
        self.file("roads.geojson", roads.read_bytes()[:2000])
        self.refused(roads)
        shapes = self.write_shapefile()
        whole = shapes.read_bytes()
        for size in (60, len(whole) // 2):
            shapes.write_bytes(whole[:size])
            self.refused(shapes)
        index = self.folder / "roads.shx"
        index_bytes = len(index.read_bytes())
        os.truncate(index, 100)
        self.refused(shapes, f"its .shx says that it has {index_bytes} bytes, and has 100")
        index.unlink()
        self.refused(shapes)
        shapes = self.write_shapefile()
        attributes = self.folder / "roads.dbf"
        whole = attributes.read_bytes()
        for size in (60, len(whole) // 2):
            attributes.write_bytes(whole[:size])
            self.refused(shapes, ".dbf")
        attributes.unlink()
        self.refused(shapes, ".dbf")
        text = ROADS.read_text()
        self.refused(self.file("cut.csv", text[:text.index("\n5,") + 9]), ":14:")

    def test_roads_that_are_none(self):
        self.refused(self.file("empty.csv", ""))
        self.refused(self.file("header.csv", "road,one_way,latitude,longitude\n"), "no road")
        self.refused(self.file("one.csv", A_ROAD + "8,0,44.1,10.0\n"), "row 3", "one point")
        self.refused(self.file("same.csv", A_ROAD + "8,0,44.1,10.0\n8,0,44.1,10.0\n"), "row 3",
                     "one point")
        self.refused(self.file("north.csv", A_ROAD + "8,0,95,10.0\n8,0,44,10\n"), "row 3", "95")
        self.refused(self.file("way.csv", A_ROAD + "8,3,44,10.0\n8,3,44,10.1\n"), "one_way")
        self.refused(self.file("ways.csv", A_ROAD + "8,0,44,10.0\n8,1,44,10.1\n"), "row 3",
                     "two values")
        self.refused(self.file("pacific.csv", A_ROAD + "8,0,44,179.9\n8,0,44,-179.9\n"), "row 3",
                     "180th meridian")
        self.refused(self.file("word.csv", A_ROAD + "8,0,north,10.0\n"), "north")
        self.refused(self.folder / "missing.csv")
        self.refused(self.file("none.geojson", '{"features": []}'), "no road")
        self.refused(self.file("shape.geojson", '{"features": [{"geometry": {"type": "LineString",'
                               ' "coordinates": [[10, 44], [10]]}, "properties": {}}]}'),
                     "feature 0")

    def test_identifiers(self):
        def change(identifiers):
            def to(features):
                for feature, road in zip(features, identifiers):
                    feature["properties"] = {} if road is None else {"id": road}
                return features[:len(identifiers)]
            return to

        fixes = self.file("fixes.csv", "1,44.0,10.4,50,0,0\n")
        for identifiers in ([None, None], [7, "12"], ["7.0", " 8 "]):
            with self.subTest(identifiers=identifiers):
                roads, _, _ = self.write_geojson(change(identifiers))
                self.run_traffic(roads=roads, fixes=fixes)
        roads, _, _ = self.write_geojson(change([7, None]))
        self.refused(roads, "feature 1", "identifier")
        roads, _, _ = self.write_geojson(change(["Main Street", 7]))
        self.refused(roads, "feature 0", "identifier")

    def test_without_roads(self):
        self.assertIn("--roads", self.fails("run", "traffic-monitoring", "--input", FIXES, code=2))


class TrafficFixes(Traffic):
    """Fixes that no vehicle sent from a road of the map."""

    def setUp(self):
        super().setUp()
        self.roads = self.file("roads.csv", A_ROAD)

    def test_what_is_off_every_road_is_counted(self):
        fixes = self.file("fixes.csv",
                          "1,44.0,10.005,50,90,0\n"     # on the road
                          "1,44.0,10.005,50,0,0\n"      # across it
                          "1,44.0,10.005,0,0,0\n"       # stands on it: no bearing
                          "1,44.0,10.005,50,280,0\n"    # the other way
                          "1,44.00044,10.005,50,90,0\n"  # 49 m beside it
                          "1,44.00046,10.005,50,90,0\n"  # 51 m beside it
                          "2,-33.9,151.2,50,90,0\n")    # another continent
        expected = self.file("expected.csv", "7,37.5,4\n")
        self.same_answer(expected, self.run_traffic("--emit", "final", fixes=fixes,
                                                    roads=self.roads))
        counters = self.counters(fixes=fixes, roads=self.roads)
        self.assertEqual(counters, {"off every road": 1, "outside the map": 2})
        result = self.strid("run", "traffic-monitoring", "--roads", self.roads, "--input", fixes,
                            "--output", self.folder / "out.csv")
        self.assertIn(b"off every road", result.stderr)

    def test_vehicles_that_jump(self):
        self.roads = self.file("roads.csv", A_ROAD + "9,0,44.1,10.0\n9,0,44.1,10.01\n")
        fixes = self.file("fixes.csv", "1,44.0,10.005,50,90,0\n1,44.1,10.005,50,90,5\n"
                          "1,44.05,10.005,50,90,10\n1,44.0,10.005,50,90,15\n")
        for matcher in ("nearest", "hidden-markov"):
            out = self.run_traffic("--matcher", matcher, "--emit", "final", fixes=fixes,
                                   roads=self.roads)
            self.same_answer(self.file("expected.csv", "7,50,2\n9,50,1\n"), out)
        counters = self.counters("--matcher", "hidden-markov", fixes=fixes, roads=self.roads)
        self.assertEqual((counters["leaps"], counters["chains ended"]), (1, 1))

    def test_malformed_fixes(self):
        good = "1,44.0,10.005,50,90,0\n"
        for row, column in (("1,nan,10,50,90,0", 2), ("1,90.5,10,50,90,0", 2),
                            ("1,44,-180.5,50,90,0", 3), ("1,44,10,-1,90,0", 4),
                            ("1,44,10,inf,90,0", 4), ("1,44,10,50,361,0", 5),
                            ("1,44,10,50,,0", 5), ("taxi,44,10,50,90,0", 1)):
            with self.subTest(row=row):
                fixes = self.file("fixes.csv", good + row + "\n" + good)
                line = self.fails("run", "traffic-monitoring", "--roads", self.roads,
                                  "--input", fixes, code=1)
                self.assertIn("fixes.csv:2", line)
                self.assertIn(f"field {column}", line)
                dead = self.folder / "dead.csv"
                out = self.run_traffic("--emit", "final", "--dead-letter", dead, fixes=fixes,
                                       roads=self.roads)
                self.same_answer(self.file("expected.csv", "7,50,2\n"), out)
                self.assertIn(row.split(",", 1)[1], dead.read_text())

    def test_numbers_with_spaces_or_a_sign(self):
        fixes = self.file("fixes.csv", "1, 44.0,+10.005,50 ,90,0\n")
        out = self.run_traffic("--emit", "final", fixes=fixes, roads=self.roads)
        self.same_answer(self.file("expected.csv", "7,50,1\n"), out)

    def test_options_out_of_range(self):
        for option in ("--tolerance", "--bearing-tolerance", "--position-error"):
            line = self.fails("run", "traffic-monitoring", "--roads", self.roads, "--input", FIXES,
                              option, "0", code=2)
            self.assertIn(option, line)
        self.assertIn("--columns", self.fails("run", "traffic-monitoring", "--roads", self.roads,
                                              "--columns", "1,2", code=2))

    def test_an_empty_input(self):
        out = self.run_traffic(fixes=self.file("empty.csv", ""), roads=self.roads)
        self.assertEqual(out.read_text(), "")


if __name__ == "__main__":
    unittest.main()

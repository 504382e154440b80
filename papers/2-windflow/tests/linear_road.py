# SPDX-License-Identifier: Apache-2.0
"""Linear Road against its oracle, and what it does about wrong input."""

import csv
import gzip
import json
import random
import subprocess
import sys
import unittest

from answers import Answers
from bundled import PAPER
from command_line import STRID, Case

FOLDER = PAPER / "linear-road"
CARS = FOLDER / "data/cars.csv.gz"
HISTORY = FOLDER / "data/history.csv"
ORACLE = FOLDER / "oracle.py"


def report(time, car, xway=0, lane=1, direction=0, segment=5, position=None, speed=30):
    position = segment * 5280 if position is None else position
    return (f"0,{time},{car},{speed},{xway},{lane},{direction},{segment},{position}"
            ",-1,-1,-1,-1,-1,-1\n")


def question(kind, time, car, number, xway=0, day=1):
    return f"{kind},{time},{car},-1,{xway},-1,-1,-1,-1,{number},-1,-1,-1,-1,{day}\n"


def disorderly_traffic(seed):
    """Reports that no generator of traffic makes: cars that jump, fall silent, come back on another
    road, stop and go in every lane, minutes without any report, questions of every kind."""
    chance = random.Random(seed)
    lines, time = [], 0
    for _ in range(9000):
        time += chance.choices([0, 1, 20, 150, 500], [9750, 120, 5, 2, 1])[0]
        car = chance.randrange(260)
        kind = chance.choices([0, 2, 3, 4], [94, 4, 1, 1])[0]
        if kind == 0:
            still = car % 6 == 0 and chance.random() < 0.97
            segment = chance.choice([5, 6, 7, 7, 7, 7, 7, 7, 8, 9, 99, 0])
            if still:
                segment = 7 + car // 6 % 3
            lines.append(report(time, car, car % 2 if still else chance.choice([car % 2, 2]),
                                1 if still else chance.choice([0, 1, 1, 2, 3, 4]), car // 3 % 2,
                                segment, segment * 5280 + (0 if still else chance.randrange(2)),
                                chance.randrange(0, 60)))
        else:
            lines.append(question(kind, time, car, len(lines), chance.randrange(3),
                                  chance.randint(1, 69)))
    return "".join(lines)


class LinearRoadAnswers(Answers):
    def golden(self):
        return self.file("golden.csv",
                         gzip.decompress((FOLDER / "golden/answers.csv.gz").read_bytes()))

    def answers_of(self, path, *options):
        return self.oracle(sys.executable, ORACLE, path, *options)

    def rows(self, *run):
        output = self.strid("run", "linear-road", *run, "--quiet").stdout.decode()
        return list(csv.reader(output.splitlines()))

    def made(self, name, *options):
        path = self.folder / name
        self.strid("run", "linear-road", *options, "--write-input", "--output", path)
        return path

    @staticmethod
    def without_emit(path):
        rows = csv.reader(path.read_text().splitlines())
        return sorted([*row[:3 if row[0] == "0" else 2], *row[4 if row[0] == "0" else 3:]]
                      for row in rows)


class LinearRoad(LinearRoadAnswers):
    def test_bundled_traffic(self):
        self.answers_everywhere(self.golden(), 0, "linear-road", CARS, "--history", HISTORY)

    def test_an_operator_for_each_rule(self):
        options = ["--layout", "operators", "--history", HISTORY]
        for way in [["--workers", 1], ["--parallelism", 3, "--mode", "dedicated"],
                    ["--parallelism", 2, "--mode", "simulation", "--seed", 3]]:
            with self.subTest(way=way):
                out = self.folder / "out.csv"
                self.strid("run", "linear-road", "--input", CARS, "--output", out, *options, *way)
                self.same_answer(self.golden(), out)

    def test_bundled_traffic_has_every_answer(self):
        rows = list(csv.reader(self.golden().read_text().splitlines()))
        self.assertEqual({row[0] for row in rows}, {"0", "1", "2", "3"})
        for kind, column in [("0", 5), ("2", 5), ("3", 4)]:
            amounts = [int(row[column]) > 0 for row in rows if row[0] == kind]
            self.assertIn(True, amounts)
            self.assertIn(False, amounts)

    def test_through_pipes(self):
        expected = self.answers_of(CARS)
        plain = self.file("cars.csv", gzip.decompress(CARS.read_bytes()))
        self.answers_through_pipes(expected, 0, "linear-road", plain)

    def test_disorderly_traffic(self):
        tolls = alerts = 0
        for seed in range(4):
            cars = self.file("cars.csv", disorderly_traffic(seed))
            expected = self.answers_of(cars)
            rows = list(csv.reader(expected.read_text().splitlines()))
            tolls += sum(row[0] == "2" and int(row[5]) > 0 for row in rows)
            alerts += sum(row[0] == "1" for row in rows)
            for way in [["--parallelism", 1], ["--parallelism", 3, "--mode", "dedicated"],
                        ["--mode", "simulation", "--parallelism", 2, "--seed", seed],
                        ["--layout", "operators"],
                        ["--layout", "operators", "--mode", "simulation", "--parallelism", 3]]:
                with self.subTest(seed=seed, way=way):
                    out = self.folder / "out.csv"
                    self.strid("run", "linear-road", "--input", cars, "--output", out, *way)
                    self.same_answer(expected, out)
        self.assertGreater(tolls, 20)
        self.assertGreater(alerts, 100)

    def test_larger_traffic(self):
        cars = self.made("cars.csv", "--minutes", 9, "--expressways", 3, "--cars", 3000,
                         "--accident-every", "2m", "--seed", 5)
        self.assertGreater(len(cars.read_bytes().splitlines()), 75_000)
        expected, out = self.answers_of(cars), self.folder / "out.csv"
        for way in [["--parallelism", 2], ["--workers", 1]]:
            self.strid("run", "linear-road", "--input", cars, "--output", out, *way)
            self.same_answer(expected, out)

    def test_the_bundled_traffic_is_that_which_the_script_makes(self):
        subprocess.run([sys.executable, FOLDER / "data/prepare.py", STRID, self.folder], check=True)
        self.assertEqual(gzip.decompress((self.folder / CARS.name).read_bytes()),
                         gzip.decompress(CARS.read_bytes()))
        self.assertEqual((self.folder / HISTORY.name).read_bytes(), HISTORY.read_bytes())

    def test_times_at_the_limit(self):
        """A minute that ends behind the last second that there is: with tolls and an accident."""
        last = 2**31 - 1
        end = "".join([report(last - 120, i, segment=8) for i in (1, 2) for _ in range(4)] +
                      [report(last - 60, i, segment=6) for i in range(3, 70)] +
                      [report(last, i, segment=7) for i in range(3, 70)] +
                      [report(last, 99, segment=6), question(2, last, 4, 7)])
        cars, out = self.folder / "cars.csv", self.folder / "out.csv"
        for before, way in [(report(10, 1), []), (report(10, 1), ["--layout", "operators"]),
                            ("", ["--pace", "1e6"]), ("", ["--pace", "100"])]:
            with self.subTest(way=way):
                expected = self.answers_of(self.file("cars.csv", before + end))
                self.strid("run", "linear-road", "--input", cars, "--output", out, *way)
                self.assertEqual(self.without_emit(expected), self.without_emit(out))

    def test_rows_of_a_road_are_in_the_order_of_its_reports(self):
        rows = self.rows("--input", CARS, "--parallelism", 2)
        times = {}
        for row in rows:
            if row[0] in "01":
                car = row[1] if row[0] == "0" else row[3]
                time = int(row[2] if row[0] == "0" else row[1])
                self.assertGreaterEqual(time, times.get(car, 0))
                times[car] = time

    def test_the_paper_s_minutes(self):
        """An accident counts from the minute behind the one in which it is there."""
        lines = [report(30 * i, car, segment=8) for i in range(4) for car in (1, 2)]
        lines += [report(100, 3, segment=5), report(130, 4, segment=5), report(131, 5, segment=9),
                  report(132, 6, segment=3), report(133, 7, segment=5, direction=1),
                  report(134, 8, segment=5, lane=4), report(135, 9, segment=4, lane=0)]
        cars = self.file("cars.csv", "".join(sorted(lines, key=lambda l: int(l.split(",")[1]))))
        alerts = [row for row in self.rows("--input", cars) if row[0] == "1"]
        self.assertEqual(alerts, [["1", "130", "130", "4", "8"], ["1", "135", "135", "9", "8"]])

    def test_the_minute_in_which_an_accident_is_cleared_is_the_last(self):
        lines = [report(30 * i, car, segment=8) for i in range(4) for car in (1, 2)]
        lines += [report(150, 1, segment=9)]  # one car goes on in the third minute
        lines += [report(time, car, segment=5)
                  for time, car in ((100, 3), (125, 4), (179, 5), (181, 6))]
        cars = self.file("cars.csv", "".join(sorted(lines, key=lambda l: int(l.split(",")[1]))))
        for layout in ("fused", "operators"):
            alerts = [row for row in self.rows("--input", cars, "--layout", layout)
                      if row[0] == "1"]
            self.assertEqual(alerts, [["1", "125", "125", "4", "8"],
                                      ["1", "179", "179", "5", "8"]], layout)

    def test_tolls_by_hand(self):
        """60 cars at 30 miles an hour: 2 * 10 * 10, charged where the segment is left."""
        lines = [report(i % 60, i, segment=5) for i in range(60)]
        lines += [report(70, 100, segment=5), report(100, 100, segment=6),
                  question(2, 100, 100, 1), question(2, 101, 100, 2), question(2, 101, 7, 3)]
        lines.sort(key=lambda line: int(line.split(",")[1]))
        rows = self.rows("--input", self.file("cars.csv", "".join(lines)))
        self.assertIn(["0", "100", "70", "70", "30", "200"], rows)
        self.assertIn(["2", "100", "100", "0", "1", "0"], rows)
        self.assertIn(["2", "101", "101", "100", "2", "200"], rows)
        self.assertIn(["2", "101", "101", "0", "3", "0"], rows)

    def test_made_traffic_is_that_of_its_seed(self):
        options = ["--minutes", 3, "--expressways", 4, "--cars", 500]
        first = self.made("first.csv", *options)
        again = self.made("again.csv", *options, "--parallelism", "events=3")
        other = self.made("other.csv", *options, "--seed", 2)
        self.assertEqual(sorted(first.read_text().splitlines()),
                         sorted(again.read_text().splitlines()))
        self.assertNotEqual(first.read_text(), other.read_text())
        few = self.rows("--generate", 1000, "--write-input", *options)
        self.assertEqual(len(few), 1000)
        # Answers of what is made, without a file between.
        out = self.folder / "out.csv"
        self.strid("run", "linear-road", *options, "--parallelism", 2, "--output", out)
        self.same_answer(self.answers_of(first), out)

    def test_at_the_pace_of_the_input(self):
        metrics, out = self.folder / "metrics.json", self.folder / "out.csv"
        run = self.strid("run", "linear-road", "--minutes", 2, "--cars", 400, "--pace", 60,
                         "--output", out, "--metrics", metrics)
        report_of_run = json.loads(metrics.read_text())
        self.assertGreater(report_of_run["seconds"], 1.8)
        late = [one["counters"]["late answers"] for segment in report_of_run["segments"]
                for one in segment["operators"] if one["name"].startswith("write")]
        self.assertEqual(late, [0] * 3, run.stderr)
        for row in csv.reader(out.read_text().splitlines()):
            time, emit = (row[2], row[3]) if row[0] == "0" else (row[1], row[2])
            self.assertGreaterEqual(float(emit), float(time))
            self.assertLess(float(emit), float(time) + 5)
        expected = self.answers_of(self.made("cars.csv", "--minutes", 2, "--cars", 400))
        self.assertEqual(self.without_emit(expected), self.without_emit(out))

    def test_late_answers_are_counted(self):
        """A pace that nothing can keep up with: every answer of the last minute is late."""
        result = self.strid("run", "linear-road", "--minutes", 60, "--cars", 6000, "--pace", 1e6,
                            "--output", "/dev/null").stderr.decode()
        line = next(line for line in result.splitlines() if "late answers in write" in line)
        self.assertGreater(int(line.split()[1].replace(",", "")), 1000)


class LinearRoadMistakes(Case):
    def refused(self, lines, *options):
        return self.fails("run", "linear-road", "--input", self.file("cars.csv", lines), *options,
                          code=1)

    def test_time_that_goes_back(self):
        line = self.refused(report(10, 1) + report(9, 2))
        self.assertIn("cars.csv:2: Time 9 lies before that of a line before it, 10", line)

    def test_type_that_is_not_there(self):
        for kind in ["1", "5", "-1"]:
            line = self.refused(report(1, 1) + kind + report(2, 1)[1:])
            self.assertIn("cars.csv:2: ", line)
            self.assertIn(f"there is no record of type {kind}", line)
        self.assertIn('cars.csv:1: field 1: not an integer: "x"',
                      self.refused("x" + report(2, 1)[1:]))

    def test_expressway_that_is_not_there(self):
        self.assertIn("there is no expressway -1", self.refused(report(1, 1, xway=-1)))
        self.assertIn("there is no expressway 32768: they are 0 to 32767",
                      self.refused(report(1, 1, xway=32768)))
        self.assertIn("there is no expressway 2: they are 0 to 1",
                      self.refused(report(1, 1, xway=2), "--expressways", 2))
        self.assertIn("there is no expressway 9: the only one is 0",
                      self.refused(question(3, 1, 1, 1, xway=9), "--expressways", 1))

    def test_values_out_of_their_range(self):
        for line, words in [(report(1, 1, lane=5), "Lane 5 is not between 0 and 4"),
                            (report(1, 1, direction=2), "Dir 2 is not between 0 and 1"),
                            (report(1, 1, segment=100), "Seg 100 is not between 0 and 99"),
                            (report(1, 1, position=-4), "Pos -4 is negative"),
                            (report(1, 1, speed=256), "Spd 256 is not between 0 and 255"),
                            (report(1, -1), "VID -1 is negative"),
                            (report(-1, 1), "Time -1 is negative"),
                            (question(3, 1, 1, 1, day=70), "Day 70 is not between 1 and 69"),
                            (question(3, 1, 1, 1, day="x"), 'field 15: not an integer: "x"')]:
            self.assertIn(words, self.refused(line))

    def test_short_lines_and_no_numbers(self):
        self.assertIn("cars.csv:1: ", self.refused("0,1,2\n"))
        self.assertIn("cars.csv:2: ", self.refused(report(1, 1) + report(1, 1, speed="NaN")))
        self.assertIn("cars.csv:1: ", self.refused(report(1, 1, speed="30.5")))

    def test_spaces_beside_numbers(self):
        lines = report(1, 1).replace(",", ", ") + question(2, 2, 1, 7).replace(",", " ,")
        result = self.strid("run", "linear-road", "--input", self.file("cars.csv", lines))
        self.assertEqual(sorted(result.stdout.splitlines()), [b"0,1,1,1,0,0", b"2,2,2,0,7,0"])

    def test_wrong_lines_are_counted(self):
        lines = [report(10, 1), report(9, 1), "7" + report(11, 1)[1:], "0,1\n",
                 report(11, 1, xway=-3), report(12, 1, speed="nan"), report(40, 1, segment=6)]
        cars, letters = self.file("cars.csv", "".join(lines)), self.folder / "letters.csv"
        result = self.strid("run", "linear-road", "--input", cars, "--skip-malformed")
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertIn(b"skipped   5 malformed records", result.stderr)
        self.strid("run", "linear-road", "--input", cars, "--dead-letter", letters)
        rows = list(csv.reader(letters.read_text().splitlines()))
        self.assertEqual([(row[1], row[-1] + "\n") for row in rows],
                         [(str(i + 1), lines[i]) for i in (1, 2, 3, 4, 5)])

    def test_car_that_never_drove(self):
        result = self.strid("run", "linear-road", "--input",
                            self.file("cars.csv", report(1, 1) + question(2, 2, 99, 7)))
        self.assertIn(b"2,2,2,0,7,0\n", result.stdout)

    def test_history(self):
        cars = self.file("cars.csv", question(3, 2, 99, 7, xway=1, day=3))
        for rows, words in [("99,70,1,5\n", "Day 70 is not between 1 and 69"),
                            ("99,3,1,5\n99,3,1,6\n", "history.csv:2: "),
                            ("99,3,-1,5\n", "there is no expressway -1"),
                            ("99,3,1,-5\n", "Toll -5 is negative"),
                            ("99,3,1\n", "history.csv:1: ")]:
            history = self.file("history.csv", rows)
            line = self.fails("run", "linear-road", "--input", cars, "--history", history, code=1)
            self.assertIn("history.csv", line)
            self.assertIn(words, line)
        history = self.file("history.csv", "99,3,1,5\n99,3,2,6\n")
        result = self.strid("run", "linear-road", "--input", cars, "--history", history)
        self.assertEqual(result.stdout, b"3,2,2,7,5\n")

    def test_the_input_is_written_once(self):
        lines = report(1, 1) + report(2, 2)
        run = ["run", "linear-road", "--input", self.file("cars.csv", lines), "--write-input"]
        result = self.strid(*run, "--measure", "--quiet")
        self.assertEqual(result.stdout.decode(), lines)
        self.assertEqual(self.strid(*run, "--duration", "50ms").stdout, b"")

    def test_options_that_exclude_each_other(self):
        for options in [["--rate", "10"], ["--duration", "1s"]]:
            line = self.fails("run", "linear-road", "--minutes", 1, "--pace", 1, *options, code=2)
            self.assertIn("--pace", line)
        for pace in ["-1", "0.2", "1e-300", "1e300", "nan"]:
            line = self.fails("run", "linear-road", "--minutes", 1, "--pace", pace, code=2)
            self.assertIn("--pace", line)
        for option in [["--accident-every", "2000000h"], ["--cars", 59]]:
            line = self.fails("run", "linear-road", "--minutes", 1, *option, code=2)
            self.assertIn(option[0], line)
        for makes in ["--minutes", "--generate"]:
            line = self.fails("run", "linear-road", makes, 1, "--input", CARS, code=2)
            self.assertIn("leave --input out", line)
        line = self.fails("run", "linear-road", "--minutes", 10000, "--expressways", 32768, code=2)
        self.assertIn("more cars than there are numbers", line)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""`--form paper` of the applications beside their own form: equal answers, however many replicas,
and what it counts and refuses. tests/layouts.py has the blocks of its graphs."""

import unittest

from bundled import CAMPAIGNS, EVENTS, MODEL, PAPER, READINGS, TEXT, TRANSACTIONS
from command_line import Case
from linear_road import CARS, HISTORY, disorderly_traffic
from voip_stream import CALLS, TIGHT

ROADS = PAPER / "traffic-monitoring/data"
WAYS = [[], ["--parallelism", 1], ["--parallelism", 3],
        ["--parallelism", 2, "--mode", "dedicated"],
        ["--mode", "simulation", "--seed", 4, "--parallelism", 3],
        ["--composition", "centralised", "--parallelism", 2]]


class PapersForm(Case):
    def lines(self, *run):
        answer = self.strid("run", *run, "--quiet").stdout
        self.assertGreater(len(answer), 0)
        return sorted(answer.splitlines())

    def same_answers(self, application, *options):
        expected = self.lines(application, *options)
        for way in WAYS:
            with self.subTest(application=application, way=way):
                found = self.lines(application, *options, "--form", "paper", *way)
                self.assertEqual(found, expected)

    def test_pipelines(self):
        self.same_answers("fraud-detection", "--input", TRANSACTIONS, "--model", MODEL)
        self.same_answers("spike-detection", "--input", READINGS)
        self.same_answers("word-count", "--input", TEXT)

    def test_traffic_monitoring(self):
        # The order in which a road's matches meet its mean is open with several replicas.
        options = ["traffic-monitoring", "--input", ROADS / "fixes.csv", "--roads",
                   ROADS / "roads.csv", "--parallelism", 1]
        self.assertEqual(self.lines(*options, "--form", "paper"), self.lines(*options))

    def test_yahoo_benchmark(self):
        options = ["--input", EVENTS, "--campaigns", CAMPAIGNS]
        self.same_answers("yahoo-benchmark", *options)
        self.same_answers("yahoo-benchmark", *options, "--window", "700ms", "--disorder", "30ms")

    def test_linear_road(self):
        self.same_answers("linear-road", "--input", CARS, "--history", HISTORY)
        cars = self.file("cars.csv", disorderly_traffic(11))
        self.same_answers("linear-road", "--input", cars)

    def test_linear_road_of_made_traffic(self):
        made = ["--minutes", 4, "--cars", 600, "--expressways", 2, "--accident-every", "1m",
                "--seed", 3]
        cars = self.folder / "made.csv"
        self.strid("run", "linear-road", *made, "--write-input", "--output", cars)
        self.same_answers("linear-road", "--input", cars)
        self.assertEqual(self.lines("linear-road", *made, "--form", "paper"),
                         self.lines("linear-road", "--input", cars))

    def test_voip_stream(self):
        self.same_answers("voip-stream", "--input", CALLS)
        self.same_answers("voip-stream", "--input", CALLS, *TIGHT)
        self.same_answers("voip-stream", "--input", CALLS, "--filters", "exact", "--threshold",
                          "0.2")

    def test_refused(self):
        error = self.fails("run", "linear-road", "--input", CARS, "--form", "paper", "--layout",
                           "operators", code=2)
        self.assertIn("--form paper and --layout operators exclude each other", error)
        error = self.fails("run", "voip-stream", "--input", CALLS, "--form", "paper",
                           "--parallelism", "ecr=2", code=2)
        self.assertIn("operator 'ecr' has to see the whole stream", error)


if __name__ == "__main__":
    unittest.main()

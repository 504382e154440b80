# SPDX-License-Identifier: Apache-2.0
"""The applications with snapshots, killed at random moments and started again until a run ends:
their answers are those of their oracles, or of a run without snapshots."""

import gzip
import unittest

from bundled import CAMPAIGNS, EVENTS, FLIGHTS, MODEL, PAPER, READINGS, TEXT, TRANSACTIONS
from killed_runs import KilledRuns

TRAFFIC = PAPER / "traffic-monitoring"
CALLS = PAPER / "voip-stream/data/calls.csv"
LINEAR_ROAD = PAPER / "linear-road"


class Killed(KilledRuns):
    """Each run takes about half a second, by its rate."""

    def check(self, application, records, *options, golden=None, outputs=None, **how):
        files = {"--output": "o.csv", **(outputs or {})}
        self.check_killed(files, "run", application, *options, "--rate", 2 * records, **how)
        if golden is not None:
            self.same_answer(golden, self.folder / "one-o.csv")


class KilledKeys(Killed):
    def test_word_count(self):
        self.check("word-count", 400, "--input", TEXT,
                   golden=PAPER / "word-count/golden/counts.csv")

    def test_spike_detection(self):
        self.check("spike-detection", 25_000, "--input", READINGS,
                   golden=PAPER / "spike-detection/golden/spikes.csv")

    def test_generated_readings(self):
        self.check("spike-detection", 50_000, "--generate", "50k", "--seed", 9)

    def test_fraud_detection(self):
        self.check("fraud-detection", 10_000, "--input", TRANSACTIONS, "--model", MODEL,
                   golden=PAPER / "fraud-detection/golden/outliers-miss-probability.csv")

    def test_generated_transactions(self):
        self.check("fraud-detection", 50_000, "--generate", "50k", "--model", MODEL)

    def test_yahoo_benchmark(self):
        self.check("yahoo-benchmark", 6_000, "--input", EVENTS, "--campaigns", CAMPAIGNS,
                   golden=PAPER / "yahoo-benchmark/golden/counts.csv",
                   in_order=False)

    def test_yahoo_benchmark_in_the_papers_form(self):
        self.check("yahoo-benchmark", 6_000, "--input", EVENTS, "--campaigns", CAMPAIGNS,
                   "--form", "paper", golden=PAPER / "yahoo-benchmark/golden/counts.csv",
                   in_order=False)


class KilledFlights(Killed):
    def test_delays_and_rotations(self):
        self.check("flights", 10_000, "--input", FLIGHTS / "data/flights.csv",
                   outputs={"--rotations": "r.csv", "--late": "l.csv"}, in_order=False)

    def test_weather(self):
        self.check("flights", 10_000, "--input", FLIGHTS / "data/flights.csv", "--weather",
                   FLIGHTS / "data/weather.csv", outputs={"--joined": "j.csv"}, in_order=False,
                   replicas=(1,))


class KilledRoads(Killed):
    options = ["--input", TRAFFIC / "data/fixes.csv", "--roads", TRAFFIC / "data/roads.csv"]

    def test_nearest_road(self):
        # The matches of a road reach its mean in an open order.
        self.check("traffic-monitoring", 4_000, *self.options, "--emit", "final",
                   sums_in_order=False, golden=TRAFFIC / "golden/nearest-final.csv")

    def test_sequences_of_roads(self):
        self.check("traffic-monitoring", 4_000, *self.options, "--emit", "final", "--matcher",
                   "hidden-markov", sums_in_order=False,
                   golden=TRAFFIC / "golden/hidden-markov-final.csv")

    def linear_road(self, *options, **how):
        answers = self.file("answers.csv",
                            gzip.decompress((LINEAR_ROAD / "golden/answers.csv.gz").read_bytes()))
        self.check("linear-road", 50_000, "--input", LINEAR_ROAD / "data/cars.csv.gz",
                   "--history", LINEAR_ROAD / "data/history.csv", *options, golden=answers,
                   in_order=False, **how)

    def test_linear_road(self):
        self.linear_road()

    def test_linear_road_by_operators(self):
        # The state of its operators is not by key: the number of replicas stays.
        self.linear_road("--layout", "operators", replicas=(1,))

    def test_linear_road_in_the_papers_form(self):
        self.linear_road("--form", "paper", replicas=(1,))

    def test_made_traffic(self):
        self.check("linear-road", 40_000, "--generate", "40k", replicas=(1,), in_order=False)


class KilledCalls(Killed):
    def test_compact_form(self):
        self.check("voip-stream", 6_000, "--input", CALLS, "--threshold", "0.3",
                   golden=PAPER / "voip-stream/golden/scores.csv")

    def test_compact_form_exactly(self):
        self.check("voip-stream", 6_000, "--input", CALLS, "--filters", "exact")

    def test_full_form(self):
        self.check("voip-stream", 6_000, "--input", CALLS, "--threshold", "0.3", "--form", "full",
                   golden=PAPER / "voip-stream/golden/scores.csv")

    def test_full_form_exactly(self):
        self.check("voip-stream", 6_000, "--input", CALLS, "--form", "full", "--filters", "exact")

    def test_papers_form(self):
        self.check("voip-stream", 6_000, "--input", CALLS, "--threshold", "0.3", "--form", "paper",
                   golden=PAPER / "voip-stream/golden/scores.csv")

    def test_generated_calls(self):
        self.check("voip-stream", 50_000, "--generate", "50k")


if __name__ == "__main__":
    unittest.main()

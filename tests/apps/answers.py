# SPDX-License-Identifier: Apache-2.0
"""Every application against its oracle, under every way to run it.

The oracles (awk, SQLite, Python) are asked again where the input is made here; the golden answers
of the bundled input are theirs too (apps/make-golden.sh). flights and yahoo-benchmark have another
oracle each, by pandas, which is asked the same where pandas is there.
"""

import csv
import json
import os
import random
import subprocess
import sys
import unittest

from command_line import APPS, CAMPAIGNS, EVENTS, MODEL, READINGS, SOURCE, TEXT, TRANSACTIONS, Case

DATASETS = SOURCE.parent / "shared/datasets"


def all_ways():
    """Options of `run`: parallelism 1 to 4 in both modes, other layouts, the simulation.

    One of each kind where STRID_FEW_WAYS is set, as in the builds that are many times slower.
    """
    if os.environ.get("STRID_FEW_WAYS"):
        return [
            ["--workers", 2, "--parallelism", 3],
            ["--parallelism", 2, "--mode", "dedicated"],
            ["--parallelism", 2, "--mode", "dedicated", "--composition", "centralised"],
            ["--workers", 2, "--waiting", "spin"],
            ["--no-fuse", "--parallelism", 2],
            ["--composition", "centralised", "--parallelism", 2],
            ["--mode", "simulation", "--seed", 1, "--parallelism", 2],
        ]
    ways = []
    for replicas in range(1, 5):
        ways.append(["--parallelism", replicas])
        ways.append(["--parallelism", replicas, "--mode", "dedicated"])
    ways.append([])
    ways.append(["--workers", 1])
    ways.append(["--workers", 3, "--parallelism", 2, "--pin"])
    ways.append(["--no-fuse", "--parallelism", 2])
    ways.append(["--composition", "dedicated", "--parallelism", 2])
    ways.append(["--composition", "centralised", "--parallelism", 3])
    for composition in ["dedicated", "centralised"]:
        ways.append(["--mode", "dedicated", "--composition", composition, "--parallelism", 2])
    ways.append(["--waiting", "spin", "--parallelism", 2])
    ways.append(["--waiting", "spin", "--mode", "dedicated", "--parallelism", 2])
    for seed in range(1, 7):
        ways.append(["--mode", "simulation", "--seed", seed, "--parallelism", 1 + seed % 4])
    return ways


def python_with_pandas():
    """This interpreter or that of the system, for which Debian packages pandas; or None."""
    for python in filter(os.path.exists, (sys.executable, "/usr/bin/python3")):
        if not subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode:
            return python
    return None


class Answers(Case):
    ways = staticmethod(all_ways)

    def answers_everywhere(self, expected, key_order, application, source, *options):
        out = self.folder / "out.csv"
        for way in self.ways():
            with self.subTest(way=way):
                self.strid(
                    "run", application, "--input", source, "--output", out, *options, *way
                )
                self.same_answer(expected, out, key_order)

    def answers_through_pipes(self, expected, key_order, application, source, *options):
        for way in [[], ["--parallelism", 2, "--mode", "dedicated"], ["--mode", "simulation"]]:
            with self.subTest(way=way), open(source, "rb") as stdin:
                result = self.strid("run", application, *options, *way, stdin=stdin)
                self.same_answer(expected, self.file("out.csv", result.stdout), key_order)
            cat = subprocess.Popen(["cat", source], stdout=subprocess.PIPE)
            with self.subTest(way=way, stdin="a pipe"):
                result = self.strid("run", application, *options, *way, stdin=cat.stdout)
                self.same_answer(expected, self.file("out.csv", result.stdout), key_order)
            cat.stdout.close()
            cat.wait()

    def oracle(self, *command):
        result = subprocess.run(list(map(str, command)), capture_output=True, check=True,
                                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"})
        return self.file("expected.csv", result.stdout)

    def late(self, *run):
        """How many records were late at each operator in a run."""
        metrics = self.folder / "metrics.json"
        self.strid("run", *run, "--metrics", metrics)
        return {one["name"]: one["records_late"]
                for segment in json.loads(metrics.read_text())["segments"]
                for one in segment["operators"]}


class ByPandas:
    """The tests of an application with the oracle that pandas has for it, in few ways to run."""

    script = "oracle_pandas.py"

    @staticmethod
    def ways():
        return [["--parallelism", 1], ["--parallelism", 3, "--mode", "dedicated"]]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = python_with_pandas()
        if cls.python is None:
            raise unittest.SkipTest("no pandas (Debian's python3-pandas): its oracle is not asked")


class WordCount(Answers):
    golden = APPS / "word-count/golden/counts.csv"

    def counted(self, path, updates=0):
        return self.oracle("awk", "-v", f"updates={updates}", "-f",
                           APPS / "word-count/oracle.awk", path)

    def test_final_counts(self):
        self.answers_everywhere(self.golden, 0, "word-count", TEXT)

    def test_updates(self):
        self.answers_everywhere(self.counted(TEXT, updates=1), 1, "word-count", TEXT,
                                "--emit", "updates")

    def test_through_pipes(self):
        self.answers_through_pipes(self.golden, 0, "word-count", TEXT)

    def test_hostile_text(self):
        chance = random.Random(7)
        letters = ["a", "b", ",", '"', "\t", ";", "\u00e9", "\u6f22", "-", "."]
        lines = []
        for _ in range(3000):
            words = ["".join(chance.choices(letters, k=chance.choice([0, 1, 1, 2, 3, 40])))
                     for _ in range(chance.choice([0, 1, 5, 30]))]
            lines.append((" " * chance.choice([1, 1, 1, 3])).join(words))
        text = self.file("hostile.txt", "\n".join(lines))
        self.answers_everywhere(self.counted(text), 0, "word-count", text)

    def test_a_real_book(self):
        book = DATASETS / "word-count/book.dat"
        if not book.exists():
            self.skipTest("the shared datasets are not there")
        self.answers_everywhere(self.counted(book), 0, "word-count", book)

    def test_compressed(self):
        for tool in ["gzip", "zstd"]:
            packed = self.folder / f"text.{tool}"
            packed.write_bytes(subprocess.run([tool, "-c", TEXT], capture_output=True,
                                              check=True).stdout)
            result = self.strid("run", "word-count", "--input", packed)
            self.same_answer(self.golden, self.file("out.csv", result.stdout))


class SpikeDetection(Answers):
    golden = APPS / "spike-detection/golden/spikes.csv"

    def spikes(self, path, *options):
        return self.oracle(sys.executable, APPS / "spike-detection/oracle.py", path, *options)

    def test_real_readings(self):
        self.answers_everywhere(self.golden, 1, "spike-detection", READINGS)

    def test_through_pipes(self):
        self.answers_through_pipes(self.golden, 1, "spike-detection", READINGS)

    def test_another_threshold(self):
        self.answers_everywhere(self.spikes(READINGS, "--threshold", 0.6), 1, "spike-detection",
                                READINGS, "--threshold", 0.6)

    def test_many_devices(self):
        chance = random.Random(11)
        rows = "".join(f"{chance.randrange(300)},{chance.lognormvariate(3, 0.4):.17g}\n"
                       for _ in range(40000))
        readings = self.file("readings.csv", rows)
        self.answers_everywhere(self.spikes(readings), 1, "spike-detection", readings)

    def test_generated_readings(self):
        # Against the oracle: tests/apps/generated_test.cpp.
        options = ["--generate", "20k", "--seed", 9]
        first, other = self.folder / "first.csv", self.folder / "other.csv"
        self.strid("run", "spike-detection", *options, "--workers", 1, "--output", first)
        self.assertGreater(len(first.read_text().splitlines()), 5)
        for replicas in (1, 2, 4):
            for mode in ("cooperative", "dedicated"):
                self.strid("run", "spike-detection", *options, "--parallelism", replicas,
                           "--mode", mode, "--output", other)
                self.same_answer(first, other, 1)
        self.strid("run", "spike-detection", "--generate", "20k", "--seed", 10, "--output", other)
        self.assertNotEqual(first.read_text(), other.read_text())
        self.strid("run", "spike-detection", *options, "--rate", "100k", "--output", other)
        self.same_answer(first, other, 1)

    def test_words_are_not_generated(self):
        line = self.fails("run", "word-count", "--generate", "10", code=2)
        self.assertIn("word-count cannot make its records", line)


class FraudDetection(Answers):
    def golden(self, score):
        return APPS / f"fraud-detection/golden/outliers-{score}.csv"

    def test_every_score(self):
        for score in ["miss-probability", "miss-rate", "entropy-reduction"]:
            self.answers_everywhere(self.golden(score), 1, "fraud-detection", TRANSACTIONS,
                                    "--model", MODEL, "--score", score)

    def test_through_pipes(self):
        self.answers_through_pipes(self.golden("miss-probability"), 1, "fraud-detection",
                                   TRANSACTIONS, "--model", MODEL)

    def test_another_model_and_threshold(self):
        chance = random.Random(13)
        states = ["s", "other state", "third"] + [f"n{i}" for i in range(9)]
        model = [",".join(states)]
        for _ in states:
            weights = [chance.choice([0, 0, 1, 5]) * chance.random() for _ in states]
            weights[chance.randrange(len(states))] += 0.1
            model.append(",".join(repr(weight / sum(weights)) for weight in weights))
        model = self.file("model.txt", "\n".join(model) + "\n")
        records = self.file("records.csv", "".join(
            f"account {chance.randrange(500)},t{i},{chance.choice(states)}\n"
            for i in range(20000)))
        oracle = APPS / "fraud-detection/oracle.py"
        for score, threshold in [("miss-probability", 0.9), ("miss-rate", 0.7),
                                 ("entropy-reduction", 0.8)]:
            options = ["--model", model, "--score", score, "--threshold", threshold]
            expected = self.oracle(sys.executable, oracle, records, *options)
            self.answers_everywhere(expected, 1, "fraud-detection", records, *options)

    def test_the_shared_model(self):
        model = DATASETS / "fraud-detection/model.txt"
        if not model.exists():
            self.skipTest("the shared datasets are not there")
        states, *rows = (line.split(",") for line in model.read_text().splitlines() if line)
        rows = [[float(cell) for cell in row] for row in rows]
        chance = random.Random(19)
        before = {}
        lines = []
        for i in range(20000):
            account = chance.randrange(800)
            # As the model has it, but for one in twenty: those are what there is to find.
            likely = account in before and chance.random() > 0.05
            weights = rows[before[account]] if likely else None
            before[account] = chance.choices(range(len(states)), weights)[0]
            lines.append(f"account {account},t{i},{states[before[account]]}\n")
        records = self.file("records.csv", "".join(lines))
        expected = self.oracle(sys.executable, APPS / "fraud-detection/oracle.py", records,
                               "--model", model)
        self.assertGreater(len(expected.read_text().splitlines()), 10)
        self.answers_everywhere(expected, 1, "fraud-detection", records, "--model", model)


class Flights(Answers):
    python, script = sys.executable, "oracle.py"
    data = APPS / "flights/data"
    flights, weather = data / "flights.csv", data / "weather.csv"

    def answer(self, question, settings):
        """The answers of the oracle, in a file that is named for the question."""
        seconds = [word for name, value in settings.items() for word in (f"--{name}", value)]
        answer = self.oracle(self.python, APPS / "flights" / self.script, question, self.flights,
                             self.weather, *seconds)
        return answer.rename(self.folder / f"{question}-expected.csv")

    def expected(self, question):
        """The answers of the oracle with the default options."""
        return APPS / f"flights/golden/{question}.csv"

    def check_questions(self, settings, expected, *way):
        """Each question, and how many flights came too late for it."""
        outputs = {question: self.folder / f"{question}.csv" for question in expected}
        late = self.late("flights", "--input", self.flights, "--weather", self.weather,
                         "--output", outputs["delays"],
                         *(word for question in ("rotations", "joined", "late")
                           for word in (f"--{question}", outputs[question])),
                         *(word for name, value in settings.items()
                           for word in (f"--{name}", f"{value}s")), *way)
        for question, operator in (("late", "delays"), ("late-rotations", "rotations"),
                                   ("late-joined", "in-weather")):
            with expected[question].open() as rows:
                self.assertEqual(late[operator], len(list(rows)), operator)
        self.same_answer(expected["delays"], outputs["delays"], 1)
        for question in ("rotations", "joined", "late"):
            self.same_answer(expected[question], outputs[question])

    def test_every_question_everywhere(self):
        expected = {question: self.expected(question)
                    for question in ("delays", "late", "rotations", "joined")}
        for question in ("late-rotations", "late-joined"):
            expected[question] = self.answer(question, {})
        for way in self.ways():
            with self.subTest(way=way):
                self.check_questions({}, expected, *way)

    def test_times_are_not_replayed(self):
        result = self.strid("run", "flights", "--input", self.flights, "--duration", "1s", code=2)
        self.assertIn(b"cannot be replayed", result.stderr)

    def test_other_windows(self):
        chance = random.Random(23)
        rows = self.flights.read_text().splitlines(keepends=True)
        rows.sort(key=lambda row: int(row.split(",")[0]) + chance.randrange(600) * 60_000)
        shuffled = self.file("flights.csv", "".join(rows))
        for self.flights, *durations in [
                (Flights.flights, 600, 600, 0, 3600), (Flights.flights, 86400, 3600, 7200, 600),
                (Flights.flights, 5000, 1700, 60, 21600), (shuffled, 7200, 1800, 14400, 18000)]:
            settings = dict(zip(("window", "slide", "disorder", "gap"), durations))
            with self.subTest(flights=self.flights, **settings):
                expected = {question: self.answer(question, settings)
                            for question in ("delays", "late", "rotations", "late-rotations",
                                             "joined", "late-joined")}
                self.check_questions(settings, expected)


class FlightsByPandas(ByPandas, Flights):
    def expected(self, question):
        return self.answer(question, {})


class YahooBenchmark(Answers):
    python, script = sys.executable, "oracle.py"
    with_campaigns = ["--campaigns", CAMPAIGNS]

    def counts(self, events, campaigns, window_ms, disorder_ms, *options):
        return self.oracle(self.python, APPS / "yahoo-benchmark" / self.script, events, campaigns,
                           "--window-ms", window_ms, "--disorder-ms", disorder_ms, *options)

    def golden(self):
        return APPS / "yahoo-benchmark/golden/counts.csv"

    def check_late(self, events, campaigns, window_ms, disorder_ms):
        """As many views are late as the oracle says: at the windows, and nowhere else."""
        with self.counts(events, campaigns, window_ms, disorder_ms, "--late").open() as file:
            expected = len(list(file))
        for way in self.ways():
            with self.subTest(way=way):
                late = self.late("yahoo-benchmark", "--input", events, "--campaigns", campaigns,
                                 "--window", f"{window_ms}ms", "--disorder", f"{disorder_ms}ms",
                                 "--output", self.folder / "out.csv", *way)
                self.assertEqual(late["count"], expected)
                self.assertEqual(sum(late.values()), expected)

    def test_bundled_events(self):
        self.answers_everywhere(self.golden(), 1, "yahoo-benchmark", EVENTS, *self.with_campaigns)

    def test_through_pipes(self):
        self.answers_through_pipes(self.golden(), 1, "yahoo-benchmark", EVENTS,
                                   *self.with_campaigns)

    def test_other_windows_and_views_that_are_late(self):
        for window_ms, disorder_ms in [(1, 1), (1000, 100), (7000, 300), (3600000, 1000)]:
            expected = self.counts(EVENTS, CAMPAIGNS, window_ms, disorder_ms)
            self.answers_everywhere(expected, 1, "yahoo-benchmark", EVENTS, *self.with_campaigns,
                                    "--window", f"{window_ms}ms", "--disorder",
                                    f"{disorder_ms}ms")
            self.check_late(EVENTS, CAMPAIGNS, window_ms, disorder_ms)

    def test_ads_without_a_campaign_and_times_before_1970(self):
        chance = random.Random(17)
        campaigns = self.file("campaigns.csv", "".join(
            f"{ad},{chance.randrange(7)}\n" for ad in range(5000) if chance.random() < 0.7))
        types = ["view"] * 3 + ["click", "purchase", "views", "View", "vie", "", '"view"', "viev"]
        events = self.file("events.csv", "".join(
            f"{i},{i % 9},{chance.randrange(6000)},mail,{chance.choice(types)},"
            f"{(i - 10000) * 7 - chance.randrange(3000)},::1\n" for i in range(20000)))
        expected = self.counts(events, campaigns, 500, 1500)
        self.answers_everywhere(expected, 1, "yahoo-benchmark", events, "--campaigns", campaigns,
                                "--window", "500ms", "--disorder", "1500ms")
        self.check_late(events, campaigns, 500, 1500)

    def test_the_bundled_events_are_those_that_the_script_makes(self):
        made = [self.folder / "events.csv", self.folder / "campaigns.csv"]
        subprocess.run([sys.executable, APPS / "yahoo-benchmark/data/prepare.py", *made],
                       check=True)
        for path, bundled in zip(made, [EVENTS, CAMPAIGNS]):
            self.assertEqual(path.read_bytes(), bundled.read_bytes())

    def test_times_are_not_replayed(self):
        result = self.strid("run", "yahoo-benchmark", *self.with_campaigns, "--input", EVENTS,
                            "--duration", "1s", code=2)
        self.assertIn(b"cannot be replayed", result.stderr)


class YahooBenchmarkByPandas(ByPandas, YahooBenchmark):
    def golden(self):
        return self.counts(EVENTS, CAMPAIGNS, 10_000, 1_000)


if __name__ == "__main__":
    unittest.main()

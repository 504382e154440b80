# SPDX-License-Identifier: Apache-2.0
"""flights against its oracles: Python, and pandas where it is there."""

import random
import sys
import unittest

from answers_case import Answers, ByPandas
from command_line import APPS, Case

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


class Launcher(Case):
    """`strid run` and `strid explain` find the programs of the applications."""

    def test_the_command_lists_what_was_built(self):
        names = [line.split()[0] for line in self.strid("list").stdout.decode().splitlines()]
        self.assertIn("flights", names)
        text = self.strid("run", "--help").stdout.decode()
        for name in names:
            self.assertIn(name, text)
        for command in ("run", "explain", "list"):
            self.assertIn(command, self.strid("--help").stdout.decode())

    def test_unknown_words(self):
        self.assertIn("did you mean flights?", self.fails("run", "flihgts", code=2))
        self.assertIn("did you mean explain?", self.fails("explian", code=2))
        self.fails("run", code=2)

    def test_an_application_has_both_commands(self):
        self.assertIn("strid run flights", self.strid("run", "flights", "--help").stdout.decode())
        self.assertIn("rotations", self.strid("explain", "flights").stdout.decode())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""strid-ssa on SBML with rules, events, moles and rates that change, against closed forms.

The models of the stochastic test suite of SBML (Evans, Gillespie and Wilkinson 2008) are of these
kinds: birth and death, immigration and death, dimers, batches, with rules and events.
"""

import math
from fractions import Fraction

from ssa_case import SIGMAS, SsaCase, binomial, poisson, quantile_of, rows_of
from ssa_sbml import assignment, event, model, rate, reaction, species

AVOGADRO = 6.02214076e23
MOLES = 'substanceUnits="mole" extentUnits="mole"'


class Dynamics(SsaCase):
    def rows(self, text, until, samples, runs, *more):
        return rows_of(self.run_program(self.model(text, "model.xml"), "--until", until,
                                        "--samples", samples, "--runs", runs, *more).stdout)

    def check_moments(self, row, mean, variance, runs):
        self.assertLess(abs(float(row["mean"]) - mean), SIGMAS * math.sqrt(variance / runs))
        self.assertLess(abs(float(row["variance"]) / variance - 1),
                        SIGMAS * math.sqrt(3 / runs))

    def check_values(self, rows, name, values, relative=1e-6):
        """Of each trajectory."""
        for at, value in values.items():
            with self.subTest(name=name, time=at):
                self.assertAlmostEqual(float(rows[at, name]["mean"]), value,
                                       delta=relative * max(abs(value), 1e-9))
                self.assertLessEqual(float(rows[at, name]["variance"]), (relative * value) ** 2)

    def test_assignment_rule(self):
        birth, death, runs = 0.1, 0.11, 2000
        rows = self.rows(model(
            [species("X", 100), species("y", 0)], {"birth": birth, "death": death},
            [reaction("b", "X", "2 X", "birth * X"), reaction("d", "X", "", "death * X")],
            [assignment("y", "2 * X")]), 20, 4, runs)
        for at in (5, 20):
            fade = math.exp((birth - death) * at)
            mean = 100 * fade
            variance = 100 * (birth + death) / (birth - death) * fade * (fade - 1)
            self.check_moments(rows[at, "X"], mean, variance, runs)
            self.check_moments(rows[at, "y"], 2 * mean, 4 * variance, runs)
            self.assertEqual(float(rows[at, "y"]["q50"]), 2 * float(rows[at, "X"]["q50"]))

    def test_event_at_a_time(self):
        # Immigration and death; all that is there at 25 is replaced by 50.
        come, die, runs = 1, 0.1, 4000
        rows = self.rows(model(
            [species("X", 0)], {"come": come, "die": die},
            [reaction("i", "", "X", "come"), reaction("d", "X", "", "die * X")],
            events=[event("time >= 25", {"X": "50"})]), 50, 10, runs)
        self.check_distribution(rows[20, "X"], poisson(come / die * (1 - math.exp(-die * 20)), 60),
                                runs)
        self.assertEqual((rows[25, "X"]["mean"], rows[25, "X"]["variance"]), ("50", "0"))
        for at in (30, 50):
            fade = math.exp(-die * (at - 25))
            self.check_moments(rows[at, "X"], 50 * fade + come / die * (1 - fade),
                               (50 * fade + come / die) * (1 - fade), runs)

    def test_event_at_a_count(self):
        # A count of a Poisson process that begins again at 5.
        runs = 4000
        rows = self.rows(model([species("X", 0)], {"k": 2}, [reaction("r", "", "X", "k")],
                               events=[event("X >= 5", {"X": "0"})]), 4, 2, runs)
        for at in (2, 4):
            counts = poisson(2 * at, 60)
            self.check_distribution(rows[at, "X"], [sum(counts[k::5]) for k in range(5)], runs)

    def test_rates_that_change_with_time(self):
        # A Poisson process of rate 3 t, and deaths at a rate that a rule drives.
        runs = 3000
        rows = self.rows(model(
            [species("X", 0), species("Y", 100)], {"k": 1},
            [reaction("b", "", "X", "3 * time"), reaction("d", "Y", "", "k * Y")],
            [rate("k", "-0.5 * k")]), 2, 4, runs)
        for at in (0.5, 2):
            self.check_distribution(rows[at, "X"], poisson(1.5 * at * at, 40), runs)
            alive = math.exp(-2 * (1 - math.exp(-at / 2)))
            self.check_distribution(rows[at, "Y"], binomial(100, alive), runs)
        self.check_values(rows, "k", {at: math.exp(-at / 2) for at in (0, 0.5, 1, 2)})

    def test_rules_read_reactions_and_functions(self):
        rows = self.rows(model(
            [species("X", 0), species("S", 3, boundary=True)],
            {"y": 1, "z": 0, "w": 2},
            [reaction("r", "S", "X", "4 * S")],
            [rate("y", "r"), assignment("z", "twice(y) + w"), rate("w", "1 if time < 1 else 0")],
            functions={"twice": ("a", "2 * a")}, initial={"y": "w + 3"}), 2, 2, 50)
        self.check_values(rows, "y", {0: 5, 1: 17, 2: 29})
        self.check_values(rows, "w", {0: 2, 1: 3, 2: 3})
        self.check_values(rows, "z", {0: 12, 1: 37, 2: 61})

    def test_order_of_events(self):
        # Each case: the events, and a at the times 0 to 5.
        now, late = "time >= 1", "time >= 2.5"
        first = event(now, {"a": "a + 1"}, priority="2", from_trigger=False, name="first")
        second = event(now, {"a": "10 * a"}, priority="1", from_trigger=False, name="second")
        third = event(now, {"a": "10 * a"}, priority="1", name="third")
        for made, values in (
            ([first, second], (2, 30, 30, 30, 30, 30)),
            ([second, first], (2, 30, 30, 30, 30, 30)),
            ([third, first], (2, 20, 20, 20, 20, 20)),
            ([event(now, {"a": "7"}, delay="2")], (2, 2, 2, 7, 7, 7)),
            # Values of when it was triggered, or of when it happens.
            ([event(now, {"a": "b"}, delay="2"), event(late, {"b": "9"}, name="f")],
             (2, 2, 2, 3, 3, 3)),
            ([event(now, {"a": "b"}, delay="2", from_trigger=False),
              event(late, {"b": "9"}, name="f")], (2, 2, 2, 9, 9, 9)),
            # A trigger that is false again before the delay is over.
            ([event("time >= 1 and time < 2", {"a": "7"}, delay="2")], (2, 2, 2, 7, 7, 7)),
            ([event("time >= 1 and time < 2", {"a": "7"}, delay="2", persistent=False)],
             (2, 2, 2, 2, 2, 2)),
            # Shorter than the time between samples.
            ([event("time > 3.4 and time < 3.41", {"a": "8"})], (2, 2, 2, 2, 8, 8)),
            # True from the begin: only one that was not before happens.
            ([event("time >= 0", {"a": "7"})], (7, 7, 7, 7, 7, 7)),
            ([event("time >= 0", {"a": "7"}, initially=True)], (2, 2, 2, 2, 2, 2)),
            # One event triggers the next.
            ([event(now, {"b": "5"}), event("b > 4", {"a": "b + 1"}, name="f")],
             (2, 6, 6, 6, 6, 6)),
        ):
            with self.subTest(events=made):
                rows = self.rows(model([], {"a": 2, "b": 3}, events=made), 5, 5, 2)
                self.assertEqual([float(rows[at, "a"]["mean"]) for at in range(6)], list(values))

    def test_events_that_never_end(self):
        text = model([], {"a": 0}, events=[event("a < 1", {"a": "1"}),
                                           event("a >= 1", {"a": "0"}, name="f")])
        error = self.fails(self.model(text, "model.xml"), "--until", 1)
        self.assertIn("more than 10000 events at time 0", error)

    def test_event_that_leaves_no_count(self):
        text = model([species("X", 3)], {}, [reaction("r", "X", "", "X")],
                     events=[event("time > 0.5", {"X": "1.5"})])
        error = self.fails(self.model(text, "model.xml"), "--until", 1, "--runs", 3)
        self.assertIn("trajectory 0 has event 'e' set 'X' to 1.5 at time 0.5", error)

    def test_growing_compartment(self):
        # The amount of B stays while the cell grows; that of C follows its concentration.
        rows = self.rows(model(
            [species("B", 4, concentration=True, boundary=True),
             species("C", 3, concentration=True, boundary=True)], {"b": 0},
            [], [rate("cell", "0.1 * cell"), rate("C", "1"), assignment("b", "B")], size=2),
            4, 2, 2)
        for at in (0, 2, 4):
            size = 2 * math.exp(0.1 * at)
            self.check_values(rows, "cell", {at: size})
            self.check_values(rows, "B", {at: 8})
            self.check_values(rows, "b", {at: 8 / size})
            self.check_values(rows, "C", {at: (3 + at) * size})

    def test_concentration_set_by_an_event(self):
        # The value is that of the trigger; the size is the one when it happens, before the event.
        for made, cell, amount in (
            ([event("time >= 1", {"S": "c"}, delay="2")], 8, 2 * 8),
            ([event("time >= 1", {"S": "c", "cell": "5"}, delay="2")], 5, 2 * 8),
        ):
            rows = self.rows(model(
                [species("S", 3, concentration=True, boundary=True)], {"c": 2}, [],
                [rate("cell", "2"), rate("c", "3 if time > 1.5 else 0")], made, size=2),
                3, 3, 2)
            self.check_values(rows, "cell", {0: 2, 2: 6, 3: cell})
            self.check_values(rows, "S", {0: 6, 2: 6, 3: amount})

    def test_random_numbers_of_events(self):
        # Drawn again at each event: at 1 and at 2, each by itself.
        def moments(density, low, high, whole=False):
            step = 1 if whole else (high - low) / 100_000
            points = [low + (i if whole else i + 0.5) * step
                      for i in range(int(high - low) + 1 if whole else 100_000)]
            weights = [density(x) for x in points]
            mean = sum(w * x for w, x in zip(weights, points)) / sum(weights)
            return mean, sum(w * (x - mean) ** 2
                             for w, x in zip(weights, points)) / sum(weights)

        cases = {
            "normal(3, 2)": (3, 4), "uniform(1, 4)": (2.5, 0.75), "exponential(2)": (0.5, 0.25),
            "gamma(2, 1.5)": (3, 4.5), "poisson(3.5)": (3.5, 3.5), "binomial(20, 0.3)": (6, 4.2),
            "bernoulli(0.3)": (0.3, 0.21), "chisquare(4)": (4, 8), "laplace(1, 2)": (1, 8),
            "laplace(2)": (0, 8), "rayleigh(2)": (2 * math.sqrt(math.pi / 2), 8 - 2 * math.pi),
            "lognormal(0, 0.5)": (math.exp(1 / 8), (math.exp(1 / 4) - 1) * math.exp(1 / 4)),
            "2 + exponential(time)": (2.5, 0.25),  # the event of time 2
            "normal(0, 1.5, 0.5, 9)": moments(lambda x: math.exp(-x * x / 4.5), 0.5, 9),
            "exponential(1, 0.25, 0.75)": moments(lambda x: math.exp(-x), 0.25, 0.75),
            "poisson(1.5, 2, 18)": moments(lambda k: 1.5**k / math.factorial(int(k)), 2, 18, True),
            "cauchy(1, 2, 1.1, 10)": moments(lambda x: 1 / (4 + (x - 1) ** 2), 1.1, 10),
        }
        names = [f"p{i}" for i in range(len(cases))]
        runs = 4000
        text = model([], {**dict.fromkeys(names, 0), "c": 0, "d": 0, "n": 0}, events=[
            event("time >= n + 1", {**dict(zip(names, cases)), "c": "cauchy(1, 2)",
                                    "d": "p0", "n": "n + 1"})])
        rows = self.rows(text, 2.5, 5, runs)
        for name, (function, (mean, variance)) in zip(names, cases.items()):
            with self.subTest(function=function):
                row = rows[2, name]
                self.assertLess(abs(float(row["mean"]) - mean), SIGMAS * math.sqrt(variance / runs))
                self.assertLess(abs(float(row["variance"]) / variance - 1),
                                SIGMAS * math.sqrt(9 / runs))
        # The standard error of this median is 0.05.
        self.assertAlmostEqual(float(rows[2, "c"]["q50"]), 1, delta=0.3)
        self.assertAlmostEqual(float(rows[2, "d"]["mean"]), 3, delta=0.15)
        for bad, what in (("normal(1)", "'normal' takes 2 arguments"),
                          ("weibull(1)", "unknown function 'weibull'"),
                          ("normal(0, 0 - 1)", "no number of the distribution 'normal'"),
                          ("uniform(2, 1)", "no number of the distribution 'uniform'"),
                          ("poisson(1, 5, 4)", "no number of the distribution 'poisson'")):
            path = self.model(model([], {"a": 1}, events=[event("time > 0.5", {"a": bad})]),
                              "model.xml")
            self.assertIn(what, self.fails(path, "--until", 1))
        path = self.model(model([], {"a": 1}, rules=[rate("a", "normal(0, 1)")]), "model.xml")
        self.assertIn("random numbers are possible only in", self.fails(path, "--until", 1))

    def test_moles(self):
        # 1e-17 moles are 6,022,141 molecules; they decay one by one.
        decay = [reaction("d", "X", "", "cell * 0.5 * X")]
        molecules, runs = round(1e-17 * AVOGADRO), 40
        rows = self.rows(model([species("X", 1e-17 / 2, concentration=True)], {}, decay,
                               attributes=MOLES, size=2), 0.2, 1, runs)
        self.assertEqual(float(rows[0, "X"]["mean"]), molecules)
        alive = math.exp(-0.1)
        self.check_moments(rows[0.2, "X"], molecules * alive, molecules * alive * (1 - alive),
                           runs)
        # So many that they are not counted.
        rows = self.rows(model([species("X", 0.75, concentration=True), species("Y", 0)], {},
                               [reaction("d", "X", "2 Y", "cell * 0.5 * X")], attributes=MOLES,
                               size=2), 2, 4, 3)
        for at in (0, 0.5, 2):
            left = 1.5 * math.exp(-0.5 * at)
            self.check_values(rows, "X", {at: left * AVOGADRO})
            self.check_values(rows, "Y", {at: 2 * (1.5 - left) * AVOGADRO})
        # Units of the model: nanomoles. 1e-9 of them are 602,214 molecules.
        units = ('<listOfUnitDefinitions><unitDefinition id="nanomole"><listOfUnits><unit '
                 'kind="mole" exponent="1" scale="-9" multiplier="1"/></listOfUnits>'
                 "</unitDefinition></listOfUnitDefinitions>")
        nano = MOLES.replace('"mole"', '"nanomole"')
        for amount, count in (("1e-9", 602_214), ("3.3e-14", 20), ("0", 0)):
            rows = self.rows(model([species("X", amount)], {}, decay, attributes=nano,
                                   units=units), 1, 1, 2)
            self.assertEqual(float(rows[0, "X"]["mean"]), count)
        for amount in ("1e-15", "2.5e-15"):
            text = model([species("X", amount)], {}, decay, attributes=nano, units=units)
            error = self.fails(self.model(text, "model.xml"), "--until", 1)
            self.assertIn("no whole number of molecules", error)
        text = model([species("X", 3)], {}, decay, attributes='substanceUnits="gram"')
        error = self.fails(self.model(text, "model.xml"), "--until", 1)
        self.assertIn("'gram' cannot be converted to molecules", error)

    def test_reversible_reactions(self):
        # Both directions of a net rate are events: the counts are binomial, not drifts.
        runs = 4000
        for law in ("2 * A - 1 * B", "cell * (2 * A - B) / cell"):
            rows = self.rows(model([species("A", 30), species("B", 0)], {},
                                   [reaction("r", "A", "B", law, reversible=True)]), 1, 1, runs)
            self.check_distribution(rows[1, "A"],
                                    binomial(30, 1 / 3 + 2 / 3 * math.exp(-3)), runs)
        # The pairs of molecules are a difference, too, but of one direction.
        rows = self.rows(model([species("A", 40), species("B", 0)], {},
                               [reaction("r", "2 A", "B", "A * (A - 1) / 2", reversible=True)]),
                         100, 1, 10)
        self.assertEqual((rows[100, "A"]["mean"], rows[100, "B"]["mean"]), ("0", "20"))
        # A rate that only falls below 0 makes the reaction run backwards.
        rows = self.rows(model([species("A", 0), species("B", 5)], {"k": -1},
                               [reaction("r", "A", "B", "k if B > 0 else 0", reversible=True)]),
                         100, 1, 10)
        self.assertEqual((rows[100, "A"]["mean"], rows[100, "B"]["mean"]), ("5", "0"))

    def test_conversion_factor(self):
        rows = self.rows(model(
            [species("A", 10), species("B", 0, more='conversionFactor="three"')], {"three": 3},
            [reaction("r", "A", "2 B", "A")]), 100, 1, 5)
        self.assertEqual((rows[100, "A"]["mean"], rows[100, "B"]["mean"]), ("0", "60"))

    def test_values_that_are_no_counts_are_reduced_exactly(self):
        # Of 200 and of 600 trajectories, with any number of workers; Python's fractions say what.
        text = self.model(model(
            [species("X", 40)], {"k": 1, "y": 0, "big": 0}, [reaction("d", "X", "", "X")],
            [rate("k", "-0.1 * k * X"), assignment("y", "(X - 20) / 3"),
             assignment("big", "1e15 + X / 7")]), "model.xml")
        for runs in (200, 600):
            outputs = set()
            for workers in (1, 3):
                path = self.folder / "all.csv"
                output = self.run_program(text, "--until", 1, "--samples", 2, "--runs", runs,
                                          "--workers", workers, "--trajectories", path).stdout
                outputs.add((output, path.read_bytes()))
            self.assertEqual(len(outputs), 1)
            rows = rows_of(output)
            lines = [line.split(",") for line in path.read_text().splitlines()]
            for name in ("k", "y", "big"):
                place = lines[0].index(name)
                values = sorted(float(line[place]) for line in lines[1:] if line[1] == "1")
                row = rows[1, name]
                exact = [Fraction(value) for value in values]
                mean = sum(exact) / runs
                variance = sum((one - mean) ** 2 for one in exact) / (runs - 1)
                self.assertAlmostEqual(float(row["mean"]) / float(mean), 1, delta=1e-15)
                self.assertAlmostEqual(float(row["variance"]) / float(variance), 1, delta=1e-14)
                for part, word in ((0.05, "q05"), (0.5, "q50"), (0.95, "q95")):
                    want = quantile_of(values, part)
                    slack = 0 if runs <= 256 else abs(want) / 512
                    self.assertLessEqual(abs(float(row[word]) - want), slack)

    def test_leaps_refuse_what_changes_all_the_time(self):
        text = self.model(model([species("X", 9)], {"k": 1}, [reaction("d", "X", "", "k * X")],
                                [rate("k", "1")]), "model.xml")
        for method in ("tau-leaping", "implicit-tau", "trapezoidal-tau"):
            error = self.fails(text, "--until", 1, "--method", method, code=2)
            self.assertIn("--method direct", error)
        self.assertEqual(self.run_program(text, "--until", 1).stdout,
                         self.run_program(text, "--until", 1, "--method", "next-reaction").stdout)

    def test_rules_without_bounds(self):
        def parameters(count):
            return {f"p{i}": 1 for i in range(count)}

        begin = [assignment("p0", "X")]
        chain = begin + [assignment(f"p{i}", f"p{i - 1} + p{i - 1}") for i in range(1, 60)]
        circle = [assignment("p0", "p1 + 1"), assignment("p1", "p0")]
        long = begin + [assignment(f"p{i}", f"p{i - 1} + 1") for i in range(1, 3000)]
        for rules, what in ((chain, "more than 10000 operands"), (circle, "depends on itself"),
                            (long, "more than")):
            text = model([species("X", 1)], parameters(3000), rules=rules)
            error = self.fails(self.model(text, "model.xml"), "--until", 1)
            self.assertIn("model.xml:", error)
            self.assertIn(what, error)

# SPDX-License-Identifier: Apache-2.0
"""strid-ssa against closed forms, the master equation, GillesPy2, and its users.

Statistical checks have fixed seeds; their bounds are 4.5 standard errors of what is checked, so
that a right program passes with nearly every seed.
"""

import csv
import gzip
import io
import math
import os
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree
from fractions import Fraction

from program import PROGRAM, Case
from ssa_models import (BIRTH_DEATH, DECAY, DIMER, MATH, MICHAELIS_MENTEN, SCHLOEGL, TOGGLE,
                        michaelis_menten_sbml)

try:
    import numpy
    import scipy.linalg
except ImportError:
    numpy = None
try:
    import gillespy2
except ImportError:
    gillespy2 = None

METHODS = ["direct", "next-reaction", "tau-leaping"]
SIGMAS = 4.5


def binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def poisson(mean, most):
    return [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(most + 1)]


def rows_of(output):
    """(time, species) -> row, numbers as floats."""
    rows = {}
    for row in csv.DictReader(io.StringIO(output.decode())):
        rows[float(row["time"]), row["species"]] = row
    return rows


def quantile_of(sorted_counts, quantile):
    rank = max(1, math.ceil(quantile * len(sorted_counts)))
    return sorted_counts[rank - 1]


class SsaCase(Case):
    def model(self, text, name="model.txt"):
        path = self.folder / name
        path.write_text(text)
        return path

    def simulate(self, text, *arguments):
        return rows_of(self.run_program(self.model(text), *arguments).stdout)

    def check_distribution(self, row, probabilities, runs, values=None):
        """Mean, variance and quantiles against the distribution of counts 0, 1, ..."""
        values = values or range(len(probabilities))
        mean = sum(p * x for p, x in zip(probabilities, values))
        central = [sum(p * (x - mean) ** n for p, x in zip(probabilities, values)) for n in (2, 4)]
        variance, fourth = central
        self.assertLess(abs(float(row["mean"]) - mean), SIGMAS * math.sqrt(variance / runs))
        spread = math.sqrt((fourth - variance**2) / runs)
        self.assertLess(abs(float(row["variance"]) - variance), SIGMAS * spread)
        for name, quantile in (("q05", 0.05), ("q50", 0.5), ("q95", 0.95)):
            count = int(row[name])
            at_or_below = sum(p for p, x in zip(probabilities, values) if x <= count)
            below = sum(p for p, x in zip(probabilities, values) if x < count)
            slack = SIGMAS * math.sqrt(quantile * (1 - quantile) / runs)
            self.assertGreater(at_or_below, quantile - slack, name)
            self.assertLess(below, quantile + slack, name)


class ClosedForms(SsaCase):
    def test_decay_is_binomial(self):
        for seed, method in enumerate(METHODS):
            rows = self.simulate(DECAY, "--until", 4, "--samples", 4, "--runs", 4000, "--method",
                                 method, "--seed", seed)
            for at in range(1, 5):
                with self.subTest(method=method, time=at):
                    self.check_distribution(rows[at, "A"], binomial(100, math.exp(-0.5 * at)),
                                            4000)

    def test_birth_and_death_is_poisson(self):
        for seed, method in enumerate(METHODS):
            rows = self.simulate(BIRTH_DEATH, "--until", 20, "--samples", 10, "--runs", 4000,
                                 "--method", method, "--seed", 10 + seed)
            for at in (2, 4, 20):
                with self.subTest(method=method, time=at):
                    mean = 20 / 0.5 * (1 - math.exp(-0.5 * at))
                    self.check_distribution(rows[at, "A"], poisson(mean, 150), 4000)

    def test_rates_are_what_they_say(self):
        # A rate that is a constant of this species, which nothing changes, is the same number as
        # the constant of the other model, so that the trajectories are the same, too.
        constant = "species C = 3, A = 0\n0 -> A @ {}\nA -> 0 @ 1\n"
        for rate, value in [
            ("C + 4 * 2", 11), ("C * (1 + 1) - 0.5", 5.5), ("24 / C / 2", 4), ("2 ^ C", 8),
            ("-C + 2 ^ 3", 5), ("-(C ^ 2) + 10", 1), ("sqrt(C + 13)", 4), ("C ^ 2 + C", 12),
            ("min(C, 2) + max(C, 5)", 7), ("if(C > 2, 6, 1)", 6), ("if(C <= 2, 6, 1)", 1),
            ("if(C == 3, 2, 9) * if(C != 3, 9, 2)", 4), ("abs(0 - C)", 3),
            ("floor(C / 2) + ceil(C / 2)", 3), ("1e1 * (C - 2)", 10), ("pow(C, 2)", 9),
            ("(((C)))", 3), ("exp(C - 3)", 1), ("ln(C - 2) + 2", 2), ("log10(C + 97)", 2),
            ("if(C < 3, 5, if(C >= 3, 7, 9))", 7), ("10 - (C - (2 - 1))", 8),
        ]:
            with self.subTest(rate=rate):
                got = self.run_program(
                    self.model(f"species C = 3, A = 0\n0 -> A rate {rate}\nA -> 0 @ 1\n"),
                    "--until", 1, "--runs", 20, "--samples", 2).stdout
                want = self.run_program(self.model(constant.format(value)), "--until", 1,
                                        "--runs", 20, "--samples", 2).stdout
                self.assertEqual(got, want)

    def test_stoichiometry(self):
        # One event takes all, so that the end is known; 3 A by threes leaves what three do not
        # divide.
        rows = self.simulate("species A = 10, B = 0, C = 5\n3 A + C -> 2 B + C @ 1\nC -> C @ 1\n",
                             "--until", 1000, "--samples", 1, "--runs", 50)
        self.assertEqual([rows[1000, name]["mean"] for name in "ABC"], ["1", "6", "5"])
        self.assertEqual(rows[1000, "B"]["variance"], "0")

    def test_nothing_happens(self):
        for method in METHODS:
            rows = self.simulate("species A = 7\n", "--until", 5, "--method", method)
            self.assertEqual(len(rows), 101)
            self.assertEqual({row["mean"] for row in rows.values()}, {"7"})
            rows = self.simulate("species A = 1\n2 A -> 0 @ 5\n", "--until", 5, "--method", method)
            self.assertEqual({row["q95"] for row in rows.values()}, {"1"})


@unittest.skipUnless(numpy, "scipy is not there")
class MasterEquation(SsaCase):
    """Probabilities by a matrix exponential of the master equation."""

    def solve(self, size, start, jumps, at):
        """`jumps`: functions of the state that return (state after, propensity)."""
        generator = numpy.zeros((size, size))
        for state in range(size):
            for jump in jumps:
                after, rate = jump(state)
                if rate <= 0 or not 0 <= after < size:
                    continue
                generator[after, state] += rate
                generator[state, state] -= rate
        return scipy.linalg.expm(generator * at)[:, start]

    def test_dimerisation(self):
        # State: number of B; A is 24 - 2 B.
        jumps = [lambda b: (b + 1, 0.05 * (24 - 2 * b) * (23 - 2 * b) / 2),
                 lambda b: (b - 1, 0.3 * b)]
        for seed, method in enumerate(METHODS):
            rows = self.simulate(DIMER, "--until", 3, "--samples", 3, "--runs", 4000, "--method",
                                 method, "--seed", 20 + seed)
            for at in (1, 3):
                with self.subTest(method=method, time=at):
                    dimers = self.solve(13, 0, jumps, at)
                    self.check_distribution(rows[at, "B"], dimers, 4000)
                    self.check_distribution(rows[at, "A"], dimers, 4000,
                                            [24 - 2 * b for b in range(13)])

    def test_schloegl(self):
        # Bistable: both the quantiles and the variance see the second state.
        jumps = [lambda x: (x + 1, 20), lambda x: (x + 1, 0.18 * x * (x - 1) / 2),
                 lambda x: (x - 1, 0.0075 * x * (x - 1) * (x - 2) / 6),
                 lambda x: (x - 1, 3.5 * x)]
        want = self.solve(200, 25, jumps, 4)
        for seed, method in enumerate(METHODS[:2]):
            rows = self.simulate(SCHLOEGL, "--until", 4, "--samples", 2, "--runs", 3000,
                                 "--method", method, "--seed", 30 + seed)
            with self.subTest(method=method):
                self.check_distribution(rows[4, "X"], want, 3000)

    def test_toggle_switch(self):
        size = 32  # of each
        generator = numpy.zeros((size * size, size * size))
        for u in range(size):
            for v in range(size):
                for du, dv, rate in ((1, 0, 12 / (1 + v * v)), (0, 1, 12 / (1 + u * u)),
                                     (-1, 0, u), (0, -1, v)):
                    if rate == 0 or not (0 <= u + du < size and 0 <= v + dv < size):
                        continue
                    generator[(u + du) * size + v + dv, u * size + v] += rate
                    generator[u * size + v, u * size + v] -= rate
        # By uniformisation: the matrix is too large for a dense exponential in a test.
        until, rate = 3.0, -generator.diagonal().min()
        step = numpy.eye(size * size) + generator / rate
        state = numpy.zeros(size * size)
        state[0] = 1
        total = numpy.zeros(size * size)
        for n in range(int(rate * until + 12 * math.sqrt(rate * until))):
            total += state * math.exp(n * math.log(rate * until) - rate * until
                                      - math.lgamma(n + 1))
            state = step @ state
        marginal = total.reshape(size, size).sum(axis=1)
        for seed, method in enumerate(METHODS[:2]):
            rows = self.simulate(TOGGLE, "--until", until, "--samples", 1, "--runs", 4000,
                                 "--method", method, "--seed", 40 + seed)
            for name in "UV":
                with self.subTest(method=method, species=name):
                    self.check_distribution(rows[until, name], marginal, 4000)


@unittest.skipUnless(gillespy2 and numpy, "GillesPy2 is not there")
class Peer(SsaCase):
    def test_michaelis_menten_as_gillespy2(self):
        model = gillespy2.Model("MichaelisMenten")
        species = {name: gillespy2.Species(name=name, initial_value=count)
                   for name, count in (("S", 301), ("E", 120), ("SE", 0), ("P", 0))}
        rates = {name: gillespy2.Parameter(name=name, expression=value)
                 for name, value in (("k1", 0.00166), ("k2", 1e-4), ("k3", 0.1))}
        model.add_species(list(species.values()))
        model.add_parameter(list(rates.values()))
        for name, left, right, rate in (("bind", ["S", "E"], ["SE"], "k1"),
                                        ("unbind", ["SE"], ["S", "E"], "k2"),
                                        ("make", ["SE"], ["P", "E"], "k3")):
            model.add_reaction(gillespy2.Reaction(
                name=name, reactants={species[one]: 1 for one in left},
                products={species[one]: 1 for one in right}, rate=rates[rate]))
        model.timespan(gillespy2.TimeSpan.linspace(t=50, num_points=6))
        runs = 100
        peer = model.run(solver=gillespy2.NumPySSASolver, number_of_trajectories=runs, seed=1)
        for method in METHODS:
            rows = self.simulate(MICHAELIS_MENTEN, "--until", 50, "--samples", 5, "--runs", 2000,
                                 "--method", method)
            for name in species:
                for i, at in enumerate((0, 10, 20, 30, 40, 50)):
                    counts = numpy.array([one[name][i] for one in peer])
                    row = rows[at, name]
                    error = math.sqrt(float(row["variance"]) * (1 / runs + 1 / 2000))
                    with self.subTest(method=method, species=name, time=at):
                        self.assertLessEqual(abs(counts.mean() - float(row["mean"])),
                                             SIGMAS * error)
                        # The standard error of a variance of normal counts.
                        self.assertLessEqual(
                            abs(counts.var(ddof=1) - float(row["variance"])),
                            SIGMAS * float(row["variance"]) * math.sqrt(2 / (runs - 1)) + 1e-12)


class TauLeaping(SsaCase):
    def test_leaps_make_few_steps(self):
        model = self.model("species A = 1000000\nA -> 0 @ 1\n")
        line = self.fails(model, "--until", 1, "--runs", 1, "--steps-max", 5000)
        self.assertIn("--steps-max", line)
        rows = rows_of(self.run_program(model, "--until", 1, "--runs", 400, "--samples", 2,
                                        "--method", "tau-leaping", "--steps-max", 200).stdout)
        mean, variance = 1e6 * math.exp(-1), 1e6 * math.exp(-1) * (1 - math.exp(-1))
        # Each leap takes 3 % of what there was at its start: 0.97 for exp(-0.03), 1.5 % in all.
        self.assertLess(abs(float(rows[1, "A"]["mean"]) / mean - 1), 0.02)
        self.assertLess(abs(float(rows[1, "A"]["variance"]) / variance - 1), 0.35)

    def test_error_falls_with_epsilon(self):
        text = "species A = 20000, B = 0\n2 A <-> B @ 1e-5, 0.02\n"
        exact = self.simulate(text, "--until", 10, "--samples", 1, "--runs", 60)
        want = float(exact[10, "B"]["mean"])
        error = 6 * math.sqrt(float(exact[10, "B"]["variance"]) / 60)
        for epsilon, bias in ((0.03, 0.01), (0.005, 0.002)):
            rows = self.simulate(text, "--until", 10, "--samples", 1, "--runs", 60, "--method",
                                 "tau-leaping", "--epsilon", epsilon)
            self.assertLess(abs(float(rows[10, "B"]["mean"]) - want), bias * want + error)

    def test_no_count_below_0(self):
        path = self.folder / "all.csv"
        self.run_program(self.model("species A = 3000, B = 11\nA + B -> B @ 0.2\nB -> 0 @ 0.05\n"),
                         "--until", 40, "--runs", 50, "--method", "tau-leaping", "--trajectories",
                         path)
        self.assertNotIn(",-", path.read_text())


class Reduction(SsaCase):
    def check_against_trajectories(self, text, runs, samples, species, exact):
        path = self.folder / "all.csv"
        quantiles = [0, 0.025, 0.5, 0.75, 0.999, 1]
        names = ["q00", "q025", "q50", "q75", "q999", "q100"]
        rows = rows_of(self.run_program(
            self.model(text), "--until", 3, "--runs", runs, "--samples", samples,
            "--trajectories", path, "--quantiles", ",".join(map(str, quantiles))).stdout)
        counts = {}
        with path.open() as file:
            trajectories = csv.DictReader(file)
            self.assertEqual(trajectories.fieldnames, ["trajectory", "time", *species])
            order = []
            for row in trajectories:
                order.append((int(row["trajectory"]), float(row["time"])))
                for name in species:
                    counts.setdefault((float(row["time"]), name), []).append(int(row[name]))
        self.assertEqual(order, sorted(order))
        self.assertEqual(len(order), runs * (samples + 1))
        self.assertEqual(list(counts), list(rows))
        for key, values in counts.items():
            values.sort()
            mean = Fraction(sum(values), runs)
            variance = sum((x - mean) ** 2 for x in values) / (runs - 1)
            self.assertAlmostEqual(float(rows[key]["mean"]) / (float(mean) or 1),
                                   1 if mean else 0, delta=1e-15)
            self.assertAlmostEqual(float(rows[key]["variance"]) / (float(variance) or 1),
                                   1 if variance else 0, delta=1e-15)
            for name, quantile in zip(names, quantiles):
                want = quantile_of(values, quantile)
                got = int(rows[key][name])
                self.assertLessEqual(abs(got - want), 0 if exact or want < 512 else want / 512)

    def test_few_trajectories_are_exact(self):
        self.check_against_trajectories("species A = 5000, B = 0\nA <-> B @ 1, 0.5\n", 100, 4,
                                        ["A", "B"], True)

    def test_many_trajectories_are_within_the_bound(self):
        self.check_against_trajectories("species A = 900, B = 20\nA <-> B @ 1, 0.5\n", 700, 3,
                                        ["A", "B"], False)

    def test_large_counts_lose_nothing(self):
        # Counts of 10^15: the variance of doubles would be lost.
        text = f"species A = {10**15}, B = 0\nB -> B @ 1\nC: A -> B rate if(B < 100, 60, 0)\n"
        self.check_against_trajectories(text, 60, 2, ["A", "B"], True)

    def test_one_trajectory_has_no_variance(self):
        rows = self.simulate(DECAY, "--until", 1, "--runs", 1)
        self.assertEqual({row["variance"] for row in rows.values()}, {""})

    def test_no_quantiles(self):
        output = self.run_program(self.model(DECAY), "--until", 1, "--quantiles", "none").stdout
        self.assertTrue(output.startswith(b"time,species,mean,variance\n"))

    def test_same_at_any_number_of_workers(self):
        model = self.model(MICHAELIS_MENTEN)
        for method in METHODS:
            outputs = set()
            for workers in (1, 2, 3, 8):
                path = self.folder / f"all{workers}.csv"
                stdout = self.run_program(model, "--until", 30, "--runs", 300, "--workers",
                                          workers, "--method", method, "--seed", 5,
                                          "--trajectories", path).stdout
                outputs.add((stdout, path.read_bytes()))
            self.assertEqual(len(outputs), 1, method)

    def test_a_trajectory_depends_on_seed_and_number_alone(self):
        model = self.model(MICHAELIS_MENTEN)
        texts = []
        for runs, seed in ((3, 1), (40, 1), (3, 2), (3, 2**63)):
            path = self.folder / f"{runs}-{seed}.csv"
            self.run_program(model, "--until", 30, "--runs", runs, "--seed", seed,
                             "--trajectories", path)
            texts.append(path.read_text().splitlines()[:1 + 3 * 101])
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len({tuple(text) for text in texts}), 3)
        self.assertNotEqual([line.split(",", 1)[1] for line in texts[0][1:102]],
                            [line.split(",", 1)[1] for line in texts[0][102:203]])

    def test_long_trajectories_are_cut_into_slices(self):
        # Two of 300,000 events each, and the same beside others: what a slice ends in the middle
        # of goes on as it would have.
        model = self.model("species A = 0\n0 -> A @ 3000\nA -> 0 @ 1\n")
        for method in METHODS:
            one, two = self.folder / "one.csv", self.folder / "two.csv"
            self.run_program(model, "--until", 50, "--runs", 1, "--samples", 20, "--method",
                             method, "--trajectories", one, "--epsilon", "0.001")
            self.run_program(model, "--until", 50, "--runs", 2, "--samples", 20, "--method",
                             method, "--trajectories", two, "--epsilon", "0.001", "--workers", 2)
            self.assertTrue(two.read_text().startswith(one.read_text()), method)


class Models(SsaCase):
    def test_sbml_is_the_same_as_text(self):
        want = self.run_program(self.model(MICHAELIS_MENTEN), "--until", 20, "--runs", 50).stdout
        for level in (2, 3):
            path = self.model(michaelis_menten_sbml(level), f"l{level}.xml")
            self.assertEqual(self.run_program(path, "--until", 20, "--runs", 50).stdout, want)

    def test_sbml_math(self):
        # The law of unbind as a piecewise function of a function definition.
        law = (f'<math {MATH}><piecewise><piece><apply><times/><ci>k2</ci><ci>SE</ci></apply>'
               "<apply><lt/><ci>S</ci><cn type='integer'>1000</cn></apply></piece>"
               "<otherwise><cn>7</cn></otherwise></piecewise></math>")
        want = self.run_program(self.model(MICHAELIS_MENTEN), "--until", 20, "--runs", 50).stdout
        path = self.model(michaelis_menten_sbml(3, law=law), "law.xml")
        self.assertEqual(self.run_program(path, "--until", 20, "--runs", 50).stdout, want)

    def test_sbml_that_is_not_supported(self):
        rule = (f'<listOfRules><rateRule variable="S"><math {MATH}><cn>1</cn></math></rateRule>'
                "</listOfRules>")
        event = ('<listOfEvents><event id="e" useValuesFromTriggerTime="true"><trigger '
                 f'initialValue="false" persistent="true"><math {MATH}><true/></math></trigger>'
                 "</event></listOfEvents>")
        delay = (f'<math {MATH}><apply><csymbol encoding="text" '
                 'definitionURL="http://www.sbml.org/sbml/symbols/delay">delay</csymbol>'
                 "<ci>SE</ci><cn>1</cn></apply></math>")
        now = (f'<math {MATH}><csymbol encoding="text" '
               'definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol></math>')
        half = ('<species id="H" compartment="cell" initialAmount="0.5" '
                'hasOnlySubstanceUnits="true" boundaryCondition="false" constant="false"/>')
        unknown = f"<math {MATH}><ci>nothing</ci></math>"
        for text, line, what in (
            (michaelis_menten_sbml(3, more=rule), 17, "rules are not supported"),
            (michaelis_menten_sbml(3, more=event), 17, "events are not supported"),
            (michaelis_menten_sbml(3, law=delay), 14, "a delay is not supported"),
            (michaelis_menten_sbml(3, law=now), 14, "depends on time"),
            (michaelis_menten_sbml(3, law=unknown), 14, "'nothing' has no value"),
            (michaelis_menten_sbml(3, species_more=half), 9, "no whole number"),
            (michaelis_menten_sbml(3, species_more=half.replace("0.5", "-2")), 9, "is negative"),
        ):
            with self.subTest(what=what):
                path = self.model(text, "bad.xml")
                error = self.fails(path, "--until", 1)
                self.assertIn(f"bad.xml:{line}: ", error)
                self.assertIn(what, error)

    def test_truncated_sbml(self):
        text = michaelis_menten_sbml(3)
        for part in (40, 300, len(text) // 2, len(text) - 10):
            self.assertIn("cut.xml:", self.fails(self.model(text[:part], "cut.xml"), "--until", 1))
        self.fails(self.model("<html></html>", "other.xml"), "--until", 1)

    def test_boundary_species_stay(self):
        text = michaelis_menten_sbml(3).replace(
            'id="S" compartment="cell" initialAmount="301" hasOnlySubstanceUnits="true" '
            'boundaryCondition="false"',
            'id="S" compartment="cell" initialAmount="301" hasOnlySubstanceUnits="true" '
            'boundaryCondition="true"')
        rows = rows_of(self.run_program(self.model(text, "b.xml"), "--until", 20, "--runs",
                                        20).stdout)
        self.assertEqual({row["mean"] for (at, name), row in rows.items() if name == "S"},
                         {"301"})

    def test_model_in_a_pipe_and_packed(self):
        want = self.run_program(self.model(DECAY), "--until", 2).stdout
        self.assertEqual(self.run_program("-", "--until", 2, input=DECAY.encode()).stdout, want)
        packed = self.folder / "model.gz"
        packed.write_bytes(gzip.compress(DECAY.encode()))
        self.assertEqual(self.run_program(packed, "--until", 2).stdout, want)
        self.assertEqual(
            self.run_program("-", "--until", 2, input=DECAY.replace("\n", "\r\n").encode()).stdout,
            want)

    def test_bad_text_models(self):
        for text, line, what in (
            ("species A = 1\nA -> B @ 1\n", 2, "unknown species 'B'"),
            ("species Alpha = 1\nAlpah -> 0 @ 1\n", 2, "did you mean Alpha?"),
            ("species A = -1\n", 1, "negative"),
            ("species A = 1.5\n", 1, "whole number"),
            ("species A = 1e300\n", 1, "whole number"),
            ("species A = 1e999\n", 1, "at '1e999'"),
            ("species A = 1, A = 2\n", 1, "twice"),
            ("species A 1\n", 1, "expected at '1'"),
            ("species A = 1\nA -> 0\n", 2, "expected at the end of the line"),
            ("species A = 1\nA -> 0 @\n", 2, "an expression is expected"),
            ("species A = 1\nA => 0 @ 1\n", 2, "at '=> 0 @ 1'"),
            ("species A = 1\nA -> 0 @ k\n", 2, "'k' is neither"),
            ("species A = 1\nA -> 0 @ 1 2\n", 2, "at '2'"),
            ("species A = 1\nA -> 0 @ -1\n", 2, "negative"),
            ("species A = 1\nA -> 0 @ A\n", 2, "rate EXPRESSION"),
            ("species A = 1\nA -> 0 @ 1, 2\n", 2, "takes 1 constant, not 2"),
            ("species A = 1\nA <-> 0 @ 1\n", 2, "takes 2 constants, not 1"),
            ("species A = 1\nA -> 0 @ (1\n", 2, "')' is expected"),
            ("species A = 1\nA -> 0 rate foo(A)\n", 2, "unknown function 'foo'"),
            ("species A = 1\nA -> 0 rate min(A)\n", 2, "takes 2 arguments, not 1"),
            ("species A = 1\n99999999 A -> 0 @ 1\n", 2, "more than 1000000"),
            ("species A = 1\nA -> 0 @ " + "(" * 5000 + "\n", 2, "nested"),
            ("species A = 1\nA -> 0 rate A" + " + A" * 20000 + "\n", 2, "a line of more"),
            ("parameter k = 1 / 0\n", 1, "no finite number"),
            ("\x00\x01\x02\n", 1, "is expected at"),
        ):
            with self.subTest(text=text[:60]):
                error = self.fails(self.model(text), "--until", 1)
                self.assertIn(f"model.txt:{line}: ", error)
                self.assertIn(what, error)

    def test_empty_models(self):
        self.assertIn("empty", self.fails(self.model(""), "--until", 1))
        self.assertIn("empty", self.fails(self.model(" \n\n"), "--until", 1))
        self.assertIn("no species", self.fails(self.model("# none\n"), "--until", 1))
        self.assertIn("No such file", self.fails(self.folder / "none.txt", "--until", 1))


class Failures(SsaCase):
    def test_bad_rates(self):
        for rate, what in (("A - 5", "has a negative propensity of reaction 'r' at time 0: -2"),
                           ("1 / (A - 3)", "that is no finite number: inf"),
                           ("ln(A - 4)", "that is no finite number: nan")):
            text = f"species A = 3\nr: A -> 0 rate {rate}\n"
            for method in METHODS:
                with self.subTest(rate=rate, method=method):
                    error = self.fails(self.model(text), "--until", 1, "--method", method)
                    self.assertIn("trajectory 0 has ", error)
                    self.assertIn("'r' at time 0", error)
                    self.assertIn(what, error.replace("-nan", "nan"))

    def test_count_below_0(self):
        for method in METHODS:
            error = self.fails(self.model("species A = 3\nr: A -> 0 rate 2\n"), "--until", 100,
                               "--method", method)
            self.assertIn("a count of 'A' below 0", error)
            self.assertIn("'r'", error)

    def test_the_failure_of_the_lowest_number_is_told(self):
        # Fails where a coin falls so: which trajectory that is depends on the seed alone.
        model = self.model("species A = 1, B = 0\nA -> B @ 0.05\nB -> B rate 1 - 2 * B\n")
        errors = {self.fails(model, "--until", 1, "--runs", 2000, "--workers", workers)
                  for workers in (1, 2, 3, 7)}
        self.assertEqual(len(errors), 1, errors)

    def test_trajectories_that_never_end(self):
        model = self.model("species A = 2\nbirth: 2 A -> 3 A @ 1\n")
        output = self.folder / "out.csv"
        for method in METHODS:
            error = self.fails(model, "--until", 100, "--runs", 3, "--steps-max", 100000,
                               "--method", method, "--output", output)
            self.assertIn("trajectory 0 has", error)
        self.assertFalse(output.exists())

    def test_command_lines_that_make_no_sense(self):
        model = self.model(DECAY)
        for arguments in (("--until", 0), ("--until", "nan"), ("--until", "x"),
                          ("--until", 1, "--runs", 0), ("--until", 1, "--workers", 2000),
                          ("--until", 1, "--samples", 0), ("--until", 1, "--quantiles", "1.5"),
                          ("--until", 1, "--quantiles", ","), ("--until", 1, "--epsilon", 1),
                          ("--until", 1, "--method", "none"), ("--until", 1, "--plot", "a.png"),
                          ("--until", 1, "--output", model),
                          ("--until", 1, "--output", "a", "--trajectories", "a"), ()):
            with self.subTest(arguments=arguments):
                self.fails(model, *arguments, code=2)
        self.assertEqual(model.read_text(), DECAY)

    def test_full_disk_and_closed_pipe(self):
        model = self.model(DECAY)
        self.assertIn("No space left", self.fails(model, "--until", 1, "--output", "/dev/full"))
        self.assertIn("No space left",
                      self.fails(model, "--until", 1, "--trajectories", "/dev/full"))
        with subprocess.Popen([PROGRAM, str(model), "--until", "1", "--samples", "100000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(60), 141)

    def test_interruption(self):
        model = self.model("species A = 1000\nA -> A @ 1000\n")
        output = self.folder / "out.csv"
        with subprocess.Popen([PROGRAM, str(model), "--until", "1e9", "--output", str(output)],
                              stderr=subprocess.PIPE) as process:
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            self.assertEqual(process.wait(60), 130)
            self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["model.txt"])

    def test_interruption_while_the_model_is_read(self):
        with subprocess.Popen([PROGRAM, "-", "--until", "1"], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(b"species A = 1\n")
            process.stdin.flush()
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 130)

    def test_an_output_of_a_run_that_fails_stays(self):
        output = self.folder / "out.csv"
        output.write_text("before")
        self.fails(self.model("species A = 3\nA -> 0 rate 2\n"), "--until", 100, "--output",
                   output)
        self.assertEqual(output.read_text(), "before")


def has_gnuplot():
    try:
        return subprocess.run(["gnuplot", "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


class Plot(SsaCase):
    @unittest.skipUnless(has_gnuplot(), "gnuplot is not there")
    def test_plot(self):
        picture = self.folder / "picture.svg"
        model = self.model(DECAY + "species it_s = 4\nit_s -> 0 @ 1\n")
        for more in ((), ("--quantiles", "none"), ("--quantiles", "0.5")):
            self.run_program(model, "--until", 3, "--plot", picture, *more)
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            text = " ".join(root.itertext())
            self.assertIn("it_s", text)
            self.assertIn("A", text)

    def test_gnuplot_is_missing(self):
        output = self.folder / "out.csv"
        error = self.fails(self.model(DECAY), "--until", 3, "--plot", self.folder / "a.svg",
                           "--output", output, env={**os.environ, "PATH": "/nonexistent"})
        self.assertIn("gnuplot", error)
        self.assertFalse(output.exists())


if __name__ == "__main__":
    unittest.main()

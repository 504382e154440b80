# SPDX-License-Identifier: Apache-2.0
"""strid-ssa against closed forms, the master equation and GillesPy2.

Statistical checks have fixed seeds; their bounds are 4.5 standard errors of what is checked, so
that a right program passes with nearly every seed.
"""

import math
import unittest

from ssa_case import METHODS, SIGMAS, STIFF_METHODS, SsaCase, binomial, poisson, rows_of
from ssa_models import BIRTH_DEATH, DECAY, DIMER, MICHAELIS_MENTEN, SCHLOEGL, TOGGLE

try:
    import numpy
    import scipy.linalg
except ImportError:
    numpy = None
try:
    import gillespy2
except ImportError:
    gillespy2 = None


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
    def test_isomerisation_has_no_bias(self):
        # Counts are binomial: on the way to the equilibrium, at it, and where it is the start.
        total, there, back, runs = 100_000, 1, 0.5, 1000
        for start in (total, total // 3):
            model = self.model(f"species A = {start}, B = {total - start}\n"
                               f"A <-> B @ {there}, {back}\n")
            for seed in (1, 2, 3):
                rows = rows_of(self.run_program(model, "--until", 6, "--samples", 6, "--runs", runs,
                                                "--method", "tau-leaping", "--seed", seed).stdout)
                for at in range(1, 7):
                    rest, fade = back / (there + back), math.exp(-(there + back) * at)
                    of_a, of_b = rest + (1 - rest) * fade, rest - rest * fade
                    mean = start * of_a + (total - start) * of_b
                    variance = start * of_a * (1 - of_a) + (total - start) * of_b * (1 - of_b)
                    with self.subTest(start=start, seed=seed, time=at):
                        self.assertLess(abs(float(rows[at, "A"]["mean"]) - mean),
                                        SIGMAS * math.sqrt(variance / runs))
                        self.assertLess(abs(float(rows[at, "A"]["variance"]) / variance - 1),
                                        SIGMAS * math.sqrt(2 / (runs - 1)))

    def test_leaps_make_few_steps(self):
        model = self.model("species A = 1000000\nA -> 0 @ 1\n")
        line = self.fails(model, "--until", 1, "--runs", 1, "--steps-max", 5000)
        self.assertIn("--steps-max", line)
        rows = rows_of(self.run_program(model, "--until", 1, "--runs", 400, "--samples", 2,
                                        "--method", "tau-leaping", "--steps-max", 200).stdout)
        mean, variance = 1e6 * math.exp(-1), 1e6 * math.exp(-1) * (1 - math.exp(-1))
        self.assertLess(abs(float(rows[1, "A"]["mean"]) - mean), SIGMAS * math.sqrt(variance / 400))
        self.assertLess(abs(float(rows[1, "A"]["variance"]) / variance - 1),
                        SIGMAS * math.sqrt(2 / 399))

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


class StiffNetworks(SsaCase):
    """Fast reactions that balance each other, and slow ones."""

    def test_fast_isomers_and_a_slow_exit(self):
        # A <-> B fast, B -> C: each molecule by itself, so that counts are multinomial.
        total, fast, slow, runs = 40_000, 1000.0, 1.0, 400
        model = self.model(f"species A = {total}, B = 0, C = 0\nA <-> B @ {fast}, {fast}\n"
                           f"B -> C @ {slow}\n")
        root = math.sqrt(fast**2 + slow**2 / 4)
        late, soon = -fast - slow / 2 + root, -fast - slow / 2 - root
        arguments = ("--until", 2, "--samples", 4, "--runs", runs)
        error = self.fails(model, *arguments, "--method", "tau-leaping", "--steps-max", 1500)
        self.assertIn("has not ended after 1500 steps", error)
        for method in STIFF_METHODS:
            for seed in (1, 2, 3):
                rows = rows_of(self.run_program(model, *arguments, "--method", method, "--seed",
                                                seed, "--steps-max", 1500).stdout)
                for at in (0.5, 1, 2):
                    # Of dB/dt = fast A - (fast + slow) B and A(0) = 1, B(0) = 0.
                    of_b = fast * (math.exp(late * at) - math.exp(soon * at)) / (late - soon)
                    of_a = ((late + fast + slow) * math.exp(late * at)
                            - (soon + fast + slow) * math.exp(soon * at)) / (late - soon)
                    for name, part in (("A", of_a), ("B", of_b), ("C", 1 - of_a - of_b)):
                        mean, variance = total * part, total * part * (1 - part)
                        # Euler's error of the slow reaction: half a leap of 3 % of B.
                        bias = 0.004 * total if method == "implicit-tau" else 0
                        row = rows[at, name]
                        with self.subTest(method=method, seed=seed, time=at, species=name):
                            self.assertLess(abs(float(row["mean"]) - mean),
                                            bias + SIGMAS * math.sqrt(variance / runs))
                            if method == "implicit-tau" and name != "C":
                                continue  # it damps fast fluctuations
                            self.assertLess(abs(float(row["variance"]) / variance - 1),
                                            SIGMAS * math.sqrt(2 / (runs - 1)) + 0.03)

    def test_fast_dimers_as_exactly(self):
        text = "species M = 3000, D = 0, P = 0\n2 M <-> D @ 0.1, 100\nD -> P @ 0.5\n"
        exact = self.simulate(text, "--until", 1, "--samples", 1, "--runs", 40)
        for method in STIFF_METHODS:
            rows = self.simulate(text, "--until", 1, "--samples", 1, "--runs", 400, "--method",
                                 method, "--steps-max", 1500)
            for name in ("M", "D", "P"):
                want, got = exact[1, name], rows[1, name]
                spread = float(want["variance"]) * (1 / 40 + 1 / 400)
                bias = 0.01 * float(want["mean"]) if method == "implicit-tau" else 0
                with self.subTest(method=method, species=name):
                    self.assertLess(abs(float(got["mean"]) - float(want["mean"])),
                                    SIGMAS * math.sqrt(spread) + bias)

# SPDX-License-Identifier: Apache-2.0
"""strid-ssa: reduction, failures and pictures; the other tests stand in the modules beside it."""

import csv
import os
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree
from fractions import Fraction

from program import PROGRAM
from ssa_case import METHODS, STIFF_METHODS, SsaCase, quantile_of, rows_of
from ssa_distributions import ClosedForms, MasterEquation, Peer, StiffNetworks, TauLeaping
from ssa_dynamics import Dynamics
from ssa_inputs import Models
from ssa_models import DECAY, MICHAELIS_MENTEN

# They are run from here.
__all__ = ["ClosedForms", "Dynamics", "MasterEquation", "Models", "Peer", "StiffNetworks",
           "TauLeaping"]


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
        for method in METHODS + STIFF_METHODS:
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
        for method in METHODS + STIFF_METHODS:
            one, two = self.folder / "one.csv", self.folder / "two.csv"
            self.run_program(model, "--until", 50, "--runs", 1, "--samples", 20, "--method",
                             method, "--trajectories", one, "--epsilon", "0.001")
            self.run_program(model, "--until", 50, "--runs", 2, "--samples", 20, "--method",
                             method, "--trajectories", two, "--epsilon", "0.001", "--workers", 2)
            self.assertTrue(two.read_text().startswith(one.read_text()), method)


class Failures(SsaCase):
    def test_bad_rates(self):
        for rate, what in (("A - 5", "has a negative propensity of reaction 'r' at time 0: -2"),
                           ("1 / (A - 3)", "that is no finite number: inf"),
                           ("ln(A - 4)", "that is no finite number: nan")):
            text = f"species A = 3\nr: A -> 0 rate {rate}\n"
            for method in METHODS + STIFF_METHODS:
                with self.subTest(rate=rate, method=method):
                    error = self.fails(self.model(text), "--until", 1, "--method", method)
                    self.assertIn("trajectory 0 has ", error)
                    self.assertIn("'r' at time 0", error)
                    self.assertIn(what, error)

    def test_count_below_0(self):
        for method in METHODS + STIFF_METHODS:
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
        for method in METHODS + STIFF_METHODS:
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

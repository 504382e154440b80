# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of strid-ssa."""

import csv
import io
import math

from program import Case

METHODS = ["direct", "next-reaction", "tau-leaping"]
STIFF_METHODS = ["implicit-tau", "trapezoidal-tau"]
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

# SPDX-License-Identifier: Apache-2.0
"""The statistics of strid memory compare, against published numbers and against definitions."""

import itertools
import random
import sys
import unittest

from program import SOURCE

sys.path.insert(0, str(SOURCE / "memory-tools/memory"))
try:
    import numpy
    import pandas
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    from strid_memory import advice, analysis, letters, measures, tables
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

# NIST StRD, "SiRstv" (lower difficulty): resistivity of silicon, five instruments.
SIRSTV = """
    196.3052 196.1240 196.1890 196.2569 196.3403
    196.3042 196.3825 196.1669 196.3257 196.0422
    196.1303 196.2005 196.2889 196.0343 196.1811
    196.2795 196.1748 196.1494 196.1485 195.9885
    196.2119 196.1051 196.1850 196.0052 196.2090"""
# R's data set warpbreaks: breaks of yarn by wool (A, B) and tension (L, M, H), nine looms each.
WARPBREAKS = {
    "AL": "26 30 54 25 70 52 51 26 67",
    "AM": "18 21 29 17 12 18 35 30 36",
    "AH": "36 21 24 18 10 43 28 15 26",
    "BL": "27 14 29 19 29 31 41 20 44",
    "BM": "42 26 19 16 39 28 21 39 29",
    "BH": "20 21 24 17 13 15 15 16 28",
}
# Paper 3, tables II and IV: mean and lower case letters of each allocator, by number of cores.
TABLE_II = [
    {"Hoard": (479.63, "c"), "Jemalloc": (461.47, "cd"), "Ptmalloc2": (492.94, "ab"),
     "Ptmalloc3": (474.94, "bc"), "Miser": (486.72, "bc"), "TCMalloc": (445.42, "d"),
     "TLSF": (519.50, "a")},
    {"Hoard": (357.53, "ab"), "Jemalloc": (332.19, "c"), "Ptmalloc2": (358.52, "ab"),
     "Ptmalloc3": (350.71, "b"), "Miser": (348.52, "bc"), "TCMalloc": (311.56, "d"),
     "TLSF": (368.76, "a")},
    {"Hoard": (220.33, "e"), "Jemalloc": (210.30, "f"), "Ptmalloc2": (233.02, "c"),
     "Ptmalloc3": (243.69, "b"), "Miser": (226.33, "d"), "TCMalloc": (201.81, "g"),
     "TLSF": (276.42, "a")},
    {"Hoard": (159.33, "d"), "Jemalloc": (151.43, "e"), "Ptmalloc2": (201.81, "b"),
     "Ptmalloc3": (190.07, "c"), "Miser": (162.07, "d"), "TCMalloc": (146.30, "f"),
     "TLSF": (232.40, "a")},
]  # fmt: skip
TABLE_IV = [
    {"Hoard": (1809.0, "d"), "Jemalloc": (1820.2, "d"), "Ptmalloc2": (1940.0, "b"),
     "Ptmalloc3": (1869.6, "cd"), "Miser": (1922.4, "bc"), "TCMalloc": (1917.8, "bc"),
     "TLSF": (2362.2, "a")},
    {"Hoard": (2212.2, "ab"), "Jemalloc": (2200.6, "ab"), "Ptmalloc2": (2164.2, "bc"),
     "Ptmalloc3": (2112.0, "cd"), "Miser": (2212.6, "ab"), "TCMalloc": (2072.6, "d"),
     "TLSF": (2272.0, "a")},
]  # fmt: skip


def frame_of(groups: dict, factors: list[str]) -> pandas.DataFrame:
    rows = [(*key, value) for key, values in groups.items() for value in values]
    return pandas.DataFrame(rows, columns=[*factors, "y"])


def warpbreaks() -> pandas.DataFrame:
    groups = {tuple(key): map(float, text.split()) for key, text in WARPBREAKS.items()}
    return frame_of(groups, ["wool", "tension"])


def runs_of(groups: dict) -> list[dict]:
    """Runs as an experiment gives them."""
    return [
        {"allocator": allocator, "cores": cores, "wall_s": value}
        for (allocator, cores), values in groups.items()
        for value in values
    ]


class Variance(unittest.TestCase):
    def test_nist_sirstv(self):
        values = list(map(float, SIRSTV.split()))
        groups = {(str(i),): values[5 * i : 5 * i + 5] for i in range(5)}
        sources, ms_error, df_error = analysis.table_of(
            frame_of(groups, ["instrument"]), ["instrument"]
        )
        between, within = sources[0], sources[1]
        # Certified values.
        self.assertEqual((between.df, within.df, df_error), (4, 20, 20))
        self.assertAlmostEqual(between.ss, 5.11462616000000e-02, delta=1e-11)
        self.assertAlmostEqual(between.ms, 1.27865654000000e-02, delta=1e-11)
        self.assertAlmostEqual(between.f, 1.18046237440255, delta=1e-9)
        self.assertAlmostEqual(within.ss, 2.16636560000000e-01, delta=1e-11)
        self.assertAlmostEqual(ms_error, 1.08318280000000e-02, delta=1e-11)

    def test_nist_smls(self):
        # SmLs01, SmLs04, SmLs07: nine treatments, 21 values of each; the same differences on 1,
        # 10^6 and 10^12, where sums of squares that are formed naively lose every digit. At 10^12
        # a double has a step of 1.2e-4: no algorithm comes nearer to the certified values.
        for base, digits in ((1, 12), (10**6, 8), (10**12, 2.5)):
            groups = {}
            for treatment in range(9):
                mean = 0.4 if treatment == 0 else 0.3 if treatment % 2 else 0.5
                values = [mean, *([mean - 0.1, mean + 0.1] * 10)]
                groups[(str(treatment),)] = [base + value for value in values]
            between, within, _ = analysis.table_of(frame_of(groups, ["t"]), ["t"])[0]
            self.assertEqual((between.df, within.df), (8, 180))
            for value, certified in ((between.ss, 1.68), (within.ss, 1.8), (between.f, 21)):
                self.assertAlmostEqual(value / certified, 1, delta=10**-digits)

    def test_two_factors_of_warpbreaks(self):
        # summary(aov(breaks ~ wool * tension, data = warpbreaks)) in R.
        sources, ms_error, df_error = analysis.table_of(warpbreaks(), ["wool", "tension"])
        by_name = {source.name: source for source in sources}
        wool, tension = by_name["wool"], by_name["tension"]
        both = by_name["wool vs. tension"]
        self.assertEqual([s.df for s in sources], [1, 2, 2, 48, 53])
        for source, ss, f, p in [
            (wool, 450.7, 3.765, 0.058213),
            (tension, 2034.3, 8.498, 0.000693),
            (both, 1002.8, 4.189, 0.021044),
        ]:
            self.assertAlmostEqual(source.ss, ss, delta=0.05)
            self.assertAlmostEqual(source.f, f, delta=0.0005)
            self.assertAlmostEqual(source.p, p, delta=5e-7)
        self.assertAlmostEqual(ms_error, 119.7, delta=0.05)
        self.assertEqual(df_error, 48)

    def test_tukey_of_warpbreaks(self):
        # TukeyHSD(aov(breaks ~ wool + tension), "tension") in R's example: without interaction.
        frame = warpbreaks()
        table, *_ = analysis.table_of(frame, ["wool", "tension"])
        by_name = {source.name: source for source in table}
        ss = by_name["Error"].ss + by_name["wool vs. tension"].ss
        groups = [frame[frame.tension == level].y.to_numpy() for level in "LMH"]
        p = analysis.tukey_p(groups, ss / 50, 50)
        self.assertAlmostEqual(p[0, 1], 0.0336262, delta=5e-7)
        self.assertAlmostEqual(p[0, 2], 0.0011218, delta=5e-7)
        self.assertAlmostEqual(p[1, 2], 0.4474210, delta=5e-7)

    def test_tukey_of_groups_of_unequal_size(self):
        rng = numpy.random.default_rng(3)
        groups = [rng.normal(mean, 1, size) for mean, size in ((0, 5), (1, 9), (1.5, 7))]
        values = numpy.concatenate(groups)
        names = numpy.repeat(["a", "b", "c"], [5, 9, 7])
        expected = pairwise_tukeyhsd(values, names).pvalues
        ss = sum(((group - group.mean()) ** 2).sum() for group in groups)
        p = analysis.tukey_p(groups, ss / 18, 18)
        numpy.testing.assert_allclose([p[0, 1], p[0, 2], p[1, 2]], expected, atol=1e-6)


class Transformations(unittest.TestCase):
    def power_of(self, values) -> float:
        groups = [numpy.asarray(group) for group in values]
        return analysis.choose_power(groups)[0]

    def normal_groups(self):
        # Quantiles of a normal distribution: no luck in it.
        shape = analysis.stats.norm.ppf((numpy.arange(15) + 0.5) / 15)
        return [10 + mean + shape for mean in (0, 2, 5, 9)]

    def test_the_one_that_makes_them_normal_is_found(self):
        groups = self.normal_groups()
        self.assertEqual(self.power_of(groups), 1.0)
        self.assertEqual(self.power_of([numpy.exp(group) for group in groups]), 0.0)
        self.assertEqual(self.power_of([10 / group for group in groups]), -1.0)
        self.assertEqual(self.power_of([group**-2.0 for group in groups]), -0.5)

    def test_box_and_cox_as_scipy_has_it(self):
        # For one group, the exponent of the greatest likelihood is scipy's.
        values = numpy.exp(self.normal_groups()[0] / 4) + 1
        expected = analysis.stats.boxcox_normmax(values, method="mle")
        self.assertAlmostEqual(analysis.box_cox_power([values]), float(expected), delta=1e-3)

    def test_values_that_are_not_positive_stay(self):
        self.assertEqual(
            analysis.choose_power([numpy.array([0.0, 1, 9]), numpy.ones(3)]), (1.0, None)
        )


class Letters(unittest.TestCase):
    def test_two_share_a_letter_if_and_only_if_they_do_not_differ(self):
        rng = random.Random(11)
        for _ in range(400):
            count = rng.randint(1, 8)
            share = rng.random()
            different = {
                pair for pair in itertools.combinations(range(count), 2) if rng.random() < share
            }
            texts = letters.letters(
                [rng.random() for _ in range(count)],
                lambda i, j: (min(i, j), max(i, j)) in different,
            )
            for i, j in itertools.combinations(range(count), 2):
                self.assertEqual(not set(texts[i]) & set(texts[j]), (i, j) in different, texts)
            # No letter is within another one, and they are counted from a.
            sets = {c: {i for i in range(count) if c in texts[i]} for c in "".join(texts)}
            for one, other in itertools.permutations(sets, 2):
                self.assertFalse(sets[one] <= sets[other], texts)
            self.assertEqual(sorted(sets), [letters.letter(i) for i in range(len(sets))])

    def test_the_letters_of_the_paper(self):
        # From which pairs differ in the paper's tables, the same letters come out.
        for column in [*TABLE_II, *TABLE_IV]:
            names = list(column)
            texts = letters.letters(
                [column[name][0] for name in names],
                lambda i, j: not set(column[names[i]][1]) & set(column[names[j]][1]),
            )
            self.assertEqual(dict(zip(names, texts)), {n: column[n][1] for n in names})


class Analyses(unittest.TestCase):
    """Of an experiment's runs."""

    def analysed(self, groups: dict):
        names = list(dict.fromkeys(allocator for allocator, _ in groups))
        cores = sorted({number for _, number in groups})
        return analysis.analyse(measures.WALL, runs_of(groups), names, cores)

    def quantiles(self, mean: float, spread: float, count: int = 6):
        shape = analysis.stats.norm.ppf((numpy.arange(count) + 0.5) / count)
        return list(mean + spread * shape)

    def four(self):
        return {
            ("glibc", 1): self.quantiles(3.0, 0.01),
            ("glibc", 2): self.quantiles(2.0, 0.01),
            ("other", 1): self.quantiles(2.5, 0.01),
            ("other", 2): self.quantiles(1.0, 0.01),
        }

    def test_the_letters_of_lines_and_columns(self):
        result = self.analysed(self.four())
        texts = {(c.allocator, c.cores): c.among_cores + c.among_allocators for c in result.cells}
        self.assertEqual(
            texts, {("glibc", 1): "Aa", ("glibc", 2): "Ba", ("other", 1): "Ab", ("other", 2): "Bb"}
        )
        self.assertEqual(tables.cell_text(result, result.cell("glibc", 1)), "3.000 (Aa)")

    def test_advice_names_the_better_one_and_its_price(self):
        speed = self.analysed(self.four())
        memory = self.analysed(
            {key: [2 * 3 - v for v in values] for key, values in self.four().items()}
        )
        text = advice.advice(speed, memory, [1, 2])
        self.assertIn("On 2 cores take other: response time 1.000 s, 50 % less than glibc", text)
        self.assertIn("25 % more than glibc", text)
        alike = self.analysed(
            {key: self.quantiles(1, 0.1) for key in self.four()}
            | {("other", 2): self.quantiles(1.001, 0.1)}
        )
        self.assertIn("no allocator differs significantly", advice.advice(alike, memory, [1, 2]))

    def test_advice_when_more_is_better(self):
        groups = self.four()
        names, cores = ["glibc", "other"], [1, 2]
        rate = measures.Measure("wall_s", "Orders", "/s", more_is_better=True)
        speed = analysis.analyse(rate, runs_of(groups), names, cores)
        memory = self.analysed(groups)
        self.assertIn("take glibc: orders 2.000 /s", advice.advice(speed, memory, cores))

    def test_what_allows_no_test_says_why(self):
        one = self.analysed({("glibc", 1): [1.0, 2.0], ("glibc", 2): [3.0, 4.0]})
        self.assertIsNone(one.missing)
        for groups, reason in [
            ({("glibc", 1): [1.0, 2.0]}, "nothing to compare"),
            ({("glibc", 1): [1.0], ("other", 1): [2.0]}, "two runs of each"),
            ({("glibc", 1): [1.0, 1.0], ("other", 1): [2.0, 2.0]}, "do not vary"),
            ({("glibc", 1): [1.0, 1.0], ("other", 1): [1.0, 1.0]}, "all runs have the same value"),
            ({("glibc", 1): [1.0, 1.5], ("glibc", 2): [1, 2], ("other", 1): [1, 2]}, "no run"),
            ({("glibc", 1): [None], ("other", 1): [None]}, "not measured"),
        ]:
            self.assertIn(reason, str(self.analysed(groups).missing))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The statistics of paper 3: analysis of variance with its assumptions, and Tukey's test.

The model is that of a completely randomised design with fixed effects: allocator, number of cores
and their interaction; with one number of cores (or one allocator) a single factor.

The transformation. Candidates are the untransformed values and Box and Cox's powers beside them:
the square root, the logarithm, 1/sqrt(x) and 1/x. A candidate is good if the residuals of the model
pass Shapiro-Wilk's test and the groups Levene's (from the medians), both at 5 %. Untransformed
values are taken if they are good, else the good candidate whose exponent is nearest to the maximum
of Box and Cox's likelihood; if none is good, the nearest of all, or none where the exponent lies
beyond -2...2 and no power helps, and the result says so.
"""

import dataclasses
import math
import warnings

import numpy
import pandas
from scipy import optimize, stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from strid_memory.letters import letters
from strid_memory.measures import Measure

LEVEL = 0.05
EXPONENT_MAX = 2
POWERS = {1.0: "none", 0.5: "square root", 0.0: "logarithm", -0.5: "1/sqrt(x)", -1.0: "1/x"}


class Impossible(Exception):
    """These data allow no test; the text says why."""


@dataclasses.dataclass
class Source:
    """A line of a table of analysis of variance, as tables I, III and V; None: not defined."""

    name: str
    df: int
    ss: float
    ms: float | None = None
    f: float | None = None
    p: float | None = None


@dataclasses.dataclass
class Assumptions:
    """p-values of Shapiro-Wilk's test of the residuals and Levene's of the groups; None where a
    test needs more runs."""

    shapiro_p: float | None
    levene_p: float | None

    @property
    def kept(self) -> bool:
        return all(p is None or p >= LEVEL for p in (self.shapiro_p, self.levene_p))


@dataclasses.dataclass
class Cell:
    """An allocator on a number of cores. `half_width` is that of the 95 % interval of the mean, of
    these runs alone; letters are "" where there is no test."""

    allocator: str
    cores: int
    runs: int
    mean: float
    deviation: float | None
    half_width: float | None
    among_allocators: str = ""
    among_cores: str = ""


@dataclasses.dataclass
class Analysis:
    """The result of the runs for one measure. Without tests, `missing` says why."""

    measure: Measure
    cells: list[Cell]
    missing: str | None = None
    power: float = 1.0
    box_cox: float | None = None
    untransformed: Assumptions | None = None
    assumptions: Assumptions | None = None
    sources: list[Source] = dataclasses.field(default_factory=list)
    # By number of cores: allocators alike, by ranks, for where the assumptions are not kept.
    kruskal: dict[int, float] = dataclasses.field(default_factory=dict)
    # p of Tukey's test: (cores, allocator, allocator) and (allocator, cores, cores).
    between_allocators: dict[tuple[int, str, str], float] = dataclasses.field(default_factory=dict)
    between_cores: dict[tuple[str, int, int], float] = dataclasses.field(default_factory=dict)

    @property
    def transformation(self) -> str:
        return POWERS[self.power]

    @property
    def is_constant(self) -> bool:
        """Whether all runs have the same value."""
        return len({c.mean for c in self.cells}) == 1 and not any(c.deviation for c in self.cells)

    def cell(self, allocator: str, cores: int) -> Cell | None:
        found = (c for c in self.cells if (c.allocator, c.cores) == (allocator, cores))
        return next(found, None)

    def differ(self, cores: int, one: str, other: str) -> bool:
        p = self.between_allocators.get((cores, one, other))
        if p is None:
            p = self.between_allocators.get((cores, other, one))
        return p is not None and p < LEVEL


def transformed(values, power: float):
    values = numpy.asarray(values, dtype=float)
    return values if power == 1 else numpy.log(values) if power == 0 else values**power


def residuals_of(groups: list) -> numpy.ndarray:
    return numpy.concatenate([group - group.mean() for group in groups])


def assumptions_of(groups: list) -> Assumptions:
    """Of values in groups, the cells of the model."""
    residuals = residuals_of(groups)
    shapiro = levene = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(residuals) >= 3 and numpy.ptp(residuals) > 0:
            shapiro = float(stats.shapiro(residuals).pvalue)
        # From two runs each, all distances from the median of a group are equal.
        if len(groups) >= 2 and min(map(len, groups)) >= 3:
            levene = float(stats.levene(*groups, center="median").pvalue)
            levene = None if math.isnan(levene) else levene
    return Assumptions(shapiro, levene)


def box_cox_power(groups: list) -> float | None:
    """The exponent of the greatest likelihood under the model of a mean for each group."""
    if min(group.min() for group in groups) <= 0:
        return None
    everything = numpy.concatenate(groups)
    logs = numpy.log(everything / stats.gmean(everything))  # the scale changes no likelihood

    def loss(power: float) -> float:
        moved = logs if abs(power) < 1e-9 else numpy.expm1(power * logs) / power
        parts = numpy.split(moved, numpy.cumsum([len(group) for group in groups])[:-1])
        ss = float((residuals_of(parts) ** 2).sum())
        return len(moved) / 2 * math.log(max(ss, 1e-300) / len(moved)) - (power - 1) * logs.sum()

    return float(optimize.minimize_scalar(loss, bounds=(-5, 5), method="bounded").x)


def choose_power(groups: list) -> tuple[float, float | None]:
    """The power of the transformation by the rule above, and Box and Cox's exponent."""
    best = box_cox_power(groups)
    if best is None or assumptions_of(groups).kept:
        return 1.0, best
    powers = sorted(POWERS, key=lambda power: abs(power - best))
    good = [p for p in powers if assumptions_of([transformed(g, p) for g in groups]).kept]
    if good:
        return good[0], best
    return (powers[0] if abs(best) <= EXPONENT_MAX else 1.0), best


def table_of(frame: pandas.DataFrame, factors: list[str]) -> tuple[list[Source], float, int]:
    """The analysis of variance of column `y`; and the mean square and degrees of the error.

    The interaction is in the model where there are two factors. Sums of squares are of type II,
    which for equal numbers of runs is the only type.
    """
    # The differences count, not what they stand on: without it they are exact to more digits.
    spread = float(frame.y.std()) or 1.0
    centred = frame.assign(y=(frame.y - frame.y.mean()) / spread)
    formula = "y ~ " + " * ".join(f"C({factor})" for factor in factors)
    model = ols(formula, centred).fit()
    if model.df_resid < 1:
        raise Impossible("the tests need two runs of each at least (--repeat 2)")
    if model.ssr <= 1e-20 * len(frame):
        raise Impossible("the runs of each allocator do not vary: there is nothing to test against")
    table = anova_lm(model, typ=2)
    sources = []
    for name, row in table.iterrows():
        df, ss = int(row["df"]), float(row["sum_sq"]) * spread**2
        if name == "Residual":
            sources.append(Source("Error", df, ss, ss / df))
        else:
            label = str(name).replace("C(", "").replace(")", "").replace(":", " vs. ")
            sources.append(Source(label, df, ss, ss / df, float(row["F"]), float(row["PR(>F)"])))
    total = float(((frame.y - frame.y.mean()) ** 2).sum())
    sources.append(Source("Total", len(frame) - 1, total))
    return sources, float(model.ssr / model.df_resid) * spread**2, int(model.df_resid)


def tukey_p(groups: list, ms_error: float, df_error: int) -> dict[tuple[int, int], float]:
    """p of each pair of groups (Tukey and Kramer), with the error of the whole model."""
    pairs = [(i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))]
    ranges = [
        abs(groups[i].mean() - groups[j].mean())
        / math.sqrt(ms_error / 2 * (1 / len(groups[i]) + 1 / len(groups[j])))
        for i, j in pairs
    ]
    values = stats.studentized_range.sf(ranges, len(groups), df_error) if pairs else []
    return {pair: float(p) for pair, p in zip(pairs, values)}


def cells_of(frame: pandas.DataFrame) -> list[Cell]:
    cells = []
    for (allocator, cores), group in frame.groupby(["allocator", "cores"], sort=False):
        runs = len(group)
        deviation = float(group.value.std()) if runs > 1 else None
        half = (
            None
            if deviation is None
            else (float(stats.t.ppf(1 - LEVEL / 2, runs - 1)) * deviation / math.sqrt(runs))
        )
        cells.append(
            Cell(str(allocator), int(cores), runs, float(group.value.mean()), deviation, half)
        )
    return cells


def analyse(
    measure: Measure, rows: list[dict], allocators: list[str], cores: list[int]
) -> Analysis:
    """The analysis of one measure; `rows` are dictionaries of runs with allocator, cores and the
    measure's key."""
    values = [(r["allocator"], r["cores"], r.get(measure.key)) for r in rows]
    values = [v for v in values if v[2] is not None and v[0] in allocators and v[1] in cores]
    values.sort(key=lambda v: (allocators.index(v[0]), cores.index(v[1])))
    frame = pandas.DataFrame(values, columns=["allocator", "cores", "value"])
    result = Analysis(measure, cells_of(frame) if len(frame) else [])
    try:
        run_tests(result, frame, allocators, cores)
    except Impossible as error:
        result.missing = str(error)
    return result


def run_tests(result: Analysis, frame: pandas.DataFrame, allocators: list[str], cores: list[int]):
    if frame.empty:
        raise Impossible("not measured")
    if len(result.cells) < len(allocators) * len(cores):
        raise Impossible("some allocators have no run on some numbers of cores")
    groups = {
        (str(allocator), int(number)): group.value.to_numpy(dtype=float)
        for (allocator, number), group in frame.groupby(["allocator", "cores"], sort=False)
    }
    if len(groups) < 2:
        raise Impossible("there is one allocator on one number of cores: nothing to compare")
    if frame.value.nunique() == 1:
        raise Impossible(f"all runs have the same value, {result.measure.text(frame.value[0])}")
    result.kruskal = kruskal_of(groups, allocators, cores)
    result.untransformed = assumptions_of(list(groups.values()))
    result.power, result.box_cox = choose_power(list(groups.values()))
    moved = {key: transformed(group, result.power) for key, group in groups.items()}
    result.assumptions = assumptions_of(list(moved.values()))
    factors = [f for f, levels in (("allocator", allocators), ("cores", cores)) if len(levels) > 1]
    frame = frame.assign(y=transformed(frame.value, result.power))
    result.sources, ms_error, df_error = table_of(frame, factors)
    compare_allocators(result, moved, allocators, cores, (ms_error, df_error))
    compare_cores(result, moved, allocators, cores, (ms_error, df_error))


def kruskal_of(groups: dict, allocators: list[str], cores: list[int]) -> dict[int, float]:
    """p of Kruskal and Wallis's test of the allocators for each number of cores."""
    found = {}
    for number in cores:
        column = [groups[allocator, number] for allocator in allocators]
        if len(column) > 1 and numpy.ptp(numpy.concatenate(column)) > 0:
            found[number] = float(stats.kruskal(*column).pvalue)
    return found


def compare_allocators(result: Analysis, groups: dict, allocators: list, cores: list, error: tuple):
    """Tukey's test in each column of the paper's tables: the lower case letters."""
    for number in cores:
        p = tukey_p([groups[allocator, number] for allocator in allocators], *error)
        for (i, j), value in p.items():
            result.between_allocators[number, allocators[i], allocators[j]] = value
        column = [result.cell(allocator, number) for allocator in allocators]
        means = [cell.mean for cell in column]
        for cell, text in zip(column, letters(means, lambda i, j: p[i, j] < LEVEL)):
            cell.among_allocators = text if len(allocators) > 1 else ""


def compare_cores(result: Analysis, groups: dict, allocators: list, cores: list, error: tuple):
    """Tukey's test in each line of the paper's tables: the upper case letters."""
    for allocator in allocators:
        p = tukey_p([groups[allocator, number] for number in cores], *error)
        for (i, j), value in p.items():
            result.between_cores[allocator, cores[i], cores[j]] = value
        line = [result.cell(allocator, number) for number in cores]
        means = [cell.mean for cell in line]
        for cell, text in zip(line, letters(means, lambda i, j: p[i, j] < LEVEL)):
            cell.among_cores = text.upper() if len(cores) > 1 else ""

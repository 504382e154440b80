# SPDX-License-Identifier: Apache-2.0
"""Tables of an analysis, as rows of text: for the terminal, and for the page (page.py)."""

import textwrap

from strid_memory.analysis import LEVEL, Analysis, Assumptions, Cell


def cores_text(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def p_text(p: float | None) -> str:
    return "" if p is None else "<.0001" if p < 0.0001 else f"{p:.4f}"


def number_text(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def cell_text(analysis: Analysis, cell: Cell | None) -> str:
    """As in table II: the mean, and the letters (upper case along the line, lower case down)."""
    if cell is None:
        return "-"
    marks = cell.among_cores + cell.among_allocators
    return analysis.measure.text(cell.mean) + (f" ({marks})" if marks else "")


def means_rows(analysis: Analysis, allocators: list[str], cores: list[int]) -> list[list[str]]:
    """Tables II, IV and VI."""
    rows = [["allocator / cores", *map(str, cores)]]
    for name in allocators:
        rows.append([name, *(cell_text(analysis, analysis.cell(name, n)) for n in cores)])
    return rows


def anova_rows(analysis: Analysis) -> list[list[str]]:
    """Tables I, III and V."""
    names = {"cores": "# of cores", "allocator vs. cores": "allocator vs. # of cores"}
    rows = [["source", "DF", "SS", "MS", "F", "p-value"]]
    for source in analysis.sources:
        name = names.get(source.name, source.name)
        numbers = map(number_text, (source.ss, source.ms, source.f))
        rows.append([name, str(source.df), *numbers, p_text(source.p)])
    return rows


def tests_text(assumptions: Assumptions) -> str:
    texts = []
    for name, p in (("Shapiro-Wilk", assumptions.shapiro_p), ("Levene", assumptions.levene_p)):
        texts.append(f"{name} needs more runs" if p is None else f"{name} p {p_text(p)}")
    return ", ".join(texts)


def assumptions_text(analysis: Analysis) -> str:
    """Which transformation, why, and whether the assumptions are kept."""
    text = f"Transformation: {analysis.transformation}"
    if analysis.power != 1:
        text += f" (Box and Cox's exponent {analysis.box_cox:.2f};"
        text += f" untransformed: {tests_text(analysis.untransformed)})"
    elif analysis.box_cox is None:
        text += " (not all values are positive)"
    text += f". {tests_text(analysis.assumptions)}: "
    if analysis.assumptions.kept:
        return text + "the assumptions are not rejected."
    ranks = ", ".join(f"{p_text(p)} ({cores_text(n)})" for n, p in analysis.kruskal.items())
    text += "the assumptions are not kept, the p-values are approximate."
    if ranks:
        text += f" Kruskal and Wallis's test by ranks, of the allocators: p {ranks}."
    return text


def notes_of_letters(analysis: Analysis) -> str:
    level = f"{100 * LEVEL:g} %"
    texts = []
    if any(cell.among_allocators for cell in analysis.cells):
        texts.append("lower case letters compare the allocators of a column")
    if any(cell.among_cores for cell in analysis.cells):
        texts.append("upper case letters the numbers of cores of a line")
    if not texts:
        return ""
    text = " and ".join(texts)
    return (
        f"{text[0].upper()}{text[1:]} (Tukey's test, {level}): values that share a letter do not"
        " differ significantly; a is the largest."
    )


def aligned(rows: list[list[str]], indent: str = "  ") -> list[str]:
    """Rows as lines: the first column to the left, the rest to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:])]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, 99, initial_indent=indent, subsequent_indent=indent)


def terminal_text(analysis: Analysis, allocators: list[str], cores: list[int]) -> list[str]:
    """A measure on the terminal: means with letters, and the analysis of variance."""
    lines = [analysis.measure.label]
    if not analysis.cells:
        return [f"{analysis.measure.label}: {analysis.missing}"]
    lines += aligned(means_rows(analysis, allocators, cores))
    if analysis.missing:
        return [*lines, f"  No tests: {analysis.missing}."]
    effects = [s for s in analysis.sources if s.p is not None]
    names = {"allocator vs. cores": "interaction"}
    tests = [f"{names.get(s.name, s.name)} F {number_text(s.f)} p {p_text(s.p)}" for s in effects]
    return [*lines, *wrapped(", ".join(tests) + "."), *wrapped(assumptions_text(analysis))]

# SPDX-License-Identifier: Apache-2.0
"""The sentence that says which allocator to take, and what it costs in memory."""

from strid_memory.allocators import GLIBC
from strid_memory.analysis import LEVEL, Analysis, Cell
from strid_memory.tables import cores_text


def percent(value: float, base: float) -> str:
    change = round(100 * (value / base - 1)) if base else 0
    if change == 0:
        return "as much as"
    return f"{change} % more than" if change > 0 else f"{-change} % less than"


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def best_first(analysis: Analysis, cores: int) -> list[Cell]:
    sign = -1 if analysis.measure.more_is_better else 1
    column = [cell for cell in analysis.cells if cell.cores == cores]
    return sorted(column, key=lambda cell: sign * cell.mean)


def advice(speed: Analysis, memory: Analysis, cores: list[int]) -> str:
    """About the largest number of cores; the others where their best ones differ."""
    if speed.missing:
        return f"No advice: of {speed.measure.title.lower()} {speed.missing}."
    if len({cell.allocator for cell in speed.cells}) < 2:
        return "No advice: there is one allocator only."
    text = advice_on(speed, memory, cores[-1])
    top = equals_of_best(speed, cores[-1])
    for number in reversed(cores[:-1]):
        others = equals_of_best(speed, number)
        if not set(others) & set(top):
            text += f" On {cores_text(number)} it is {listed(others)} instead."
    if speed.assumptions and not speed.assumptions.kept:
        text += (
            " The assumptions of the tests are not kept, whatever the transformation: p-values near"
            f" {LEVEL:g} decide nothing."
        )
    return text


def equals_of_best(speed: Analysis, cores: int) -> list[str]:
    """The best on this number of cores, and those that do not differ significantly from it."""
    column = [cell.allocator for cell in best_first(speed, cores)]
    return [
        name for name in column if name == column[0] or not speed.differ(cores, column[0], name)
    ]


def advice_on(speed: Analysis, memory: Analysis, cores: int) -> str:
    names = equals_of_best(speed, cores)
    column = best_first(speed, cores)
    title = speed.measure.title.lower()
    if len(names) == len(column):
        return (
            f"On {cores_text(cores)} no allocator differs significantly from the others in {title}."
        )
    chosen = min(names, key=lambda name: peak_of(memory, name, cores))
    cell = speed.cell(chosen, cores)
    text = f"On {cores_text(cores)} take {chosen}: {title} {speed.measure.text(cell.mean)}"
    text += f" {speed.measure.unit}".rstrip()
    base = next((c for c in column if c.allocator == GLIBC), None)
    if base is None:
        base = column[-1]
    if chosen != base.allocator:
        significant = speed.differ(cores, chosen, base.allocator)
        text += f", {percent(cell.mean, base.mean)} {base.allocator}"
        text += "" if significant else " (not significant)"
    rest = [name for name in names if name != chosen]
    if rest:
        verb = "is" if len(rest) == 1 else "are"
        text += f"; {listed(rest)} {verb} not significantly different and hold"
        text += f"{'s' if len(rest) == 1 else ''} as much memory or more"
    else:
        text += "; it is significantly better than every other one"
    return text + ". " + memory_of(memory, chosen, base.allocator, cores)


def peak_of(memory: Analysis, name: str, cores: int) -> float:
    cell = memory.cell(name, cores)
    return cell.mean if cell else float("inf")


def memory_of(memory: Analysis, chosen: str, base: str, cores: int) -> str:
    cell, other = memory.cell(chosen, cores), memory.cell(base, cores)
    if cell is None or other is None:
        return "Its memory was not measured."
    text = f"It holds {memory.measure.text(cell.mean)} {memory.measure.unit} at its peak"
    if chosen == base:
        return text + "."
    significant = memory.differ(cores, chosen, base)
    note = "" if significant else " (not significant)"
    return f"{text}, {percent(cell.mean, other.mean)} {base}{note}."

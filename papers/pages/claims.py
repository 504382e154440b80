# SPDX-License-Identifier: Apache-2.0
"""The claims of the papers, a line each, and whether they hold here.

claims.csv: paper, section, claim, then one of two. `condition` over values of the results gives the
verdict of a claim that is measured: all of it true, it holds; some, in part; none, it does not; a
value that is not there, it is not tried. `verdict` is that of a claim without a figure, with the
test or page that shows it in `link`.

    condition:  FIGURE|SERIES|AT < NUMBER or value, joined by " and "; also >, =
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from pathlib import Path

from figure_values import Key, Value, read_rows, table
from paper_texts import FOLDERS, PAPERS, Paper

HOLDS, IN_PART, NOT, UNTRIED = "holds", "in part", "does not", "not tried"
VERDICTS = (HOLDS, IN_PART, NOT, UNTRIED)
OPERATORS = {"<": operator.lt, ">": operator.gt, "=": operator.eq}
COMPARISON = re.compile(r"(.+?) ([<>=]) (.+)")


@dataclass(frozen=True)
class Claim:
    paper: int
    section: str
    claim: str
    figure: str
    condition: str
    verdict: str
    link: str


def read_claims(papers: Path = PAPERS) -> list[Claim]:
    return [Claim(**{**row, "paper": int(row["paper"])})
            for row in read_rows(papers / "claims.csv")]


def value_of(text: str, values: dict[Key, Value]) -> float | None:
    parts = text.split("|")
    if len(parts) == 3:
        found = values.get(tuple(parts))
        return found.value if found else None
    return float(text)


def answers(condition: str, values: dict[Key, Value]) -> list[bool | None]:
    """Of each comparison; None where a value is not there."""
    found = []
    for comparison in condition.split(" and "):
        parts = COMPARISON.fullmatch(comparison)
        if not parts:
            raise ValueError(f"'{comparison}' is no comparison of a condition")
        one, sign, other = parts.groups()
        left, right = value_of(one, values), value_of(other, values)
        found.append(None if left is None or right is None else OPERATORS[sign](left, right))
    return found


def verdict_of(claim: Claim, values: dict[Key, Value]) -> str:
    if not claim.condition:
        return claim.verdict
    found = answers(claim.condition, values)
    if None in found:
        return UNTRIED
    return HOLDS if all(found) else IN_PART if any(found) else NOT


def claims_of(claims: list[Claim], paper: int, figure: str,
              values: dict[Key, Value]) -> list[tuple[str, str]]:
    """The measured claims of a figure, with their verdicts."""
    return [(claim.claim, verdict_of(claim, values)) for claim in claims
            if (claim.paper, claim.figure) == (paper, figure) and claim.condition]


def link_of(claim: Claim, paper: Paper) -> tuple[str, str]:
    """Text and target, from the folder of the papers."""
    if not claim.figure:
        return Path(claim.link).name, claim.link
    figure = next((one for one in paper.figures if one.name == claim.figure), None)
    if figure is None:
        raise ValueError(f"paper {paper.number} has no figure '{claim.figure}': {claim.claim}")
    return (figure.title.partition(":")[0],
            f"{FOLDERS[paper.number][0]}/figures.md#{figure.anchor}")


def faults_of(claims: list[Claim], papers: dict[int, Paper], folder: Path = PAPERS) -> list[str]:
    """A line each: figures without a claim, claims without a verdict, links that lead nowhere."""
    faults = []
    for one in papers.values():
        claimed = {claim.figure for claim in claims if claim.paper == one.number}
        faults += [f"paper {one.number}, {figure.name}: no claim in claims.csv"
                   for figure in one.figures if figure.name not in claimed]
    for claim in claims:
        where = f"claims.csv: '{claim.claim}'"
        if bool(claim.condition) == bool(claim.verdict):
            faults.append(f"{where}: either a condition or a verdict")
        if claim.verdict and claim.verdict not in VERDICTS:
            faults.append(f"{where}: no verdict '{claim.verdict}'")
        if claim.condition and not claim.figure:
            faults.append(f"{where}: a condition without its figure")
        if not claim.figure and not (claim.link and (folder / claim.link).exists()):
            faults.append(f"{where}: no file '{claim.link}'")
    return faults


def tables_of(claims: list[Claim], papers: dict[int, Paper],
              values: dict[int, dict[Key, Value]]) -> list[str]:
    """A table for each paper, below a line that counts."""
    verdicts = {claim: verdict_of(claim, values[claim.paper]) for claim in claims}
    counts = ", ".join(f"{sum(found == word for found in verdicts.values())} {text}"
                       for word, text in ((HOLDS, "hold here"), (IN_PART, "hold in part"),
                                          (NOT, "do not"), (UNTRIED, "are not tried")))
    lines = [f"Of {len(claims)} claims {counts}. A claim that a run measures has its verdict from "
             "the stored values of that run; without a stored run it is not tried.", ""]
    for number, paper in papers.items():
        rows = []
        for claim in (claim for claim in claims if claim.paper == number):
            text, target = link_of(claim, paper)
            rows.append([claim.section, claim.claim, verdicts[claim], f"[{text}]({target})"])
        lines += [f"### {paper.title.partition(',')[0]}", ""]
        lines += table(["section", "claim", "here", "shown by"], rows)
    return lines

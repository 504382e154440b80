#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the papers, out of their texts, the papers' values and the stored runs.

    pages.py                       writes papers/*/figures.md, the claims in papers/README.md and
                                   the values of the raw files
    pages.py --store out/trading   takes a finished run into the results of its paper first
    pages.py --check               writes nothing; each difference is a line, the status then is 1

A run is what `make figures report study layouts` leaves: CSV files, plots and raw/settings.json,
which says commit, machine, commands and date. A quick or unfinished run is refused, and one that
lacks a figure that is stored, unless --replace says so.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench")]
from claims import faults_of, read_claims, tables_of  # noqa: E402
from figure_pages import page_of_results, runs_of  # noqa: E402
from figure_values import read_rows, read_values, write_values  # noqa: E402
from paper_texts import FOLDERS, PAPERS, Paper, measured_values, read_paper  # noqa: E402
from reporting import write_csv  # noqa: E402
from store import RunError, read_settings  # noqa: E402

CLAIMS = "## Claims\n"


def figures_in(results: Path) -> set[str]:
    return {key[0] for key in read_values(results / "values.csv")}


def store(run: Path, papers: Path = PAPERS, replace: bool = False, quick: bool = False) -> Paper:
    """Copies a finished run into the results of its paper."""
    settings = read_settings(run)
    if settings.get("paper") not in FOLDERS:
        raise RunError(f"{run}: it is no run of a paper")
    if settings.get("quick") and not quick:
        raise RunError(f"{run}: a quick run, whose numbers say nothing")
    if "finished" not in settings:
        raise RunError(f"{run}: the run is not finished: --resume of its driver goes on")
    paper = read_paper(settings["paper"], papers)
    there = {file.name for file in run.iterdir()}
    raw = {name for figure in paper.figures for name in figure.raw} & there
    plots = {name for figure in paper.figures for name in figure.plots} & there
    with tempfile.TemporaryDirectory(dir=paper.folder, prefix=".unfinished-") as folder:
        made = Path(folder) / "results"
        if paper.results.is_dir():
            shutil.copytree(paper.results, made)
        made.mkdir(exist_ok=True)
        for name in sorted(raw | plots):
            shutil.copyfile(run / name, made / name)
        write_values(made / "values.csv", measured_values(paper.number, made))
        lost = figures_in(paper.results) - figures_in(made)
        if lost and not replace:
            raise RunError(f"{run}: it lacks {', '.join(sorted(lost))}, which is stored: run all "
                           "parts, or --replace")
        runs = [row for row in read_rows(made / "runs.csv") if row["file"] not in raw | plots]
        write_csv(made / "runs.csv", sorted(runs + runs_of(settings, raw | plots),
                                            key=lambda row: row["file"]))
        if paper.results.is_dir():
            shutil.rmtree(paper.results)
        made.rename(paper.results)
    return paper


def pages(papers: Path = PAPERS) -> dict[Path, str]:
    """The text of each page."""
    found = {number: read_paper(number, papers) for number in FOLDERS}
    values = {number: read_values(paper.results / "values.csv") for number, paper in found.items()}
    claims = read_claims(papers)
    faults = faults_of(claims, found, papers)
    if faults:
        raise RunError("\n".join(faults))
    texts = {paper.folder / "figures.md": page_of_results(paper, claims)
             for paper in found.values()}
    readme = papers / "README.md"
    written, mark, _ = readme.read_text().partition(CLAIMS)
    if not mark:
        raise RunError(f"{readme}: no line '{CLAIMS.strip()}'")
    texts[readme] = "\n".join([written + CLAIMS, *tables_of(claims, found, values)]
                              ).rstrip("\n") + "\n"
    return texts


def stored_values(papers: Path = PAPERS) -> dict[Path, str]:
    """The text of each values.csv, by the raw files beside it."""
    texts = {}
    for number in FOLDERS:
        paper = read_paper(number, papers)
        stored = paper.results / "values.csv"
        if not stored.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / "values.csv"
            write_values(again, measured_values(number, paper.results))
            texts[stored] = again.read_text()
    return texts


def values_that_differ(papers: Path = PAPERS) -> list[str]:
    return [f"{file}: not what the raw files give"
            for file, text in stored_values(papers).items() if file.read_text() != text]


def check(papers: Path = PAPERS) -> list[str]:
    faults = values_that_differ(papers)
    for file, text in pages(papers).items():
        if not file.exists() or file.read_text() != text:
            faults.append(f"{file}: not what papers/pages/pages.py writes")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, action="append", default=[], metavar="RUN",
                        help="the output folder of a driver; may be given several times")
    parser.add_argument("--replace", action="store_true",
                        help="store a run that lacks figures which are stored")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    if options.check and options.store:
        parser.error("--check writes nothing: it goes without --store")
    try:
        if options.check:
            faults = check()
            print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
            return 1 if faults else 0
        for run in options.store:
            paper = store(run, replace=options.replace)
            print(f"{run} is stored in {paper.results}")
        for texts in (stored_values, pages):
            for file, text in texts().items():
                file.write_text(text)
    except (RunError, ValueError, OSError) as error:
        print(f"pages: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

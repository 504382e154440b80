#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the papers: they are what pages.py writes, every number of them is in a file, every
claim has a line and a link; and runs are stored, or refused. Without a program of the build."""

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAPERS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PAPERS / "pages"), str(PAPERS.parent / "bench")]
import claims  # noqa: E402
import figure_pages  # noqa: E402
import pages  # noqa: E402
import paper_texts  # noqa: E402
from figure_values import Printed, Value, number, read_values  # noqa: E402
from store import RunError  # noqa: E402

# Names of figures and sections, code, targets of links: no values.
NO_VALUES = [re.compile(r"`[^`]*`"), re.compile(r"\]\([^)]*\)"),
             re.compile(r"(?i)\b(figures?|tables?|sections?|paper)\s+[\w.]+"
                        r"((,\s|\sand\s|\sto\s)[\d.]+[a-z]?\b)*")]
NUMBER = re.compile(r"(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


def numbers_of(text: str) -> set[float]:
    for pattern in NO_VALUES:
        text = pattern.sub(" ", text)
    return {float(found.replace(",", "")) for found in NUMBER.findall(text)}


def numbers_of_files(paper: paper_texts.Paper) -> set[float]:
    """Of the CSV files, the texts of the claims, and the settings."""
    found = numbers_of(" ; ".join(claim.claim for claim in claims.read_claims(PAPERS)))
    for file in (paper.folder / "paper.csv", *paper.results.glob("*.csv")):
        with file.open(newline="") as text:
            for row in csv.reader(text):
                for cell in row:
                    found |= numbers_of(cell)
    return found | {float(value) for figure in paper.figures for value in figure.settings} | {
        float(value) for value in paper.settings}


def numbers_without_a_file(text: str, paper: paper_texts.Paper) -> set[float]:
    return numbers_of(text) - numbers_of_files(paper)


class Papers(unittest.TestCase):
    """Each test on a copy of the texts and results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.papers = Path(folder.name) / "papers"
        for name, _, _ in paper_texts.FOLDERS.values():
            (self.papers / name).mkdir(parents=True)
            for file in ("figures.toml", "paper.csv", "figures.md"):
                shutil.copy(PAPERS / name / file, self.papers / name)
        for file in ("README.md", "claims.csv"):
            shutil.copy(PAPERS / file, self.papers)
        self.run = Path(folder.name) / "out"

    def trading(self, **settings) -> Path:
        """A run of the trading operator: only table 1."""
        (self.run / "raw").mkdir(parents=True, exist_ok=True)
        rows = ["allocator,variant,resident_mb", "glibc,wrapper,120.5", "jemalloc,wrapper,100.4",
                "glibc,wrapper-slab,123.25", "jemalloc,wrapper-slab,118"]
        (self.run / "memory.csv").write_text("\n".join(rows) + "\n")
        all_settings = {"paper": 1, "commit": "f" * 40, "machine": "a machine",
                        "begun": "2026-01-01", "finished": "2026-01-02",
                        "commands": ["figures.py"], **settings}
        (self.run / "raw/settings.json").write_text(json.dumps(
            {name: value for name, value in all_settings.items() if value is not None}))
        return self.run

    def store(self, **options) -> paper_texts.Paper:
        """Claims link to files that the copy has not: pages of the papers alone."""
        return pages.store(self.trading(), self.papers, **options)


class Stored(unittest.TestCase):
    def test_pages_and_values_are_those_that_the_script_writes(self):
        self.assertEqual(pages.check(), [])

    def test_every_number_of_a_page_is_in_a_file(self):
        for paper in map(paper_texts.read_paper, paper_texts.FOLDERS):
            with self.subTest(paper=paper.number):
                text = (paper.folder / "figures.md").read_text()
                self.assertEqual(numbers_without_a_file(text, paper), set())

    def test_every_file_of_the_results_says_where_it_comes_from(self):
        for paper in map(paper_texts.read_paper, paper_texts.FOLDERS):
            if paper.results.is_dir():
                with (paper.results / "runs.csv").open(newline="") as file:
                    told = {row["file"] for row in csv.DictReader(file)
                            if row["commit"] and row["machine"] and row["command"]
                            and row["date"]}
                there = {file.name for file in paper.results.iterdir()}
                self.assertEqual(there - {"runs.csv", "values.csv"}, told)

    def test_papers_have_all_their_figures(self):
        """Those that the texts of the papers have, counted in them."""
        expected = {1: ["5a", "5b", "6a", "6b", "7", "T1"],
                    2: [*map(str, range(12, 21)), "T3", "T4"],
                    3: [*map(str, range(8, 14)), "TI", "TII", "TIII", "TIV", "TV", "TVI"],
                    4: ["T1.1", "1.4", "1.5-farm", "1.5-ring", "1.6", "1.7", "1.8"]}
        for number_of, names in expected.items():
            found = {figure.name for figure in paper_texts.read_paper(number_of).figures}
            self.assertEqual(set(names) - found, set())
        layouts = paper_texts.read_paper(5)
        with_values = {printed.figure for printed in layouts.printed.values()}
        self.assertEqual(len(with_values), 9)
        charts = [figure.name for figure in layouts.figures if figure.title.startswith("Chart")]
        self.assertEqual(len(charts), 2)

    def test_every_claim_has_a_line_with_a_link(self):
        text = (PAPERS / "README.md").read_text()
        for claim in claims.read_claims():
            line = re.search(rf"^\| {re.escape(claim.section)} \| {re.escape(claim.claim)} "
                             r"\| ([a-z ]+) \| \[[^]]+\]\(([^)]+)\) \|$", text, re.MULTILINE)
            self.assertIsNotNone(line, claim.claim)
            self.assertIn(line.group(1), claims.VERDICTS)
            file, _, anchor = line.group(2).partition("#")
            self.assertTrue((PAPERS / file).exists(), line.group(2))
            if anchor:
                headings = [figure.anchor for paper in map(paper_texts.read_paper,
                                                           paper_texts.FOLDERS)
                            for figure in paper.figures]
                self.assertIn(anchor, headings)


class Changed(Papers):
    """The checks find changes, on a copy."""

    def test_a_number_that_is_in_no_file(self):
        paper = self.store()
        text = figure_pages.page_of_results(paper, claims.read_claims())
        self.assertEqual(numbers_without_a_file(text, paper), set())
        self.assertIn("120.5", text)
        self.assertEqual(numbers_without_a_file(text + "\nIt is 1.234 times as fast.\n", paper),
                         {1.234})
        self.assertEqual(numbers_without_a_file(text.replace("120.5", "120.6"), paper), {120.6})

    def test_values_that_the_rows_do_not_give(self):
        paper = self.store()
        self.assertEqual(pages.values_that_differ(self.papers), [])
        file = paper.results / "values.csv"
        file.write_text(file.read_text().replace("120.5", "99"))
        self.assertEqual(pages.values_that_differ(self.papers),
                         [f"{file}: not what the raw files give"])

    def test_a_page_that_was_changed_by_hand(self):
        for name, _, _ in paper_texts.FOLDERS.values():
            (self.papers / name / "README.md").write_text("")
        with (self.papers / "claims.csv").open() as file:
            rows = [row for row in csv.DictReader(file) if row["figure"]]
        with (self.papers / "claims.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        for file, text in pages.pages(self.papers).items():
            file.write_text(text)
        self.assertEqual(pages.check(self.papers), [])
        changed = self.papers / "1-stream-memory/figures.md"
        changed.write_text(changed.read_text().replace("not run", "2.5 times", 1))
        self.assertEqual(pages.check(self.papers),
                         [f"{changed}: not what papers/pages/pages.py writes"])

    def test_claims_that_lack_something(self):
        found = {one: paper_texts.read_paper(one) for one in paper_texts.FOLDERS}
        good = claims.read_claims()
        self.assertEqual(claims.faults_of(good, found), [])
        without = [claim for claim in good if (claim.paper, claim.figure) != (1, "7")]
        self.assertEqual(claims.faults_of(without, found), ["paper 1, 7: no claim in claims.csv"])
        for changes, said in (({"link": "none.md"}, "no file 'none.md'"),
                              ({"verdict": "perhaps"}, "no verdict 'perhaps'"),
                              ({"verdict": ""}, "either a condition or a verdict")):
            claim = claims.Claim(**{**vars(good[0]), **changes})
            self.assertIn(said, claims.faults_of([*good, claim], found)[0])

    def test_the_command_says_what_differs(self):
        done = subprocess.run([sys.executable, "-B", PAPERS / "pages/pages.py", "--store",
                               self.run / "none"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^pages: error: .*none/raw/settings.json: No such file")
        self.assertEqual(len(done.stderr.splitlines()), 1)


class Runs(Papers):
    """A run is stored, or refused."""

    def test_is_copied_with_where_it_comes_from(self):
        paper = self.store()
        values = read_values(paper.results / "values.csv")
        self.assertEqual(values["T1", "wrapper", "glibc"].value, 120.5)
        self.assertEqual(values["T1", "most over least of the wrappers", "all allocators"].value,
                         1.228)  # 123.25 / 100.4
        self.assertEqual((paper.results / "runs.csv").read_text().splitlines()[1],
                         f"memory.csv,2026-01-02,{'f' * 40},a machine,figures.py")
        text = figure_pages.page_of_results(paper, claims.read_claims())
        self.assertIn("| standard wrappers (wrapper) | 2498 | 120.5 |", text)
        self.assertIn("[memory.csv](results/memory.csv)", text)
        # 1.228 is below the 1.4 of its claim.
        self.assertIn("| [Table 1: memory](#table-1-memory) | agrees |", text)

    def test_is_refused_where_it_says_nothing(self):
        for settings, said in (({"quick": True}, "a quick run"),
                               ({"finished": None}, "is not finished"),
                               ({"paper": 9}, "no run of a paper")):
            with self.subTest(said=said), self.assertRaisesRegex(RunError, said):
                pages.store(self.trading(**settings), self.papers)
        self.assertFalse((self.papers / "1-stream-memory/results").exists())

    def test_is_refused_where_it_lacks_a_stored_figure(self):
        paper = self.store()
        before = {file.name: file.read_text() for file in paper.results.iterdir()}
        self.trading()
        (self.run / "memory.csv").write_text("allocator,variant,resident_mb\n")
        with self.assertRaisesRegex(RunError, "it lacks T1, which is stored"):
            pages.store(self.run, self.papers)
        self.assertEqual({file.name: file.read_text() for file in paper.results.iterdir()}, before)
        pages.store(self.run, self.papers, replace=True)
        self.assertEqual(read_values(paper.results / "values.csv"), {})


class Verdicts(unittest.TestCase):
    def ours(self, **cells) -> dict:
        return {("f", *key.split("_")): Value("f", *key.split("_"), value, value, value, 1, "ns")
                for key, value in cells.items()}

    def printed(self, rule, **cells) -> list[Printed]:
        return [Printed("f", *key.split("_"), str(value), "ms", rule, "")
                for key, value in cells.items()]

    def verdict(self, printed, ours, order="", claimed=()):
        figure = paper_texts.Figure("f", "Figure f", "", "", "", ["f.csv"], order=order)
        return figure_pages.verdict_of(figure, printed, ours, set(), list(claimed))

    def test_ratios_are_compared_by_their_side_of_one(self):
        for paper, here, word in ((1.1, 1.5, "Agrees"), (1.1, 1.02, "Does not agree"),
                                  (0.9, 0.5, "Agrees"), (0.9, 1.2, "Does not agree"),
                                  (1.02, 0.99, "Agrees")):
            found = self.verdict(self.printed("ratio", a_b=paper), self.ours(a_b=here))
            self.assertEqual(found.word, word, (paper, here))

    def test_orders_are_those_of_rows_or_columns(self):
        printed = self.printed("order", a_x=1.0, a_y=2.0, b_x=3.0, b_y=4.0)
        ours = self.ours(a_x=1.0, a_y=2.0, b_x=3.0, b_y=1.5)
        row = self.verdict(printed, ours, "row")
        self.assertEqual((row.word, row.differ), ("Agrees in part", ["b: y is below x"]))
        column = self.verdict(printed, ours, "column")
        self.assertEqual((column.compared, column.differ), (2, ["y: b is below a"]))
        self.assertEqual(self.verdict(printed, ours, "both").compared, 4)

    def test_ties_have_no_order(self):
        printed = self.printed("order", a_x=1.0, a_y=1.04)
        self.assertEqual(self.verdict(printed, self.ours(a_x=9.0, a_y=1.0), "row").compared, 0)
        printed = self.printed("order", a_x=1.0, a_y=2.0)
        self.assertEqual(self.verdict(printed, self.ours(a_x=1.04, a_y=1.0), "row").word, "Agrees")

    def test_cells_are_equal_or_not(self):
        printed = self.printed("cell", a_x=4, a_y=1)
        self.assertEqual(self.verdict(printed, self.ours(a_x=4.0, a_y=2.0)).differ, ["a, y"])

    def test_without_values_nothing_was_run(self):
        self.assertEqual(self.verdict(self.printed("ratio", a_b=1.1), {}).word, "Not run")
        self.assertEqual(self.verdict([], self.ours(a_b=1.0)).word, "Not compared")

    def test_claims_are_compared_too(self):
        ours = self.ours(a_b=1.0)
        found = self.verdict([], ours, claimed=[("It is so", claims.HOLDS),
                                                ("It was so", claims.UNTRIED)])
        self.assertEqual((found.word, found.compared), ("Agrees", 1))
        found = self.verdict([], ours, claimed=[("It is so", claims.IN_PART),
                                                ("It was so", claims.HOLDS)])
        self.assertEqual((found.word, found.differ),
                         ("Agrees in part", ['the claim "It is so" holds in part']))

    def test_claims_follow_their_conditions(self):
        values = self.ours(a_x=1.0, a_y=2.0)

        def verdict(condition):
            return claims.verdict_of(claims.Claim(1, "", "", "f", condition, "", ""), values)
        self.assertEqual(verdict("f|a|x < f|a|y"), claims.HOLDS)
        self.assertEqual(verdict("f|a|x < f|a|y and f|a|x > 1.5"), claims.IN_PART)
        self.assertEqual(verdict("f|a|x > f|a|y and f|a|x = 2"), claims.NOT)
        self.assertEqual(verdict("f|a|x < f|a|y and f|a|z > 1.5"), claims.UNTRIED)
        with self.assertRaisesRegex(ValueError, "is no comparison"):
            verdict("f|a|x")

    def test_numbers_are_shown_as_they_are_stored(self):
        for value, text in ((0, "0"), (1234567.8, "1234568"), (12.3456, "12.35"),
                            (0.00123456, "0.001235")):
            self.assertEqual(number(value), text)


if __name__ == "__main__":
    unittest.main()

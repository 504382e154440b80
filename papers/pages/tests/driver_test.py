#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of figures in quick mode: in pieces, then on a page.

    driver_test.py DRIVER [ARGUMENT...]     DRIVER: figures.py or layouts.py, with its --build
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAPERS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PAPERS / "pages"), str(PAPERS.parent / "bench"), str(PAPERS / "pages/tests")]
import claims  # noqa: E402
import figure_pages  # noqa: E402
import pages  # noqa: E402
import paper_texts  # noqa: E402
from pages_test import numbers_without_a_file  # noqa: E402
from store import UNFINISHED, RunError  # noqa: E402

DRIVER, *ARGUMENTS = sys.argv[1:]


class Driver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.output = self.folder / "out"

    def run_driver(self, *more: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-B", DRIVER, *ARGUMENTS, "--quick", "--output", self.output, *more],
            capture_output=True, text=True, check=False)

    def keys(self) -> list:
        lines = (self.output / "raw/runs.jsonl").read_text().splitlines()
        return [json.loads(line)["key"] for line in lines]

    def test_measures_in_pieces_what_a_page_shows(self):
        # A minute that is over after the first measurement; the next piece repeats nothing.
        done = self.run_driver("--minutes", "0.000001")
        self.assertEqual(done.returncode, UNFINISHED, done.stderr)
        self.assertIn("minutes are over", done.stderr)
        first = self.keys()
        self.assertGreater(len(first), 0)
        with self.assertRaisesRegex(RunError, "not finished"):
            pages.store(self.output, PAPERS, quick=True)
        done = self.run_driver("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        keys = self.keys()
        self.assertEqual(keys[:len(first)], first)
        self.assertEqual(len(keys), len(set(map(str, keys))))

        page = (self.output / "figures.md").read_text()
        self.assertIn("the numbers mean nothing", page)
        papers = self.folder / "papers"
        number = json.loads((self.output / "raw/settings.json").read_text())["paper"]
        name = paper_texts.FOLDERS[number][0]
        (papers / name).mkdir(parents=True)
        for file in ("figures.toml", "paper.csv"):
            shutil.copy(PAPERS / name / file, papers / name)
        paper = pages.store(self.output, papers, quick=True)
        stored = figure_pages.page_of_results(paper, claims.read_claims())
        self.assertEqual(numbers_without_a_file(stored, paper), set())
        measured = pages.figures_in(paper.results)
        self.assertGreater(len(measured), 0)
        for figure in paper.figures:
            section = stored.partition(f"\n## {figure.title}\n")[2].partition("\n## ")[0]
            self.assertNotEqual(section, "", figure.name)
            self.assertEqual("**Not run**" not in section, figure.name in measured, figure.name)
            for link in re.findall(r"\((results/[^)]+)\)", section):
                self.assertTrue((paper.folder / link).exists(), link)

        # Another run moves this one away.
        self.run_driver("--minutes", "0.000001")
        self.assertTrue((self.folder / "out.1/figures.md").exists())
        self.assertEqual(self.keys(), first)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

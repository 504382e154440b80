# SPDX-License-Identifier: Apache-2.0
"""A graph as the command line shows it: its explanation, its tasks, its picture."""

import csv
import re
import unittest

from bundled import PAPER, TEXT
from command_line import Case

BLOCKS = ("Seqs", "Combiners", "Pipes", "Containers", "All-to-Alls")
# Applications whose --form paper has the paper's graph, and their letters in its table 3.
PAPERS_FORM = {"fraud-detection": ("FD", "--model", "model.txt"), "spike-detection": ("SD",),
               "traffic-monitoring": ("TM", "--roads", "roads.csv"), "word-count": ("WC",),
               "yahoo-benchmark": ("YB", "--campaigns", "campaigns.csv"),
               "linear-road": ("LR", "--history", "history.csv"), "voip-stream": ("VS",)}
# Its row contradicts the paper's rules (tests/block/table3_test.cpp), which give this one.
BY_THE_RULES = {"VS": [32, 13, 13, 16, 8]}


class Layouts(Case):
    def test_explain(self):
        text = self.strid("explain", "word-count", "--parallelism", "count=3").stdout.decode()
        for name in ["lines", "split", "count", "write"]:
            self.assertIn(name, text)

    def test_the_papers_form_has_the_blocks_of_table_3(self):
        with (PAPER / "paper.csv").open(newline="") as file:
            printed = {(row["series"], row["at"]): int(row["value"])
                       for row in csv.DictReader(file) if row["figure"] == "T3"}
        for name, (short, *option) in PAPERS_FORM.items():
            options = [option[0], PAPER / name / "data" / option[1]] if option else []
            text = self.strid("explain", name, "--algebra", "--parallelism", 1, "--form", "paper",
                              *options).stdout.decode()
            found = list(map(int, re.findall(r"\d+", text.splitlines()[-1])))
            row = [printed[short, block] for block in BLOCKS]
            self.assertEqual(found, BY_THE_RULES.get(short, row), name)
            if short in BY_THE_RULES:
                self.assertEqual(found[:2], row[:2], "its Seqs and Combiners are the paper's")

    def test_explain_lists_the_tasks_of_a_replay(self):
        run = ["--workers", 2, "--duration", "10ms"]
        for way in [[], ["--parallelism", 3], ["--mode", "dedicated"]]:
            text = self.strid("explain", "word-count", *run, *way).stdout.decode()
            listed = next(line for line in text.splitlines() if line.startswith("Tasks, "))
            refused = self.fails("run", "word-count", "--input", TEXT, *run, *way, "--affinity",
                                 ",".join(["0"] * 100), code=2)
            self.assertEqual(listed.split(": ")[1], refused.split("tasks: ")[1])

    def test_pictures(self):
        run = ["run", "word-count", "--input", TEXT, "--output", "/dev/null", "--graph"]
        for ending, words in [("svg", "<svg"), ("dot", "digraph"), ("txt", "split")]:
            path = self.folder / f"graph.{ending}"
            self.strid(*run, path)
            text = path.read_text()
            self.assertIn(words, text)
            self.assertIn("count", text)

    def test_pictures_that_cannot_be_drawn_are_said_before_the_work(self):
        out = self.folder / "out.csv"
        run = ["run", "word-count", "--input", TEXT, "--output", out, "--graph"]
        error = self.fails(*run, self.folder / "graph.svg", code=1, env={"PATH": "/nowhere"})
        self.assertIn("graphviz", error.lower())
        self.assertIn("cannot open for writing", self.fails(*run, "/dev/full/graph.txt", code=1))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""strid tree on tables of the UCI archive that scikit-learn's package has in it: the same tree
sequential and by a farm of any number of workers, that of an obvious C4.5 (tree_oracle.py), and
about as many rows right as scikit-learn's tree on the same folds.

    packaged_tables_test.py BENCH     BENCH: the folder of the drivers
"""

import os
import pathlib
import subprocess
import sys
import unittest

import tree_oracle
from program import PROGRAM
from tree_support import TreeCase

BENCH = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path[:0] = [str(BENCH), str(BENCH.parents[2] / "bench")]
import packaged_tables  # noqa: E402

SEQUENTIAL = os.environ.get("SEQUENTIAL_TREE", "")
ROWS = {"iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2),
        "digits": (1797, 64, 10)}


@unittest.skipIf(packaged_tables.missing(), packaged_tables.missing())
class PackagedTables(TreeCase):
    def written(self, name):
        path = self.folder / f"{name}.csv"
        packaged_tables.write(path, packaged_tables.load(name))
        return path

    def test_are_those_of_the_archive(self):
        for name in packaged_tables.TABLES:
            table = packaged_tables.load(name)
            self.assertEqual((len(table.rows), table.attributes, len(set(table.classes))),
                             ROWS[name])

    def test_have_one_tree_on_any_number_of_workers(self):
        for name in packaged_tables.TABLES:
            path = self.written(name)
            learn = ["learn", "--quiet", "--input", path, "--target", "class"]
            expected = self.run_program(*learn, "--workers", 1).stdout
            self.assertIn(b" nodes, ", expected)
            for workers in [2, 3, 8]:
                with self.subTest(name, workers=workers):
                    found = self.run_program(*learn, "--workers", workers).stdout
                    self.assertEqual(found, expected)
            if SEQUENTIAL and pathlib.Path(SEQUENTIAL).exists():
                alone = subprocess.run([SEQUENTIAL, path, "class"], capture_output=True,
                                       check=True).stdout
                self.assertEqual(alone, expected, name)

    def test_have_the_tree_of_the_oracle(self):
        for name in packaged_tables.TABLES[:3]:  # of digits it takes a minute
            table = packaged_tables.load(name)
            path = self.written(name)
            kinds = ["number"] * table.attributes
            expected = tree_oracle.Learner(table.rows, table.classes, kinds).learn()
            with self.subTest(name):
                model, _ = self.learn(path, "--no-prune")
                self.same(self.nested(model), expected)
                model, _ = self.learn(path)
                tree_oracle.prune(expected)
                self.same(self.nested(model), expected)

    def test_have_as_many_rows_right_as_by_scikit_learn(self):
        for name, slack in zip(packaged_tables.TABLES, [0.03, 0.06, 0.03, 0.03]):
            table = packaged_tables.load(name)
            found = {"strid": 0, "scikit-learn": 0}
            for tested in packaged_tables.folds(table.classes, packaged_tables.FOLDS, 1):
                training = sorted(set(range(len(table.rows))) - set(tested))
                found["strid"] += packaged_tables.by_strid(
                    pathlib.Path(PROGRAM), self.folder, table, training, tested)["right"]
                found["scikit-learn"] += packaged_tables.by_scikit_learn(
                    table, training, tested, 1)["right"]
            with self.subTest(name, **found):
                least = found["scikit-learn"] - slack * len(table.rows)
                self.assertGreater(found["strid"], least)


class Folds(unittest.TestCase):
    def test_have_each_row_once_and_each_class_evenly(self):
        classes = ["a"] * 31 + ["b"] * 57 + ["c"] * 3
        found = packaged_tables.folds(classes, 10, 5)
        self.assertEqual(sorted(row for fold in found for row in fold), list(range(91)))
        for kind in "abc":
            counts = [sum(classes[row] == kind for row in fold) for fold in found]
            self.assertLessEqual(max(counts) - min(counts), 1)
        self.assertNotEqual(found, packaged_tables.folds(classes, 10, 6))


if __name__ == "__main__":
    unittest.main()

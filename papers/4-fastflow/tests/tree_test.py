# SPDX-License-Identifier: Apache-2.0
"""strid tree against an obvious C4.5 (tree_oracle.py), trees known from the literature, and
scikit-learn; how it reads tables; what it says to bad input (tree_refusals.py)."""

import csv
import gzip
import io
import json
import random
import unittest

import tree_oracle
from tree_missing import MissingValues
from tree_models import Columns, Shares, Weights
from tree_refusals import Models, Processes, Refusals
from tree_support import GOLF, TreeCase, as_csv, drawn_table

try:
    import sklearn.datasets as datasets
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier
except ImportError:
    datasets = None

# Run here, with those below.
__all__ = ["Columns", "MissingValues", "Models", "Processes", "Refusals", "Shares", "Weights"]

# Quinlan, Induction of decision trees (1986), table 1: names only.
WEATHER = """outlook,temperature,humidity,windy,class
sunny,hot,high,false,N
sunny,hot,high,true,N
overcast,hot,high,false,P
rain,mild,high,false,P
rain,cool,normal,false,P
rain,cool,normal,true,N
overcast,cool,normal,true,P
sunny,mild,high,false,N
sunny,cool,normal,false,P
rain,mild,normal,false,P
sunny,mild,normal,true,P
overcast,mild,high,true,P
overcast,hot,normal,false,P
rain,mild,high,true,N
"""


class Oracle(TreeCase):
    def compare(self, seed, rows, missing):
        draw = random.Random(seed)
        header, table, classes, kinds = drawn_table(draw, rows, missing)
        path = self.write("table.csv", as_csv(header, table, classes))
        cases_min = draw.choice([1, 2, 2, 2, 5])
        flags = ["--cases-min", cases_min]
        for kind, option in [("number", "--numeric"), ("name", "--categorical")]:
            columns = [name for name, k in zip(header, kinds) if k == kind]
            if columns:
                flags += [option, ",".join(columns)]
        expected = tree_oracle.Learner(table, classes, kinds, cases_min).learn()
        with self.subTest(seed=seed, rows=rows, missing=missing):
            model, _ = self.learn(path, "--no-prune", *flags)
            self.same(self.nested(model), expected)
            confidence = draw.choice([0.25, 0.25, 0.05, 0.6])
            model, _ = self.learn(path, "--confidence", confidence, *flags)
            tree_oracle.prune(expected, confidence)
            self.same(self.nested(model), expected)
            self.compare_predictions(path, table, kinds, expected, model)

    def compare_predictions(self, path, table, kinds, expected, model):
        answer = self.run_program(
            "predict", "--model", self.folder / "model.json", "--input", path, "--only-predictions"
        ).stdout.decode()
        rows = list(csv.reader(io.StringIO(answer)))
        self.assertEqual(rows[0], ["prediction", "confidence"])
        self.assertEqual(len(rows), len(table) + 1)
        for row, (name, confidence) in zip(table, rows[1:]):
            shares = tree_oracle.shares(expected, row, kinds)
            chosen = shares[model["classes"].index(name)]
            self.assertAlmostEqual(chosen, max(shares), delta=1e-9)
            self.assertAlmostEqual(float(confidence), chosen, delta=1e-4)

    def test_trees_are_those_of_the_oracle(self):
        for seed in range(60):
            self.compare(seed, 20 + 3 * seed, 0.0)

    def test_missing_values_are_shared_as_the_oracle_does(self):
        for seed in range(60):
            self.compare(1000 + seed, 20 + 2 * seed, [0.03, 0.1, 0.4][seed % 3])

    def test_many_values(self):
        draw = random.Random(5)
        table = [[f"id{i}", draw.choice("xy"), float(draw.randrange(9))] for i in range(60)]
        classes = ["p" if row[1] == "x" or row[2] > 6 else "n" for row in table]
        path = self.write("table.csv", as_csv(["id", "letter", "digit"], table, classes))
        expected = tree_oracle.Learner(table, classes, ["name", "name", "number"]).learn()
        model, _ = self.learn(path, "--no-prune")
        self.same(self.nested(model), expected)


class Known(TreeCase):
    def test_golf(self):
        path = self.write("golf.csv", GOLF)
        _, printed = self.learn(path, target="play")
        self.assertIn(
            "outlook = overcast: Play (4.0)\n"
            "outlook = rain:\n"
            "|   windy = false: Play (3.0)\n"
            "|   windy = true: Don't Play (2.0)\n"
            "outlook = sunny:\n"
            "|   humidity <= 75: Play (2.0)\n"
            "|   humidity > 75: Don't Play (3.0)\n",
            printed,
        )
        self.assertIn("8 nodes, 5 leaves, depth 2\n14 training cases, 0.0 errors", printed)

    def test_weather_of_names(self):
        path = self.write("weather.csv", WEATHER)
        _, printed = self.learn(path)
        self.assertIn(
            "outlook = overcast: P (4.0)\n"
            "outlook = rain:\n"
            "|   windy = false: P (3.0)\n"
            "|   windy = true: N (2.0)\n"
            "outlook = sunny:\n"
            "|   humidity = high: N (3.0)\n"
            "|   humidity = normal: P (2.0)\n",
            printed,
        )

    def test_golf_with_an_unknown_outlook(self):
        # C4.5 (1993), section 3.4: the outlook of a sunny case replaced by ?, by hand: windy and
        # humidity stay below, and 5/13 and 3/13 of the case go where the others went.
        text = GOLF.replace("overcast,72,90,true", "?,72,90,true")
        path = self.write("golf.csv", text)
        model, printed = self.learn(path, "--no-prune", target="play")
        tree = self.nested(model)
        self.assertEqual(tree["attribute"], 0)
        sunny = tree["branches"]["sunny"]
        self.assertEqual(sunny["threshold"], 75)
        self.assertAlmostEqual(sum(sunny["branches"]["low"]["counts"]), 2)
        self.assertAlmostEqual(sum(sunny["branches"]["up"]["counts"]), 3 + 5 / 13)
        self.assertAlmostEqual(sum(tree["branches"]["overcast"]["counts"]), 3 + 3 / 13)
        self.assertIn("|   humidity > 75: Don't Play (3.4/0.4)", printed)

    def test_errors_of_a_leaf(self):
        # C4.5 (1993), section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750.
        for cases, expected in [(6, 0.206), (9, 0.143), (1, 0.750)]:
            self.assertAlmostEqual(
                tree_oracle.added_errors(cases, 0, 0.25) / cases, expected, delta=6e-4
            )

    def test_a_threshold_is_a_number_of_the_table(self):
        rows = [(1, "a")] * 3 + [(2, "a")] * 3 + [(10, "b")] * 3 + [(20, "b")] * 3
        path = self.write("t.csv", "x,class\n" + "".join(f"{x},{c}\n" for x, c in rows))
        model, _ = self.learn(path)
        self.assertEqual(model["nodes"][0]["threshold"], 2)


class Accuracy(TreeCase):
    @unittest.skipUnless(datasets, "scikit-learn is not there")
    def test_beside_scikit_learn(self):
        for load, slack in [
            (datasets.load_iris, 0.03),
            (datasets.load_wine, 0.06),
            (datasets.load_breast_cancer, 0.03),
            (datasets.load_digits, 0.03),
        ]:
            data = load()
            lines = [",".join(f"x{i}" for i in range(data.data.shape[1])) + ",class"]
            for row, kind in zip(data.data, data.target):
                lines.append(",".join(repr(float(v)) for v in row) + f",k{kind}")
            path = self.write("table.csv", "\n".join(lines) + "\n")
            _, printed = self.learn(path, "--cross-validate", 10)
            at = printed.index("\naccuracy ") + len("\naccuracy ")
            found = float(printed[at : printed.index("%", at)]) / 100
            folds = StratifiedKFold(10, shuffle=True, random_state=1)
            peer = cross_val_score(
                DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=1),
                data.data,
                data.target,
                cv=folds,
            ).mean()
            with self.subTest(load.__name__, found=found, peer=peer):
                self.assertGreater(found, peer - slack)


class Table(TreeCase):
    """How a table is read."""

    def test_kinds_of_columns(self):
        path = self.write("t.csv", "a,b,c,class\n1,1,x,p\n2, 2.5 ,1,q\n?,,?,p\n+3e1,-0,2,q\n")
        model, _ = self.learn(path)
        self.assertEqual(
            model["attributes"],
            [{"name": "a"}, {"name": "b"}, {"name": "c", "values": ["1", "2", "x"]}],
        )
        model, _ = self.learn(path, "--categorical", "b,a", "--ignore", "c")
        self.assertEqual(
            model["attributes"],
            [
                {"name": "a", "values": ["+3e1", "1", "2"]},
                {"name": "b", "values": ["-0", "1", "2.5"]},
            ],
        )

    def test_quotes_newlines_marks_and_compression(self):
        text = (
            '\ufeff"na""me", x ,class\r\n"a,b\nc",1,"yes ""it is"""\r\n\r\n'
            + "d,2,no\r\n" * 3
            + '"a,b\nc",1,"yes ""it is"""\r\n' * 3
        )
        path = self.folder / "t.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
        model, _ = self.learn(path)
        self.assertEqual(model["classes"], ["no", 'yes "it is"'])
        self.assertEqual(model["attributes"][0], {"name": 'na"me', "values": ["a,b\nc", "d"]})
        answer = self.run_program(
            "predict", "--model", self.folder / "model.json", "--input", path
        ).stdout.decode()
        rows = list(csv.reader(io.StringIO(answer, newline="")))
        self.assertEqual(rows[0][-2:], ["prediction", "confidence"])
        self.assertEqual(rows[1], ["a,b\nc", "1", 'yes "it is"', 'yes "it is"', "1.0000"])
        self.assertEqual(len(rows), 8)

    def test_a_column_of_numbers_until_late(self):
        # Many blocks of numbers before the first name, and quoted newlines around block ends.
        rows = [f'{i % 7},"a\n{i}",{"p" if i % 7 > 3 else "q"}' for i in range(120_000)]
        rows[-1] = "late,z,p"
        path = self.write("t.csv", "x,text,class\n" + "\n".join(rows) + "\n")
        for workers in [1, 3]:
            model, _ = self.learn(path, "--ignore", "text", "--workers", workers)
            self.assertEqual(
                model["attributes"], [{"name": "x", "values": [*"0123456", "late"]}]
            )

    def test_other_delimiters(self):
        path = self.write("t.tsv", "x\tclass\n1\tp\n1\tp\n2\tq\n2\tq\n")
        model, _ = self.learn(path, "--delimiter", "\\t")
        self.assertEqual(len(model["nodes"]), 3)

    def test_rows_without_a_class_are_left_out(self):
        path = self.write("t.csv", "x,class\n1,p\n2,?\n2,q\n3,\n4,q\n0,p\n")
        model, printed = self.learn(path)
        self.assertEqual(model["nodes"][0]["counts"], [2, 2])
        self.assertIn("4 rows, 2 without a class left out", printed)

    def test_standard_input_and_output(self):
        result = self.run_program(
            "learn", "--target", "play", "--output", "-", input=GOLF.encode()
        ).stdout
        self.assertEqual(len(json.loads(result)["nodes"]), 8)

    def test_deep_trees(self):
        # Runs of two classes along one number, ever longer ones of p: the best cut is often near
        # an end. Each of the 3,000 runs is a leaf.
        kinds = []
        for i in range(3_000):
            kinds += ["p"] * (26 + 3 * i // 100) if i % 2 else ["q"] * 26
        rows = "".join(f"{x},{kind}\n" for x, kind in enumerate(kinds))
        path = self.write("t.csv", "x,class\n" + rows)
        answers = {
            self.learn(path, "--no-prune", "--workers", workers)[1] for workers in [1, 6]
        }
        self.assertEqual(len(answers), 1)
        printed = answers.pop()
        self.assertIn("5999 nodes, 3000 leaves, depth ", printed)
        self.assertIn(f"{len(kinds)} training cases, 0.0 errors", printed)
        depth = int(printed.rsplit("depth ", 1)[1].split()[0])
        self.assertGreater(depth, 200)

    def test_only_one_row_of_each_class(self):
        path = self.write("t.csv", "x,class\n1,p\n2,q\n")
        _, printed = self.learn(path)
        self.assertIn("\np (2.0/1.0)\n", printed)
        self.assertIn("1 nodes, 1 leaves, depth 0", printed)


class SameAnswer(TreeCase):
    """Bytes do not depend on the number of workers."""

    def generated(self, rows, *arguments):
        path = self.folder / "people.csv"
        self.run_program("generate", "--rows", rows, "--output", path, *arguments)
        return path

    def test_trees(self):
        for arguments in [
            ["--attributes", 12, "--noise", 0.1],
            ["--attributes", 9, "--missing", 0.05, "--seed", 3],
        ]:
            path = self.generated(12_000, *arguments)
            answers = set()
            for workers in [1, 2, 3, 8]:
                _, printed = self.learn(path, "--workers", workers, target="group")
                answers.add((printed, (self.folder / "model.json").read_bytes()))
            self.assertEqual(len(answers), 1)

    def test_cross_validation(self):
        path = self.generated(2_000)
        answers = {
            self.run_program(
                *["learn", "--input", path, "--target", "group", "--cross-validate", 5],
                *["--seed", 11, "--workers", workers],
            ).stdout
            for workers in [1, 2, 7]
        }
        self.assertEqual(len(answers), 1)
        other = self.run_program(
            *["learn", "--input", path, "--target", "group", "--cross-validate", 5, "--seed", 12]
        ).stdout
        self.assertNotIn(other, answers)

    def test_predictions(self):
        path = self.generated(30_000, "--missing", 0.01)
        self.learn(path, target="group")
        model = self.folder / "model.json"
        answers = {
            self.run_program(
                "predict", "--model", model, "--input", path, "--workers", workers
            ).stdout
            for workers in [1, 2, 5]
        }
        self.assertEqual(len(answers), 1)
        rows = answers.pop().decode().splitlines()
        self.assertEqual(len(rows), 30_001)
        correct = sum(row.split(",")[-3] == row.split(",")[-2] for row in rows[1:])
        report = self.run_program(
            "predict", "--model", model, "--input", path, "--accuracy"
        ).stdout.decode()
        self.assertIn(f"{correct} of 30000 rows", report)

    def test_generated_tables_are_the_same_for_a_seed(self):
        first = self.run_program("generate", "--rows", 50, "--seed", 4).stdout
        self.assertEqual(first, self.run_program("generate", "--rows", 50, "--seed", 4).stdout)
        self.assertNotEqual(first, self.run_program("generate", "--rows", 50, "--seed", 5).stdout)
        self.assertEqual(len(first.splitlines()), 51)


class Validation(TreeCase):
    def test_folds_are_stratified_and_add_up(self):
        rows = "".join(f"{i},{'p' if i % 4 else 'q'}\n" for i in range(40))
        path = self.write("t.csv", "x,class\n" + rows)
        _, printed = self.learn(path, "--cross-validate", 10)
        folds = [
            line.split() for line in printed.splitlines() if line.rstrip().endswith("%")
        ]
        self.assertEqual([fold[1] for fold in folds], ["4"] * 10)
        # A tree that sees nothing in x says p: 3 of 4 rows of each fold are of that class.
        self.assertIn("accuracy 75.00%, standard deviation 0.00%", printed)


if __name__ == "__main__":
    unittest.main()

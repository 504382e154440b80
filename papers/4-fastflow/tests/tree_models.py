# SPDX-License-Identifier: Apache-2.0
"""strid tree: weights of rows, against rows that are there so often and scikit-learn; the shares
of all classes, against the oracle; and PMML, by an evaluator that follows its specification."""

import csv
import io
import random
import resource
import xml.etree.ElementTree as xml

import tree_oracle
from program import SANITIZED
from tree_support import GOLF, TreeCase, as_csv, drawn_table

try:
    from sklearn.tree import DecisionTreeClassifier
except ImportError:
    DecisionTreeClassifier = None

NAMESPACE = {"p": "http://www.dmg.org/PMML-4_4"}


class Pmml:
    """A TreeModel, evaluated as PMML 4.4 says: simple predicates, weightedConfidence and
    returnLastPrediction."""

    def __init__(self, text):
        root = xml.fromstring(text)
        assert root.get("version") == "4.4"
        fields = root.findall("p:DataDictionary/p:DataField", NAMESPACE)
        self.values = {
            field.get("name"): [v.get("value") for v in field.findall("p:Value", NAMESPACE)]
            for field in fields if field.get("optype") == "categorical"
        }  # fmt: skip
        tree = root.find("p:TreeModel", NAMESPACE)
        mining = {field.get("name"): field.attrib
                  for field in tree.findall("p:MiningSchema/p:MiningField", NAMESPACE)}
        assert {*mining} == {field.get("name") for field in fields}
        self.target = next(n for n, f in mining.items() if f.get("usageType") == "target")
        for name, field in mining.items():
            assert name == self.target or field["invalidValueTreatment"] == "asMissing"
        assert tree.get("missingValueStrategy") == "weightedConfidence"
        assert tree.get("noTrueChildStrategy") == "returnLastPrediction"
        assert tree.get("splitCharacteristic") == "multiSplit"
        self.root = tree.find("p:Node", NAMESPACE)
        assert self.root.find("p:True", NAMESPACE) is not None

    def own(self, node):
        counts = {d.get("value"): float(d.get("recordCount"))
                  for d in node.findall("p:ScoreDistribution", NAMESPACE)}
        total = float(node.get("recordCount"))
        assert abs(sum(counts.values()) - total) < 1e-6 * total
        assert counts[node.get("score")] > max(counts.values()) - 1e-6
        return {name: count / total for name, count in counts.items()}

    def predicate(self, node, row):
        """True, false, or None where it is unknown."""
        test = node.find("p:SimplePredicate", NAMESPACE)
        value, name = row.get(test.get("field")), test.get("field")
        if name in self.values and value not in self.values[name]:
            value = None
        if value is None:
            return None
        if test.get("operator") == "equal":
            return value == test.get("value")
        below = float(value) <= float(test.get("value"))
        return below == (test.get("operator") == "lessOrEqual")

    def evaluate(self, row, node=None):
        node = self.root if node is None else node
        children = node.findall("p:Node", NAMESPACE)
        truths = [self.predicate(child, row) for child in children]
        if True in truths:
            return self.evaluate(row, children[truths.index(True)])
        if None not in truths:
            return self.own(node)
        total = sum(float(child.get("recordCount")) for child in children)
        shares = dict.fromkeys(self.own(node), 0.0)
        for child in children:
            part = float(child.get("recordCount")) / total
            for name, share in self.evaluate(row, child).items():
                shares[name] += part * share
        return shares


class Shares(TreeCase):
    def probabilities(self, path, *options):
        text = self.run_program(
            "predict", "--model", self.folder / "model.json", "--input", path, "--probabilities",
            "--only-predictions", *options).stdout.decode()  # fmt: skip
        return list(csv.reader(io.StringIO(text)))

    def test_of_all_classes_are_those_of_the_oracle_and_of_pmml(self):
        for seed in range(24):
            draw = random.Random(4000 + seed)
            header, table, classes, kinds = drawn_table(draw, 60, [0, 0.1, 0.3][seed % 3])
            classes[0] = 'a "<&\'> class, é'
            path = self.write("table.csv", as_csv(header, table, classes))
            flags = [*("--pmml", self.folder / "model.pmml", "--no-prune")]
            for kind, option in [("number", "--numeric"), ("name", "--categorical")]:
                if columns := [name for name, k in zip(header, kinds) if k == kind]:
                    flags += [option, ",".join(columns)]
            model, _ = self.learn(path, *flags)
            oracle = tree_oracle.Learner(table, classes, kinds).learn()
            pmml = Pmml((self.folder / "model.pmml").read_text())
            self.assertEqual(pmml.values[pmml.target], model["classes"])
            # Rows of other tables have values that no case of training had.
            for i in range(30):
                for place, kind in enumerate(kinds):
                    if kind == "name" and draw.random() < 0.2:
                        table[i][place] = draw.choice(["v0", "v1", "v4", "new"])
            path = self.write("asked.csv", as_csv(header, table, classes))
            rows = self.probabilities(path)
            self.assertEqual(rows[0], ["prediction", "confidence"] +
                             [f"probability_{name}" for name in model["classes"]])
            trained = [set(a.get("values", [])) for a in model["attributes"]]
            for row, answer in zip(table, rows[1:], strict=True):
                asked = [None if kind == "name" and value not in trained[place] else value
                         for place, (value, kind) in enumerate(zip(row, kinds))]
                found = [float(share) for share in answer[2:]]
                self.assertAlmostEqual(sum(found), 1, delta=2e-4 * len(found))
                self.assertAlmostEqual(max(found), float(answer[1]), delta=1e-9)
                shares = tree_oracle.shares(oracle, asked, kinds)
                by_pmml = pmml.evaluate(dict(zip(header, row)))
                for name, share, one, other in zip(
                    model["classes"], found, shares, map(by_pmml.get, model["classes"])
                ):
                    self.assertAlmostEqual(share, one, delta=5.1e-5, msg=(seed, name))
                    self.assertAlmostEqual(share, other, delta=5.1e-5, msg=(seed, name))

    def test_that_cannot_be_written(self):
        golf = self.write("golf.csv", GOLF)
        self.learn(golf, target="play")
        line = self.fails("predict", "--model", self.folder / "model.json", "--input", golf,
                          "--probabilities", "--accuracy", code=2)
        self.assertIn("--probabilities", line)
        path = self.write("asked.csv", GOLF.replace("temperature", "probability_Play"))
        line = self.fails("predict", "--model", self.folder / "model.json", "--input", path,
                          "--probabilities")
        self.assertIn("there is a column 'probability_Play' already", line)
        line = self.fails("learn", "--input", golf, "--target", "play", "--pmml", golf, code=2)
        self.assertIn("--pmml", line)
        path = self.write("control.csv", GOLF.replace("sunny", "sun\x02ny"))
        out = self.folder / "none"
        line = self.fails("learn", "--input", path, "--target", "play", "--pmml", out,
                          "--output", self.folder / "none.json")
        self.assertIn("control character", line)
        self.assertFalse(out.exists() or (self.folder / "none.json").exists())

    def test_pmml_of_a_deep_tree(self):
        """A chain of tests: no recursion, and XML with as many levels."""
        rows = [f"{i},{'ab'[i % 2]}" for i in range(3000)]
        path = self.write("deep.csv", "\n".join(["x,class", *rows]) + "\n")
        out = self.folder / "deep.pmml"
        model, _ = self.learn(path, "--no-prune", "--cases-min", 1, "--pmml", out)
        self.assertEqual(out.read_text().count("<Node "), len(model["nodes"]))


class Weights(TreeCase):
    def test_are_rows_that_are_there_so_often(self):
        for seed in range(16):
            draw = random.Random(5000 + seed)
            header, table, classes, _ = drawn_table(draw, 50, [0, 0.1][seed % 2])
            weights = [draw.choice([1, 1, 2, 3, 7]) for _ in table]
            repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
            # Rows of weight 0 are as none, also where their values are new.
            weighted = [[*row, weight] for row, weight in zip(table, weights)]
            weighted += [[*row, 0] for row in table[:5]]
            left = self.write("weighted.csv", as_csv([*header, "w"], weighted,
                                                     classes + classes[:5]))
            right = self.write("repeated.csv", as_csv(
                header, [table[i] for i in repeated], [classes[i] for i in repeated]))
            for options in ([], ["--no-prune"], ["--cases-min", 5]):
                one, text = self.learn(left, "--weights", "w", *options)
                two, _ = self.learn(right, *options)
                self.assertEqual(one["attributes"], two["attributes"])
                self.same(self.nested(one), self.nested(two))
                self.assertIn("(50 rows, 5 of weight 0 left out, ", text)

    def test_are_kept_in_cross_validation(self):
        """Of two equal rows of other classes the heavier one is believed."""
        rows = [f"{i % 5},{'ab'[j]},{(9, 1)[j ^ i % 2]}" for i in range(50) for j in (0, 1)]
        path = self.write("table.csv", "\n".join(["x,class,w", *rows]) + "\n")
        _, text = self.learn(path, "--weights", "w", "--categorical", "x", "--cross-validate", 5)
        self.assertIn("100 rows, 1 attributes", text)
        draw = random.Random(9)
        rows = []
        for _ in range(120):
            x = draw.randrange(4)
            rows.append(f"{x},{'a' if x % 2 else 'b'},9")
            rows.append(f"{x},{'b' if x % 2 else 'a'},1")
        path = self.write("table.csv", "\n".join(["x,class,w", *rows]) + "\n")
        _, text = self.learn(path, "--weights", "w", "--categorical", "x", "--cross-validate", 5)
        self.assertIn("accuracy 50.00%", text)
        self.assertIn("1200 training cases, 120.0 errors (10.00%)", text)

    def test_beside_scikit_learn(self):
        if DecisionTreeClassifier is None:
            self.skipTest("no scikit-learn")
        draw = random.Random(77)
        rows = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(400)]
        classes = ["p" if a + b > 0.3 else "n" for a, b in rows]
        # Wrong classes weigh little: without weights they would be believed.
        noise = [draw.random() < 0.3 for _ in rows]
        given = [("n" if c == "p" else "p") if n else c for c, n in zip(classes, noise)]
        weights = [0.05 if n else 2.5 for n in noise]
        path = self.write("table.csv", as_csv(
            ["a", "b", "w"], [[*row, w] for row, w in zip(rows, weights)], given))
        self.learn(path, "--weights", "w")
        answer = self.run_program("predict", "--model", self.folder / "model.json", "--input",
                                  path, "--only-predictions").stdout.decode().splitlines()[1:]
        found = sum(line.split(",")[0] == c for line, c in zip(answer, classes)) / len(rows)
        other = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=0.005,
                                       random_state=1)
        other.fit(rows, given, sample_weight=weights)
        reached = sum(a == c for a, c in zip(other.predict(rows), classes)) / len(rows)
        self.assertGreater(found, 0.93)
        self.assertGreater(reached, 0.93)

    def test_that_are_none(self):
        def table(weight):
            return self.write("t.csv", f"x,class,w\n1,a,1\n2,b,{weight}\n3,b,1\n")

        for weight in ("-1", "?", "", "x", "nan", "inf"):
            line = self.fails("learn", "--input", table(weight), "--target", "class",
                              "--weights", "w")
            self.assertIn("t.csv:3: column 'w'", line)
        arguments = "learn", "--input", table(1), "--target", "class"
        self.assertIn("'v'", self.fails(*arguments, "--weights", "v"))
        self.assertIn("--weights 'class'", self.fails(*arguments, "--weights", "class", code=2))
        self.assertIn("named before",
                      self.fails(*arguments, "--weights", "w", "--ignore", "w", code=2))
        self.assertIn("no row has a class", self.fails(
            "learn", "--input", self.write("z.csv", "x,class,w\n1,,1\n"), "--target", "class",
            "--weights", "w"))
        zero = self.write("z.csv", "x,class,w\n1,a,0\n2,b,0\n")
        self.assertIn("the rows weigh 0",
                      self.fails("learn", "--input", zero, "--target", "class", "--weights", "w"))
        light = self.write("l.csv", "x,class,w\n1,a,.1\n2,b,.1\n")
        warning = self.run_program("learn", "--input", light, "--target", "class", "--weights",
                                   "w", "--quiet").stderr.decode()
        self.assertIn("all rows together weigh 0.2, and a test needs 4", warning)


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Columns(TreeCase):
    def test_cost_what_their_number_says(self):
        """Four times the columns; a search of all names for each would take 16 times as long."""
        if SANITIZED:
            self.skipTest("measures time")
        times = []
        for columns in (16_000, 64_000):
            header = [f"column {i} of the table" for i in range(columns)]
            rows = [[i * j % 7 for j in range(columns)] for i in range(4)]
            path = self.write("wide.csv", as_csv(header, rows, list("abab")))
            before = children_s()
            self.learn(path, "--workers", "1")
            times.append(children_s() - before)
        self.assertLess(times[1], 8 * times[0] + 0.2)

# SPDX-License-Identifier: Apache-2.0
"""The errors of strid tree about bad tables, models and options, and its exit codes."""

import gzip
import json
import resource
import signal
import subprocess
import time
import unittest

from program import PROGRAM, SANITIZED
from tree_support import GOLF, TreeCase


class Refusals(TreeCase):
    def bad_table(self, text, *arguments, target="class"):
        path = self.write("bad.csv", text)
        return self.fails("learn", "--input", path, "--target", target, *arguments)

    def test_tables(self):
        rows = "1,p\n2,q\n"
        for text, expected in [
            ("", "bad.csv: the input is empty"),
            ("x,class\n", "bad.csv: no rows"),
            ("x,class\n1,p\n2,p\n", "all rows have the class 'p'"),
            ("x,class\n1,?\n2,\n", "no row has a class"),
            ("x,class\n" + rows + "3\n", "bad.csv:4: expected 2 fields, found 1"),
            ("x,class\n" + rows + "3,p,q\n", "bad.csv:4: expected 2 fields, found 3"),
            ('x,class\n1,p\n"2,q\n3,p\n', "bad.csv:3: a quoted field is never closed"),
            ('x,class\n1,p\n"2"z,q\n', "bad.csv:3: text after a closing quote"),
            ("x,class\n1,p\nnan,q\n", "bad.csv:3: column 'x': not a finite number: \"nan\""),
            ("x,class\n1,p\n2,p\n-inf,q\n", "bad.csv:4: column 'x': not a finite number"),
            ("x,class\n1,p\n1e999,q\n", "bad.csv:3: column 'x': not a finite number"),
            ("x,x,class\n1,2,p\n", "bad.csv:1: the header has two columns 'x'"),
            ("class\np\nq\n", "no column beside the target"),
            ("x,class\n" + "".join(f"1,{i}\n" for i in range(200)), "200 different numbers"),
        ]:
            with self.subTest(text[:60]):
                self.assertIn(expected, self.bad_table(text))

    def test_the_first_malformed_row_is_told(self):
        rows = ["1,p"] * 200_000
        rows[150_000] = "1"
        rows[160_000] = "1,2,3"
        error = self.bad_table("x,class\n" + "\n".join(rows) + "\n", "--workers", 4)
        self.assertIn("bad.csv:150002: expected 2 fields, found 1", error)

    def test_numbers_as_classes_where_they_are_meant(self):
        path = self.write("t.csv", "x,class\n" + "".join(f"{i},{i}\n" for i in range(200)))
        model, _ = self.learn(path, "--categorical", "class")
        self.assertEqual(len(model["classes"]), 200)

    def test_columns(self):
        text = "width,height,class\n1,2,p\n2,x,q\n"
        error = self.bad_table(text, target="clas")
        self.assertIn("--target: no column 'clas' in the header (did you mean class?)", error)
        error = self.bad_table(text, "--ignore", "widht")
        self.assertIn("(did you mean width?)", error)
        error = self.bad_table(text, "--numeric", "height")
        self.assertIn("bad.csv:3: column 'height': not a number: \"x\"", error)
        path = self.folder / "bad.csv"
        base = ["learn", "--input", path, "--target", "class"]
        for flags in [
            ["--ignore", "width", "--numeric", "width"],
            ["--ignore", "class"],
            ["--confidence", "0"],
            ["--confidence", "1.5"],
            ["--workers", "0"],
            ["--workers", "1025"],
            ["--cross-validate", "1"],
            ["--cases-min", "0"],
            ["--delimiter", "ab"],
            ["--output", path],
            ["--output", "-", "--cross-validate", "2"],
        ]:
            with self.subTest(flags):
                self.fails(*base, *flags, code=2)
        self.assertIn("only 2 rows", self.fails(*base, "--cross-validate", "3"))
        self.fails("learn", "--input", path, code=2)
        self.fails(code=2)
        self.assertEqual(path.read_text(), text)

    def test_files(self):
        missing = self.folder / "missing.csv"
        self.assertIn("missing.csv", self.fails("learn", "--input", missing, "--target", "x"))
        path = self.write("golf.csv", GOLF)
        base = ["learn", "--input", path, "--target", "play"]
        self.fails(*base, "--output", "/dev/full")
        self.fails(*base, "--output", self.folder / "no" / "model.json")
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [PROGRAM, *map(str, base)], stdout=full, stderr=subprocess.PIPE, timeout=60
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"strid: error: ", result.stderr)
        cut = self.folder / "cut.csv.gz"
        cut.write_bytes(gzip.compress(GOLF.encode())[:-20])
        self.assertIn("cut.csv.gz", self.fails("learn", "--input", cut, "--target", "play"))

    def test_names_that_no_model_can_hold(self):
        path = self.folder / "latin.csv"
        path.write_bytes(b"x,class\n1,p\xe9\n1,p\xe9\n2,q\n2,q\n")
        model = self.folder / "m.json"
        error = self.fails("learn", "--input", path, "--target", "class", "--output", model)
        self.assertIn("is not UTF-8", error)
        self.assertFalse(model.exists())


class Models(TreeCase):
    """Models that cannot be used."""

    def setUp(self):
        super().setUp()
        self.table = self.write("golf.csv", GOLF)
        self.learn(self.table, target="play")
        self.model = self.folder / "model.json"
        self.text = self.model.read_text()

    def refused(self, text):
        self.model.write_text(text)
        return self.fails("predict", "--model", self.model, "--input", self.table)

    def test_text_that_is_no_json(self):
        self.assertIn("model.json: the model is empty", self.refused(""))
        lines = self.text.splitlines(keepends=True)
        for cut in range(1, len(self.text) - 2, 37):
            error = self.refused(self.text[:cut])
            self.assertRegex(error, r"model\.json:\d+: not JSON, or cut off")
        broken = "".join(lines[:9]) + lines[9].replace(":", ";") + "".join(lines[10:])
        self.assertRegex(self.refused(broken), r"model\.json:10: not JSON")

    def test_json_of_any_depth(self):
        for text in ("[" * 200_000, '{"a":' * 200_000, "[" * 2_000 + "]" * 2_000):
            self.assertRegex(self.refused(text), r"model\.json:\d+: not JSON, or cut off")

    def test_json_that_is_no_model(self):
        for path, value, expected in [
            (["format"], "tree", '"format" is not "strid tree"'),
            (["version"], 2, '"version" is not 1'),
            (["target"], 5, '"target" of the model is not a string'),
            (["classes"], ["a"], '"classes" are not 2 or more'),
            (["attributes", 0, "name"], None, '"name" of attributes[0] is not a string'),
            (["nodes"], [], '"nodes" are none'),
            (["nodes", 1, "counts"], [1], '"counts" of nodes[1] are 1 for 2 classes'),
            (["nodes", 1, "counts"], [1, -1], "a value that is not a weight"),
            (["nodes", 1, "counts"], [0, 0], "nodes[1] has no training cases"),
            (["nodes", 0, "attribute"], 4, '"attribute" of nodes[0] is not one of the 4'),
            (["nodes", 5, "threshold"], "x", '"threshold" of nodes[5] is not a number'),
            (["nodes", 0, "branches"], [[0, 1]], "nodes[0] has fewer than 2 branches"),
            (["nodes", 0, "branches", 0], [3, 1], "a branch of nodes[0] is for value 3 of 3"),
            (["nodes", 0, "branches", 0], [0, 0], "a branch of nodes[0] leads to nodes[0]"),
            (["nodes", 0, "branches", 0], [0, 99], "leads to nodes[99], of 8"),
            (["nodes", 0, "branches", 1], [0, 2], "the branches of nodes[0] are not in order"),
            (["nodes", 2, "branches", 0], [0, 5], "nodes[5] is a branch of two nodes"),
        ]:
            model = json.loads(self.text)
            at = model
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            with self.subTest(path=path, value=value):
                error = self.refused(json.dumps(model))
                self.assertIn("model.json: not a model of strid tree: ", error)
                self.assertIn(expected, error)
        self.assertIn("not a model", self.refused("[1, 2]"))
        self.assertIn("not a model", self.refused("17"))

    def test_a_table_that_does_not_fit(self):
        text = GOLF.replace("humidity", "humidty", 1)
        path = self.write("other.csv", text)
        base = ["predict", "--model", self.model, "--input", path]
        self.assertIn(
            "the model does not fit: no column 'humidity', which the tree tests"
            " (did you mean humidty?)",
            self.fails(*base),
        )
        path.write_text(GOLF.replace("80,90,true", "80,high,true", 1))
        self.assertIn("other.csv:3: column 'humidity': not a number: \"high\"", self.fails(*base))
        path.write_text(GOLF.replace(",play\n", ",plays\n"))
        self.run_program(*base)
        self.assertIn("no column 'play'", self.fails(*base, "--accuracy"))
        path.write_text(GOLF.replace("temperature", "prediction"))
        self.assertIn("there is a column 'prediction' already", self.fails(*base))
        self.run_program(*base, "--only-predictions")
        path.write_text("")
        self.assertIn("the input is empty", self.fails(*base))

    def test_columns_in_another_order_and_rows_of_other_classes(self):
        path = self.write(
            "new.csv",
            "play,windy,humidity,outlook\nPlay,true,80,sunny\nmaybe,true,80,fog\n,,,\n",
        )
        # A fog that the tree does not know is sunny in 5 of 14 parts and rain in 5, where the
        # answer is no, and overcast in 4; nothing known at all is as the table: 9 of 14.
        answer = self.run_program("predict", "--model", self.model, "--input", path).stdout
        rows = [line.split(",") for line in answer.decode().splitlines()]
        self.assertEqual([row[-2] for row in rows], ["prediction", *["Don't Play"] * 2, "Play"])
        report = self.run_program(
            "predict", "--model", self.model, "--input", path, "--accuracy"
        ).stdout.decode()
        self.assertIn("accuracy 0.00%: 0 of 2 rows", report)
        self.assertIn("1 rows are of a class that the model does not know", report)
        self.assertIn("1 rows without a class are not counted", report)

    def test_options(self):
        base = ["predict", "--model", self.model, "--input", self.table]
        self.fails(*base, "--accuracy", "--output", "-", code=2)
        self.fails(*base, "--accuracy", "--only-predictions", code=2)
        self.fails(*base, "--output", self.model, code=2)
        self.fails(*base, "--output", self.table, code=2)
        answers = self.folder / "answers.csv"
        report = self.run_program(*base, "--accuracy", "--output", answers).stdout
        self.assertIn(b"accuracy 100.00%: 14 of 14 rows", report)
        self.assertEqual(len(answers.read_text().splitlines()), 15)


class Processes(TreeCase):
    """Signals, pipes, limits."""

    def test_a_closed_pipe(self):
        path = self.write("golf.csv", GOLF)
        self.learn(path, target="play")
        big = self.write("big.csv", GOLF + "".join(GOLF.split("\n", 1)[1] for _ in range(20_000)))
        process = subprocess.Popen(
            [PROGRAM, "predict", "--model", self.folder / "model.json", "--input", big],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(60), 141)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def interrupted(self, *arguments, feed=b"", after_s=0.0):
        """Runs what has more to do, and ends it; returns the exit code."""
        process = subprocess.Popen(
            [PROGRAM, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            process.stdin.write(feed)
            process.stdin.flush()
            time.sleep(after_s)
            process.send_signal(signal.SIGINT)
            code = process.wait(20)
            self.assertEqual(process.stderr.read(), b"")
            return code
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stderr.close()

    def test_interruption_while_reading(self):
        model = self.folder / "model.json"
        base = ["learn", "--target", "play", "--output", model]
        self.assertEqual(self.interrupted(*base, feed=GOLF.encode(), after_s=1), 130)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_interruption_while_growing(self):
        # A thousand folds take minutes.
        path = self.folder / "people.csv"
        self.run_program("generate", "--rows", 20_000, "--missing", 0.1, "--output", path)
        before = set(self.folder.iterdir())
        base = ["learn", "--input", path, "--target", "group", "--cross-validate", 1000]
        base += ["--output", self.folder / "model.json"]
        self.assertEqual(self.interrupted(*base, after_s=2), 130)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_interruption_while_predicting(self):
        self.learn(self.write("golf.csv", GOLF), target="play")
        before = set(self.folder.iterdir())
        base = ["predict", "--model", self.folder / "model.json"]
        base += ["--output", self.folder / "answers.csv"]
        self.assertEqual(self.interrupted(*base, feed=GOLF.encode(), after_s=1), 130)
        self.assertEqual(set(self.folder.iterdir()), before)

    @unittest.skipIf(SANITIZED, "takes several times the memory")
    def test_out_of_memory(self):
        path = self.folder / "people.csv"
        self.run_program("generate", "--rows", 100_000, "--output", path)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (60 << 20, 60 << 20))

        result = subprocess.run(
            [PROGRAM, "learn", "--input", path, "--target", "group", "--workers", "2"],
            capture_output=True,
            timeout=60,
            preexec_fn=limit,
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr.decode(), "^strid: error: .*\n$")
        self.assertEqual(result.stdout, b"")

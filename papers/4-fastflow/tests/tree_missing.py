# SPDX-License-Identifier: Apache-2.0
"""How strid tree reads a value that is missing, and a word among numbers."""

import random

from tree_support import TreeCase, as_csv, drawn_table


class MissingValues(TreeCase):
    def test_a_missing_value_is_written_in_several_ways(self):
        header, table, classes, _ = drawn_table(random.Random(1), 200, 0.1)
        text = as_csv(header, table, classes)
        model, marked = self.learn(self.write("marked.csv", text))
        for word, options in [("NA", []), ("", []), ("none", ["--missing", "x,none"])]:
            lines = [",".join(word if field == "?" else field for field in line.split(","))
                     for line in text.splitlines()]  # fmt: skip
            path = self.write("other.csv", "\n".join(lines) + "\n")
            other, result = self.learn(path, *options)
            self.assertEqual((other, result), (model, marked), word)
            answers = [
                self.run_program(
                    "predict", "--model", self.folder / "model.json", "--input", file,
                    "--only-predictions", *more).stdout  # fmt: skip
                for file, more in ((self.folder / "marked.csv", []), (path, options))
            ]
            self.assertEqual(*answers)

    def test_a_word_among_numbers_is_a_warning(self):
        rows = [f"{i},{'a' if i > 20 else 'b'}" for i in range(40)]
        rows[7] = "none,b"
        path = self.write("words.csv", "\n".join(["x,class", *rows]) + "\n")
        arguments = ["learn", "--input", path, "--target", "class", "--quiet"]
        warning = self.run_program(*arguments).stderr.decode()
        self.assertIn("words.csv:9: column 'x': \"none\" is no number", warning)
        self.assertIn("--missing none", warning)
        for more in (["--missing", "none"], ["--categorical", "x"]):
            self.assertEqual(self.run_program(*arguments, *more).stderr, b"")

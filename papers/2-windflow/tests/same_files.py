# SPDX-License-Identifier: Apache-2.0
"""Outputs that name an input or each other: refused with status 2, and no file is touched.

The expected behaviour is that of `cp a a` and `cat a > a`, which refuse ("are the same file",
"input file is output file") and leave the file as it was.
"""

import os
import subprocess
import unittest

from bundled import CAMPAIGNS, EVENTS, MODEL, TRANSACTIONS
from command_line import STRID, Case

TABLE = "t,x\n1000,1\n2000,2\n"
WINDOW = ["window", "--quiet", "--time", "t", "--window", "tumbling:1s", "--aggregate", "sum(x)"]


class SameFiles(Case):
    def setUp(self):
        super().setUp()
        self.table = self.file("a.csv", TABLE)
        self.link = self.folder / "link.csv"
        self.link.symlink_to("a.csv")
        self.hard = self.folder / "hard.csv"
        os.link(self.table, self.hard)
        (self.folder / "sub").mkdir()
        self.names = [self.table, self.link, self.hard, self.folder / "sub/../a.csv",
                      "a.csv", "./a.csv"]

    def refused(self, *arguments, **options):
        line = self.fails(*arguments, code=2, cwd=self.folder, **options)
        self.assertRegex(line, "the file that .* reads|the same file")
        self.assertEqual(self.table.read_text(), TABLE)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["a.csv", "hard.csv", "link.csv", "sub"])
        return line

    def test_every_output_of_window(self):
        for option in ["--output", "--late", "--dead-letter", "--metrics"]:
            for name in self.names:
                line = self.refused(*WINDOW, "--input", "a.csv", option, name)
                self.assertIn("reads", line)

    def test_the_input_by_another_name(self):
        for name in self.names:
            self.refused(*WINDOW, "--input", name, "--output", "a.csv")

    def test_standard_input_and_output(self):
        for name in self.names:
            with open(self.table, "rb") as table:
                self.refused(*WINDOW, "--output", name, stdin=table)
        with open(self.table, "ab") as table:
            result = subprocess.run([STRID, *WINDOW, "--input", self.table], stdout=table,
                                    stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(self.table.read_text(), TABLE)

    def test_two_outputs(self):
        late = [*WINDOW, "--input", "a.csv", "--output", "new.csv"]
        self.refused(*late, "--late", "./new.csv")
        self.refused(*late, "--metrics", self.folder / "sub/../new.csv")
        self.refused(*WINDOW, "--input", "a.csv", "--late", "x", "--dead-letter", "x")

    def test_the_name_until_whole(self):
        partial = self.file("o.csv.aaaaabbbbb.strid-partial", TABLE)
        line = self.fails(*WINDOW, "--input", partial, "--output", "o.csv", code=2,
                          cwd=self.folder)
        self.assertIn("reads", line)
        self.assertEqual(partial.read_text(), TABLE)

    def test_a_link_to_nothing_yet(self):
        later = self.folder / "later.csv"
        later.symlink_to("new.csv")
        line = self.fails(*WINDOW, "--input", "a.csv", "--output", "new.csv", "--late",
                          "later.csv", code=2, cwd=self.folder)
        self.assertIn("the same file", line)
        self.assertTrue(later.is_symlink() and not later.exists())

    def test_run(self):
        for option in ["--output", "--dead-letter", "--metrics"]:
            for name in self.names:
                self.refused("run", "word-count", "--quiet", "--input", "a.csv", option, name)
        self.refused("run", "flights", "--quiet", "--input", "a.csv", "--late", "link.csv")
        self.refused("run", "flights", "--quiet", "--input", "a.csv", "--rotations", "hard.csv")
        self.refused("run", "word-count", "--quiet", "--input", "a.csv", "--output", "a.csv",
                     "--duration", "1s")
        self.refused("run", "word-count", "--quiet", "--input", "a.csv", "--output", "a.csv",
                     "--rate", "1k")

    def test_what_an_application_reads_beside_its_input(self):
        for source, application in [
                (MODEL, ["fraud-detection", "--input", TRANSACTIONS, "--model"]),
                (CAMPAIGNS, ["yahoo-benchmark", "--input", EVENTS, "--campaigns"])]:
            text = source.read_bytes()
            copy = self.file("beside.txt", text)
            for option in ["--output", "--metrics", "--graph"]:
                line = self.fails("run", *application, copy, option, copy, code=2)
                self.assertIn(application[-1], line)
                self.assertEqual(copy.read_bytes(), text)
            self.fails("explain", application[0], application[-1], copy, "--graph", copy, code=2)
            self.assertEqual(copy.read_bytes(), text)

    def test_pictures(self):
        text = self.file("words.txt", "a b a")
        for command in ["--graph", "--picture"]:
            self.fails("run", "word-count", "--input", text, command, text, code=2)
        self.assertEqual(text.read_text(), "a b a")

    def test_pipes_and_devices_may_be_named_often(self):
        result = self.strid(*WINDOW, "--input", self.table, "--output", "-", "--late",
                            "/dev/stdout", "--dead-letter", "/dev/null", "--metrics", "/dev/null")
        self.assertLessEqual({b"1000,2000,1", b"2000,3000,2"}, set(result.stdout.splitlines()))
        result = self.strid(*WINDOW, "--input", "/dev/null", "--output", "/dev/null")
        self.assertEqual(result.stdout, b"")


if __name__ == "__main__":
    unittest.main()

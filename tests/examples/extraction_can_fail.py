# SPDX-License-Identifier: Apache-2.0
"""extract_examples.py and run_example.py on planted pages: faults in a page are found.

    extraction_can_fail.py SCRIPTS     SCRIPTS: the folder of extract_examples.py
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop())

from extract_examples import Fault, extract  # noqa: E402
from run_example import faults_of  # noqa: E402

PROGRAM = "<!-- example: hello -->\n```cpp\nint main() {}\n```\n"
PAGE = (
    f"# Title\n{PROGRAM}It prints\n\n<!-- output: hello -->\n```\nhello\n```\n"
    "<!-- input: hello names.csv -->\n```csv\na,b\n```\nand in `sh`\n```sh\nls\n```\n"
)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.target = self.root / "extracted"

    def extract(self, text: str) -> list[str]:
        page = self.root / "page.md"
        page.write_text(text)
        return extract(self.target, [page])

    def test_a_page(self):
        self.assertEqual(self.extract(PAGE), ["hello.cpp"])
        self.assertEqual((self.target / "hello.cpp").read_text(), "int main() {}\n")
        self.assertEqual((self.target / "hello/stdout").read_text(), "hello\n")
        self.assertEqual((self.target / "hello/input/names.csv").read_text(), "a,b\n")

    def test_what_left_the_page_leaves_the_folder(self):
        self.extract(PAGE)
        self.extract(PROGRAM)
        self.assertFalse((self.target / "hello/stdout").exists())

    def test_faults_of_pages(self):
        for text, words in [
            ("```cpp\nint main() {}\n```\n", "without <!-- example"),
            (PROGRAM + PROGRAM, "a second hello.cpp"),
            (PROGRAM + PROGRAM.replace("example", "command"), "of a program and of a command"),
            (PROGRAM[:-4], "does not end"),
            ("<!-- output: other -->\n```\n1\n```\n", "of no example"),
            (PROGRAM + "<!-- rows: hello -->\n```\n1\n```\n", "rows of hello names no file"),
            (PROGRAM + "<!-- input: hello -->\n```\n1\n```\n", "names no file"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(Fault, words):
                self.extract(text)

    def test_a_folder_of_something_else_is_left_alone(self):
        self.target.mkdir()
        (self.target / "precious").write_text("")
        with self.assertRaisesRegex(Fault, "not a folder of extracted"):
            self.extract(PAGE)
        self.assertTrue((self.target / "precious").exists())

    def test_faults_of_runs(self):
        self.extract(PAGE + "<!-- output: hello copy.csv -->\n```\na,b\n```\n")
        program = self.root / "program"

        def run(script: str) -> str:
            program.write_text("#!/bin/sh\n" + script)
            program.chmod(0o755)
            return "\n".join(faults_of(program, self.target / "hello"))

        self.assertEqual(run("echo hello\ncp names.csv copy.csv\n"), "")
        self.assertIn("+hallo", run("echo hallo\ncp names.csv copy.csv\n"))
        self.assertIn("no such file", run("echo hello\n"))
        self.assertIn("exit status 3", run("echo hello\ncp names.csv copy.csv\nexit 3\n"))

    def test_standard_input(self):
        self.extract(PROGRAM + "<!-- output: hello -->\n```\n7 words\n```\n")
        program = self.root / "program"
        program.write_text("#!/bin/sh\necho $(wc -w) words\n")
        program.chmod(0o755)
        self.assertIn("+0 words", "\n".join(faults_of(program, self.target / "hello")))
        (self.target / "hello/stdin").write_text("one two\nthree four five six seven\n")
        self.assertEqual(faults_of(program, self.target / "hello"), [])

    def test_rows_in_any_order(self):
        self.extract(PROGRAM + "<!-- rows: hello two.csv -->\n```\n1\n2\n```\n")
        program = self.root / "program"
        for written, is_right in [("1\\n2", True), ("2\\n1", True), ("1\\n1", False)]:
            program.write_text(f"#!/bin/sh\nprintf '{written}\\n' >two.csv\n")
            program.chmod(0o755)
            self.assertEqual(faults_of(program, self.target / "hello") == [], is_right)

    def test_commands(self):
        page = "<!-- command: go -->\n```sh\n{}\n```\n<!-- output: go -->\n```\nwent\n```\n"
        strid = self.root / "strid"
        strid.write_text("#!/bin/sh\necho went\n")
        strid.chmod(0o755)

        def run(line: str) -> str:
            self.assertEqual(self.extract(page.format(line)), ["go.sh"])
            return "\n".join(faults_of(self.target / "go.sh", self.target / "go", strid))

        self.assertEqual(run("strid"), "")
        self.assertIn("-went", run("true"))
        self.assertIn("exit status 1", run("strid; false; true"))


if __name__ == "__main__":
    unittest.main()

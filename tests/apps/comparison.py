# SPDX-License-Identifier: Apache-2.0
"""The comparison of rows by which the applications are held against their oracles can fail."""

import subprocess
import sys
import unittest

from command_line import APPS, Case


class Comparison(Case):
    def compare(self, expected, actual, *options):
        """The exit status and the differences of compare.py."""
        done = subprocess.run(
            [sys.executable, "-B", APPS / "compare.py", self.file("expected.csv", expected),
             self.file("actual.csv", actual), *options], capture_output=True, text=True)
        return done.returncode, done.stderr

    def same(self, *arguments):
        self.assertEqual(self.compare(*arguments), (0, ""))

    def differ(self, said, *arguments):
        status, text = self.compare(*arguments)
        self.assertEqual(status, 1)
        self.assertIn(said, text)

    def test_rows_in_any_order(self):
        self.same("a,1\nb,2\na,1\n", "b,2\na,1\na,1\n")
        self.same("", "")
        self.differ("3 rows expected, 2 found", "a,1\na,1\nb,2\n", "b,2\na,1\n")
        self.differ("2 rows expected, 3 found", "a,1\nb,2\n", "b,2\na,1\na,1\n")
        self.differ("expected b,2  found a,1", "a,1\nb,2\n", "a,1\na,1\n")
        self.differ("expected a,1  found a,1,2", "a,1\n", "a,1,2\n")

    def test_numbers_are_equal_within_the_tolerance(self):
        self.same("a,0.1\nb,2\n", "b,2.0000000000001\na,0.1\n")
        self.same("a,1e3\nb,7\n", "b,7\na,+1000.0\n")
        self.same("x,5\nx,6\n", "x,6.0000000001\nx,5.0000000001\n")
        self.differ("expected b,2  found b,2.00001", "a,1\nb,2\n", "b,2.00001\na,1\n")
        self.same("b,2\n", "b,2.00001\n", "--relative-tolerance", "1e-4")
        self.differ("found 1e3x", "1e3\n", "1e3x\n")

    def test_the_order_of_a_key(self):
        self.same("a,1\nb,1\na,2\n", "b,1\na,1\na,2.0\n", "--key-order", "1")
        self.differ("expected a,1  found a,2", "a,1\nb,1\na,2\n", "b,1\na,2\na,1\n",
                    "--key-order", "1")
        self.differ("key b: 1 rows expected, 0 found", "a,1\nb,1\n", "a,1\n", "--key-order", "1")


if __name__ == "__main__":
    unittest.main()

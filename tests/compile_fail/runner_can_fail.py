# SPDX-License-Identifier: Apache-2.0
"""must_not_compile.py on planted sources: it must refuse each pair of twins that proves nothing.

    runner_can_fail.py COMPILER
"""

import sys
import tempfile
import unittest
from pathlib import Path

from must_not_compile import fault_of

COMPILER = sys.argv.pop()
BAD = '#ifdef STRID_MUST_NOT_COMPILE\nstatic_assert(false, "a stream is consumed once");\n#endif\n'


class Runner(unittest.TestCase):
    def fault(self, text: str) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "planted.cpp"
            source.write_text(text)
            return fault_of(source, [COMPILER, "-std=c++20"])

    def test_good_pair(self):
        self.assertIsNone(self.fault("// expect: consumed once\n" + BAD))

    def test_no_expectation(self):
        self.assertIn("names no message", self.fault(BAD))

    def test_valid_twin_is_broken(self):
        self.assertIn("valid twin", self.fault("// expect: consumed once\nint x = ;\n" + BAD))

    def test_bad_twin_compiles(self):
        self.assertIn("bad twin compiles", self.fault("// expect: consumed once\nint x;\n"))

    def test_message_is_another(self):
        self.assertIn("lacks `twice`", self.fault("// expect: twice\n" + BAD))

    def test_each_of_several(self):
        two = ('#ifdef STRID_MUST_NOT_COMPILE\nstatic_assert(false, "one");\n'
               'static_assert(false, "other");\n#endif\n')
        self.assertIsNone(self.fault("// error: other\n// error: one\n" + two))
        self.assertIn("what is not expected", self.fault("// error: one\n" + two))
        self.assertIn("what is not expected", self.fault("// error: one\n// error: one\n" + two))
        self.assertIn("no line that says error has `third`",
                      self.fault("// error: one\n// error: other\n// error: third\n" + two))


if __name__ == "__main__":
    unittest.main()

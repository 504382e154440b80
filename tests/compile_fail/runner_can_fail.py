# SPDX-License-Identifier: Apache-2.0
"""must_not_compile.py on planted sources: it must refuse each pair of twins that proves nothing.

    runner_can_fail.py COMPILER
"""

import sys
import tempfile
import unittest
from pathlib import Path

from must_not_compile import Source, fault_of

COMPILER = sys.argv.pop()
BAD = '#ifdef STRID_MUST_NOT_COMPILE\nstatic_assert(false, "a stream is consumed once");\n#endif\n'


def bad(*words: str) -> str:
    asserted = "".join(f'static_assert(false, "{one}");\n' for one in words)
    return f"#ifdef STRID_MUST_NOT_COMPILE\n{asserted}#endif\n"


class Runner(unittest.TestCase):
    def fault(self, *texts: str) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            sources = []
            for number, text in enumerate(texts):
                path = Path(folder) / f"planted_{number}.cpp"
                path.write_text(text)
                sources.append(Source(path))
            return fault_of(sources, [COMPILER, "-std=c++20"])

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
        two = bad("one", "other")
        self.assertIsNone(self.fault("// error: other\n// error: one\n" + two))
        self.assertIn("what is not expected", self.fault("// error: one\n" + two))
        self.assertIn("what is not expected", self.fault("// error: one\n// error: one\n" + two))
        self.assertIn("no line that says error has `third`",
                      self.fault("// error: one\n// error: other\n// error: third\n" + two))

    def test_several_sources_may_have_the_same_names(self):
        with_name = "#include <vector>\nstd::vector<int> twice(int x) { return {x, x}; }\n"
        self.assertIsNone(self.fault("// error: one\n" + with_name + bad("one"),
                                     "// error: other\n" + with_name + bad("other"),
                                     "// expect: third\n" + with_name + bad("third", "fourth")))

    def test_one_of_several_sources(self):
        good = "// error: one\n" + bad("one")
        self.assertIn("valid twin", self.fault(good, "// error: one\nint x = ;\n" + bad("one")))
        self.assertIn("planted_1.cpp: no line that says error has `one`",
                      self.fault(good, "// error: one\nint x;\n"))
        self.assertIn("not expected", self.fault(good, "// error: other\n" + bad("other", "one")))
        self.assertIn("bad twin compiles: planted_1.cpp",
                      self.fault(good, "// expect: one\nint x;\n"))

    def test_an_error_of_another_source(self):
        self.assertIn("not expected", self.fault("// error: other\n" + bad("one"),
                                                 "// error: one\n" + bad("other")))

    def test_explicit_specialisations_stand_alone(self):
        """Where they apply to no other source."""
        head = "#include <functional>\nstruct Name { int x; };\n"
        special = "template <>\nstruct std::hash<Name> {};\n"
        self.assertIsNone(self.fault("// error: one\n" + head + special + bad("one"),
                                     "// error: other\n" + head + bad("other")))


if __name__ == "__main__":
    unittest.main()

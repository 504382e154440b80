# SPDX-License-Identifier: Apache-2.0
"""strid-ssa and its models: SBML and text, good and bad."""

import gzip

from ssa_case import SsaCase, rows_of
from ssa_models import DECAY, MATH, MICHAELIS_MENTEN, michaelis_menten_sbml


class Models(SsaCase):
    def test_sbml_is_the_same_as_text(self):
        want = self.run_program(self.model(MICHAELIS_MENTEN), "--until", 20, "--runs", 50).stdout
        for level in (2, 3):
            path = self.model(michaelis_menten_sbml(level), f"l{level}.xml")
            self.assertEqual(self.run_program(path, "--until", 20, "--runs", 50).stdout, want)

    def test_sbml_math(self):
        # The rate of unbind as a piecewise function of a function definition.
        law = (f'<math {MATH}><piecewise><piece><apply><times/><ci>k2</ci><ci>SE</ci></apply>'
               "<apply><lt/><ci>S</ci><cn type='integer'>1000</cn></apply></piece>"
               "<otherwise><cn>7</cn></otherwise></piecewise></math>")
        want = self.run_program(self.model(MICHAELIS_MENTEN), "--until", 20, "--runs", 50).stdout
        path = self.model(michaelis_menten_sbml(3, law=law), "law.xml")
        self.assertEqual(self.run_program(path, "--until", 20, "--runs", 50).stdout, want)

    def test_sbml_that_is_not_supported(self):
        rule = (f'<listOfRules><algebraicRule><math {MATH}><ci>SE</ci></math></algebraicRule>'
                "</listOfRules>")
        delay = (f'<math {MATH}><apply><csymbol encoding="text" '
                 'definitionURL="http://www.sbml.org/sbml/symbols/delay">delay</csymbol>'
                 "<ci>SE</ci><cn>1</cn></apply></math>")
        half = ('<species id="H" compartment="cell" initialAmount="0.5" '
                'hasOnlySubstanceUnits="true" boundaryCondition="false" constant="false"/>')
        unknown = f"<math {MATH}><ci>nothing</ci></math>"
        for text, line, what in (
            (michaelis_menten_sbml(3, more=rule), 17, "algebraic rules are not supported"),
            (michaelis_menten_sbml(3, law=delay), 14, "a delay is not supported"),
            (michaelis_menten_sbml(3, law=unknown), 14, "'nothing' has no value"),
            (michaelis_menten_sbml(3, species_more=half), 9, "no whole number"),
            (michaelis_menten_sbml(3, species_more=half.replace("0.5", "1e-9")), 9,
             "no whole number"),
            (michaelis_menten_sbml(3, species_more=half.replace("0.5", "-2")), 9, "is negative"),
        ):
            with self.subTest(what=what):
                path = self.model(text, "bad.xml")
                error = self.fails(path, "--until", 1)
                self.assertIn(f"bad.xml:{line}: ", error)
                self.assertIn(what, error)

    def test_math_without_an_operator(self):
        text = michaelis_menten_sbml(3, law=f"<math {MATH}><apply/></math>")
        self.assertIn("'<apply> without an operator' is not supported",
                      self.fails(self.model(text, "model.xml"), "--until", 1))

    def test_math_of_any_length_and_depth_is_refused(self):
        """Each function calls the one before twice, or around its own term; or itself."""
        def functions(count, body):
            definitions = "".join(
                f'<functionDefinition id="f{i}"><math {MATH}><lambda><bvar><ci>x</ci></bvar>'
                f"{body(i) if i else times_of('x', 'x')}</lambda></math></functionDefinition>"
                for i in range(count))
            return "<listOfFunctionDefinitions>" + definitions + "</listOfFunctionDefinitions>"

        def times_of(a, b):
            return f"<apply><times/><ci>{a}</ci><ci>{b}</ci></apply>"

        def call(i, argument="<ci>x</ci>"):
            return f"<apply><ci>f{i}</ci>{argument}</apply>"

        deep = "<apply><plus/><cn>1</cn>" * 100_000 + "<ci>SE</ci>" + "</apply>" * 100_000
        for made, what in (
            (functions(40, lambda i: call(i - 1, call(i - 1))), "more than 1000000 terms"),
            (functions(3000, lambda i: f"<apply><plus/><cn>1</cn>{call(i - 1)}</apply>"), ""),
            (functions(2, call), "'f1' calls itself"),
        ):
            text = michaelis_menten_sbml(3).replace('<model id="m">', '<model id="m">' + made)
            error = self.fails(self.model(text, "long.xml"), "--until", 1)
            self.assertIn("long.xml:", error)
            self.assertIn(what, error)
        law = f"<math {MATH}>{deep}</math>"
        error = self.fails(self.model(michaelis_menten_sbml(3, law=law), "deep.xml"), "--until", 1)
        self.assertIn("deep.xml:14: elements are nested deeper than 1000", error)
        # Functions that are within the bounds are expanded.
        law = f"<math {MATH}><apply><times/><ci>k2</ci>{call(0, '<ci>SE</ci>')}</apply></math>"
        text = michaelis_menten_sbml(3, law=law)
        made = functions(3, lambda i: call(i - 1, call(i - 1)))
        text = text.replace('<model id="m">', '<model id="m">' + made)
        self.run_program(self.model(text, "some.xml"), "--until", 1)

    def test_truncated_sbml(self):
        text = michaelis_menten_sbml(3)
        for part in (40, 300, len(text) // 2, len(text) - 10):
            self.assertIn("cut.xml:", self.fails(self.model(text[:part], "cut.xml"), "--until", 1))
        self.fails(self.model("<html></html>", "other.xml"), "--until", 1)

    def test_boundary_species_stay(self):
        text = michaelis_menten_sbml(3).replace(
            'id="S" compartment="cell" initialAmount="301" hasOnlySubstanceUnits="true" '
            'boundaryCondition="false"',
            'id="S" compartment="cell" initialAmount="301" hasOnlySubstanceUnits="true" '
            'boundaryCondition="true"')
        rows = rows_of(self.run_program(self.model(text, "b.xml"), "--until", 20, "--runs",
                                        20).stdout)
        self.assertEqual({row["mean"] for (at, name), row in rows.items() if name == "S"},
                         {"301"})

    def test_model_in_a_pipe_and_packed(self):
        want = self.run_program(self.model(DECAY), "--until", 2).stdout
        self.assertEqual(self.run_program("-", "--until", 2, input=DECAY.encode()).stdout, want)
        packed = self.folder / "model.gz"
        packed.write_bytes(gzip.compress(DECAY.encode()))
        self.assertEqual(self.run_program(packed, "--until", 2).stdout, want)
        self.assertEqual(
            self.run_program("-", "--until", 2, input=DECAY.replace("\n", "\r\n").encode()).stdout,
            want)

    def test_bad_text_models(self):
        for text, line, what in (
            ("species A = 1\nA -> B @ 1\n", 2, "unknown species 'B'"),
            ("species Alpha = 1\nAlpah -> 0 @ 1\n", 2, "did you mean Alpha?"),
            ("species A = -1\n", 1, "negative"),
            ("species A = 1.5\n", 1, "whole number"),
            ("species A = 1e300\n", 1, "whole number"),
            ("species A = 1e999\n", 1, "at '1e999'"),
            ("species A = 1, A = 2\n", 1, "twice"),
            ("species A 1\n", 1, "expected at '1'"),
            ("species A = 1\nA -> 0\n", 2, "expected at the end of the line"),
            ("species A = 1\nA -> 0 @\n", 2, "an expression is expected"),
            ("species A = 1\nA => 0 @ 1\n", 2, "at '=> 0 @ 1'"),
            ("species A = 1\nA -> 0 @ k\n", 2, "'k' is neither"),
            ("species A = 1\nA -> 0 @ 1 2\n", 2, "at '2'"),
            ("species A = 1\nA -> 0 @ -1\n", 2, "negative"),
            ("species A = 1\nA -> 0 @ A\n", 2, "rate EXPRESSION"),
            ("species A = 1\nA -> 0 @ 1, 2\n", 2, "takes 1 constant, not 2"),
            ("species A = 1\nA <-> 0 @ 1\n", 2, "takes 2 constants, not 1"),
            ("species A = 1\nA -> 0 @ (1\n", 2, "')' is expected"),
            ("species A = 1\nA -> 0 rate foo(A)\n", 2, "unknown function 'foo'"),
            ("species A = 1\nA -> 0 rate min(A)\n", 2, "takes 2 arguments, not 1"),
            ("species A = 1\n99999999 A -> 0 @ 1\n", 2, "more than 1000000"),
            ("species A = 1\nA -> 0 @ " + "(" * 5000 + "\n", 2, "nested"),
            ("species A = 1\nA -> 0 rate A" + " + A" * 20000 + "\n", 2, "a line of more"),
            ("parameter k = 1 / 0\n", 1, "no finite number"),
            ("\x00\x01\x02\n", 1, r"is expected at '\x00\x01\x02'"),
        ):
            with self.subTest(text=text[:60]):
                error = self.fails(self.model(text), "--until", 1)
                self.assertIn(f"model.txt:{line}: ", error)
                self.assertIn(what, error)

    def test_empty_models(self):
        self.assertIn("empty", self.fails(self.model(""), "--until", 1))
        self.assertIn("empty", self.fails(self.model(" \n\n"), "--until", 1))
        self.assertIn("no species", self.fails(self.model("# none\n"), "--until", 1))
        self.assertIn("No such file", self.fails(self.folder / "none.txt", "--until", 1))

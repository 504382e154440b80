# SPDX-License-Identifier: Apache-2.0
"""The checks of the documentation, run on small planted trees: each must be able to fail.

    documentation_can_fail.py SCRIPTS     SCRIPTS: the folder of the checkers
"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

scripts = Path(sys.argv.pop())
sys.path.insert(0, str(scripts))

import build_docs  # noqa: E402
import check_documented  # noqa: E402

CONTRACT = Path("include/strid/engine/operator")  # docs/site/header_filter.awk reads its names
HEAD = "// SPDX-License-Identifier: Apache-2.0\n//\n// Streams.\n#pragma once\n\n"


@unittest.skipUnless(shutil.which("doxygen"), "no doxygen (scripts/install-dependencies --ci)")
class Names(unittest.TestCase):
    """Public names without a documentation."""

    def test_the_search_finds_the_functions_of_a_stream(self):
        with tempfile.TemporaryDirectory() as folder:
            root, output = Path(folder) / "root", Path(folder) / "output"
            shutil.copytree(scripts.parent / "docs" / "site", root / "docs" / "site")
            for name in ("stream_types", "stream"):
                file = root / "include" / "strid" / "stream" / f"{name}.hpp"
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(scripts.parent / file.relative_to(root), file)
            output.mkdir()
            tags = output / "tags.xml"
            check_documented.run_doxygen(root, output, {"GENERATE_TAGFILE": str(tags)})
            found = {entry["title"]: entry for entry in build_docs.entries_of_reference(tags)}
            entry = found["strid::Stream::flat_map"]
            self.assertTrue(entry["text"].startswith("flat_map Stream flat_map(F f, "))
            page, _, anchor = entry["location"].removeprefix("api/").partition("#")
            self.assertIn(anchor, (output / "html" / page).read_text())

    def faults(self, body: str, header: str = "stream/stream.hpp") -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            shutil.copytree(scripts.parent / "docs" / "site", root / "docs" / "site")
            shutil.copytree(scripts.parent / CONTRACT, root / CONTRACT)
            file = root / "include" / "strid" / header
            file.parent.mkdir(parents=True)
            file.write_text(f"{HEAD}namespace strid {{\n{body}}}  // namespace strid\n")
            return "\n".join(check_documented.check(root))

    def test_documented_names_pass(self):
        self.assertEqual(self.faults("/// Ends.\nvoid end();\n/// S.\nstruct S {};\n"), "")

    def test_a_function(self):
        self.assertIn("stream.hpp:8: warning: Member end", self.faults("\nvoid end();\n"))

    def test_a_class_and_its_member(self):
        found = self.faults("struct S {\n    int member = 0;\n};\n")
        self.assertIn("Compound strid::S", found)
        found = self.faults("/// S.\nstruct S {\n    int member = 0;\n};\n")
        self.assertIn("stream.hpp:9: warning: Member member", found)

    def test_an_enumerator(self):
        found = self.faults("/// E.\nenum class E { first };\n")
        self.assertIn("stream.hpp:8: enumerator E::first", found)
        self.assertEqual(self.faults("/// E.\nenum class E {\n    first  ///< F.\n};\n"), "")

    def test_a_comment_behind_a_member_counts(self):
        self.assertEqual(self.faults("/// S.\nstruct S {\n    int member = 0;  // M.\n};\n"), "")

    def test_hooks_of_a_contract_are_left_out(self):
        hooks = "/// S.\nstruct S {\n    void process(int& record, auto& emit);\n};\n"
        self.assertEqual(self.faults(hooks), "")
        self.assertIn("Member process", self.faults(hooks, "operator/contract.hpp"))

    def test_what_is_not_public(self):
        undocumented = "void end();\n"
        self.assertEqual(self.faults(undocumented, "engine/kernel/kernel.hpp"), "")
        self.assertEqual(self.faults(f"namespace detail {{\n{undocumented}}}\n"), "")


class Lists(unittest.TestCase):
    """Entries of the lists of what is not public."""

    def test_an_entry_that_names_nothing(self):
        self.assertEqual(check_documented.stale(scripts.parent), [])
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs" / "site").mkdir(parents=True)
            (root / check_documented.DOXYFILE).write_text("EXCLUDE = include/strid/gone.hpp\n")
            faults = "\n".join(check_documented.stale(root))
        self.assertIn("include/strid/gone.hpp is not there", faults)


class Pages(unittest.TestCase):
    """Links of pages in the repository, and of those that are built of them."""

    def staged(self, text: str) -> tuple[list[str], str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "root"
            (root / "docs").mkdir(parents=True)
            (root / "docs" / "page.md").write_text(text)
            (root / "docs" / "other.md").write_text("# Other\n")
            pages = build_docs.pages_of(root)
            _, faults = build_docs.stage(root, pages, Path(folder) / "pages")
            return faults, (Path(folder) / "pages" / "docs" / "page.md").read_text()

    def test_links_that_lead_somewhere(self):
        text = "# Page\n\n[other](other.md), [all](../docs/), [away](https://example.org)\n"
        faults, staged = self.staged(text)
        self.assertEqual(faults, [])
        self.assertIn("[all](../docs/README.md)", staged)

    def test_a_link_that_leads_nowhere(self):
        faults, _ = self.staged("[lost](lost.md)\n")
        self.assertEqual(faults, ["docs/page.md: lost.md leads nowhere"])

    def test_code_has_no_links(self):
        self.assertEqual(self.staged("```cpp\nauto f = [](int) {};\n```\n")[0], [])

    def test_nested_lists(self):
        self.assertIn("\n    - b\n", self.staged("Text:\n- a\n  - b\n")[1])

    def test_diagrams_are_drawn(self):
        sequence = "sequenceDiagram\nparticipant A as source\nparticipant B as sink\nA->>B: send\n"
        staged = self.staged(f"```mermaid\n{sequence}```\n")[1]
        self.assertIn('<div class="diagram"><svg', staged)
        self.assertIn(">send</text>", staged)
        staged = self.staged("```mermaid\npie\n```\n")[1]
        self.assertIn("```text\npie\n```", staged)

    def built(self, page: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder)
            (site / "index.html").write_text(page)
            (site / "other.html").write_text('<h2 id="there">There</h2>')
            return build_docs.faults_of_site(site)

    def test_links_of_built_pages(self):
        self.assertEqual(self.built('<a href="other.html#there">o</a><a href="//a.org">a</a>'), [])
        lost = self.built('<a href="lost.html">lost</a>')
        self.assertEqual(lost, ["index.html: lost.html leads nowhere"])
        heading = self.built('<a href="other.html#lost">lost</a>')
        self.assertEqual(heading, ["index.html: other.html#lost: no such heading"])

    def test_nothing_is_loaded_from_elsewhere(self):
        script = self.built('<script src="https://example.org/a.js"></script>')
        self.assertEqual(script, ["index.html: loads https://example.org/a.js"])


if __name__ == "__main__":
    unittest.main()

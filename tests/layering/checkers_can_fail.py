# SPDX-License-Identifier: Apache-2.0
"""The checkers of rooms, contract, style and English on small planted trees: each rule can fail.

    checkers_can_fail.py SCRIPTS     SCRIPTS: the folder of the checkers
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop())

import check_contract  # noqa: E402
import check_english  # noqa: E402
import check_one_definition  # noqa: E402
import check_rooms  # noqa: E402
import check_style  # noqa: E402
import check_version  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
CLEAN = {
    "include/strid/strid.hpp": "#include <strid/stream/stream.hpp>\n",
    "include/strid/base/clock.hpp": "#pragma once\n",
    "include/strid/stream/stream.hpp": "#include <strid/base/clock.hpp>\n",
    "include/strid/connector/lines.hpp": "#include <vector>\n#include <strid/base/clock.hpp>\n",
    "src/stream/stream.cpp": '#include <strid/stream/stream.hpp>\n#include "private.hpp"\n',
    "src/stream/private.hpp": "",
}


class Planted(unittest.TestCase):
    """A tree that is clean but for what a test plants in it."""

    def faults(self, checker, planted: dict[str, str], spdx: str = SPDX) -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {**CLEAN, **planted}.items():
                file = root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(spdx + text if file.suffix in {".hpp", ".cpp"} else text)
            return "\n".join(checker.check(root))


class Contract(Planted):
    LISTS = {"include/strid/operator/contract.hpp": "// bool held_back() const\n"}

    def found(self, text: str) -> str:
        return self.faults(check_contract, {**self.LISTS, "include/strid/graph/ask.hpp": text})

    def test_a_listed_name_passes(self):
        self.assertEqual(self.found("requires(const Operator& o) { o.held_back(); }\n"), "")
        self.assertEqual(self.found("requires(const T& record) { record.size(); }\n"), "")
        self.assertEqual(self.found("requires(a && b)\n{\n    source.begin();\n}\n"), "")

    def test_another_name_fails(self):
        for asked in (
            "requires(const Operator& o) { o.holds(); }",
            "if constexpr (requires { source_.holds(); }) f();",
            "requires requires(F& f) {\n    { f.holds() } -> std::same_as<bool>;\n}",
            "requires { requires S::holds; }",
        ):
            self.assertIn("ask.hpp:2: asks a class for `holds`", self.found(asked))


class Rooms(Planted):
    def rooms(self, path: str, text: str) -> str:
        return self.faults(check_rooms, {path: text})

    def test_clean_tree_passes(self):
        self.assertEqual(self.faults(check_rooms, {}), "")

    def test_a_room_must_not_know_one_below(self):
        found = self.rooms("src/base/clock.cpp", "#include <strid/stream/stream.hpp>\n")
        self.assertIn("src/base/clock.cpp:2: room base must not know room stream", found)
        found = self.rooms("src/stream/read.cpp", "#include <strid/connector/lines.hpp>\n")
        self.assertIn("room stream must not know room connector", found)

    def test_the_umbrella_is_for_users(self):
        found = self.rooms("src/stream/all.cpp", "#include <strid/strid.hpp>\n")
        self.assertIn("not of the form <strid/room/file.hpp>", found)

    def test_public_headers_use_angle_brackets(self):
        found = self.rooms("include/strid/base/time.hpp", '#include "clock.hpp"\n')
        self.assertIn('"clock.hpp" in a public header', found)

    def test_private_headers_stay_in_their_room(self):
        found = self.rooms("src/base/clock.cpp", '#include "../stream/private.hpp"\n')
        self.assertIn("not a private header beside this file", found)

    def test_unknown_rooms_and_files(self):
        self.assertIn("lies in no room", self.rooms("src/attic/chest.cpp", ""))
        self.assertIn("lies in no room", self.rooms("src/loose.cpp", ""))
        found = self.rooms("src/stream/a.cpp", "#include <strid/base/absent.hpp>\n")
        self.assertIn("does not exist", found)

    def test_folders_include_what_they_may(self):
        helper = {"bench/bar.hpp": "", "papers/2-b/b.hpp": "", "papers/1-a/own/a.hpp": "",
                  "tools/common/c.hpp": "", "tools/strid/t.hpp": "", "apps/common/e.hpp": ""}

        def folders(path: str, target: str) -> str:
            return self.faults(check_rooms, {**helper, path: f'#include "{target}"\n'})

        for path, target in (
                ("papers/1-a/own/x.cpp", "a.hpp"), ("papers/1-a/x.cpp", "bench/bar.hpp"),
                ("papers/1-a/x.cpp", "own/a.hpp"), ("apps/x.cpp", "tools/common/c.hpp"),
                ("bench/channel/x.cpp", "../bar.hpp"), ("tools/x.cpp", "unknown.hpp")):
            self.assertEqual(folders(path, target), "")
        for path, target, text in (
                ("papers/1-a/x.cpp", "papers/2-b/b.hpp", "papers/1-a must not include papers/2-b"),
                ("papers/1-a/x.cpp", "../2-b/b.hpp", "papers/1-a must not include papers/2-b"),
                ("bench/x.cpp", "papers/2-b/b.hpp", "bench must not include papers/2-b"),
                ("tests/x_test.cpp", "../papers/2-b/b.hpp", "tests must not include papers/2-b"),
                ("tools/strid/x.cpp", "../../apps/common/e.hpp", "tools must not include apps"),
                ("apps/x.cpp", "tools/strid/t.hpp", "apps must not include tools"),
                ("tools/strid/x.cpp", "bench/bar.hpp", "tools must not include bench")):
            self.assertIn(f"{path}:2: {text}", folders(path, target))

    def test_an_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(check_rooms.check(Path(folder)))
            self.assertTrue(check_style.check(Path(folder)))


class OneDefinition(Planted):
    ONE = "namespace a {\nint f() {\n    return 1;\n}\nclass B final : C {\n};\n}  // namespace a\n"

    def faults_of(self, planted: dict[str, str]) -> str:
        return self.faults(check_one_definition, planted)

    def test_one_definition_passes(self):
        other = (
            "namespace a {\nclass B;\nnamespace {\nclass B {};\n}\n}\n"
            "namespace b {\nclass B {};\n}\n"
        )
        self.assertEqual(self.faults_of({"src/base/x.hpp": self.ONE, "src/base/y.cpp": other}), "")
        planted = {"tests/base/x.hpp": self.ONE, "tests/graph/x.hpp": self.ONE}
        self.assertEqual(self.faults_of(planted), "")

    def test_a_second_one_fails(self):
        for there in ("src/y.hpp", "tests/support/y.hpp", "tests/base/y.cpp"):
            found = self.faults_of({"tests/base/x.hpp": self.ONE, there: self.ONE})
            self.assertIn("class a::B is defined in", found)
        enum = "namespace a {\nenum class B { one, two };\n}\n"
        self.assertIn("a::B", self.faults_of({"apps/one/x.hpp": enum, "apps/one/y.hpp": enum}))


class Style(Planted):
    def style(self, text: str, path: str = "src/base/planted.cpp", **others) -> str:
        return self.faults(check_style, {path: text, **others})

    def test_clean_tree_passes(self):
        self.assertEqual(self.faults(check_style, {}), "")

    def test_licence_line(self):
        self.assertIn("[spdx]", self.faults(check_style, {}, spdx=""))

    def test_lines_and_files(self):
        self.assertIn("planted.cpp:2: 101 columns", self.style("x" * 101 + "\n"))
        self.assertEqual(self.style("x" * 100 + "\n"), "")
        self.assertIn("[file-lines]", self.style("\n" * 400))

    def test_what_is_left_open(self):
        self.assertIn("[open-end]", self.style("// TO" "DO: later\n"))

    def test_functions(self):
        def of_lines(count: int) -> str:
            return "void f(\n) {\n" + "    work();\n" * (count - 3) + "}\n"

        self.assertIn("planted.cpp:3: function of 71 lines", self.style("\n" + of_lines(71)))
        self.assertEqual(self.style(of_lines(70)), "")
        many = "void f() {\n    work();\n}\n" * 40
        self.assertEqual(self.style(f"namespace a {{\nclass B {{\n{many}" "};\n}\n"), "")

    def test_ending_the_process(self):
        self.assertIn("planted.cpp:3: ends", self.style("void f() {\n    std::exit(1);\n}\n"))
        self.assertIn("[ending]", self.style("void f() { abort (); }\n"))
        self.assertEqual(self.style("void f(App& a) { a.exit(1); }\n"), "")
        self.assertEqual(self.style('// exit(1)\nconst char* text = "abort()";\n'), "")
        self.assertEqual(self.style("int main() { std::exit(1); }\n", "tools/a.cpp"), "")

    def test_printing_fences_allocation(self):
        self.assertIn("[printing]", self.style("void f() { std::cout << 1; }\n"))
        self.assertIn("[fence]", self.style("std::atomic_thread_fence(order);\n"))
        self.assertIn("[allocation]", self.style("int* f() { return new int; }\n"))
        self.assertIn("[allocation]", self.style("void f(int* p) { delete p; }\n"))
        allowed = "struct A {\n    A(const A&) = delete;\n};\nstd::unique_ptr<A> a(new A);\n"
        allowed += "auto* b = ::new (place) int;\n"
        self.assertEqual(self.style(allowed), "")
        in_memory = self.style("int* f() { return new int; }\n", "src/memory/planted.cpp")
        self.assertEqual(in_memory, "")

    def test_partner_of_an_ordered_atomic(self):
        load = "head_.load(std::memory_order_acquire);\n"
        self.assertIn("[partner]", self.style(load))
        self.assertEqual(self.style("// pairs with the release in push()\n" + load), "")
        self.assertEqual(self.style("// as in take_all()\n" + load), "")
        self.assertIn("[partner]", self.style("// pairs with push()\n" + "\n" * 12 + load))

    def test_exceptions_need_a_use(self):
        listed = {check_style.EXCEPTIONS: "ending src/base/planted.cpp it is the handler\n"}
        text = "void f() { abort(); }\n"
        self.assertEqual(self.faults(check_style, {"src/base/planted.cpp": text, **listed}), "")
        self.assertIn("not needed any more", self.faults(check_style, listed))


class Version(unittest.TestCase):
    """The version of a small tree, with one file of it changed."""

    FILES = {
        "CMakeLists.txt": "project(strid VERSION 1.2.3 LANGUAGES CXX\n",
        check_version.HEADER: "#define STRID_VERSION_MAJOR 1\n#define STRID_VERSION_MINOR 2\n"
                              "#define STRID_VERSION_PATCH 3\n"
                              'constexpr std::string_view version = "1.2.3";\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.3, in the making\n\n## 1.2.2\n",
        "README.md": "find_package(strid 1.2 REQUIRED)\napt install strid_1.2.3_amd64.deb\n",
        "tests/install/consumer/CMakeLists.txt": "find_package(strid 1.2 REQUIRED)\n",
    }

    def faults(self, path: str, old: str, new: str, tag: str | None = None) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.FILES.items():
                file = Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text.replace(old, new) if name == path else text)
            return check_version.check(Path(folder), tag)

    def test_one_version_passes(self):
        self.assertEqual(self.faults("README.md", "", "", tag="v1.2.3"), [])

    def test_each_place_can_differ(self):
        for path, old, new in (("CMakeLists.txt", "1.2.3", "1.2.4"),
                               (check_version.HEADER, "PATCH 3", "PATCH 4"),
                               (check_version.HEADER, '"1.2.3"', '"1.2.4"'),
                               ("CHANGELOG.md", "1.2.3", "1.2.4"),
                               ("README.md", "strid 1.2", "strid 1.1"),
                               ("README.md", "1.2.3", "1.2.4"),
                               ("tests/install/consumer/CMakeLists.txt", "1.2", "1.1")):
            self.assertTrue(self.faults(path, old, new), path)

    def test_the_tag_can_differ(self):
        self.assertIn("the tag is v1.2.4", "".join(self.faults("README.md", "", "", "v1.2.4")))


class English(Planted):
    def english(self, text: str, path: str = "src/base/planted.cpp", **others) -> str:
        return self.faults(check_english, {path: text, **others})

    def test_clean_tree_passes(self):
        self.assertEqual(self.faults(check_english, {}), "")
        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(check_english.check(Path(folder)))

    def test_persons(self):
        found = self.english("int a;\n// The thread\n// who waits.\n")
        self.assertIn("src/base/planted.cpp:3: 'who'", found)
        self.assertIn("[persons]", self.english("int a;  // for whom it waits\n"))
        self.assertIn("[persons]", self.english("/// Nobody waits.\n"))
        self.assertIn("[persons]", self.english("// a   1   nobody\n"))
        self.assertIn("[persons]", self.english("// Operators of one's own.\n"))
        self.assertIn("[persons]", self.english('"""It tells whoever asks."""\n', "tests/a.py"))
        self.assertIn("[persons]", self.english("a = 1  # someone\n", "tests/a.py"))
        self.assertIn("[persons]", self.english("# Somebody\n", "cmake/a.cmake"))
        self.assertIn("[persons]", self.english("# Who waits\n", "docs/design/a.md"))
        self.assertIn("[persons]", self.english("| a | no one |\n", "docs/design/a.md"))

    def test_who_may_be_a_person(self):
        self.assertEqual(self.english("// A user who waits, a thread whose time is over.\n"), "")
        self.assertEqual(self.english('// Not "who", not `nobody`.\n'), "")
        self.assertEqual(self.english('auto name = "nobody";\nauto who = name;\n'), "")
        self.assertEqual(self.english("```\nwho\n```\n", "docs/a.md"), "")

    def test_names(self):
        found = self.english("int a;\nint told_ = 0;\n")
        self.assertIn("src/base/planted.cpp:3: 'told_'", found)
        for name in ("tell", "tell_all", "is_told", "said", "promised_time", "wants", "Told",
                     "IsSaid", "IsToldOnce", "nobody"):
            self.assertIn("[name]", self.english(f"int {name} = 0;\n"), name)
        for name in ("stolen", "std::promise", "intellect", "wanted"):
            self.assertEqual(self.english(f"int {name} = 0;\n"), "", name)
        self.assertEqual(self.english('auto name = "told";\n'), "")

    def test_invariants(self):
        self.assertIn("[invariant]", self.english("// Law: it is sorted.\n"))
        self.assertIn("[invariant]", self.english("// The laws of the algebra.\n"))
        self.assertEqual(self.english("// By Zipf's law, or a kinetic law.\n"), "")

    def test_sentences(self):
        def of_words(count: int, end: str = ".") -> str:
            return "// " + "word " * (count - 1) + "word" + end

        self.assertEqual(self.english(of_words(40)), "")
        found = self.english(of_words(20, "") + "\n" + of_words(21))
        self.assertIn("planted.cpp:2: 41 words", found)
        self.assertEqual(self.english(of_words(40) + " " + "word " * 40), "")
        self.assertEqual(self.english(of_words(40, "") + "\n//\n" + of_words(40)), "")
        self.assertEqual(self.english(of_words(40, "") + "\n// - " + "word " * 40), "")
        self.assertEqual(self.english(of_words(39, "") + " `a b c`."), "")

    def test_inversions(self):
        found = self.english("int a;\n// Full. What is full waits\n// for room.\n")
        self.assertIn("planted.cpp:3: What is full waits for room. [inversion]", found)
        for comment in ("What is full", "(What is full waits.)", "Two: what is full is late.",
                        "A; what was taken from it is gone"):
            self.assertIn("[inversion]", self.english(f"/// {comment}\n"), comment)
        self.assertIn("[inversion]", self.english('"""What is full waits."""\n', "tests/a.py"))
        self.assertIn("[inversion]", self.english("# What is full waits.\n", "cmake/a.cmake"))
        self.assertIn("[inversion]", self.english("# What is full waits.\n", "scripts/a"))
        page = "# What it costs\n\n| a | What it costs |\n\n**What is full waits.**\n"
        self.assertIn("a.md:5: **What is full waits.** [inversion]",
                      self.english(page, "docs/design/a.md"))

    def test_what_may_begin_a_question_or_stand_behind_the_subject(self):
        for comment in ("What is full?", "It says what is full.", "Known: what is full, and why.",
                        "Whatever is full waits."):
            self.assertEqual(self.english(f"// {comment}\n"), "", comment)
        page = "# What it costs\n\n| a | What it costs |\n\nWhat is full?\n"
        self.assertEqual(self.english(page, "docs/design/a.md"), "")

    def test_tables_drawings_and_code_are_no_sentences(self):
        row = "//   " + "word " * 9 + "    " + "word " * 9 + "\n"
        self.assertEqual(self.english(row * 5), "")
        self.assertEqual(self.english("//     " + "f(word, word, word, word);\n//     " * 15), "")
        drawn = "// +-----+\n" + "// | word word word word word word |\n" * 9 + "// +-----+\n"
        self.assertEqual(self.english(drawn), "")
        cells = "| " + "word " * 30 + "| " + "word " * 30 + "|\n"
        self.assertEqual(self.english(cells * 2, "docs/design/a.md"), "")

    def test_links(self):
        def page(text: str) -> str:
            other = {"docs/b.md": "# One: two\n```\n```\n"}
            return self.english(text, "docs/design/a.md", **other)

        self.assertEqual(page("[b](../b.md), [b](../b.md#one-two), [c](https://c.d/e#f)\n"), "")
        self.assertEqual(page("`[b](../c.md)`\n```\n[b](../c.md)\n```\n"), "")
        self.assertIn("a.md:2: ../c.md leads nowhere", page("\n[b](../c.md)\n"))
        self.assertIn("[link]", page("![of two\nlines](../c.png)\n"))
        self.assertIn("[link]", page("[b]: ../c.md\n"))
        self.assertIn("no such heading", page("[b](../b.md#three)\n"))
        self.assertIn("no such heading", page("# Here\n[b](#there)\n"))

    def test_pages_have_examples(self):
        self.assertIn("[example]", self.english("Words.\n", "docs/a.md"))
        self.assertEqual(self.english("Words.\n```cpp\nint a;\n```\n", "docs/a.md"), "")
        self.assertEqual(self.english("Words.\n", "docs/README.md"), "")
        self.assertEqual(self.english("Words.\n", "docs/design/a.md"), "")

    def test_exceptions_need_a_use(self):
        listed = {check_english.EXCEPTIONS: "persons src/base/planted.cpp a quotation\n"}
        self.assertEqual(self.english("// who\n", **listed), "")
        self.assertIn("not needed any more", self.faults(check_english, listed))
        self.assertIn("[invariant]", self.english("// law\n", **listed))


if __name__ == "__main__":
    unittest.main()

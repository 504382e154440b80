# SPDX-License-Identifier: Apache-2.0
"""strid memory layout: against the compiler, pahole and the allocators themselves."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

import layout_sources
from layout_sources import CLASSES
from program import PROGRAM, Case

SEED = int(os.environ.get("STRID_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
print(f"seed {SEED}")


class Layouts(Case):
    def setUp(self):
        super().setUp()
        self.needs_package("elftools")

    def compile(self, *flags, name="classes", compiler="g++", text=CLASSES):
        """An object file."""
        source = self.folder / f"{name}.cpp"
        source.write_text(text)
        target = self.folder / f"{name}.o"
        subprocess.run([compiler, "-std=c++20", "-c", *flags, str(source), "-o", str(target)],
                       check=True, timeout=100, stderr=subprocess.DEVNULL)  # fmt: skip
        return target

    def classes(self, *arguments):
        """By name, from the JSON."""
        output = self.run_program("layout", "--json", *arguments).stdout
        return {one["name"]: one for one in json.loads(output)}

    @staticmethod
    def members(one):
        return {member["name"]: member for member in one["members"]}


class AgainstTheCompiler(Layouts):
    COUNT = 40

    def test_offsets_and_sizes_are_the_compilers_in_each_version_of_dwarf(self):
        draw = random.Random(SEED)
        structs = [
            layout_sources.RandomStruct(draw, f"s{index}", draw.randint(1, 9), index % 3 == 0)
            for index in range(self.COUNT)
        ]
        text = layout_sources.PREAMBLE + "".join(struct.text() for struct in structs)
        names = [struct.name for struct in structs]
        sizes = layout_sources.sizes_by_compiler(self.folder, text, names)
        offsets = layout_sources.offsets_by_compiler(self.folder, structs)
        bits = layout_sources.bits_by_compiler(self.folder, structs)
        variables = "".join(f"struct {name} v{name};\n" for name in names)
        compilers = [("gcc", ["-gdwarf-4"]), ("gcc", ["-gdwarf-5"]), ("clang-16", ["-gdwarf-5"]),
                     ("gcc", ["-gdwarf-3", "-gstrict-dwarf"])]  # fmt: skip
        for compiler, flags in compilers:
            if shutil.which(compiler) is None:
                continue
            found = self.classes(layout_sources.compile_c(
                self.folder, text + variables, *flags, compiler=compiler))  # fmt: skip
            for struct in structs:
                with self.subTest(struct=struct.text(), compiler=compiler, flags=flags):
                    one = found[struct.name]
                    self.assertEqual(one["bytes"], sizes[struct.name])
                    members = self.members(one)
                    self.assertEqual(list(members), [name for name, _, _ in struct.members])
                    for name, (offset, size) in offsets.get(struct.name, {}).items():
                        self.assertEqual((members[name]["bit"], members[name]["bits"]),
                                         (8 * offset, 8 * size))  # fmt: skip
                    for name, place in bits.get(struct.name, {}).items():
                        self.assertTrue(members[name]["bit_field"])
                        self.assertEqual((members[name]["bit"], members[name]["bits"]), place)

    @unittest.skipUnless(shutil.which("pahole"), "pahole is not installed")
    def test_holes_are_those_that_pahole_finds(self):
        draw = random.Random(SEED + 1)
        structs = [
            layout_sources.RandomStruct(draw, f"s{index}", draw.randint(1, 9))
            for index in range(self.COUNT)
        ]
        text = layout_sources.PREAMBLE + "".join(struct.text() for struct in structs)
        text += "".join(f"struct {struct.name} v{struct.name};\n" for struct in structs)
        file = layout_sources.compile_c(self.folder, text, "-g")
        found = self.classes(file)
        for struct in structs:
            with self.subTest(struct=struct.text()):
                one = found[struct.name]
                facts = layout_sources.facts_by_pahole(file, struct.name)
                inner = [hole["bytes"] for hole in one["holes"] if not hole["at_end"]]
                at_end = sum(hole["bytes"] for hole in one["holes"] if hole["at_end"])
                self.assertEqual(
                    (one["bytes"], one["lines"], len(inner), sum(inner), at_end),
                    (facts["size"], facts["lines"], facts["holes"], facts["hole_bytes"],
                     facts["padding"]))  # fmt: skip

    def test_a_smaller_order_has_the_size_that_is_promised_and_none_is_smaller(self):
        draw = random.Random(SEED + 2)
        structs = [layout_sources.RandomStruct(draw, f"s{index}", 5) for index in range(4)]
        text = layout_sources.PREAMBLE + "".join(struct.text() for struct in structs)
        text += "".join(f"struct {struct.name} v{struct.name};\n" for struct in structs)
        found = self.classes(layout_sources.compile_c(self.folder, text, "-g"))
        for struct in structs:
            with self.subTest(struct=struct.text()):
                one = found[struct.name]
                order = one["smaller_order"]
                best = order["bytes"] if order else one["bytes"]
                self.assertEqual(best, layout_sources.smallest_by_compiler(self.folder, struct))
                if order:
                    again = layout_sources.PREAMBLE + struct.text(order["members"], "again")
                    sizes = layout_sources.sizes_by_compiler(self.folder, again, ["again"])
                    self.assertEqual(sizes["again"], order["bytes"])

    def test_bit_fields_that_move_together_keep_the_promise(self):
        draw = random.Random(SEED + 3)
        structs = [layout_sources.RandomStruct(draw, f"s{index}", 7, True) for index in range(60)]
        text = layout_sources.PREAMBLE + "".join(struct.text() for struct in structs)
        variables = "".join(f"struct {struct.name} v{struct.name};\n" for struct in structs)
        found = self.classes(layout_sources.compile_c(self.folder, text + variables, "-g"))
        moved = [struct for struct in structs if found[struct.name]["smaller_order"]]
        self.assertTrue(moved)
        orders = {struct.name: found[struct.name]["smaller_order"] for struct in moved}
        again = "".join(struct.text(orders[struct.name]["members"]) for struct in moved)
        sizes = layout_sources.sizes_by_compiler(
            self.folder, layout_sources.PREAMBLE + again, list(orders)
        )
        for struct in moved:
            with self.subTest(struct=struct.text(), order=orders[struct.name]):
                self.assertLessEqual(sizes[struct.name], orders[struct.name]["bytes"])


class OfCxx(Layouts):
    def test_classes_of_every_kind(self):
        for compiler, flags in (("g++", ["-g"]), ("g++", ["-gdwarf-4"]),
                                ("clang++-16", ["-g", "-fstandalone-debug"])):  # fmt: skip
            if shutil.which(compiler) is None:
                continue
            found = self.classes(self.compile(*flags, compiler=compiler), "--class", ".*")
            with self.subTest(compiler=compiler, flags=flags):
                self.check(found)

    def check(self, found):
        plain = found["Plain"]
        self.assertEqual((plain["bytes"], plain["unused_bytes"]), (24, 9))
        self.assertEqual(plain["smaller_order"]["bytes"], 16)
        # The end of the base is used: live data up to 9, count at 12.
        derived = found["Derived"]
        self.assertEqual((derived["bytes"], derived["unused_bytes"]), (16, 2))
        self.assertEqual(derived["unused_bytes_inside"], 0)
        self.assertEqual(derived["members"][0]["kind"], "base")
        self.assertEqual(found["Polymorphic"]["members"][0]["kind"], "vptr")
        self.assertEqual(found["Polymorphic"]["unused_bytes"], 7)
        virtual = self.members(found["Virtual"])["Polymorphic"]
        self.assertEqual((virtual["kind"], virtual["bit"]), ("virtual base", None))
        self.assertIsNone(found["Virtual"]["smaller_order"])
        # Behind its members lies the virtual base of its base; between mark and weight are 3 bytes.
        self.assertEqual(found["FromVirtual"]["unused_bytes"], 3)
        self.assertIsNone(found["FromVirtual"]["smaller_order"])
        for name in ("FromEmpty", "Compact", "Empty"):
            self.assertEqual(found[name]["unused_bytes"], 0, name)
        self.assertEqual(found["Choice"]["unused_bytes"], 3)
        self.assertEqual((found["Line"]["alignment"], found["Line"]["unused_bytes"]), (64, 60))
        self.assertTrue(found["Packed"]["packed"])
        self.assertEqual(found["Packed"]["alignment"], 1)
        self.assertEqual(found["Flexible"]["members"][1]["bits"], 0)
        self.assertNotIn("shared", self.members(found["Outer"]))
        self.assertEqual(found["Outer"]["unused_bytes_inside"], 7 + 9)
        long = self.members(found["Long"])
        sizes = {name: long[name]["bits"] // 8 for name in ("function", "member", "method")}
        self.assertEqual(sizes, {"function": 8, "member": 8, "method": 16})
        self.assertTrue(long["text"]["straddles"])
        self.assertIn("space::Box<long>::Inside", [n.replace("long int", "long") for n in found])
        self.assertIn("(anonymous namespace)::Hidden", found)
        self.assertNotIn("main()::Local", found)

    def test_a_class_is_found_by_each_form_of_its_name(self):
        file = self.compile("-g")
        for name in ("Box", "space::Box", "space::Box<long int>", "B.x", "Box<long int>"):
            self.assertEqual(list(self.classes(file, "--class", name)), ["space::Box<long int>"])
        self.assertEqual(list(self.classes(file, "--local", "--class", "Local")), ["main()::Local"])
        mine = self.classes(file)
        self.assertIn("Plain", mine)
        system = self.classes(file, "--system")
        self.assertLess(mine.keys(), system.keys())
        self.assertTrue(any("stdlib.h" in one["file"] for one in system.values()))
        self.assertFalse([one for one in mine.values() if "stdlib.h" in one["file"]])

    def test_the_text_names_members_holes_and_lines(self):
        file = self.compile("-g")
        text = self.run_program("layout", file, "--class", "Plain").stdout.decode()
        rows = [line.split() for line in text.splitlines()]
        self.assertIn(["0", "1", "0", "char", "live"], rows)
        self.assertIn(["1", "7", "0", "--", "hole"], rows)
        self.assertIn(["22", "2", "0", "--", "padding", "at", "the", "end"], rows)
        self.assertIn("this order, 16 bytes (8 less): price, quantity, venue, live", text)
        table = self.run_program("layout", file, "--limit", 3).stdout.decode().splitlines()
        self.assertEqual(len(table), 5)
        self.assertTrue(table[1].endswith(f"Line ({self.folder}/classes.cpp:12)"), table[1])
        by_saving = self.run_program("layout", file, "--sort", "saves").stdout.decode().splitlines()
        self.assertIn("Plain", by_saving[1])

    def test_members_that_are_used_together(self):
        file = self.compile("-g")

        def told(name, members, *more):
            one = self.classes(file, "--class", name, "--together", members, *more)
            return next(iter(one.values()))["together"]

        # 17 bytes in an object at each multiple of 8: the first byte of two places is too late.
        found = told("Plain", "live,quantity")
        self.assertEqual((found["span_bytes"], found["places"], found["places_on_one_line"]),
                         (20, 8, 6))  # fmt: skip
        self.assertEqual(told("Line", "text,last")["places_on_one_line"], 0)
        self.assertEqual(told("Line", "text,last", "--line-bytes", 128)["places_on_one_line"], 1)
        self.assertEqual(told("Outer", "inner.price,y")["offsets"], {"inner.price": 32, "y": 16})
        self.assertEqual(told("Derived", "flag,count")["offsets"], {"flag": 8, "count": 12})
        text = self.run_program("layout", file, "--class", "Line", "--together", "text,last").stdout
        self.assertIn(b"never on one line", text)
        self.assertIn("no member wrong", self.fails(
            "layout", file, "--class", "Plain", "--together", "live,wrong"))  # fmt: skip

    def test_blocks_on_the_heap_are_those_of_the_allocators(self):
        sizes = list(range(1, 300)) + [511, 512, 513, 1000, 1024, 1025, 3000, 5000, 8192]
        text = "".join(f"struct S{size} {{ char c[{size}]; }} s{size};\n" for size in sizes)
        found = self.classes(self.compile("-g", text=text))
        ask = (
            "import ctypes\nlibrary = ctypes.CDLL(None)\n"
            "library.malloc.restype = ctypes.c_void_p\n"
            "library.malloc_usable_size.argtypes = [ctypes.c_void_p]\n"
            f"for size in {sizes}:\n"
            "    held = [library.malloc(size) for _ in range(40)]\n"
            "    print(min(library.malloc_usable_size(piece) for piece in held))\n"
        )
        folder = pathlib.Path("/usr/lib/x86_64-linux-gnu")
        ours = pathlib.Path(PROGRAM).parent.parent / "malloc" / "libstrid_tlsf.so"
        seen = 0
        for name, library, head in (("glibc", None, 8),
                                    ("jemalloc", folder / "libjemalloc.so.2", 0),
                                    ("mimalloc", folder / "libmimalloc.so.2.0", 0),
                                    ("tlsf", ours, 8)):  # fmt: skip
            if library is not None and not library.exists():
                continue
            environment = dict(os.environ, LD_PRELOAD=str(library or ""))
            output = subprocess.run([sys.executable, "-c", ask], env=environment, check=True,
                                    capture_output=True, timeout=60).stdout  # fmt: skip
            seen += 1
            for size, usable in zip(sizes, map(int, output.split())):
                self.assertEqual(found[f"S{size}"]["heap_block_bytes"][name], usable + head,
                                 f"{name}, {size} bytes")  # fmt: skip
        self.assertGreater(seen, 1)


class OfFiles(Layouts):
    def tool(self, *command):
        subprocess.run(list(map(str, command)), check=True, timeout=60, capture_output=True)

    def link(self, *flags):
        target = self.folder / "program"
        self.tool("g++", self.compile("-g"), *flags, "-o", target)
        return target

    def plain_is_there(self, file):
        self.assertEqual(self.classes(file, "--class", "Plain")["Plain"]["bytes"], 24)

    def test_executables_and_compressed_sections(self):
        self.plain_is_there(self.link())
        self.plain_is_there(self.link("-Wl,--compress-debug-sections=zlib"))
        self.plain_is_there(self.link("-Wl,--compress-debug-sections=zlib-gnu"))
        self.plain_is_there(self.compile("-g", "-gz=zlib"))
        self.assertIn("objcopy", self.fails("layout", self.compile("-g", "-gz=zlib-gnu")))

    def test_types_in_units_of_their_own(self):
        plain = self.classes(self.link(), "--class", ".*")
        for version in ("-gdwarf-4", "-gdwarf-5"):
            file = self.compile(version, "-fdebug-types-section")
            self.assertIn("linked", self.fails("layout", file))
            program = self.folder / "units"
            self.tool("g++", file, "-o", program)
            found = self.classes(program, "--class", ".*")
            self.assertEqual(found, plain)

    def test_a_shared_library(self):
        source = self.compile("-g").with_suffix(".cpp")
        library = self.folder / "library.so"
        self.tool("g++", "-std=c++20", "-g", "-shared", "-fPIC", source, "-o", library)
        self.plain_is_there(library)

    def test_several_files_give_a_class_once(self):
        one = self.compile("-g")
        two = self.compile("-gdwarf-4", name="two")
        output = self.run_program("layout", "--json", one, two, "--class", "Plain").stdout
        self.assertEqual(len(json.loads(output)), 1)

    def test_separate_debug_information_is_found_beside_the_program(self):
        program = self.link("-Wl,--build-id=sha1")
        separate = self.folder / "program.debug"
        self.tool("objcopy", "--only-keep-debug", program, separate)
        self.tool("objcopy", "--strip-all", f"--add-gnu-debuglink={separate}", program)
        self.plain_is_there(program)
        other = self.folder / "other.o"
        other.write_text("")
        separate.unlink()
        self.assertIn("no debug information", self.fails("layout", program))

    @unittest.skipUnless(shutil.which("dwz"), "dwz is not installed")
    def test_types_that_dwz_has_moved_to_a_file_of_their_own(self):
        first, second = self.folder / "first", self.folder / "second"
        self.tool("g++", "-gdwarf-4", self.compile("-gdwarf-4"), "-o", first)
        shutil.copy(first, second)
        common = self.folder / "common"
        self.tool("dwz", "-m", common, "-M", common, first, second)
        self.plain_is_there(first)
        common.unlink()
        self.assertIn("common", self.fails("layout", first))

    def test_what_has_no_debug_information_is_named(self):
        self.assertIn("compile with -g", self.fails("layout", self.compile("-g0")))
        split = self.compile("-g", "-gsplit-dwarf")
        self.assertIn("-gsplit-dwarf", self.fails("layout", split))
        program = self.link("-s")
        line = self.fails("layout", program)
        self.assertIn(str(program), line)
        self.assertIn("stripped", line)

    def test_what_is_no_elf_file_is_named(self):
        for content in (b"", b"#!/bin/sh\n", b"MZ" + bytes(1000), os.urandom(2000)):
            file = self.folder / "file"
            file.write_bytes(content)
            self.assertIn("ELF", self.fails("layout", file))
        self.assertIn("No such file", self.fails("layout", self.folder / "none"))
        self.assertIn("directory", self.fails("layout", self.folder))
        archive = self.folder / "lib.a"
        self.tool("ar", "cr", archive, self.compile("-g"))
        self.assertIn("archive", self.fails("layout", archive))

    def test_a_file_that_is_cut_or_damaged_is_one_line(self):
        content = self.compile("-g").read_bytes()
        draw = random.Random(SEED)
        file = self.folder / "damaged.o"
        for size in (5, 63, *(draw.randrange(65, len(content)) for _ in range(2))):
            file.write_bytes(content[:size])
            self.assertIn(str(file), self.fails("layout", file))
        for _ in range(5):
            bytes_ = bytearray(content)
            for _ in range(200):
                bytes_[draw.randrange(64, len(bytes_))] = draw.randrange(256)
            file.write_bytes(bytes_)
            result = subprocess.run([PROGRAM, "layout", str(file)], capture_output=True, timeout=60)
            # Where nothing that is read was hit, the answer is an answer.
            self.assertIn(result.returncode, (0, 1), result.stderr)
            if result.returncode == 1:
                self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)

    def test_options_without_meaning_are_refused(self):
        file = self.compile("-g")
        self.assertIn("--together needs --class",
                      self.fails("layout", file, "--together", "a", code=2))  # fmt: skip
        self.assertIn("power of two", self.fails("layout", file, "--line-bytes", 48, code=2))
        self.assertIn("regular expression", self.fails("layout", file, "--class", "(", code=2))
        self.assertIn("at least 1", self.fails("layout", file, "--limit", 0, code=2))
        self.assertIn("no class of that name", self.fails("layout", file, "--class", "Nothing"))


class WithoutTheLibrary(Case):
    def test_the_package_is_named(self):
        environment = dict(os.environ, PYTHONPATH="")
        if subprocess.run([sys.executable, "-c", "import elftools"], env=environment,
                          capture_output=True).returncode == 0:  # fmt: skip
            self.skipTest("pyelftools is installed for every program")
        line = self.fails("layout", PROGRAM, env=environment)
        self.assertIn("python3 -m pip install pyelftools", line)


if __name__ == "__main__":
    unittest.main()

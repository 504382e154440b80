# SPDX-License-Identifier: Apache-2.0
"""Classes drawn at random as C, and what the compiler itself says of them; some of C++."""

import itertools
import random
import re
import subprocess

TYPES = [
    "char", "short", "int", "long", "float", "double", "long double", "char *", "struct inner",
    "char[3]", "int[5]", "union choice", "enum kind", "double complex",
]  # fmt: skip
WIDTHS = {"unsigned char": 8, "unsigned short": 16, "unsigned": 32, "unsigned long": 64}
PREAMBLE = """
#include <complex.h>
#include <stddef.h>
#include <stdio.h>
struct inner { char a; long b; short c; };
union choice { int i; char text[13]; };
enum kind { one, two };
"""
# Classes of C++ of every kind.
CLASSES = """
#include <cstdlib>
struct Plain { char live; double price; int quantity; short venue; };
struct Empty {};
struct Polymorphic { virtual ~Polymorphic() {} char flag; };
struct Derived : Polymorphic { char other; int count; };
struct Virtual : virtual Polymorphic { int rank; };
struct FromEmpty : Empty { int value; };
struct FromVirtual : Virtual { char mark; double weight; };
struct Compact { [[no_unique_address]] Empty nothing; int value; };
union Choice { int number; char text[13]; };
struct alignas(64) Line { char text[60]; long last; };
struct __attribute__((packed)) Packed { char first; int second; };
struct Flexible { int count; char tail[]; };
struct Outer { int before; struct { char x; long y; }; Plain inner; static int shared; };
int Outer::shared;
namespace space { template <class T> struct Box { char c; T value; struct Inside { bool b; }; }; }
namespace { struct Hidden { int x; } hidden; }
struct Text { char* begin; unsigned long size; char local[16]; };
struct Long { long a[7]; Text text; int (*function)(int); int Plain::* member;
              void (Plain::* method)(); decltype(nullptr) nothing; };
Plain plain; Derived derived; Virtual with_virtual;
FromVirtual from_virtual; FromEmpty from_empty; Compact compact;
Choice choice; Line line; Packed packed; Flexible* flexible; Outer outer; space::Box<long> box;
space::Box<long>::Inside inside; Long* pointer;
int main() { struct Local { char c; long l; } local{}; Long l{};
             return local.c + hidden.x + (int)l.a[0]; }
"""


def declaration(type_name: str, name: str) -> str:
    base, bracket, rest = type_name.partition("[")
    return f"{base} {name}{bracket}{rest};"


class RandomStruct:
    """Members of plain types, and bit-fields where they are asked for."""

    def __init__(self, draw: random.Random, name: str, count: int, bit_fields: bool = False):
        self.name = name
        self.members = []
        for index in range(count):
            if bit_fields and draw.random() < 0.5:
                base = draw.choice(list(WIDTHS))
                width = draw.randint(1, WIDTHS[base])
                self.members.append((f"m{index}", f"{base} m{index} : {width};", True))
            else:
                kind = draw.choice(TYPES)
                self.members.append((f"m{index}", declaration(kind, f"m{index}"), False))

    def text(self, order=None, name=None) -> str:
        by_name = {member: line for member, line, _ in self.members}
        lines = [by_name[member] for member in order or by_name]
        return f"struct {name or self.name} {{ {' '.join(lines)} }};\n"


def compile_c(folder, text: str, *flags: str, name="case", compiler="gcc"):
    """An object file."""
    source = folder / f"{name}.c"
    source.write_text(text)
    target = folder / f"{name}.o"
    subprocess.run([compiler, "-c", *flags, str(source), "-o", str(target)], check=True, timeout=60)
    return target


def sizes_by_compiler(folder, text: str, names: list[str]) -> dict[str, int]:
    """sizeof of each struct, printed by a compiled program."""
    calls = "".join(f'printf("{name} %zu\\n", sizeof(struct {name}));' for name in names)
    output = run_c(folder, f"{text}int main(void) {{ {calls} return 0; }}")
    return {name: int(size) for name, size in (line.split() for line in output.splitlines())}


def run_c(folder, text: str) -> str:
    source = folder / "program.c"
    source.write_text(text)
    program = folder / "program"
    subprocess.run(["gcc", "-O0", str(source), "-o", str(program)], check=True, timeout=100)
    result = subprocess.run([str(program)], check=True, capture_output=True, timeout=20)
    return result.stdout.decode()


Places = dict[str, dict[str, tuple[int, int]]]


def offsets_by_compiler(folder, structs: list[RandomStruct]) -> Places:
    """struct -> member -> (offset, size); bit-fields are left out, they have no address."""
    calls = []
    for struct in structs:
        for member, _, is_bit_field in struct.members:
            if not is_bit_field:
                at = f"offsetof(struct {struct.name}, {member})"
                size = f"sizeof(((struct {struct.name} *)0)->{member})"
                calls.append(f'printf("{struct.name} {member} %zu %zu\\n", {at}, {size});')
    text = PREAMBLE + "".join(struct.text() for struct in structs)
    output = run_c(folder, f"{text}int main(void) {{ {''.join(calls)} return 0; }}")
    found: Places = {}
    for line in output.splitlines():
        struct, member, offset, size = line.split()
        found.setdefault(struct, {})[member] = int(offset), int(size)
    return found


def bits_by_compiler(folder, structs: list[RandomStruct]) -> Places:
    """struct -> bit-field -> (first bit, bits): those that change when it is set to all ones."""
    calls = []
    for struct in structs:
        for member, _, is_bit_field in struct.members:
            if is_bit_field:
                calls.append(f"""{{ union {{ struct {struct.name} s; unsigned char b[512]; }} u;
                    memset(&u, 0, sizeof u); u.s.{member} = -1; long first = -1, count = 0;
                    for (long i = 0; i < 4096; ++i) if (u.b[i / 8] >> i % 8 & 1) {{
                        if (first < 0) first = i; ++count; }}
                    printf("{struct.name} {member} %ld %ld\\n", first, count); }}""")
    text = PREAMBLE + "#include <string.h>\n" + "".join(struct.text() for struct in structs)
    output = run_c(folder, f"{text}int main(void) {{ {''.join(calls)} return 0; }}")
    found: Places = {}
    for line in output.splitlines():
        struct, member, first, count = line.split()
        found.setdefault(struct, {})[member] = int(first), int(count)
    return found


def smallest_by_compiler(folder, struct: RandomStruct) -> int:
    """The least sizeof of all orders of the members."""
    orders = list(itertools.permutations([member for member, _, _ in struct.members]))
    names = [f"p{index}" for index in range(len(orders))]
    text = PREAMBLE + "".join(struct.text(order, name) for order, name in zip(orders, names))
    return min(sizes_by_compiler(folder, text, names).values())


def facts_by_pahole(file, name: str) -> dict[str, int]:
    """size, holes, bytes in holes, padding, lines, as pahole prints them below the members."""
    output = subprocess.run(["pahole", "-C", name, str(file)], check=True, capture_output=True,
                            timeout=20, text=True).stdout  # fmt: skip
    patterns = {
        "size": r"/\* size: (\d+)",
        "lines": r"cachelines: (\d+)",
        "holes": r"[ ,]holes: (\d+), sum holes",
        "hole_bytes": r"sum holes: (\d+)",
        "padding": r"/\* padding: (\d+)",
    }
    facts = {}
    for fact, pattern in patterns.items():
        found = re.search(pattern, output)
        facts[fact] = int(found.group(1)) if found else 0
    return facts

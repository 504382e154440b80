# SPDX-License-Identifier: Apache-2.0
"""Shows what the layout of classes costs, from debug information.

For each class of the object files or executables: its size, the bytes that no member uses, those
inside its members, what a better order of members saves, cache lines and members on two of them.
With --class all of one class: members, holes, blocks of allocators, a smaller order.

Compile with -g. Classes of system headers are left out, and those inside functions; --system and
--local add them.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys

from strid_memory.errors import MemoryToolError, UsageError

SORTS = {
    "unused": lambda one: -(one.wasted + one.inside),
    "saves": lambda one: -one.saved,
    "size": lambda one: -one.record.bytes,
    "name": lambda one: 0,
}
SYSTEM_FOLDERS = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/opt/")


def add_options(parser) -> None:
    def add(*names, **rest):
        parser.add_argument(*names, **rest)

    add("files", nargs="+", metavar="FILE", type=pathlib.Path,
        help="object file, executable or shared library with debug information")  # fmt: skip
    add("--class", dest="pattern", metavar="NAME",
        help="all of each class whose name, with or without its namespaces and template "
             "arguments, is NAME or matches it as a regular expression")  # fmt: skip
    add("--together", metavar="A,B,...",
        help="with --class: members that are used together; says whether they share a line; "
             "a.b is a member of a member")  # fmt: skip
    add("--line-bytes", type=int, default=64, metavar="N",
        help="bytes of a cache line, a power of two (64)")  # fmt: skip
    add("--sort", choices=SORTS, default="unused",
        help="order of the table: unused bytes (those inside members included), bytes that "
             "another order saves, size, name")  # fmt: skip
    add("--limit", type=int, default=30, metavar="N", help="lines of the table (30)")
    add("--system", action="store_true", help="classes of system headers as well")
    add("--local", action="store_true",
        help="classes inside functions as well; reads several times as long")  # fmt: skip
    add("--json", action="store_true", help="everything as JSON")


def checked_pattern(options) -> re.Pattern | None:
    if options.line_bytes < 8 or options.line_bytes & (options.line_bytes - 1):
        raise UsageError(f"--line-bytes {options.line_bytes}: must be a power of two, at least 8")
    if options.limit < 1:
        raise UsageError(f"--limit {options.limit}: must be at least 1")
    if options.together and not options.pattern:
        raise UsageError("--together needs --class")
    if not options.pattern:
        return None
    try:
        return re.compile(options.pattern)
    except re.error as error:
        raise UsageError(f"--class {options.pattern}: is no regular expression: {error}") from None


def without_arguments(name: str) -> str:
    """A template's name without what is in angle brackets."""
    depth = 0
    kept = []
    for character in name:
        depth -= character == ">"
        if depth <= 0:
            kept.append(character)
        depth += character == "<"
    return "".join(kept).replace("<>", "")


def matches(pattern: re.Pattern, text: str, name: str) -> bool:
    plain = without_arguments(name)
    forms = {name, plain, plain.rpartition("::")[2]}
    if len(name) > len(plain):
        # The last part with its arguments, which may have :: in them.
        forms.add(name[len(plain[: plain.rfind("::") + 2]) if "::" in plain else 0 :])
    return text in forms or any(pattern.fullmatch(form) for form in forms)


def wanted(record, options, pattern) -> bool:
    if pattern is not None:
        return matches(pattern, options.pattern, record.name)
    is_system = record.file.startswith(SYSTEM_FOLDERS) or record.file.endswith("<built-in>")
    return options.system or not is_system


def read_records(options, pattern) -> list:
    from strid_memory.layout import debug_information, types

    debug_information.library()
    records = {}
    any_class = False
    for path in options.files:
        dwarf = debug_information.dwarf_of(path)
        with debug_information.damage_is_an_error(path):
            reader = types.TypeReader(dwarf, options.local)
            for record in reader.records():
                any_class = True
                if wanted(record, options, pattern):
                    records.setdefault(record.key, record)
        if reader.split_units:
            raise MemoryToolError(
                f"{path}: the types of {reader.split_units} of its units are in other files "
                "(-gsplit-dwarf), which are not read: compile without"
            )
    if pattern is not None and not records:
        hint = "" if options.local else "; of those inside functions with --local"
        raise MemoryToolError(
            f"--class {options.pattern}: no class of that name in {options.files[0]}"
            + (f" and {len(options.files) - 1} more" if len(options.files) > 1 else "")
            + hint
        )
    if not any_class:
        raise MemoryToolError(f"{options.files[0]}: has no class in its debug information")
    return list(records.values())


def run(options) -> int:
    from strid_memory.layout import analysis, report

    pattern = checked_pattern(options)
    judged = [report.judge(record, options.line_bytes) for record in read_records(options, pattern)]
    judged.sort(key=lambda one: (SORTS[options.sort](one), one.record.name, one.record.bytes))
    paths = [path.strip() for path in options.together.split(",")] if options.together else []
    together = [
        analysis.together(one.record, paths, options.line_bytes) if paths else None
        for one in judged
    ]
    if paths and not any(together):
        records = [one.record for one in judged]
        missing = [path for path in paths if not any(analysis.find(r, path) for r in records)]
        name = judged[0].record.name
        raise MemoryToolError(f"--together: {name} has no member {', '.join(missing or paths)}")
    if options.json:
        pairs = zip(judged, together)
        every = [report.as_json(one, options.line_bytes, found) for one, found in pairs]
        print(json.dumps(every, indent=1))
        return 0
    if pattern is None:
        lines = report.overview(judged, options.limit, options.line_bytes)
    else:
        lines = []
        for one, found in zip(judged, together):
            lines += report.details(one, options.line_bytes)
            if found:
                lines += report.together_text(one.record, found, options.line_bytes)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0

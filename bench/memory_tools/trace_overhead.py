#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `strid memory trace` costs a program, beside heaptrack and ltrace.

    bench/memory_tools/trace_overhead.py [--repeats N] [--programs A,B] [--peers heaptrack,ltrace]

Runs each program by itself and traced, alternately, and prints the median of the processor time
and those of the paired ratios, of processor time and of the time that passed, children included
(heaptrack does not follow those of g++). The bar is 1.15 for programs; `fast` does nothing but
allocate, 5,000,000 pairs of calls, and has none.
`--command 'SHELL COMMAND'` adds one of your own, such as the exchange under a load generator.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/memory"))

from strid_memory import trace_file, traced  # noqa: E402  (the path comes first)

BAR = 1.15
VARIABLES = {"python3_malloc": {"PYTHONMALLOC": "malloc"}}
LIBRARY = ROOT / "build/release/tools" / traced.LIBRARY_NAME

PYTHON = "d={}\nfor i in range(400000): d[str(i)]=[i,(i,)]\nprint(len(d))"
CPP = """#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", "b+"); std::cout << m.size(); }
"""
SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
insert into t select i, printf('%x-%d', i * 7919, i), i / 3.0 from n;
create index tb on t(b);
select count(distinct substr(b, 1, 3)), sum(c) from t where b > '3';
"""


def programs(folder: pathlib.Path) -> dict[str, list[str]]:
    """name: command, of those that are installed."""
    (folder / "source.cpp").write_text(CPP)
    (folder / "query.sql").write_text(SQL)
    (folder / "lines").write_text(
        "".join(f"{i * 7919 % 1000003} {i}\n" for i in range(400_000))
    )
    found = {
        "python3": [sys.executable, "-c", PYTHON],
        "python3_malloc": [sys.executable, "-c", PYTHON],
        "g++": ["g++", "-O1", "-c", "-o", str(folder / "o.o"), str(folder / "source.cpp")],
        "sort": ["sort", "-n", str(folder / "lines")],
        "sqlite3": ["sqlite3", ":memory:", f".read {folder / 'query.sql'}"],
        "fast": [str(LIBRARY.parents[1] / "tests/tools/memory_trace_program"), "fast", "5000000"],
    }
    return {name: command for name, command in found.items() if shutil.which(command[0])}


def peers(names: list[str], folder: pathlib.Path) -> dict[str, list[str]]:
    commands = {
        "heaptrack": ["heaptrack", "--raw", "-o", str(folder / "heaptrack")],
        "ltrace": [
            "ltrace", "-f", "-o", os.devnull, "-c",
            "-e", "malloc+free+calloc+realloc+_Znwm+_ZdlPv+_ZdlPvm",
        ],
    }  # fmt: skip
    return {name: commands[name] for name in names if shutil.which(name)}


def measure(command: list[str], environment: dict, timeout_s: float) -> tuple[float, float] | None:
    """(processor time, time that passed) in seconds; None: it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        start_new_session=True,
    )  # fmt: skip
    try:
        if child.wait(timeout_s) != 0:
            raise SystemExit(f"status {child.returncode} of {shlex.join(command)}")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return None
    passed = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


@contextlib.contextmanager
def session():
    """The variables by which a program is traced."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strid-memory-", dir=traced.default_parent()))
    trace_file.write_session(folder, 10_000_000, True)
    try:
        yield {traced.FOLDER_VARIABLE: str(folder), "LD_PRELOAD": str(LIBRARY)}
    finally:
        shutil.rmtree(folder)


def contest(name, command, ways, repeats, timeout_s) -> bool:
    """Prints a line for each way; whether the first way keeps the bar."""
    times: dict[str, list] = {way: [] for way in ["alone", *ways]}
    own = VARIABLES.get(name, {})
    for _ in range(repeats):
        for way in times:
            if None in times[way]:
                continue
            with session() if way == "strid" else contextlib.nullcontext({}) as variables:
                line = [*ways.get(way, []), *command]
                times[way].append(measure(line, {**os.environ, **own, **variables}, timeout_s))
    alone = times["alone"]
    print(f"{name:16} alone        {statistics.median(t[0] for t in alone):8.3f} s processor")
    kept = True
    for way in ways:
        if None in times[way]:
            print(f"{'':16} {way:12} more than {timeout_s:g} s")
            continue
        cpu = statistics.median(b[0] / a[0] for a, b in zip(alone, times[way]))
        passed = statistics.median(b[1] / a[1] for a, b in zip(alone, times[way]))
        own = statistics.median(t[0] for t in times[way])
        print(
            f"{'':16} {way:12} {own:8.3f} s processor, {cpu:.3f} times; passed {passed:.3f} times"
        )
        if way == "strid" and name != "fast":
            kept = cpu <= BAR
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--programs", default="python3,python3_malloc,g++,sort,sqlite3,fast")
    parser.add_argument("--peers", default="heaptrack,ltrace")
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=60, help="of one run, in seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # What the tool itself takes before and after the program is not the program's time.
        ways = {"strid": [], **peers([one for one in options.peers.split(",") if one], folder)}
        known = programs(folder)
        chosen = {one: known[one] for one in options.programs.split(",") if one in known}
        for text in options.command:
            chosen[shlex.split(text)[0]] = ["sh", "-c", text]
        print(f"load of the machine {os.getloadavg()[0]:.1f}; {options.repeats} repeats")
        kept = [
            contest(one, command, ways, options.repeats, options.timeout)
            for one, command in chosen.items()
        ]
    print(f"bar of {BAR}: {'kept' if all(kept) else 'not kept'}")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())

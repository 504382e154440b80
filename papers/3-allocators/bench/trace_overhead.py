#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of `strid memory trace` for a program, beside heaptrack and ltrace.

    trace_overhead.py [--repeats N] [--programs A,B] [--peers heaptrack,ltrace]

Runs each program by itself and traced, alternately, and prints the median of the processor time
and those of the paired ratios, of processor time and of the time that passed, children included
(heaptrack does not follow those of g++). The bar is 1.15 for programs; `fast` does nothing but
allocate, 5,000,000 pairs of calls, and has none. Of `exchange` the processor time is that of its
three programs, and the time that passes that of 20,000 orders of w1.
`--command 'SHELL COMMAND'` adds one of your own.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
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

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "memory-tools/memory"), str(ROOT / "papers/3-allocators/bench")]

import middleware  # noqa: E402  (the paths come first)
from strid_memory import trace_file, traced  # noqa: E402
from strid_memory.errors import MemoryToolError  # noqa: E402

BAR = 1.15
VARIABLES = {"python3_malloc": {"PYTHONMALLOC": "malloc"}}
BUILD = ROOT / "build/release"
LIBRARY = BUILD / "tools" / traced.LIBRARY_NAME

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
        "fast": [str(BUILD / "memory-tools/tests/memory/memory_trace_program"), "fast", "5000000"],
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


def run_command(
    command: list[str], prefix: list[str], environment: dict, timeout_s: float
) -> tuple[float, float] | None:
    """(processor time, time that passed) in seconds; None: it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    line = [*prefix, *command]
    child = subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        start_new_session=True,
    )  # fmt: skip
    try:
        if child.wait(timeout_s) != 0:
            raise MemoryToolError(f"status {child.returncode} of {shlex.join(line)}")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return None
    passed = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


class Wrapped:
    """A program of the exchange behind the words of a tool, in a process group of its own."""

    def __init__(self, prefix: list[str], words: list[str], environment: dict, log: pathlib.Path):
        self.program = pathlib.Path(words[0]).resolve()
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [*prefix, *words], env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip

    def end(self) -> float:
        """Ends the program, not the tool, which ends by itself; the processor time of both."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                is_program = (entry / "exe").resolve() == self.program
                if is_program and os.getpgid(int(entry.name)) == self.process.pid:
                    os.kill(int(entry.name), signal.SIGTERM)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def kill(self):
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def run_exchange(
    prefix: list[str], environment: dict, timeout_s: float
) -> tuple[float, float] | None:
    """The same of 20,000 orders; the load generator, which checks the answers, is not traced."""
    load = middleware.Load("w1", orders=20_000, sessions=20, seed=1, timeout_s=timeout_s)
    exchange = middleware.Middleware(
        BUILD, lambda _, words, log: Wrapped(prefix, words, environment, log)
    )
    try:
        passed = middleware.run_load(BUILD, load, exchange.port)["seconds"]
        programs = [exchange.running[name] for name in reversed(middleware.APPS)]
        return sum(program.end() for program in programs), passed
    finally:
        exchange.kill()


@contextlib.contextmanager
def session():
    """The variables by which a program is traced."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strid-memory-", dir=traced.default_parent()))
    trace_file.write_session(folder, 10_000_000, True)
    try:
        yield {traced.FOLDER_VARIABLE: str(folder), "LD_PRELOAD": str(LIBRARY)}
    finally:
        shutil.rmtree(folder)


def contest(name, run, ways, repeats, timeout_s) -> bool:
    """Prints a line for each way and names what fails; whether the first way keeps the bar."""
    times: dict[str, list] = {way: [] for way in ["alone", *ways]}
    own = VARIABLES.get(name, {})
    for _ in range(repeats):
        for way in times:
            if None in times[way]:
                continue
            with session() if way == "strid" else contextlib.nullcontext({}) as variables:
                environment = {**os.environ, **own, **variables}
                try:
                    times[way].append(run(ways.get(way, []), environment, timeout_s))
                except MemoryToolError as error:
                    if way in ("alone", "strid"):
                        raise
                    print(f"{name}: {way} fails: {error}")
                    times[way].append(None)
    alone = times["alone"]
    print(f"{name:16} alone        {statistics.median(t[0] for t in alone):8.3f} s processor")
    kept = True
    for way in ways:
        if None in times[way]:
            print(f"{'':16} {way:12} failed, or took more than {timeout_s:g} s")
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
    parser.add_argument(
        "--programs", default="python3,python3_malloc,g++,sort,sqlite3,fast,exchange"
    )
    parser.add_argument("--peers", default="heaptrack,ltrace")
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=60, help="of one run, in seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # The time of the tool before and after the program is not the program's time.
        ways = {"strid": [], **peers([one for one in options.peers.split(",") if one], folder)}
        known = {
            one: functools.partial(run_command, words) for one, words in programs(folder).items()
        }
        known["exchange"] = run_exchange
        chosen = {one: known[one] for one in options.programs.split(",") if one in known}
        for text in options.command:
            chosen[shlex.split(text)[0]] = functools.partial(run_command, ["sh", "-c", text])
        print(f"load of the machine {os.getloadavg()[0]:.1f}; {options.repeats} repeats")
        kept = [
            contest(one, run, ways, options.repeats, options.timeout)
            for one, run in chosen.items()
        ]
    print(f"bar of {BAR}: {'kept' if all(kept) else 'not kept'}")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MemoryToolError as error:
        sys.exit(f"trace_overhead: {error}")

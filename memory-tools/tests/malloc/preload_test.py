#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under a preloaded allocator: each says what it says without.

The library is in the environment as ALLOCATOR, one of the project's own test programs as
OWN_TEST (not run where it is not built).
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ALLOCATOR = os.environ["ALLOCATOR"]

PYTHON = """
import json, random, re, threading, zlib
random.seed(7)
records = [{"key": random.random(), "words": [str(n)] * (n % 9)} for n in range(20000)]
text = json.dumps(records)
again = json.loads(text)
again.sort(key=lambda record: record["key"])
found = []
def work(part):
    found.append(len(re.findall("[0-9]+", text[part::4])))
threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(again == sorted(records, key=lambda record: record["key"]), zlib.crc32(text.encode()))
print(sum(found), len(zlib.compress(text.encode())))
"""

SQL = """
PRAGMA temp_store = memory;
CREATE TABLE trades (id INTEGER PRIMARY KEY, symbol TEXT, price REAL);
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 30000)
INSERT INTO trades SELECT n, 'S' || (n * 7919 % 500), n * 31 % 1000 / 10.0 FROM numbers;
CREATE INDEX by_symbol ON trades (symbol, price);
DELETE FROM trades WHERE id % 3 = 0;
SELECT symbol, count(*), sum(price), group_concat(id) FROM trades GROUP BY symbol ORDER BY symbol;
"""

PERL = r"""
my %count; $count{($_ * 7919) % 5003} .= "x" x ($_ % 17) for 1 .. 60000;
print join(",", map { "$_:" . length $count{$_} } sort { $a <=> $b } keys %count), "\n";
"""

CPP = """
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> table;
int sum(const std::vector<int>& values) {
    int result = 0;
    std::for_each(values.begin(), values.end(), [&](int value) { result += value; });
    return result;
}
std::function<int(int)> twice = [](int value) { return 2 * value; };
"""


class Preload(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, command, preload, text=None):
        environment = dict(os.environ, LC_ALL="C", HOME=str(self.folder))
        environment.pop("LD_PRELOAD", None)
        if preload:
            environment["LD_PRELOAD"] = ALLOCATOR
        ended = subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=self.folder,
            env=environment, timeout=240,
        )
        self.assertEqual(ended.returncode, 0, f"{command}: {ended.stderr}")
        self.assertNotIn("cannot be preloaded", ended.stderr)
        return ended.stdout

    def expect_same(self, command, text=None):
        said = self.run_program(command, True, text)
        self.assertEqual(said, self.run_program(command, False, text))
        return said

    def program(self, name):
        found = shutil.which(name)
        if found is None:
            self.skipTest(f"{name} is not installed")
        return found

    def test_is_loaded(self):
        said = self.run_program([self.program("cat"), "/proc/self/maps"], True)
        self.assertIn(Path(ALLOCATOR).resolve().name, said)

    def test_python(self):
        self.assertIn("True", self.expect_same([sys.executable, "-c", PYTHON]))

    def test_python_child_processes(self):
        script = (
            "import multiprocessing\n"
            "if __name__ == '__main__':\n"
            "    with multiprocessing.get_context('fork').Pool(3) as pool:\n"
            "        print(sum(pool.map(len, [str(n) * n for n in range(500)])))\n"
        )
        self.expect_same([sys.executable, "-c", script])

    def test_sqlite(self):
        shell = shutil.which("sqlite3")
        if shell is not None:
            said = self.expect_same([shell, ":memory:"], SQL)
        else:
            script = (
                "import sqlite3, sys\n"
                "base = sqlite3.connect(':memory:')\n"
                "*first, last = sys.stdin.read().strip().split(';\\n')\n"
                "[base.execute(part) for part in first]\n"
                "print(list(base.execute(last)))\n"
            )
            said = self.expect_same([sys.executable, "-c", script], SQL)
        oracle = sqlite3.connect(":memory:")
        *first, last = SQL.strip().split(";\n")
        for part in first:
            oracle.execute(part)
        for symbol, *_ in oracle.execute(last):
            self.assertIn(symbol, said)

    def test_compiler(self):
        compiler = self.program("g++")
        (self.folder / "unit.cpp").write_text(CPP)
        command = [compiler, "-std=c++20", "-O1", "-S", "-o", "-", "unit.cpp"]
        self.assertIn("twice", self.expect_same(command))

    def test_git(self):
        git = self.program("git")
        identity = ["-c", "user.name=Test", "-c", "user.email=test@localhost"]
        self.run_program([git, "init", "-q", "."], True)
        for commit in range(12):
            for file in range(5):
                lines = [f"line {n} of {file}\n" for n in range(commit * 50)]
                (self.folder / f"file{file}").write_text("".join(lines))
            self.run_program([git, "add", "-A"], True)
            message = ["commit", "-q", "--allow-empty", "-m", f"Commit {commit}"]
            self.run_program([git, *identity, *message], True)
        before = self.expect_same([git, "log", "--stat", "-p"])
        self.run_program([git, "gc", "-q", "--aggressive", "--prune=now"], True)
        self.run_program([git, "fsck", "--strict"], False)
        self.assertEqual(self.expect_same([git, "log", "--stat", "-p"]), before)

    def test_sort(self):
        lines = "".join(f"{n * 7919 % 100003} {n}\n" for n in range(60000))
        said = self.expect_same([self.program("sort"), "-n", "--parallel=2"], lines)
        expected = sorted(lines.splitlines(), key=lambda line: int(line.split()[0]))
        self.assertEqual(
            [line.split()[0] for line in said.splitlines()],
            [line.split()[0] for line in expected],
        )

    def test_perl(self):
        self.expect_same([self.program("perl"), "-e", PERL])

    def test_own_tests(self):
        own = os.environ.get("OWN_TEST", "")
        if not Path(own).is_file():
            self.skipTest("the program is not built")
        said = self.run_program([own, "--gtest_brief=1"], True)
        self.assertIn("PASSED", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)

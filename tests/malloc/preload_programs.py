# SPDX-License-Identifier: Apache-2.0
"""Programs that answer the same under any malloc; LIBRARY names the one that is preloaded."""

import os
import pathlib
import random
import subprocess
import tempfile
import unittest

LIBRARY = os.environ["LIBRARY"]
TIMEOUT_S = 120
PYTHON = """
import collections, json, os, threading
maps = open('/proc/self/maps').read()
def work(number):
    words = collections.Counter(str(i * number % 977) for i in range(30000))
    return json.dumps(sorted(words.items()))
results = [None] * 4
def run(number):
    results[number] = work(number + 1)
threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
[t.start() for t in threads]
child = os.fork()
if child == 0:
    os._exit(len(work(3)) % 100)
[t.join() for t in threads]
grown = bytearray()
for i in range(200000):
    grown += b'0123456789' * 10
print(hash(len(grown)), os.waitpid(child, 0)[1], sum(map(len, results)))
"""
SQL = """
create table t(key integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, printf('%x-%s', i * 7919, hex(i)), i / 3.0 from n;
create index by_name on t(name);
select count(*), sum(length(name)), round(total(value), 2) from t;
select name from t order by name limit 5 offset 31000;
select group_concat(name, ',') from (select name from t where key % 100 = 7 order by name desc);
"""


class Preloaded(unittest.TestCase):
    """Each program runs twice, with and without the library."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def output(self, *command, preload=True, **options):
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = LIBRARY
        result = subprocess.run(list(map(str, command)), env=environment, capture_output=True,
                                timeout=TIMEOUT_S, **options)  # fmt: skip
        self.assertEqual((result.returncode, result.stderr), (0, b""), command)
        return result.stdout

    def answers_the_same(self, *command, **options):
        plain = self.output(*command, preload=False, **options)
        self.assertTrue(plain)
        self.assertEqual(self.output(*command, **options), plain)

    def test_the_library_is_loaded_and_serves_malloc(self):
        ask = "import ctypes; print(ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value)"
        ask += "; print(open('/proc/self/maps').read())"
        address, *maps = self.output("python3", "-c", ask).decode().split("\n")
        inside = [line.split()[0].split("-") for line in maps if line.endswith(LIBRARY)]
        self.assertTrue(inside)
        self.assertTrue(any(int(a, 16) <= int(address) < int(b, 16) for a, b in inside))

    def test_python_with_threads_and_a_fork(self):
        self.answers_the_same("python3", "-S", "-c", PYTHON)

    def test_sqlite(self):
        self.answers_the_same("sqlite3", ":memory:", SQL)

    def test_sort_of_many_lines(self):
        draw = random.Random(1)
        file = self.folder / "lines"
        numbers = (draw.getrandbits(draw.randint(1, 200)) for _ in range(100000))
        file.write_text("".join(f"{number}\n" for number in numbers))
        self.answers_the_same("sort", "--parallel=2", "-S", "8M", file)

    def test_git(self):
        def git(*arguments, preload=True):
            who = ["-c", "user.name=n", "-c", "user.email=e"]
            return self.output("git", "-C", self.folder, *who, *arguments, preload=preload)

        git("init", "-q", ".")
        for round_ in range(3):
            for name in range(200):
                text = "".join(f"{name} {line * round_}\n" for line in range(name))
                (self.folder / f"file{name}").write_text(text)
            git("add", "-A")
            git("commit", "-q", "-m", f"round {round_}")
        git("gc", "-q")
        git("fsck", "--no-progress")
        log = git("log", "-p", "--stat")
        self.assertGreater(len(log), 100000)
        self.assertEqual(git("log", "-p", "--stat", preload=False), log)

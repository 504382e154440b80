#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` over JSON lines: the windows of the same table in CSV, which windows.py compares
with a computation of its own; texts and numbers as Python's parser reads them; errors and pipes.

    json_windows.py CLASS...
"""
import csv
import gzip
import io
import json
import math
import os
import random
import sqlite3
import subprocess
import tempfile
import time
import unittest
from collections import Counter

from windows import AGGREGATES, STRID, strid, table, text_of


def json_of(rows, seed):
    """The table of windows.text_of: members in any order, numbers also as strings, and what CSV
    leaves empty as an empty string, as null or not at all."""
    rng = random.Random(seed)
    lines = []
    for at, key, side, x, tag in rows:
        members = [("tag", tag), ("at", rng.choice([at, str(at)])), ("key", key), ("side", side),
                   ("x", rng.choice(["", None]) if x is None else rng.choice([x, str(x)])),
                   ("more", {"at": [1, {}]})]
        members = [(name, value) for name, value in members
                   if name not in ("x", "tag") or value not in ("", None) or rng.random() < 0.5]
        rng.shuffle(members)
        spaces = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")])
        lines.append(json.dumps(dict(members), separators=spaces))
        lines.extend([""] * rng.randrange(2))
    return "\n".join(lines) + rng.choice(["", "\n"])


class SameAsCsv(unittest.TestCase):
    maxDiff = 2000

    def compare(self, number, *arguments):
        rows = table(number)
        late = f"/tmp/strid-json-late-{os.getpid()}"
        answers = []
        for given in (text_of(rows), json_of(rows, number)):
            with_late = [] if "count" in arguments[-1] else ["--disorder", "3s", "--late", late]
            for parallelism in ("1", "2"):
                done = strid(*arguments[:-1], "--window", arguments[-1], *with_late,
                             "--parallelism", parallelism, given=given)
                answer = [sorted(done.stdout.splitlines())]
                if with_late:
                    with open(late, encoding="utf-8") as file:
                        lines = file.read().splitlines()
                    self.assertLessEqual(set(lines), set(given.splitlines()))
                    answer.append(len(lines) - (0 if given[0] == "{" else 1))
                    os.unlink(late)
                answers.append(answer)
        self.assertGreater(len(answers[0][0]), 10)
        for answer in answers[1:]:
            self.assertEqual(answer, answers[0])

    def test_every_kind_of_window(self):
        kinds = ["tumbling:5s", "sliding:10s/1s", "session:2s", "count:100/25", "count:7"]
        for number, kind in enumerate(kinds):
            self.compare(number, "--key", "key,side", "--time", "at", "--aggregate", AGGREGATES,
                         kind)
            self.compare(number, "--key", "key", "--time", "at", "--aggregate",
                         "sum(x),count,min(x)", kind)
            self.compare(number, "--time", "at", "--aggregate", "mean(x)", kind)

    def test_the_name_of_the_file_says_the_format(self):
        rows = table(3)
        arguments = ["--key", "key", "--time", "at", "--window", "tumbling:5s", "--aggregate",
                     "sum(x)", "--disorder", "1m"]
        expected = sorted(strid(*arguments, given=text_of(rows)).stdout.splitlines())
        with tempfile.TemporaryDirectory() as folder:
            for name in ("t.json", "t.jsonl", "t.ndjson", "t.jsonl.gz", "t.txt", "t", "t.csv"):
                path = os.path.join(folder, name)
                text = text_of(rows) if name == "t.csv" else json_of(rows, 3)
                with (gzip.open if name.endswith(".gz") else open)(path, "wt",
                                                                   encoding="utf-8") as file:
                    file.write(text)
                done = strid(*arguments, "--input", path)
                self.assertEqual(sorted(done.stdout.splitlines()), expected, name)
            path = os.path.join(folder, "wrong.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json_of(rows, 3))
            strid(*arguments, "--input", path, code=1)
            done = strid(*arguments, "--input", path, "--format", "json")
            self.assertEqual(sorted(done.stdout.splitlines()), expected)

    def test_windows_are_written_while_the_pipe_is_open(self):
        with subprocess.Popen([STRID, "window", "--quiet", "--time", "at", "--window",
                               "tumbling:1s", "--aggregate", "count"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(' \r\n')
            process.stdin.flush()
            time.sleep(0.2)  # so that it is read alone, and shows no format
            process.stdin.write('\n{"at": 100}\n{"at": 900}\n{"at": 15')
            process.stdin.flush()
            process.stdin.write('00}\n')
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "window_start,window_end,count\n")
            self.assertEqual(process.stdout.readline(), "0,1000,2\n")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), "1000,2000,1\n")


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


class JsonText(unittest.TestCase):
    def keys(self, given, key="k"):
        done = subprocess.run([STRID, "window", "--quiet", "--format", "json", "--key", key,
                               "--window", "count:1", "--aggregate", "count"],
                              input=given.encode(), capture_output=True, timeout=60, check=True)
        return [row[0] for row in rows_of(done.stdout.decode())[1:]]

    def test_texts(self):
        texts = ["", "plain", "é", 'a"b', "a\\b", "line\nend", "tab\tcr\r", "\u20ac and \U0001f600",
                 "a,b", " spaces ", "/slash", "x" * 100_000, '"' * 70_000]
        for ascii_only in (True, False):
            given = "".join(json.dumps({"k": text}, ensure_ascii=ascii_only) + "\n"
                            for text in texts)
            self.assertEqual(sorted(self.keys(given)), sorted(texts))

    def test_numbers_stand_as_they_were_written(self):
        numbers = ["0", "-0", "18446744073709551615", "123456789012345678901234567890", "1.50",
                   "-1e-5", "true", "false"]
        given = "".join(f'{{"k":{number} }}\n' for number in numbers)
        self.assertEqual(sorted(self.keys(given)), sorted(numbers))

    def test_names_of_members(self):
        self.assertEqual(self.keys('{"\\u00e9\\n": "a"}', "é\n"), ["a"])
        self.assertEqual(self.keys('{"k": "first", "k": "last"}'), ["last"])
        nested = ['{"a":{"x":1,"b":{"c":"1"}}}', '{"a.b":{"c":"2"}}', '{"a":{"b.c":"3"}}',
                  '{"a.b.c":"4"}', '{"a":7,"a.b":[],"a":{"b":{"d":0,"c":"5"}}}']
        self.assertEqual(sorted(self.keys("\n".join(nested), "a.b.c")), list("12345"))

    def test_times_are_exact(self):
        latest = 2 ** 63 - 1
        for unit, time in (("ns", latest - 5000), ("ns", str(latest - 5000)),
                           ("ns", -(2 ** 63) + 9999), ("us", latest // 1000 - 5)):
            width = 1000 if unit == "ns" else 1
            done = strid("--quiet", "--time", "t", "--unit", unit, "--window", "count:1",
                         "--key", "t", "--aggregate", "count", given=json.dumps({"t": time}))
            self.assertEqual(done.stdout.splitlines()[1], f"{time},0,1,1")
            done = strid("--quiet", "--time", "t", "--unit", unit, "--window", "tumbling:1us",
                         "--aggregate", "count", given=json.dumps({"t": time}))
            start = int(time) // width * width
            self.assertEqual(done.stdout.splitlines()[1], f"{start},{start + width},1")
        done = strid("--time", "t", "--window", "tumbling:1s", "--aggregate", "count",
                     given='{"t":"2013-01-01T00:00:00.5+01:00"}')
        self.assertEqual(done.stdout.splitlines()[1],
                         "2012-12-31T23:00:00Z,2012-12-31T23:00:01Z,1")

    def accepted(self, line):
        """The key and the value that Python's parser finds in a line, None where it finds none."""
        def refuse(_):
            raise ValueError
        try:
            read = json.loads(line.decode(), parse_int=str, parse_float=lambda text: text,
                              parse_constant=refuse)
            key = read["k"]
            key = "" if key is None else str(key).lower() if isinstance(key, bool) else key
            x = read.get("x")
            value = None if x is None or x == "" else float(x)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        usable = isinstance(key, str) and not isinstance(x, bool) and (
            value is None or math.isfinite(value))
        return (key, value) if usable else None

    def test_lines_with_a_wrong_byte(self):
        rng = random.Random(99)
        lines = []
        for number in range(4000):
            key = "".join(rng.choice('ab "\\é\t,') for _ in range(rng.randrange(12)))
            members = [("k", key), ("x", rng.choice([number, number / 8, -number * 1e10])),
                       ("y", rng.choice([None, True, "n\u00fc", 1]))]
            rng.shuffle(members)
            line = bytearray(json.dumps(dict(members), ensure_ascii=number % 2 == 0).encode())
            for _ in range(rng.randrange(3)):
                at = rng.randrange(len(line))
                wrong = rng.choice(b'{}[]",:\\0159.eE-+ntu \xc3\x01')
                line[at:at + rng.randrange(2)] = bytes([wrong])
            lines.append(bytes(line))
        expected = [self.accepted(line) for line in lines]
        done = subprocess.run([STRID, "window", "--format", "json", "--key", "k", "--window",
                               "count:1", "--aggregate", "sum(x)", "--skip-malformed"],
                              input=b"\n".join(lines), capture_output=True, timeout=60, check=True)
        got = Counter((row[0], float(row[3]) if row[3] else None)
                      for row in rows_of(done.stdout.decode())[1:])
        want = Counter(one for one in expected if one is not None)
        self.assertGreater(len(want), 1000)
        self.assertEqual(got - want, Counter())
        self.assertEqual(want - got, Counter())
        self.assertIn(f"{expected.count(None):,} malformed records", done.stderr.decode())


class JsonNulls(unittest.TestCase):
    """A value that is null or not there is none, as in SQL; SQLite computes the same windows."""

    def rows(self, seed):
        """Members with the value of x (a key, absent, null, empty or a number)."""
        rng = random.Random(seed)
        for number in range(2000):
            row = {"at": number * 7, "k": rng.choice(["a", "b", "", None])}
            for name in ("x", "y"):
                kind = rng.randrange(5)
                if kind > 0:
                    row[name] = [None, "", rng.randrange(-99, 99), str(rng.randrange(9))][kind - 1]
            row["o"] = rng.choice([{"z": 1.5}, {"z": None}, {}, None, 5, "text"])
            yield row

    def test_as_sqlite_has_them(self):
        asked = ("count,count(x),sum(x),min(y),max(y),mean(o.z),count(o.z),distinct(x),distinct(y)")
        for seed, extra in ((1, []), (2, ["--parallelism", "2"]), (3, ["--late", "/dev/null"])):
            rows = list(self.rows(seed))
            table = sqlite3.connect(":memory:")
            table.execute("CREATE TABLE t (at INTEGER, k TEXT, x, y, z)")
            for row in rows:
                z = row["o"].get("z") if isinstance(row["o"], dict) else None
                values = [None if v in (None, "") else float(v)
                          for v in (row.get("x"), row.get("y"), z)]
                table.execute("INSERT INTO t VALUES (?,?,?,?,?)",
                              (row["at"], row["k"] or "", *values))
            expected = {row[:2]: list(row[2:]) for row in table.execute(
                "SELECT k, at / 35 * 35, count(*), count(x), sum(x), min(y), max(y), avg(z), "
                "count(z), count(DISTINCT x), count(DISTINCT y) FROM t GROUP BY 1, 2")}
            done = strid("--key", "k", "--time", "at", "--window", "tumbling:35ms", "--aggregate",
                         asked, *extra, given="".join(json.dumps(row) + "\n" for row in rows))
            got = {(row[0], int(row[1])): [float(v) if v else None for v in row[3:]]
                   for row in rows_of(done.stdout)[1:]}
            self.assertEqual(got, expected)
            self.assertTrue(any(None in values for values in got.values()))
            self.assertNotIn("malformed", done.stderr)


    def test_a_value_that_no_row_has_is_said(self):
        ask = ["--time", "at", "--window", "tumbling:1s", "--aggregate", "sum(x),max(vlaue)"]
        rows = '{"at":1,"x":null,"value":4}\n{"at":2,"x":3,"value":5}\n'
        done = strid(*ask, given=rows)
        self.assertEqual(done.stdout, "window_start,window_end,sum(x),max(vlaue)\n0,1000,3,\n")
        self.assertIn("no row has a value in 'vlaue'", done.stderr)
        self.assertNotIn("in 'x'", done.stderr)
        self.assertNotIn("no row", strid(*ask, "--quiet", given=rows).stderr)


class JsonMistakes(unittest.TestCase):
    ask = ["--format", "json", "--time", "at", "--window", "tumbling:1s", "--aggregate", "sum(x)"]

    def test_what_is_wrong_with_a_line(self):
        good = '{"at":1,"x":1}\n'
        for line, says in (
                ('{"x":1}', "member 'at': missing"),
                ('{"at":null,"x":1}', "member 'at': null"),
                ('{"at":"","x":1}', "member 'at': not a time"),
                ('{"at":1,"x":{"x":2}}', "member 'x': an object"),
                ('{"at":1,"x":[]}', "member 'x': an array"),
                ('{"at":1,"x":"one"}', "member 'x': not a number: \"one\""),
                ('{"at":1,"x":1e999}', "member 'x': out of range: \"1e999\""),
                ('{"at":true,"x":1}', "member 'at': not a time"),
                ('{"at":9223372036854775808,"x":1}', "member 'at': out of range"),
                ('{"at":"2013-02-30T00:00","x":1}', "member 'at': no such day"),
                ('{"at":1,"x":01}', "not a JSON object"),
                ('{"at":1,"x":NaN}', "not a JSON object"),
                ('{"at":1,"x":1', "not a JSON object"),
                ('{"at":1,"x":1} {}', "not a JSON object"),
                ('{"at":1,"x":1,"y":"\\ud800', "not a JSON object"),
                ('[1]', "not a JSON object"),
                ('at,x', "not a JSON object")):
            done = strid(*self.ask, given=good + "\n" + line + "\n", code=1)
            self.assertIn("operator 'read': standard input:3: " + says, done.stderr)
            if says == "not a JSON object":
                self.assertIn(f': "{line}"', done.stderr)
            done = strid(*self.ask, "--skip-malformed", given=good + line + "\n" + good)
            self.assertEqual(done.stdout, "window_start,window_end,sum(x)\n0,1000,2\n")
            self.assertIn("1 malformed record", done.stderr)

    def test_a_key_that_is_nowhere(self):
        ask = ["--format", "json", "--key", "k", "--window", "count:9", "--aggregate", "count"]
        done = strid(*ask, given='{"k":null}\n{"k":""}\n{"other":1}\n', code=1)
        self.assertIn("standard input:3: member 'k': missing", done.stderr)

    def test_options_that_do_not_fit(self):
        done = strid(*self.ask, "--no-header", code=2)
        self.assertIn("--no-header is for CSV", done.stderr)
        strid("--format", "xml", "--window", "count:1", "--aggregate", "count", code=2)


if __name__ == "__main__":
    unittest.main()

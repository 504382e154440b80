#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of `strid window` as lines of JSON: the same rows as in CSV.

    json_output.py CLASS...
"""
import csv
import json
import random
import re
import signal
import subprocess
import sys
import time
import unittest

from command_line import TIMEOUT_S, Case

ASK = ["window", "--key", "key", "--time", "at", "--unit", "ms", "--window", "tumbling:1s",
       "--aggregate", "count as n,mean(x),min(x) as least"]
NAMES = ["key", "window_start", "window_end", "n", "mean(x)", "least"]


def rows(count, seed=1):
    rng = random.Random(seed)
    keys = ["plain", 'a "quoted" word', "two\nlines", "a,b", "", "007", "\u20ac\t"]
    lines = ["at,key,x"]
    for at in range(0, count):
        key = rng.choice(keys).replace('"', '""')
        lines.append(f'{at},"{key}",{rng.choice(["", rng.randrange(100), rng.random()])}')
    return "\n".join(lines) + "\n"


class JsonOutput(Case):
    def objects(self, text):
        found = [json.loads(line) for line in text.splitlines()]
        for one in found:
            self.assertEqual(list(one), NAMES)
        return found

    def same(self, objects, table):
        """Fields of CSV by their text; a number by its value."""
        expected = list(csv.reader(table.splitlines(keepends=True)))
        self.assertEqual(expected[0], NAMES)

        def comparable(row):
            return [None if field in ("", None) else field if i == 0 else float(field)
                    for i, field in enumerate(row)]

        self.assertEqual(
            sorted(map(repr, (comparable(one.values()) for one in objects))),
            sorted(map(repr, (comparable(row) for row in expected[1:]))))

    def test_a_file_and_a_pipe_have_the_rows_of_csv(self):
        (self.folder / "in.csv").write_text(rows(20_000))
        source = ["--input", self.folder / "in.csv"]
        table = self.strid(*ASK, *source).stdout.decode()
        objects = self.objects(self.strid(*ASK, *source, "--output-format", "json").stdout.decode())
        self.same(objects, table)
        self.assertTrue(all(isinstance(one["n"], int) for one in objects))
        self.assertTrue(any(one["key"] == "007" for one in objects))
        path = self.folder / "out.jsonl"
        self.strid(*ASK, *source, "--output-format", "json", "--output", path)
        self.same(self.objects(path.read_text()), table)

    def test_a_run_goes_on_in_its_file(self):
        text = rows(40_000)
        lines = text.splitlines(keepends=True)
        expected = self.strid(*ASK, input=text.encode()).stdout.decode()
        path = self.folder / "out.jsonl"
        live = [*ASK, "--output-format", "json", "--output", path, "--snapshots",
                self.folder / "state", "--journal", self.folder / "journal", "--write", "live"]
        first = self.start(*live)
        first.stdin.write("".join(lines[:25_000]).encode())
        first.stdin.flush()
        deadline = time.monotonic() + TIMEOUT_S
        while not path.exists() or path.read_text().count("\n") < 50:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(TIMEOUT_S), 128 + signal.SIGTERM)
        journal = self.strid("state", "journal", self.folder / "journal").stdout.decode()
        accepted = int(re.search(r"accepted +([\d,]+) lines", journal).group(1).replace(",", ""))
        self.strid(*live, input="".join(lines[accepted:]).encode())
        self.same(self.objects(path.read_text()), expected)

    def test_no_rows_are_no_lines(self):
        out = self.strid(*ASK, "--output-format", "json", input=b"at,key,x\n").stdout
        self.assertEqual(out, b"")

    def test_an_address_has_its_own_format(self):
        line = self.fails(*ASK, "--output-format", "json", "--output", "sqlite:a.db?table=b",
                          code=2, stdin=subprocess.DEVNULL)
        self.assertIn("format=json in the address", line)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())

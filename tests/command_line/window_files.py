#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that `strid window` writes beside its results: late rows and refused rows, as they
stood.

    window_files.py CLASS...
"""
import collections
import csv
import json
import os
import random
import re
import unittest

from command_line import Case
from windows import sessions, sliding, strid, table

HEADER = 'tag,"at",key,x,side,"the, ""mark"""'


def quoted(text, rng, chance=0.3):
    special = any(c in text for c in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if special or rng.random() < chance else text


def csv_row(row, number, rng):
    """A row in one of the ways to write it, with a mark of its own at its end."""
    at, key, side, x, _ = row
    tag = rng.choice(["", "plain", 'a "quoted" word', "two\nlines", "a,b", '""', "\r"])
    fields = [quoted(tag, rng), quoted(str(at), rng, 0.1), quoted(key + '"', rng),
              "" if x is None else rng.choice([str(x), f" {x}", f'"{x}"']), quoted(side, rng)]
    return ",".join([*fields, f"#{number}#"]) + rng.choice(["", "", "\r"])


def json_row(row, number, rng):
    at, key, side, x, _ = row
    members = [("at", rng.choice([at, str(at)])), ("key", key + '"\n\u20ac'), ("side", side),
               ("x", x), ("tag", rng.choice(["", "tab\t", "\\", "plain"]))]
    rng.shuffle(members)
    return json.dumps(dict(members), ensure_ascii=rng.random() < 0.5) + " " * number


class LateRows(Case):
    """Which rows are late says the computation of windows.py; the file must hold their lines."""

    aggregates = ["sum(x)", "count,p50(x),distinct(tag)",
                  ",".join(f"max(x),min(x),sum(x),count(x),var(x)" for _ in range(4))]

    def late_lines(self, text, number, *options):
        path = self.folder / "late"
        done = strid("--time", "at", "--disorder", "3s", "--late", str(path), "--parallelism",
                     str(1 + number % 3), "--mode", ["cooperative", "dedicated"][number % 2],
                     "--aggregate", self.aggregates[number % 3], *options, given=text)
        said = re.search(r"late +([\d,]+) record", done.stderr)
        return path.read_bytes().decode(), int(said[1].replace(",", "")) if said else 0

    def of_number(self, number):
        """Rows, those that are late, and the options of the windows: by one key with one sum, for
        which there is a layout of its own, or by two."""
        rows = table(number, too_late=60_000)
        keys = ["--key", "key,side"]
        if number % 3 == 0:
            rows = [(at, key, "the same", x, tag) for at, key, _, x, tag in rows]
            keys = ["--key", "key"]
        if number % 2 == 0:
            return rows, sliding(rows, 5000, 1000, 3000)[1], [*keys, "--window", "sliding:5s/1s"]
        return rows, sessions(rows, 2000, 3000)[1], [*keys, "--window", "session:2s"]

    def test_rows_of_csv(self):
        for number in range(12):
            rng = random.Random(number)
            rows, late, windows = self.of_number(number)
            lines = {id(row): csv_row(row, i, rng) for i, row in enumerate(rows)}
            text = HEADER + "\n" + "".join(f"{lines[id(row)]}\n" for row in rows)
            if number % 4 > 1:
                text = "\ufeff" + text
            if number % 3 == 2:
                text = text[:-1]
            got, counted = self.late_lines(text, number, *windows)
            self.assertTrue(got.startswith(HEADER + "\n"))
            found = re.findall(r"(?s).*?#\d+#\r?\n", got[len(HEADER) + 1:])
            self.assertEqual("".join(found), got[len(HEADER) + 1:])
            self.assertEqual(collections.Counter(found),
                             collections.Counter(lines[id(row)] + "\n" for row in late))
            self.assertGreater(len(late), 10)
            self.assertEqual(counted, len(late))

    def test_lines_of_json(self):
        for number in range(8):
            rng = random.Random(number)
            rows, late, windows = self.of_number(number)
            lines = {id(row): json_row(row, i % 50, rng) for i, row in enumerate(rows)}
            text = "".join(f"{lines[id(row)]}\n" for row in rows)
            got, counted = self.late_lines(text, number, *windows)
            self.assertEqual(sorted(got.splitlines()), sorted(lines[id(row)] for row in late))
            self.assertEqual(counted, len(late))

    def test_many_chunks_of_changed_lines(self):
        rng = random.Random(5)
        rows = [(rng.randrange(1000) if i % 5 == 0 else 10_000 + i, f'"{i % 100}"')
                for i in range(30_000)]
        for as_json in (False, True):
            lines = [json.dumps({"at": at, "key": key, "x": 1, "tag": "\n" * 40}) if as_json else
                     f'{at},{quoted(key, rng)},1,"{"x" * 40}"' for at, key in rows]
            header = "" if as_json else "at,key,x,tag\n"
            got, counted = self.late_lines(header + "\n".join(lines), 1, "--key", "key",
                                           "--window", "tumbling:1s")
            late = [line for (at, _), line in zip(rows[2:], lines[2:]) if at < 1000]
            self.assertEqual(counted, len(late))
            self.assertTrue(got.startswith(header))
            self.assertEqual(sorted(got[len(header):].splitlines()), sorted(late))

    def test_without_late_rows_or_header(self):
        windows = ["--window", "tumbling:1s"]
        self.assertEqual(self.late_lines("at,x\r\n1,2\r\n", 0, *windows)[0], "at,x\r\n")
        self.assertEqual(self.late_lines("", 0, *windows)[0], "")
        self.assertEqual(self.late_lines('{"at":1,"x":5}', 0, *windows)[0], "")
        path = self.folder / "late"
        strid("--no-header", "--time", "2", *windows, "--late", str(path), "--aggregate", "sum(1)",
              given='7,9000\n5,9500\n 6,"0"\n')
        self.assertEqual(path.read_text(), ' 6,"0"\n')

    def test_a_full_disk(self):
        given = "at,x\n" + "".join(f"{at},1\n" for at in [100_000] + [5] * 20_000)
        done = strid("--time", "at", "--window", "tumbling:1s", "--aggregate", "sum(x)", "--late",
                     "/dev/full", given=given, code=1)
        self.assertIn("/dev/full: cannot write: No space left", done.stderr)


class RefusedRows(Case):
    def dead(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            return [(int(line), reason, text) for _, line, reason, text in csv.reader(file)]

    def test_of_csv_and_json(self):
        bad_csv = [("x,1", "field 1 'at': not a time"), ("5", "expected 2 fields"),
                   ('7,"a ""b"""', "field 2 'x': not a number"), ('8,"1"2', "text after")]
        bad_json = [('{"at":"\\u0041","x":1}', "member 'at': not a time"),
                    ('{"x":1}', "member 'at': missing"), ('{"at":1,"x":"\\n"}', "member 'x'"),
                    ("[1]", "not a JSON object"), ('{"at":5,"y":"\\u0041"', "not a JSON object")]
        path = self.folder / "dead.csv"
        for bad, good, header in ((bad_csv, "3,2", "at,x\n"), (bad_json, '{"at":3,"x":2}', "")):
            rng = random.Random(3)
            lines, expected = [], []
            for number in range(3000):
                line, reason = rng.choice(bad) if rng.random() < 0.3 else (good, None)
                lines.append(line)
                if reason:
                    expected.append((number + (2 if header else 1), reason, line))
            for extra in ([], ["--skip-malformed"], ["--late", "/dev/null"]):
                done = strid("--time", "at", "--window", "tumbling:1s", "--aggregate",
                             "count,sum(x)", "--dead-letter", str(path), *extra,
                             given=header + "\n".join(lines) + "\n")
                self.assertEqual(done.stdout.splitlines()[1:],
                                 [f"0,1000,{3000 - len(expected)},{2 * (3000 - len(expected))}"])
                self.assertIn(f"{len(expected)} malformed records", done.stderr)
                got = self.dead(path)
                self.assertEqual([(line, text) for line, _, text in got],
                                 [(line, text) for line, _, text in expected])
                for (_, says, _), (_, reason, _) in zip(got, expected):
                    self.assertTrue(says.startswith(reason), (says, reason))

    def test_files_that_cannot_be_written(self):
        ask = ["--time", "at", "--window", "tumbling:1s", "--aggregate", "sum(x)", "--dead-letter"]
        bad = "at,x\n" + "1,1\n" + "x,1\n" * 5
        self.assertIn("/dev/full: cannot write: No space left",
                      strid(*ask, "/dev/full", given=bad, code=1).stderr)
        missing = str(self.folder / "no" / "dead.csv")
        self.assertIn(f"{missing}: cannot open", strid(*ask, missing, given=bad, code=1).stderr)


class LongRows(Case):
    window = ["window", "--key", "key", "--window", "count:2", "--aggregate", "count,sum(x)"]

    def test_a_field_of_100_megabytes(self):
        """Quoted, with newlines and quotes in it; the rows around it keep their places."""
        piece = 'a ""quoted"" word, and\nmore '
        meant = piece.replace('""', '"')
        pieces = 100 * 2**20 // len(piece) + 1
        source = self.folder / "long.csv"
        with open(source, "w") as file:
            file.write("key,x,text\nshort,1,a\n")
            file.write('"' + piece * pieces + '",2,b\n')
            file.write('short,4,"' + piece * pieces + '"\n')
            file.write("no number,x,\n")
        self.assertGreater(source.stat().st_size, 200 * 2**20)
        result = self.strid(*self.window, "--input", source, "--skip-malformed")
        self.assertIn(b"1 malformed record", result.stderr)
        csv.field_size_limit(2**30)
        rows = list(csv.reader(result.stdout.decode().splitlines(keepends=True)))[1:]
        self.assertEqual(sorted(len(row[0]) for row in rows), [5, len(meant) * pieces])
        for key, *rest in rows:
            self.assertEqual(rest, ["0", "2", "2", "5"] if key == "short" else ["0", "1", "1", "2"])
            self.assertTrue(key == "short" or key == meant * pieces)
        lines = 4 + 2 * pieces
        result = self.strid(*self.window, "--input", source, code=1)
        self.assertIn(f"long.csv:{lines + 1}: field 2 'x': not a number".encode(), result.stderr)

    def test_a_row_beyond_the_limit_is_malformed(self):
        source = self.folder / "long.csv"
        with open(source, "w") as file:
            file.write("key,x\na,1\n" + "b" * (129 * 2**20) + ",2\nc,4\n")
        dead = self.folder / "dead.csv"
        result = self.strid(*self.window, "--input", source, "--dead-letter", dead)
        self.assertEqual(sorted(result.stdout.splitlines()[1:]), [b"a,0,1,1,1", b"c,0,1,1,4"])
        self.assertIn(b"1 malformed record", result.stderr)
        with open(dead, newline="") as file:
            (_, line, reason, text), = csv.reader(file)
        self.assertEqual((line, text), ("3", "b" * 1024))
        self.assertIn("longer than 134217728 bytes", reason)


if __name__ == "__main__":
    unittest.main()

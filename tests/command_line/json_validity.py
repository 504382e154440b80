#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` over JSON lines: which lines are JSON, which member a name means. The oracle is
Python's parser: a line is accepted where that finds an object in it (NaN and Infinity, which Python
takes and RFC 8259 does not, are refused).

    json_validity.py CLASS...
"""
import csv
import json
import random
import unittest

from command_line import Case

# Mutations put these in the place of others, or between them.
PIECES = [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"0", b"1", b"-", b"+", b".", b"e", b"E",
          b"n", b"t", b"f", b" ", b"\t", b"\r", b"\0", b"\x01", b"\x0b", b"\x0c", b"\x1a", b"\x1f",
          b"\x7f", b"/", b"u", b"\\u", b"\\u00e9", b"\\ud800", b"\\udc00", b"\\ud83d\\ude00",
          b"\\q", b"\\\\", b'\\"', b"\xc3\xa9", b"\xc3", b"\xa9", b"\xed\xa0\x80",
          b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xef\xbf\xbf", b"\xff", b"true",
          b"false", b"null", b"NaN", b"Infinity", b"//", b"'", b'"a":1,', b"{}", b"[]", b'"":',
          b"01", b"1.", b".5", b"1e5", b"-0", b"--1", b"1e+", b"0x1", b"1_0"]


def refuse(_):
    raise ValueError


def object_in(line):
    """The object that a line is, or None."""
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def value(rng, depth=0):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([True, False, None])
    if kind == 1:
        return rng.choice([0, -1, 7, 10**30, -5 * 10**18])
    if kind == 2:
        return rng.choice([0.5, -1e300, 1e-7, 123.25])
    if kind < 6:
        return "".join(rng.choice('ab"\\/\n\t\x1fé€😀 {}[],:') for _ in range(rng.randrange(9)))
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "b", "at", "é", 'q"', "x\\", ""]): value(rng, depth + 1)
            for _ in range(rng.randrange(4))}


def lines_with_faults(seed, count):
    rng = random.Random(seed)
    lines = []
    while len(lines) < count:
        made = {"at": 1, "v": value(rng), "w": [value(rng)]}
        spaces = rng.choice([(",", ":"), (", ", ": "), (" ,\t", "\r: ")])
        line = bytearray(json.dumps(made, ensure_ascii=rng.random() < 0.5,
                                    separators=spaces).encode())
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            at = rng.randrange(len(line) + 1)
            line[at:at + rng.choice([0, 1, 1, 2])] = rng.choice(PIECES)
        if line.strip(b" \t\r") and b"\n" not in line:
            lines.append(bytes(line))
    return lines


class JsonValidity(Case):
    def refused(self, lines, *ask):
        """The numbers of the lines that are refused, from 0."""
        source = self.file("lines.json", b'{"at":1}\n' + b"\n".join(lines) + b"\n")
        dead = self.folder / "dead.csv"
        self.strid("window", "--quiet", "--input", source, "--window", "count:1000000",
                   "--aggregate", "count", "--dead-letter", dead, *ask)
        csv.field_size_limit(10**8)
        with open(dead, newline="", encoding="utf-8", errors="surrogateescape") as file:
            return {int(row[1]) - 2 for row in csv.reader(line.replace("\0", "") for line in file)}

    def compare(self, lines, *ask):
        got = self.refused(lines, *ask)
        want = {i for i, line in enumerate(lines) if object_in(line) is None}
        wrong = sorted(got ^ want)
        self.assertEqual([(lines[i], i in got) for i in wrong[:5]], [], "(line, refused)")
        return len(want)

    def test_lines_with_faults_as_python_reads_them(self):
        for seed in range(2):
            lines = lines_with_faults(seed, 6000)
            refused = self.compare(lines)
            self.assertGreater(refused, 1000)
            self.assertGreater(len(lines) - refused, 1000)
            # The same lines are malformed where a member with faults around it is asked for.
            dead = self.refused([line for line in lines if object_in(line) is None],
                                "--key", "at")
            self.assertEqual(len(dead), refused)

    def test_lines_that_were_accepted(self):
        bad = ['{"t":2,"v":7,"a":"b":{"x":1}}, "v":9}', '{"a":tru}', '{"a":01}', '{"a":"\\q"}',
               '{"a":{"b":tru}}', '{"a":[1,2,]}', '{"a":[1 2]}', '{"a":[}', '{"a":{"b":1]}',
               '{"a":[01]}', '{"a":{"\\q":1}}', '{"\\u12":1}', '{"a":"\\u123"}', '{"a":-}',
               '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":1e}', '{"a":{"b"}}', '{"a":{"b":}}',
               '{"a":[,]}', '{"a":{,}}', '{"a":NaN}', '{"a":[Infinity]}', "{'a':1}", '{"a":"b"c}',
               '{"a":[[1,[2,{"b":nul}]]]}', '{"a":1}}', '{"a":1},', '{"a":1}]', '{"a":1} 2', "1",
               '"a"', "null", "[]", '[{"a":1}]', '{"a":1', '{"a":[1}', "{", "}", '{"a":1,}',
               '{"a":1//\n}'.replace("\n", ""), '{"a":1/**/}', '{"a":"\x01"}', '{"a" "b":1}',
               '{"a"b:1}', '{1:2}', '{"a":1"b":2}', '{"a":true"b":2}', '{"a":"x""b":2}']
        self.assertEqual(self.compare([line.encode() for line in bad]), len(bad))
        good = ['{}', ' {} ', '{"a":{}}', '{"a":[]}', '{"a":[[],[{}]]}', '{"":""}', '{"a":-0}',
                '{"a":0e0}', '{"a":1E+5}', '{"a":123456789012345678901234567890.5e-999}',
                '{"a":"\\u0000\\ud800\\"\\/"}', '{"\\ud800":1}', '{"a":"\x7f\u2028\uffff"}',
                '{"a":1,"a":2}', '\r{"a"\t:\t1\r}\r', '{"a":"' + "x\\\\" * 20_000 + '"}']
        self.assertEqual(self.compare([line.encode() for line in good]), 0)

    def test_nesting(self):
        def nested(opens, closes, depth):
            return b'{"at":1,"a":' + opens * depth + closes * depth + b"}"
        good = [nested(b"[", b"]", 900), nested(b'{"a":', b"}", 900).replace(b":}", b":1}"),
                nested(b"[", b"]", 999)]
        refused = self.refused([*good, nested(b"[", b"]", 1000), nested(b"[", b"]", 100_000),
                                b'{"a":' * 1_000_000, b"[" * 1_000_000])
        self.assertEqual(refused, {3, 4, 5, 6})

    def test_half_a_surrogate_pair(self):
        line = b'{"at":1,"k":"\\ud800","x":1}'
        self.assertEqual(self.refused([line], "--key", "at"), set())
        source = self.file("half.json", line)
        self.assertIn("member 'k': half of a surrogate pair", self.fails(
            "window", "--input", source, "--key", "k", "--window", "count:1", "--aggregate",
            "count", code=1))


def meant(members, path):
    """The member of an object that a name means: json_row.hpp has the rule in words."""
    if path in members:
        return [members[path]]
    for dot in [i for i in range(len(path) - 1, -1, -1) if path[i] == "."]:
        inner = members.get(path[:dot])
        if isinstance(inner, dict) and (found := meant(inner, path[dot + 1:])):
            return found
    return None


class JsonPaths(Case):
    """Names with dots and members that come twice; Python keeps the last of those."""

    def keys(self, lines, key):
        source = self.file("lines.json", "".join(line + "\n" for line in lines))
        done = self.strid("window", "--quiet", "--input", source, "--key", key, "--window",
                          "count:1", "--aggregate", "count", "--dead-letter",
                          self.folder / "dead.csv", "--parallelism", "1")
        with open(self.folder / "dead.csv", newline="", encoding="utf-8") as file:
            dead = {int(row[1]): row[2] for row in csv.reader(file)}
        return [row[0] for row in csv.reader(done.stdout.decode().splitlines()[1:])], dead

    def test_the_last_counts(self):
        keys, dead = self.keys(['{"a":{"b":1},"a":5}', '{"a":5,"a":{"b":2}}',
                                '{"a":{"b":3},"a":{}}', '{"a":{"b":4},"a":null}',
                                '{"a":{"b":5,"b":6}}',
                                '{"a":{"b":{}},"a":{"b":7}}', '{"a.b":8,"a":{"b":0}}',
                                '{"a":{"b":0},"a.b":9}'], "a.b")
        self.assertEqual(sorted(keys), ["2", "6", "7", "8", "9"])
        self.assertEqual({line: reason for line, reason in dead.items()},
                         {line: "member 'a.b': missing" for line in (1, 3, 4)})

    def test_as_a_lookup_in_dictionaries(self):
        rng = random.Random(5)

        def members(depth):
            return "{" + ",".join(
                json.dumps(".".join(rng.choice("ab") for _ in range(rng.randrange(1, 4)))) + ":" +
                (members(depth + 1) if depth < 4 and rng.random() < 0.6 else
                 f'"{rng.randrange(10**9)}"') for _ in range(rng.randrange(5))) + "}"
        lines = [members(0) for _ in range(3000)]
        for key in ("a", "a.b", "a.b.a", "b.a.b.a", "a..", "."):
            expected = [meant(json.loads(line), key) for line in lines]
            found = [one[0] for one in expected if one and isinstance(one[0], str)]
            keys, dead = self.keys(lines, key)
            self.assertEqual(sorted(keys), sorted(found))
            self.assertEqual(len(keys) + len(dead), len(lines))
            for number, reason in dead.items():
                says = "missing" if expected[number - 1] is None else "an object"
                self.assertEqual(reason, f"member '{key}': {says}")
        self.assertGreater(len(self.keys(lines, "a.b.a")[0]), 100)

    def test_too_many_ways(self):
        self.assertIn("more than 10 dots", self.fails(
            "window", "--key", "a.b.c.d.e.f.g.h.i.j.k.l", "--window", "count:1", "--aggregate",
            "count", code=2))


if __name__ == "__main__":
    unittest.main()

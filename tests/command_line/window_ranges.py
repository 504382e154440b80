#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of CSV and of JSON lines that all workers parse: the answer is that of the rows in order,
computed here, with any number of workers.

    window_ranges.py CLASS...
"""
import csv
import io
import itertools
import json
import random
import unittest
from collections import defaultdict

from command_line import Case
from seeds import seeds

ROWS = 60_000


def csv_line(values):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


class Table:
    """A table of some MiB, with what must come of it: windows of 1 s, refused rows, late rows."""

    def __init__(self, seed, is_json):
        rng = random.Random(seed)
        self.lines = [] if is_json else ["id,at,key,note,x\n"]
        self.line_number = len(self.lines)
        self.refused = []
        self.late = []
        self.windows = defaultdict(lambda: [0, 0, (0, 0)])  # the last by time, then by place
        now = latest = 1_000_000
        for number in range(ROWS):
            if rng.random() < 0.0005:
                self.add("\n" if is_json else rng.choice(["\n", "id,at,key,note,x\n"]))
                continue
            if rng.random() < 0.0005:
                self.refused.append(str(self.line_number + 1))
                self.add(rng.choice(
                    [f'{{"id":{number},"at":{now},"key":"k","x":"oops"}}\n', f'{{"id":{number}\n',
                     f'{{"id":{number},"at":"y","key":"\\n","x":1}}\n'] if is_json else
                    [f"{number},{now},k,n,oops\n", f"{number},1\n", f"{number},y,k,n,1\n"]))
                continue
            now += rng.randrange(5)
            at = now - (rng.randrange(5000) if rng.random() < 0.01 else 0)
            key, x = f"key-{rng.randrange(50)}", rng.randrange(1000)
            note = rng.choice(["plain", "a, b", 'say "so"', "two\nlines", ""])
            latest = max(latest, at)
            if at // 1000 * 1000 + 1000 <= latest:
                self.late.append(str(number))
            else:
                window = self.windows[key, at // 1000 * 1000]
                window[0] += 1
                window[1] += x
                window[2] = max(window[2], (at, number))
            row = {"id": number, "at": at, "key": key, "note": note, "x": x}
            self.add(json.dumps(row) + "\n" if is_json else csv_line(row.values()))

    def add(self, text):
        self.lines.append(text)
        self.line_number += text.count("\n")

    @property
    def answer(self):
        return sorted([key, str(at), str(at + 1000), str(count), str(total), str(last)]
                      for (key, at), (count, total, (_, last)) in self.windows.items())


class Ranges(Case):
    def test_all_workers_give_the_answer_of_the_rows_in_order(self):
        for seed, name in itertools.product(seeds(2), ("in.csv", "in.jsonl")):
            table = Table(seed, name == "in.jsonl")
            path = self.file(name, "".join(table.lines))
            self.assertGreater(path.stat().st_size, 1 << 20)
            for workers in (1, 2, 3):
                with self.subTest(seed=seed, name=name, workers=workers):
                    self.strid("window", "--input", path, "--key", "key", "--time", "at",
                               "--window", "tumbling:1s", "--aggregate", "count,sum(x),last(id)",
                               "--workers", workers, "--output", self.folder / "out.csv",
                               "--dead-letter", self.folder / "dead.csv",
                               "--late", self.folder / "late.csv", "--quiet")
                    self.assertEqual(sorted(self.rows("out.csv")), table.answer)
                    self.assertEqual([row[1] for row in self.rows("dead.csv", 0)], table.refused)
                    self.assertEqual(sorted(self.ids_of("late.csv", name)), sorted(table.late))

    def test_rows_of_an_input_outlive_its_reading(self):
        """Texts of keys point into the text of an input while ranges of the next are parsed."""
        paths, counts, at = [], defaultdict(lambda: [0, 0]), 0
        for number in range(5):
            lines = ["key,at,x\n"]
            for _ in range(60_000):
                at += 1
                key, x = f"key-{at * 7919 % 20_011}-{'y' * (at % 13)}", at % 1000
                lines.append(f"{key},{at},{x}\n")
                counts[key, at // 10_000 * 10_000][0] += 1
                counts[key, at // 10_000 * 10_000][1] += x
            paths.append(self.file(f"in{number}.csv", "".join(lines)))
        answer = sorted([key, str(at), str(at + 10_000), str(count), str(total)]
                        for (key, at), (count, total) in counts.items())
        for workers in (2, 3, 2):
            with self.subTest(workers=workers):
                self.strid("window", "--input", *paths, "--key", "key", "--time", "at",
                           "--window", "tumbling:10s", "--aggregate", "count,sum(x)",
                           "--workers", workers, "--output", self.folder / "out.csv", "--quiet")
                self.assertEqual(sorted(self.rows("out.csv")), answer)

    def ids_of(self, name, as_in):
        """Rows that are written as they stood in the input."""
        if as_in.endswith(".csv"):
            return [row[0] for row in self.rows(name)]
        lines = (self.folder / name).read_text().splitlines()
        return [str(json.loads(line)["id"]) for line in lines]

    def rows(self, name, header=1):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.reader(file))[header:]


if __name__ == "__main__":
    unittest.main()

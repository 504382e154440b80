#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of CSV that are not as they should be, in `strid window`: quotes that nothing closes, and
rows with more or fewer fields than the header. The expected values are counted here by hand, from
the rows that were written.

    csv_rows.py CLASS...
"""
import csv
import io
import os
import random
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from collections import Counter

from windows import STRID, strid

COUNTS = ("--time", "t", "--window", "tumbling:1s", "--aggregate", "count")


def skipped(stderr):
    """How many malformed records the summary names."""
    words = [line.split() for line in stderr.splitlines() if "malformed" in line]
    return int(words[0][1].replace(",", "")) if words else 0


def rows_with_stray_quote(rows, stray):
    lines = [f"{1000 * i},k\n" for i in range(rows)]
    lines[stray] = f'{1000 * stray},"oops\n'
    return "t,k\n" + "".join(lines)


class StrayQuotes(unittest.TestCase):
    def test_a_live_stream_goes_on(self):
        """All windows but the last come while the pipe is open."""
        given = rows_with_stray_quote(1000, 2).encode()
        with subprocess.Popen([STRID, "window", *COUNTS, "--skip-malformed"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(given)
            process.stdin.flush()
            got = [process.stdout.readline() for _ in range(999)]  # the header and 998 windows
            self.assertEqual(got[-1], b"998000,999000,1\n")
            process.send_signal(signal.SIGINT)
            rest, said = process.communicate(timeout=100)
        self.assertEqual(rest, b"999000,1000000,1\n")
        self.assertEqual(skipped(said.decode()), 1)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_the_end_of_the_input(self):
        for rows, stray in ((1000, 2), (1000, 990), (50, 2), (3, 2)):
            done = strid(*COUNTS, "--skip-malformed", given=rows_with_stray_quote(rows, stray))
            self.assertEqual(done.stdout.count("\n"), rows)  # the header, one row less
            self.assertEqual(skipped(done.stderr), 1)

    def test_the_error_names_the_line(self):
        done = strid(*COUNTS, given=rows_with_stray_quote(1000, 2), code=1)
        self.assertIn("standard input:4: a quoted field is not closed within 100 lines",
                      done.stderr)

    def test_what_is_quoted_goes_on_in_files(self):
        """As Python's csv module reads it: fields of many lines are no fault."""
        rng = random.Random(4)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["t", "text"])
        for i in range(400):
            writer.writerow([1000 * i, "\n".join("some, text" for _ in range(rng.randrange(300)))])
        expected = Counter(int(t) for t, _ in list(csv.reader(io.StringIO(out.getvalue())))[1:])
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(out.getvalue())
            file.flush()
            done = strid("--input", file.name, *COUNTS)
        got = {int(line.split(",")[0]): 1 for line in done.stdout.splitlines()[1:]}
        self.assertEqual(got, dict(expected))

    def processor_seconds(self, given):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = strid(*COUNTS, "--skip-malformed", given=given)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime, skipped(done.stderr)

    def test_one_costs_no_more_than_another_look(self):
        """Text is looked at a second time at most: the bar leaves room for a busy machine."""
        lines = "".join(f"{i},some text that is not asked for\n" for i in range(400_000))
        plain, none = self.processor_seconds("t,k\n" + lines)
        stray, one = self.processor_seconds('t,k\n0,"oops\n' + lines)
        self.assertEqual((none, one), (0, 1))
        self.assertLess(stray, 3 * plain + 0.5)


class RaggedRows(unittest.TestCase):
    TEXT = "ts,temp,hum\n1000,21,50\n1001,21,5,60\n1002,23\n1003,22,51\n\n1004,\"2\n"

    def test_the_first_ends_the_run(self):
        for asked in ("mean(temp)", "mean(hum)", "count", "distinct(hum)"):
            done = strid("--time", "ts", "--window", "tumbling:1s", "--aggregate", asked,
                         given="ts,temp,hum\n1000,21,50\n1001,21,5,60\n", code=1)
            self.assertIn("standard input:3: expected 3 fields, found 4", done.stderr)
            done = strid("--time", "ts", "--window", "tumbling:1s", "--aggregate", asked,
                         given="ts,temp,hum\n1000,21,50\n1001,21\n", code=1)
            self.assertIn("standard input:3: expected 3 fields, found 2", done.stderr)

    def test_against_a_count_of_the_fields(self):
        """Rows of any number of fields, plain and quoted, on both sides of what is asked for."""
        rng = random.Random(8)
        for names in (3, 5, 40):
            lines = []
            for i in range(2000):
                fields = rng.choice([names] * 8 + [names - 1, names + 1, 2 * names, 1])
                texts = ["1"] * fields
                if rng.random() < 0.3:
                    texts[rng.randrange(fields)] = rng.choice(['"1"', " 1", "1 "])
                texts[0] = str(i)
                lines.append(texts)
            right = sum(len(line) == names for line in lines)
            text = "".join(",".join(line) + rng.choice(["\n", "\r\n"]) for line in lines)
            header = ",".join(f"c{i}" for i in range(names)) + "\n"
            for column in (0, 1, names - 1):
                numbered = ",".join("0" * names) + "\n" + text
                for given, options in ((header + text, ["c0", f"c{column}"]),
                                       (numbered, ["1", f"{column + 1}"])):
                    plain = ["--no-header"] if options[0] == "1" else []
                    done = strid("--time", options[0], "--window", "tumbling:1h", "--aggregate",
                                 f"count,count({options[1]})", "--skip-malformed", *plain,
                                 given=given)
                    count = right + len(plain)
                    self.assertEqual(done.stdout.splitlines()[1], f"0,3600000,{count},{count}")
                    self.assertEqual(skipped(done.stderr), len(lines) - right)

    def test_ragged(self):
        """More fields are passed over; those that are missing have no value, but a row needs a time
        and a key."""
        given = ("ts,temp,k,hum\n1000,21,a,50\n1001,21,a,60,7\n1002,23,a\n1003,22\n1004\n\n"
                 "1005,1,b,2\n")
        done = strid("--ragged", "--time", "ts", "--window", "tumbling:1m", "--aggregate",
                     "count,count(temp),sum(hum)", given=given)
        self.assertEqual(done.stdout.splitlines()[1:], ["0,60000,6,5,112"])
        done = strid("--ragged", "--time", "ts", "--key", "k", "--window", "tumbling:1m",
                     "--aggregate", "count,sum(hum)", "--skip-malformed", given=given)
        self.assertEqual(sorted(done.stdout.splitlines()[1:]), ["a,0,60000,3,110", "b,0,60000,1,2"])
        self.assertEqual(skipped(done.stderr), 2)


if __name__ == "__main__":
    unittest.main()

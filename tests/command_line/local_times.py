#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of `strid window` whose text alone does not say the moment: those in several columns, hours
that clocks show twice, dates without a year. Right values come from datetime and zoneinfo.

    local_times.py CLASS...
"""
import random
import unittest
from datetime import datetime, timedelta

from command_line import Case
from windows import strid


class TimeColumns(Case):
    """Date and time of day in columns of their own."""

    def test_in_any_order_and_dialect(self):
        rng = random.Random(43)
        for trial in range(12):
            moments = [datetime(2024, 6, 25) + timedelta(seconds=rng.randrange(10**6))
                       for _ in range(50)]
            moments.sort()
            columns = ["date", "x", "time"]
            rng.shuffle(columns)
            delimiter = rng.choice([",", " ", ";"])
            quote = '"' if rng.random() < 0.3 else ""
            fields = [{"date": f"{quote}{at:%Y-%m-%d}{quote}", "time": f"{at:%H:%M:%S}",
                       "x": str(i)} for i, at in enumerate(moments)]
            lines = [delimiter.join(columns)]
            lines += [delimiter.join(row[name] for name in columns) for row in fields]
            is_json = trial % 4 == 3
            given = "".join(
                '{"date": "%s", "time": "%s", "x": %d}\n' % (at.date(), at.time(), i)
                for i, at in enumerate(moments)) if is_json else "\n".join(lines) + "\n"
            asked = ["--time", "date,time"]
            if not is_json:
                asked += ["--delimiter", delimiter]
                if rng.random() < 0.5:
                    given = given.split("\n", 1)[1]
                    asked = ["--time", f"{columns.index('date') + 1},{columns.index('time') + 1}",
                             "--delimiter", delimiter, "--no-header"]
            value = f"sum({columns.index('x') + 1})" if "--no-header" in asked else "sum(x)"
            done = strid("--quiet", *asked, "--window", "tumbling:1h", "--aggregate", value,
                         given=given)
            sums = {}
            for i, at in enumerate(moments):
                start = at.replace(minute=0, second=0)
                sums[start] = sums.get(start, 0) + i
            self.assertEqual(
                done.stdout.splitlines()[1:],
                [f"{start},{start + timedelta(hours=1)},{total}" for start, total in sums.items()])

    def test_the_bracketed_time_of_web_servers(self):
        given = ('10.0.0.1 - - [10/Oct/2023:13:55:36 -0700] "GET /a" 200 2326\n'
                 '10.0.0.2 - - [10/Oct/2023:13:56:01 -0700] "GET /b" 200 17\n')
        options = ["--delimiter", " ", "--no-header", "--window", "tumbling:1m", "--aggregate",
                   "sum(8)"]
        done = strid("--quiet", *options, "--time", "4,5", "--output-times", "iso", given=given)
        self.assertEqual(done.stdout.splitlines()[1:],
                         ["2023-10-10T20:55:00Z,2023-10-10T20:56:00Z,2326",
                          "2023-10-10T20:56:00Z,2023-10-10T20:57:00Z,17"])
        done = strid("--quiet", *options, "--time", "4,5", "--time-format",
                     "[%d/%b/%Y:%H:%M:%S %z]", "--output-times", "%s", given=given)
        self.assertEqual(done.stdout.splitlines()[1:],
                         ["1696971300,1696971360,2326", "1696971360,1696971420,17"])
        done = strid("--quiet", *options, "--time", "4", given=given, code=1)
        self.assertIn("goes on in the next column", done.stderr)

    def test_halves_of_the_day(self):
        given = "Date,Time,Fare\n07/01/2024,07:15 AM,12.5\n07/01/2024,01:05 PM,8\n"
        done = strid("--quiet", "--time", "Date,Time", "--window", "tumbling:1h", "--aggregate",
                     "sum(Fare)", "--output-times", "%F %T", given=given)
        self.assertEqual(done.stdout.splitlines()[1:],
                         ["2024-07-01 07:00:00,2024-07-01 08:00:00,12.5",
                          "2024-07-01 13:00:00,2024-07-01 14:00:00,8"])

    def test_what_is_wrong_is_said(self):
        options = ["--window", "tumbling:1h", "--aggregate", "count"]
        done = strid("--time", "d,t", *options, given="d,t\n2024-01-01,noon\n", code=1)
        self.assertIn("standard input:2: time 'd,t': not a time", done.stderr)
        self.assertIn('"2024-01-01 noon"', done.stderr)
        done = strid("--time", "d,t", *options, given='{"d":"2024-01-01","t":"noon"}\n', code=1)
        self.assertIn('"2024-01-01 noon"', done.stderr)
        done = strid("--time", "d,t", *options, "--ragged", "--skip-malformed",
                     given="x,d,t\n1,2024-01-01,00:00\n1,2024-01-01\n")
        self.assertIn("1 malformed", done.stderr)
        strid("--time", "a,b,c,d,e", *options, given="", code=2)
        done = strid("--time", '"d,t"', *options, given='"d,t"\n2024-01-01\n')
        self.assertIn("2024-01-01", done.stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of `strid window` whose text alone does not say the moment: those in several columns, hours
that clocks show twice, dates without a year. Right values come from datetime and zoneinfo.

    local_times.py CLASS...
"""
import os
import random
import unittest
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

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


class RepeatedHours(Case):
    """Local times when clocks are set back, against zoneinfo: fold=1 is the second time."""

    def counts(self, texts, *options, zone="Europe/Berlin", code=0):
        """The rows by windows of ten minutes, that begin at seconds since 1970."""
        given = "at\n" + "".join(f"{text}\n" for text in texts)
        done = strid("--time", "at", "--zone", zone, "--window", "tumbling:10m", "--aggregate",
                     "count", "--output-times", "%s", *options, given=given, code=code)
        return [tuple(map(int, line.split(",")))[::2] for line in done.stdout.splitlines()[1:]], \
            done.stderr

    @staticmethod
    def by_ten_minutes(moments):
        counts = Counter(int(at.timestamp()) // 600 * 600 for at in moments)
        return sorted(counts.items())

    NIGHTS = [("Europe/Berlin", datetime(2024, 10, 27)),
              ("America/New_York", datetime(2023, 11, 5)),
              ("Australia/Lord_Howe", datetime(2024, 4, 7))]

    def test_rows_in_order(self):
        rng = random.Random(37)
        for zone, night in self.NIGHTS:
            begin = int(night.replace(tzinfo=ZoneInfo(zone)).timestamp())
            for step in (45, 300, 1500):
                moments = [datetime.fromtimestamp(begin + at, ZoneInfo(zone))
                           for at in range(rng.randrange(60), 5 * 3600, step)]
                texts = [at.strftime("%Y-%m-%d %H:%M:%S") for at in moments]
                got, errors = self.counts(texts, zone=zone)
                self.assertEqual(got, self.by_ten_minutes(moments), (zone, step))
                twice = [at for at in moments
                         if at.replace(fold=0).utcoffset() != at.replace(fold=1).utcoffset()]
                self.assertIn(f"strid: {len(twice)} rows at a local time that clocks showed twice",
                              errors)
                # With a pattern, and with the offset in the text, too.
                pattern = [at.strftime("%d.%m.%Y %H:%M:%S") for at in moments]
                self.assertEqual(self.counts(pattern, "--time-format", "%d.%m.%Y %H:%M:%S",
                                             zone=zone)[0], got)
                offsets = [at.isoformat() for at in moments]
                self.assertEqual(self.counts(offsets, zone=zone)[0], got)

    def test_rows_a_little_out_of_order(self):
        zone = ZoneInfo("Europe/Berlin")
        begin = int(datetime(2024, 10, 27, tzinfo=zone).timestamp())
        rng = random.Random(38)
        ats = [at + rng.randrange(-5, 6) for at in range(60, 5 * 3600, 7)]
        moments = [datetime.fromtimestamp(begin + at, zone) for at in ats]
        texts = [at.strftime("%Y-%m-%d %H:%M:%S") for at in moments]
        got, errors = self.counts(texts, "--disorder", "20s")
        self.assertEqual(got, self.by_ten_minutes(moments))
        self.assertNotIn("late ", errors)

    def test_what_is_asked_for(self):
        texts = ["2024-10-27 01:59:00", "2024-10-27 02:05:00", "2024-10-27 02:30:00",
                 "2024-10-27 02:05:00", "2024-10-27 03:00:00"]
        for word, folds in (("first", [0, 0, 0]), ("last", [1, 1, 1]), ("order", [0, 0, 1])):
            moments = [datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("Europe/Berlin"))
                       for text in texts]
            moments[1:4] = [at.replace(fold=fold) for at, fold in zip(moments[1:4], folds)]
            got, errors = self.counts(texts, "--ambiguous", word, "--disorder", "0s" if
                                      word == "order" else "2h")
            self.assertEqual(got, self.by_ten_minutes(moments), word)
            self.assertIn("strid: 3 rows at a local time", errors)
        self.assertIn("2: field 1 'at': a local time that clocks show twice",
                      self.counts(texts[1:], "--ambiguous", "malformed", code=1)[1])
        # Far behind in a file in no order: the first.
        got, _ = self.counts(["2024-11-30 00:00:00", "2024-10-27 02:05:00"], "--disorder", "end")
        self.assertEqual(got[0][0], int(datetime(2024, 10, 27, 0).replace(
            tzinfo=ZoneInfo("UTC")).timestamp()))


class YearsOfSyslog(Case):
    def starts(self, *options, code=0, **given):
        done = strid("--quiet", "--delimiter", ";", "--no-header", "--time", "1", "--time-format",
                     "%b %e %H:%M:%S", "--window", "tumbling:1h", "--aggregate", "count",
                     "--disorder", "end", "--output-times", "%Y-%m-%d %H", *options, code=code,
                     **given)
        return [line.split(",")[0] for line in done.stdout.splitlines()[1:]]

    LINES = "Dec 30 23:59:00;x\nDec 31 10:00:00;x\nJan  1 00:00:01;x\nDec 31 23:59:59;x\n" \
            "Feb  3 04:00:00;x\n"

    def test_a_year_that_is_given(self):
        want = ["2023-12-30 23", "2023-12-31 10", "2023-12-31 23", "2024-01-01 00", "2024-02-03 04"]
        self.assertEqual(self.starts("--year", "2023", given=self.LINES), want)

    def test_the_year_of_the_file(self):
        path = self.file("messages", self.LINES)
        utc = ZoneInfo("UTC")
        for changed in (datetime(2021, 2, 3, 5), datetime(2021, 12, 31, 23), datetime(2020, 6, 1)):
            changed = changed.replace(tzinfo=utc)
            os.utime(path, (changed.timestamp(), changed.timestamp()))
            want = set()
            for line in self.LINES.splitlines():
                years = [datetime.strptime(f"{year} {line[:-2]}", "%Y %b %d %H:%M:%S")
                         for year in (2019, 2020, 2021, 2022)]
                last = max(at for at in years
                           if at.replace(tzinfo=utc) <= changed + timedelta(days=1))
                want.add(f"{last:%Y-%m-%d %H}")
            self.assertEqual(set(self.starts("--input", str(path))), want)
        leap = self.file("leap", "Feb 29 01:00:00;x\n")
        os.utime(leap, (datetime(2023, 1, 1).timestamp(),) * 2)
        self.assertEqual(self.starts("--input", str(leap)), ["2020-02-29 01"])

    def test_what_makes_no_sense(self):
        self.starts("--year", "20", given="", code=2)
        for options in (["--time-format", "%Y-%m-%d"], []):
            done = strid("--time", "t", *options, "--year", "2024", "--window", "tumbling:1d",
                         "--aggregate", "count", given="t\n", code=2)
            self.assertIn("--year", done.stderr)


if __name__ == "__main__":
    unittest.main()

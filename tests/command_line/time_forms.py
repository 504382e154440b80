#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `strid window` reads times and writes bounds. Right values come from Python's Decimal,
datetime and zoneinfo.

    time_forms.py CLASS...
"""
import csv
import random
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

from windows import strid

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LEAST, MOST = -2**63, 2**63 - 1


def ns_of(moment):
    """Nanoseconds since 1970 of a datetime with an offset."""
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def quoted(text):
    return '"' + text.replace('"', '""') + '"\n'


def window(times, *options, windows="tumbling:1ns", code=0):
    return strid("--no-header", "--time", "1", "--window", windows, "--aggregate", "count",
                 "--disorder", "100000d", *options, given="".join(map(quoted, times)), code=code)


def bounds(times, *options, windows="tumbling:1ns"):
    """(start, end) of each window, in the order of time."""
    done = window(times, *options, windows=windows)
    return [tuple(row[:2]) for row in csv.reader(done.stdout.splitlines()[1:])]


def read(time, *options):
    """The nanoseconds since 1970 that one time is read as."""
    return int(bounds([time], "--unit", "ns", "--output-times", "number", *options)[0][0])


def reads(times, *options):
    """The sorted distinct nanoseconds of dates."""
    return [int(start) for start, _ in
            bounds(times, "--unit", "ns", "--output-times", "number", *options)]


class Durations(unittest.TestCase):
    """Decimals of options that are times, against Decimal."""

    def test_decimals_are_exact(self):
        units = {"us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
                 "d": 86_400 * 10**9, "w": 7 * 86_400 * 10**9}
        rng = random.Random(5)
        for text in ["4.1s", "1.001s", "0.07s", "1.1h"] + [
                f"{rng.randrange(1, 10_000) / 1000:.3f}{rng.choice(list(units))}"
                for _ in range(12)]:
            number = text.rstrip("umshdw")
            length = int(Decimal(number) * units[text[len(number):]])
            now = 1_732_500_000 * 10**9
            start = now // length * length
            self.assertEqual(bounds([str(now)], "--unit", "ns", windows=f"tumbling:{text}"),
                             [(str(start), str(start + length))], text)

    def test_what_is_finer_than_a_nanosecond_is_refused(self):
        done = window(["1"], windows="tumbling:1.0000000001s", code=2)
        self.assertIn("'1.0000000001s' is no whole number of nanoseconds", done.stderr)

    def test_days_and_weeks(self):
        at = ns_of(datetime(2024, 3, 31, 12, tzinfo=timezone.utc))
        day = ns_of(datetime(2024, 3, 31, tzinfo=timezone.utc))
        self.assertEqual(bounds([str(at)], "--unit", "ns", windows="tumbling:1d"),
                         [(str(day), str(day + 86_400 * 10**9))])
        self.assertEqual(bounds(["5", "7"], "--unit", "ns", windows="sliding:2ns/1ns"),
                         [("4", "6"), ("5", "7"), ("6", "8"), ("7", "9")])


class TimesInNumbers(unittest.TestCase):
    """Numbers of a unit, with and without fractions."""

    def test_seconds_with_fractions(self):
        self.assertEqual(bounds(["1487249458.633", "1487249458.634"], "--unit", "s",
                                windows="tumbling:1s"), [("1487249458", "1487249459")])
        self.assertEqual(bounds(["1487249458.633"], "--unit", "s", windows="tumbling:1ms"),
                         [("1487249458.633", "1487249458.634")])
        done = strid("--format", "json", "--time", "ts", "--unit", "s", "--window", "tumbling:1us",
                     "--aggregate", "count", given='{"ts":1727218980.597629,"b":1}\n')
        self.assertEqual(done.stdout.splitlines()[1], "1727218980.597629,1727218980.59763,1")

    def test_decimals_against_decimal(self):
        rng = random.Random(7)
        units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9,
                 "h": 3600 * 10**9, "d": 86_400 * 10**9}
        for unit, ns in units.items():
            texts = set()
            for _ in range(200):
                whole = rng.randrange(10**rng.randrange(1, 20)) % (MOST // ns)
                text = f"{rng.choice(['', '-', '+'])}{whole}"
                if rng.random() < 0.9:
                    text += "." + "".join(rng.choice("0123456789")
                                          for _ in range(rng.randrange(1, 15)))
                if rng.random() < 0.1:
                    text += rng.choice(["e-2", "E-1", "e0", "e-11"])
                texts.add(text)
            expected = sorted({(Decimal(t) * ns).__floor__() for t in texts})
            # In their order: no disorder spans all of time.
            got = bounds(sorted(texts, key=Decimal), "--unit", unit, "--output-times", "number")
            # A written time is read as the same nanosecond, even a third, whose digits do not end.
            self.assertEqual([(Decimal(start) * ns).__floor__() for start, _ in got], expected)

    def test_what_is_no_number(self):
        for text in ("", ".", "-", "1.", "1e", "e5", "1.5.5", "0x10", "1_000", "nan", "inf",
                     "--5", "1 2"):
            if text == "1.":
                self.assertEqual(read(text), 1)
                continue
            done = window(["1", text], "--unit", "s", windows="tumbling:1s", code=1)
            self.assertIn("not a time: neither a number of the --unit nor a date", done.stderr)

    def test_out_of_range(self):
        for unit, text in (("ms", "1727218980597629000"), ("s", "1e30"), ("ns", str(MOST + 1)),
                           ("ns", str(LEAST - 1)), ("d", "106752")):
            done = window([text], "--unit", unit, windows="tumbling:1s", code=1)
            self.assertIn("out of range for the --unit", done.stderr)

    def test_eight_digits_are_a_date_or_a_number(self):
        done = window(["20240331"], windows="tumbling:1s", code=1)
        self.assertIn("eight digits: a date (--time-format %Y%m%d) or a number (--unit ms)?",
                      done.stderr)
        self.assertEqual(bounds(["20240331"], "--unit", "ms", windows="tumbling:1s"),
                         [("20240000", "20241000")])
        self.assertEqual(bounds(["20240331"], "--time-format", "%Y%m%d", windows="tumbling:1d"),
                         [("20240331", "20240401")])
        # Where other times are numbers, and where it is no date.
        self.assertEqual(len(bounds(["20240330999", "20240331"], windows="tumbling:1s")), 2)
        self.assertEqual(len(bounds(["20241331"], windows="tumbling:1s")), 1)

    def test_a_hint_where_seconds_were_read_as_milliseconds(self):
        def hint(times, *options):
            done = strid("--no-header", "--time", "1", "--window", "tumbling:1h", "--aggregate",
                         "count", *options, given="".join(f"{t}\n" for t in times))
            return "all times lie before 1971" in done.stderr and "--unit s?" in done.stderr
        self.assertTrue(hint([1727218980, 1727219000]))
        self.assertTrue(hint(["1727218980.25", "1727219000.5"]))
        self.assertFalse(hint(["1727218980.25"], "--unit", "s"))
        self.assertFalse(hint([1727218980, 1727219000], "--unit", "s"))
        self.assertFalse(hint([1727218980, 1727219000], "--unit", "ms"))
        self.assertFalse(hint([1727218980000]))
        self.assertFalse(hint([0, 1000, 2000]))
        self.assertFalse(hint(["1970-02-01"]))


class Dates(unittest.TestCase):
    """Dates as files have them."""

    def test_forms(self):
        utc = timezone.utc
        for text, moment in (
                ("2024-03-31 01:30:00 UTC", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("2024-03-31 01:30:00 +0200", datetime(2024, 3, 30, 23, 30, tzinfo=utc)),
                ("2024-03-31 01:30:00 -05:30", datetime(2024, 3, 31, 7, 0, tzinfo=utc)),
                ("2024-03-31 01:30:00Z", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("2024-03-31T01:30:00 gmt", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("2024/03/31 01:30:00", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("2024/3/1", datetime(2024, 3, 1, tzinfo=utc)),
                ("2024-03-31T24:00:00Z", datetime(2024, 4, 1, tzinfo=utc)),
                ("2024-12-31 24:00", datetime(2025, 1, 1, tzinfo=utc)),
                ("2024-03-31 1:30", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("2024-3-1 1:30:05.25", datetime(2024, 3, 1, 1, 30, 5, 250_000, tzinfo=utc)),
                ("03/31/2024 01:30:00 AM", datetime(2024, 3, 31, 1, 30, tzinfo=utc)),
                ("3/31/2024 1:30 PM", datetime(2024, 3, 31, 13, 30, tzinfo=utc)),
                ("3/31/2024 12:00:00am", datetime(2024, 3, 31, tzinfo=utc)),
                ("3/31/2024 12:00:00 pm", datetime(2024, 3, 31, 12, tzinfo=utc)),
                ("2024-03-31 11:59 pm", datetime(2024, 3, 31, 23, 59, tzinfo=utc)),
                ("10/Oct/2000:13:55:36 -0700", datetime(2000, 10, 10, 20, 55, 36, tzinfo=utc)),
                ("[10/Oct/2000:13:55:36 -0700]", datetime(2000, 10, 10, 20, 55, 36, tzinfo=utc)),
                ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=utc)),
                ("2017-01-01T00:59:60+01:00", datetime(2017, 1, 1, tzinfo=utc)),
                ("1972-06-30 23:59:60", datetime(1972, 7, 1, tzinfo=utc))):
            self.assertEqual(read(text), ns_of(moment), text)

    def test_what_is_no_date(self):
        for text, fault in (
                ("2024-06-15T12:30:60Z", "no leap second was there"),
                ("2024-06-30T23:59:60Z", "no leap second was there"),
                ("2016-12-31T23:59:60+01:00", "no leap second was there"),
                ("2024-02-30", "no such day"), ("2023-02-29T00:00:00Z", "no such day"),
                ("2024-13-01", "no such day"), ("2024-00-10", "no such day"),
                ("2024-03-31T24:00:01", "no such time of day"),
                ("2024-03-31T25:00:00", "no such time of day"),
                ("2024-03-31T10:60:00", "no such time of day"),
                ("03/31/2024 13:30:00 PM", "no such time of day"),
                ("9999-12-31T00:00:00Z", "out of range: times lie between 1677-09-21"),
                ("03/04/2024 10:00:00", "day or month first?"), ("03/04/2024", "day or month"),
                ("Jan 1 2000", "--time-format reads others"),
                ("2024-03-31T", "--time-format reads others"),
                ("2024-03-31 1", "--time-format reads others"),
                ("2024-03/31", "--time-format reads others"),
                ("2024-03-31T10:00:00 XYZ", "--time-format reads others"),
                ("10/Okt/2000:13:55:36 -0700", "--time-format reads others"),
                ("2024-03-31T10:00:00Z ", None), ("2024-03-31T10:00:00ZZ", "others")):
            if fault is not None:
                self.assertIn(fault, window([text], windows="tumbling:1s", code=1).stderr, text)

    def test_all_of_time_is_read_as_it_is_written(self):
        rng = random.Random(11)
        times = [LEAST, LEAST + 1, MOST, MOST - 1, 0, -1] + [
            rng.randrange(LEAST, MOST) for _ in range(200)]
        texts = [str(t) for t in sorted(times)]
        expected = sorted(set(times))
        expected.remove(MOST)  # what ends there begins one sooner
        for form in ("iso", "%Y-%m-%d %H:%M:%S.%f %z", "%d/%b/%y:%I:%M:%S.%f %p %Z",
                     "%a, %e %B %Y %T.%f", "%A %j %Y %R:%S.%f"):
            written = [start for start, _ in
                       bounds(texts, "--unit", "ns", "--output-times", form)]
            options = () if form == "iso" else ("--time-format", form)
            if "%y" in form:  # of two digits: the years from 1969 to 2068
                continue
            self.assertEqual(reads(written, *options), expected, form)

    def test_formats_against_strptime(self):
        rng = random.Random(13)
        forms = ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%y %I:%M %p", "%Y%m%d%H%M%S",
                 "%d %b %Y %H:%M:%S.%f", "%A, %B %d, %Y %I:%M:%S %p", "%Y-%j %H", "%H:%M %d-%b-%y",
                 "day %d of %m in %Y %% %H", "%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Z %Y"]
        for form in forms:
            moments = [EPOCH + timedelta(seconds=rng.randrange(3 * 10**9),
                                         microseconds=rng.randrange(10**6)) for _ in range(50)]
            texts = [m.strftime(form) for m in moments]
            expected = {ns_of(datetime.strptime(t, form).replace(tzinfo=timezone.utc))
                        for t in texts}
            self.assertEqual(reads(texts, "--time-format", form), sorted(expected), form)
            # And written as Python writes it, whose %f has six digits.
            if "%f" not in form:
                unit = "s" if "%S" in form else "m" if "%M" in form else "h"
                got = bounds(texts, "--time-format", form, windows=f"tumbling:1{unit}")
                self.assertEqual({start for start, _ in got}, set(texts), form)
        seconds = [rng.randrange(-10**9, 10**9) for _ in range(50)]
        self.assertEqual(reads([f"@{s}" for s in seconds], "--time-format", "@%s"),
                         sorted({s * 10**9 for s in seconds}))
        self.assertEqual(read("Jan 1 2000", "--time-format", "%b %d %Y"),
                         ns_of(datetime(2000, 1, 1, tzinfo=timezone.utc)))

    def test_formats_that_are_refused(self):
        for form, fault in (("%Q", "unknown directive '%Q'"), ("%Y-%", "unknown directive"),
                            ("%H:%M", "says no year"), ("%Y %I", "%I (hours from 1 to 12) and %p"),
                            ("%s.%f", "--unit s")):
            self.assertIn(fault, window(["1"], "--time-format", form, code=2).stderr, form)
        for form, text in (("%Y-%m-%d", "2024-03-31x"), ("%Y-%m-%d", "2024-03"),
                           ("%b %Y", "Mai 2024"), ("%Y-%j", "2023-366"),
                           ("%Y-%m-%d %I %p", "2024-03-31 13 PM"), ("%Y %S", "2024 60")):
            done = window([text], "--time-format", form, windows="tumbling:1y", code=1)
            self.assertRegex(done.stderr, "as --time-format says|no such (day|second)")


class Zones(unittest.TestCase):
    """Times without an offset are local times of the zone."""

    ZONES = ("Europe/Berlin", "America/New_York", "America/St_Johns", "Pacific/Apia",
             "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca", "America/Sao_Paulo")

    def test_against_zoneinfo(self):
        rng = random.Random(17)
        for name in self.ZONES:
            zone = ZoneInfo(name)
            # Those of whole years, and all around where the offset changes.
            times = [datetime(1970, 1, 2) + timedelta(minutes=rng.randrange(67 * 525_960))
                     for _ in range(150)]
            hour = datetime(2010, 1, 1)
            while hour < datetime(2013, 1, 1):
                later = hour + timedelta(hours=12)
                if zone.utcoffset(hour) != zone.utcoffset(later):
                    times += [hour + timedelta(minutes=15 * i) for i in range(-100, 150)]
                hour = later
            expected = {ns_of(t.replace(tzinfo=zone, fold=0).astimezone(timezone.utc))
                        for t in times}
            got = reads([t.isoformat(" ") for t in times], "--zone", name)
            self.assertEqual(got, sorted(expected), name)
            # Bounds are written with the offset of their time, and are the same moments.
            written = [start for start, _ in
                       bounds([t.isoformat(" ") for t in times], "--zone", name, "--output-times",
                              "iso")]
            self.assertEqual([ns_of(datetime.fromisoformat(w.replace("Z", "+00:00")))
                              for w in written], sorted(expected), name)
            self.assertEqual(written, [datetime.fromtimestamp(e // 10**9, zone).isoformat()
                                       for e in sorted(expected)], name)

    def test_an_offset_in_the_text_is_stronger(self):
        self.assertEqual(bounds(["2024-03-31T12:00:00Z"], "--zone", "Europe/Berlin",
                                windows="tumbling:1h"),
                         [("2024-03-31T14:00:00+02:00", "2024-03-31T15:00:00+02:00")])
        self.assertEqual(bounds(["2024-03-31 12:00"], "--zone", "+05:30", windows="tumbling:1s"),
                         [("2024-03-31 12:00:00", "2024-03-31 12:00:01")])

    def test_zones_that_are_none(self):
        for name in ("Europe/Atlantis", "", "/etc/localtime", "../UTC", "+25:00", "CEST!"):
            self.assertIn("no time zone", window(["1"], "--zone", name, code=2).stderr)


class OutputTimes(unittest.TestCase):
    """Bounds have the form of the first row that is taken, whatever comes later."""

    def first(self, times, *options, windows="tumbling:1s"):
        """The bounds of the windows, in the order in which they are written."""
        done = strid("--no-header", "--time", "1", "--window", windows, "--aggregate", "sum(2)",
                     *options, given="".join(f"{t}\n" for t in times))
        return [tuple(line.split(",")[:2]) for line in done.stdout.splitlines()[1:]]

    def test_the_first_row_that_is_taken_says_it(self):
        iso = "2024-03-31T10:00:00Z,1"
        self.assertEqual(self.first(["1000,1", iso]),
                         [("1000", "2000"), ("1711879200000", "1711879201000")])
        self.assertEqual(self.first([iso, "1711879202000,1"]),
                         [("2024-03-31T10:00:00Z", "2024-03-31T10:00:01Z"),
                          ("2024-03-31T10:00:02Z", "2024-03-31T10:00:03Z")])
        # A date in a row that is skipped, for its time or for another column, says nothing.
        for skipped in ("2024-03-31T10:00:00Z,x", "2024-02-30,1", "x,1"):
            self.assertEqual(self.first([skipped, "1000,1", iso], "--skip-malformed"),
                             [("1000", "2000"), ("1711879200000", "1711879201000")])

    def test_it_is_the_same_in_every_run(self):
        rng = random.Random(19)
        rows = [f"{t * 1000},1" if rng.random() < 0.5 else
                f"{(EPOCH + timedelta(seconds=t)).isoformat()},1" for t in range(500)]
        outputs = {tuple(self.first(rows, "--parallelism", n)) for n in ("1", "2") for _ in "ab"}
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len({len(start) > 8 for start, _ in outputs.pop()}), 1)

    def test_forms(self):
        for text, start, end in (
                ("2024-03-31 10:00:00", "2024-03-31 10:00:00", "2024-03-31 10:00:01"),
                ("2024-03-31 10:00:00 UTC", "2024-03-31 10:00:00 UTC", "2024-03-31 10:00:01 UTC"),
                ("2024-03-31T12:00:00+02:00", "2024-03-31T10:00:00Z", "2024-03-31T10:00:01Z"),
                ("2024-03-31 12:00:00 +0200", "2024-03-31 10:00:00 +0000",
                 "2024-03-31 10:00:01 +0000"),
                ("20240331T100000Z", "20240331T100000Z", "20240331T100001Z"),
                ("2024/03/31 10:00:00", "2024/03/31 10:00:00", "2024/03/31 10:00:01"),
                ("03/31/2024 10:00:00 PM", "03/31/2024 10:00:00 PM", "03/31/2024 10:00:01 PM"),
                ("31/Mar/2024:10:00:00 +0000", "31/Mar/2024:10:00:00 +0000",
                 "31/Mar/2024:10:00:01 +0000")):
            self.assertEqual(self.first([f"{text},1"]), [(start, end)])
        self.assertEqual(self.first(["2024-03-31,1"], windows="tumbling:1d"),
                         [("2024-03-31", "2024-04-01")])

    def test_what_is_asked_for(self):
        rows = ["2024-03-31T10:00:00Z,1"]
        self.assertEqual(self.first(rows, "--output-times", "number", "--unit", "s"),
                         [("1711879200", "1711879201")])
        self.assertEqual(self.first(["1711879200000,1"], "--output-times", "iso"),
                         [("2024-03-31T10:00:00Z", "2024-03-31T10:00:01Z")])
        self.assertEqual(self.first(rows, "--output-times", "%d.%m.%Y %H:%M:%S", "--zone",
                                    "Europe/Berlin"),
                         [("31.03.2024 12:00:00", "31.03.2024 12:00:01")])
        self.assertEqual(self.first(["1000,1"], "--output-times", "number", "--unit", "s",
                                    windows="tumbling:500ms"), [("1000", "1000.5")])
        done = window(["1"], "--output-times", "local", code=2)
        self.assertIn("none of read, iso, number", done.stderr)


if __name__ == "__main__":
    unittest.main()

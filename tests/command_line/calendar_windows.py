#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of calendar days, weeks, months, quarters and years in a zone, against Python's datetime
and zoneinfo: a day begins with the first moment whose local time is not before midnight.

    calendar_windows.py CLASS...
"""
import random
import unittest
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from windows import strid

UTC = timezone.utc
EPOCH_DAY = date(1970, 1, 1)


def first_moment_from(local, zone):
    """Seconds since 1970 of the first moment whose local time is not before `local`."""
    first, second = (int(local.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    if first <= second:  # there, or twice
        return first
    # Skipped: the change of the offset lies between.
    low, high = second, first
    after = datetime.fromtimestamp(high, zone).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == after:
            high = middle
        else:
            low = middle
    return high


def begin(unit, number):
    """The local date on which a piece of the calendar begins, 0 being the one of 1970-01-01."""
    if unit == "d":
        return EPOCH_DAY + timedelta(days=number)
    if unit == "w":
        return date(1969, 12, 29) + timedelta(days=7 * number)
    months = number * {"mo": 1, "q": 3, "y": 12}[unit]
    return date(1970 + months // 12, months % 12 + 1, 1)


class CalendarWindows(unittest.TestCase):
    """Random times against the windows that hold them by their bounds."""

    ZONES = ("UTC", "Europe/Berlin", "America/New_York", "America/Havana", "America/St_Johns",
             "Pacific/Apia", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata")

    def windows(self, spec, seconds, *options):
        done = strid("--no-header", "--time", "1", "--unit", "s", "--window", spec, "--aggregate",
                     "count", "--disorder", "100000d", *options,
                     given="".join(f"{s}\n" for s in seconds))
        return {(int(a), int(b)): int(n) for a, b, n in
                (line.split(",") for line in done.stdout.splitlines()[1:])}

    def expected(self, unit, length, slide, zone, seconds, offset=timedelta(0)):
        reach = {"d": 1, "w": 7, "mo": 31, "q": 92, "y": 366}[unit]
        first = (min(seconds) // 86_400 // reach) - 3 - length
        last = (max(seconds) // 86_400) // {"d": 1, "w": 7, "mo": 28, "q": 90, "y": 365}[unit] + 3
        counts = Counter()
        for start in range(first // slide * slide, last + 1, slide):
            bounds = tuple(
                first_moment_from(datetime.combine(begin(unit, n), datetime.min.time()) + offset,
                                  zone) for n in (start, start + length))
            inside = sum(bounds[0] <= s < bounds[1] for s in seconds)
            if inside:
                counts[bounds] = inside
        return dict(counts)

    def test_against_zoneinfo(self):
        rng = random.Random(23)
        for name in self.ZONES:
            zone = ZoneInfo(name)
            center = int(datetime(2011, 12, 20, tzinfo=UTC).timestamp())
            for unit, reach in (("d", 500), ("w", 500), ("mo", 1500), ("q", 3000), ("y", 5000)):
                seconds = [center + rng.randrange(-reach * 86_400, reach * 86_400)
                           for _ in range(200)]
                self.assertEqual(self.windows(f"tumbling:1{unit}", seconds, "--zone", name),
                                 self.expected(unit, 1, 1, zone, seconds), (name, unit))
            seconds = [center + rng.randrange(-40 * 86_400, 40 * 86_400) for _ in range(100)]
            self.assertEqual(self.windows("sliding:7d/1d", seconds, "--zone", name),
                             self.expected("d", 7, 1, zone, seconds), name)
            self.assertEqual(self.windows("sliding:3mo/2mo", seconds, "--zone", name),
                             self.expected("mo", 3, 2, zone, seconds), name)
            self.assertEqual(self.windows("tumbling:2w", seconds, "--zone", name),
                             self.expected("w", 2, 2, zone, seconds), name)
            self.assertEqual(
                self.windows("tumbling:1d", seconds, "--zone", name, "--offset", "6h"),
                self.expected("d", 1, 1, zone, seconds, timedelta(hours=6)), name)
            self.assertEqual(
                self.windows("tumbling:1mo", seconds, "--zone", name, "--offset", "-90m"),
                self.expected("mo", 1, 1, zone, seconds, timedelta(minutes=-90)), name)

    def test_hours_around_each_change(self):
        """Every quarter of an hour of the days on which an offset changes."""
        for name in self.ZONES[1:]:
            zone = ZoneInfo(name)
            seconds = []
            day = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp())
            while day < int(datetime(2013, 1, 1, tzinfo=UTC).timestamp()):
                offsets = {datetime.fromtimestamp(s, zone).utcoffset()
                           for s in (day, day + 86_400)}
                if len(offsets) > 1:
                    seconds += range(day - 86_400, day + 2 * 86_400, 900)
                day += 86_400
            if seconds:
                self.assertEqual(self.windows("tumbling:1d", seconds, "--zone", name),
                                 self.expected("d", 1, 1, zone, seconds), name)

    def test_years_behind_the_tables_of_the_system(self):
        zone = ZoneInfo("Europe/Berlin")
        rng = random.Random(29)
        seconds = [int(datetime(2150, 1, 1, tzinfo=UTC).timestamp()) +
                   rng.randrange(400 * 86_400) for _ in range(100)]
        self.assertEqual(self.windows("tumbling:1d", seconds, "--zone", "Europe/Berlin"),
                         self.expected("d", 1, 1, zone, seconds))


class Days(unittest.TestCase):
    """Times as people write them."""

    ROWS = ("t,x\n2024-03-31T00:30:00+01:00,1\n2024-03-31T12:00:00+02:00,2\n"
            "2024-03-31T23:30:00+02:00,4\n")

    def sums(self, spec, *options, rows=ROWS):
        done = strid("--time", "t", "--window", spec, "--aggregate", "sum(x)", *options, given=rows)
        return done.stdout.splitlines()[1:]

    def test_a_local_day(self):
        self.assertEqual(self.sums("tumbling:1d", "--zone", "Europe/Berlin"),
                         ["2024-03-31T00:00:00+01:00,2024-04-01T00:00:00+02:00,7"])
        self.assertEqual(self.sums("tumbling:1d", "--offset", "-2h"),
                         ["2024-03-30T22:00:00Z,2024-03-31T22:00:00Z,7"])
        self.assertEqual(self.sums("tumbling:1d"),
                         ["2024-03-30T00:00:00Z,2024-03-31T00:00:00Z,1",
                          "2024-03-31T00:00:00Z,2024-04-01T00:00:00Z,6"])
        self.assertEqual(self.sums("tumbling:1d"), self.sums("tumbling:24h"))

    def test_weeks_begin_on_monday(self):
        self.assertEqual(self.sums("tumbling:1w"),
                         ["2024-03-25T00:00:00Z,2024-04-01T00:00:00Z,7"])
        self.assertEqual(date(2024, 3, 25).weekday(), 0)
        self.assertEqual(self.sums("tumbling:1w", "--offset", "-1d", "--output-times", "%a %F"),
                         ["Sun 2024-03-24,Sun 2024-03-31,1", "Sun 2024-03-31,Sun 2024-04-07,6"])

    def test_local_times(self):
        rows = "t,x\n2024-02-29 23:59:59,1\n2024-03-01 00:00:00,2\n2024-03-31 23:59:59,4\n"
        self.assertEqual(self.sums("tumbling:1mo", "--zone", "Europe/Berlin", rows=rows),
                         ["2024-02-01 00:00:00,2024-03-01 00:00:00,1",
                          "2024-03-01 00:00:00,2024-04-01 00:00:00,6"])
        self.assertEqual(self.sums("tumbling:1q", "--zone", "Europe/Berlin", "--output-times",
                                   "%F", rows=rows), ["2024-01-01,2024-04-01,7"])
        self.assertEqual(self.sums("tumbling:1y", "--output-times", "%F", rows=rows),
                         ["2024-01-01,2025-01-01,7"])

    def test_late_rows_and_lateness(self):
        """A month that is over for two days takes a row with a lateness of three."""
        rows = ("t,x\n2024-03-30 12:00:00,1\n2024-04-02 00:00:00,2\n2024-03-31 23:00:00,4\n"
                "2024-04-05 00:00:00,8\n2024-03-31 23:00:00,16\n")
        got = self.sums("tumbling:1mo", "--zone", "Europe/Berlin", "--output-times", "%F",
                        "--lateness", "3d", rows=rows)
        self.assertEqual(got, ["2024-03-01,2024-04-01,1", "2024-03-01,2024-04-01,5",
                               "2024-04-01,2024-05-01,10"])

    def test_a_day_that_did_not_exist_is_not_filled_in(self):
        # Samoa went from 29 December 2011 to the 31st.
        rows = "t,x\n2011-12-28 12:00:00,1\n2012-01-01 12:00:00,2\n"
        self.assertEqual(self.sums("tumbling:1d", "--zone", "Pacific/Apia", "--output-times", "%F",
                                   "--fill", rows=rows),
                         ["2011-12-28,2011-12-29,1", "2011-12-29,2011-12-31,",
                          "2011-12-31,2012-01-01,", "2012-01-01,2012-01-02,2"])

    def test_what_is_refused(self):
        for spec, options, fault in (
                ("sliding:1mo/1d", (), "both of days and weeks, or both of months"),
                ("tumbling:0d", (), "'0d' is not a time"), ("tumbling:0mo", (), "must be positive"),
                ("tumbling:1.5mo", (), "is not a time"), ("tumbling:-1d", (), "is not a time"),
                ("tumbling:9999999y", (), "no longer than time is"),
                ("sliding:1d/1h", ("--zone", "Europe/Berlin"), "days of a --zone have 23 to 25"),
                ("tumbling:1.5d", ("--zone", "Europe/Berlin"), "days of a --zone"),
                ("session:1h", ("--offset", "1h"), "--offset is for"),
                ("count:5", ("--offset", "1h"), "--offset is for"),
                ("session:1x", (), "--window: '1x' is not a time"),
                ("tumbling:1x", (), "--window: '1x' is not a time")):
            done = strid("--time", "t", "--window", spec, "--aggregate", "count", *options,
                         given="t\n1\n", code=2)
            self.assertIn(fault, done.stderr, spec)
        # As numbers of a unit that is longer than the offsets of zones.
        done = strid("--time", "t", "--window", "tumbling:1d", "--aggregate", "count", "--zone",
                     "Europe/Berlin", "--unit", "h", given="t\n1\n", code=1)
        self.assertIn("is no whole number of h", done.stderr)
        strid("--time", "t", "--window", "tumbling:1d", "--aggregate", "count", "--unit", "d",
              given="t\n1\n")

    def test_bounds_that_a_pattern_does_not_tell_apart_are_refused(self):
        for pattern, time, spec, fault in (
                ("%Y-%m-%d %H:%M", "2024-05-01 09:00", "tumbling:30s", "length of 'tumbling:30s'"),
                ("%Y-%m-%d %H:%M", "2024-05-01 09:00", "sliding:1m/20s", "number of minutes"),
                ("%Y-%m-%d %H:%M", "2024-05-01 09:00", "session:90s", "the gap of"),
                ("%d.%m.%Y", "01.05.2024", "sliding:1d/6h", "number of days"),
                ("%s", "1714554000", "sliding:1s/500ms", "number of seconds")):
            options = ("--time", "t", "--window", spec, "--aggregate", "count")
            given = f"t\n{time}\n"
            done = strid(*options, "--time-format", pattern, given=given, code=2)
            self.assertIn(fault, done.stderr, spec)
            strid(*options, "--time-format", pattern, "--output-times", "iso", given=given)
        strid("--time", "t", "--window", "tumbling:1d", "--aggregate", "count", "--time-format",
              "%d.%m.%Y", "--zone", "Europe/Berlin", given="t\n01.05.2024\n")
        done = strid("--time", "t", "--window", "tumbling:1h", "--aggregate", "count", "--unit",
                     "s", "--output-times", "%F", given="t\n1714554000\n", code=2)
        self.assertIn("number of days", done.stderr)


if __name__ == "__main__":
    unittest.main()

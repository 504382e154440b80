# SPDX-License-Identifier: Apache-2.0
"""The contents of windows over a table, by the obvious computation in Python: every row in the
order of its arrival, exact numbers. Nothing here knows the program under test. Times are in
nanoseconds.
"""
import math
import statistics
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def promised(rows, disorder):
    """The watermark that stands before each row; `disorder` may be infinite."""
    latest = -math.inf
    for row in rows:
        yield latest - disorder if latest > -math.inf else latest
        latest = max(latest, row.at)


class Fixed:
    """Windows of `length` that begin every `slide`, `offset` behind the epoch."""

    def __init__(self, length, slide, offset=0):
        self.length, self.slide, self.offset = length, slide, offset

    def of(self, at):
        last = (at - self.offset) // self.slide * self.slide + self.offset
        return [(start, start + self.length)
                for start in range(last, at - self.length, -self.slide)]

    def between(self, first, last):
        """All windows from the one that begins at `first` to the one that begins at `last`."""
        return [(start, start + self.length) for start in range(first, last + 1, self.slide)]


class Calendar:
    """Days, weeks from Monday on, or months of a zone. Its midnights exist."""

    def __init__(self, unit, zone):
        self.unit, self.zone = unit, ZoneInfo(zone)

    def instant(self, date):
        local = datetime(date.year, date.month, date.day, tzinfo=self.zone)
        return (local - EPOCH) // timedelta(seconds=1) * 10**9

    def of(self, at):
        day = (EPOCH + timedelta(microseconds=at // 1000)).astimezone(self.zone).date()
        if self.unit == "d":
            first, behind = day, day + timedelta(days=1)
        elif self.unit == "w":
            first = day - timedelta(days=day.weekday())
            behind = first + timedelta(days=7)
        else:
            first = day.replace(day=1)
            behind = (first + timedelta(days=31)).replace(day=1)
        return [(self.instant(first), self.instant(behind))]


def by_time(rows, windows, disorder, lateness):
    """{(key, side, start, end): rows}, and the rows that are late."""
    found = defaultdict(list)
    late = []
    for row, watermark in zip(rows, promised(rows, disorder)):
        candidates = windows.of(row.at)
        taken = [bounds for bounds in candidates if bounds[1] + lateness > watermark]
        if candidates and not taken:
            late.append(row)
        for bounds in taken:
            found[(row.key, row.side, *bounds)].append(row)
    return found, late


def by_session(rows, gap, disorder):
    found = {}
    late = []
    open_sessions = defaultdict(list)
    closed = defaultdict(list)  # bounds: a row that touches one is late

    def close(key, session):
        times = [row.at for row in session]
        closed[key].append((min(times) - gap, max(times) + gap))
        found[(*key, min(times), max(times) + gap)] = session

    for row, watermark in zip(rows, promised(rows, disorder)):
        key = (row.key, row.side)
        still = []
        for session in open_sessions[key]:
            if max(r.at for r in session) + gap < watermark:
                close(key, session)
            else:
                still.append(session)
        near = [session for session in still
                if min(r.at for r in session) - gap <= row.at <= max(r.at for r in session) + gap]
        is_touched = any(first <= row.at <= last for first, last in closed[key])
        is_within = any(min(r.at for r in session) <= row.at for session in near)
        if is_touched or (not is_within and row.at + gap < watermark):
            late.append(row)
        else:
            still = [s for s in still if not any(s is n for n in near)] + [sum(near, []) + [row]]
        open_sessions[key] = still
    for key, left in open_sessions.items():
        for session in left:
            close(key, session)
    return found, late


def by_count(rows, length, slide, drops_open):
    by_key = defaultdict(list)
    for row in rows:
        by_key[(row.key, row.side)].append(row)
    found = {}
    for key, content in by_key.items():
        for start in range(0, len(content), slide):
            part = content[start:start + length]
            if len(part) == length or not drops_open:
                found[(*key, start, start + len(part))] = part
    return found, []


def filled(found, windows):
    """Also the windows without a row, between the first and the last of each key."""
    bounds = defaultdict(list)
    for key, side, start, _ in found:
        bounds[key, side].append(start)
    for (key, side), starts in bounds.items():
        for where in windows.between(min(starts), max(starts)):
            found.setdefault((key, side, *where), [])
    return found


def quantile(values, q):
    """As R's type 7 and numpy's default have it."""
    values = sorted(values)
    place = Fraction(q) * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return float(Fraction(values[below]) + (place - below)
                 * (Fraction(values[above]) - Fraction(values[below])))


def exactly(function):
    """Of values that are there, or nothing."""
    return lambda values: function(values) if values else None


def of_several(function):
    return lambda values: function([Fraction(v) for v in values]) if len(values) > 1 else None


def deviation(values):
    return math.sqrt(statistics.variance(values))


def mean(values):
    return float(sum(map(Fraction, values)) / len(values))


# The function of the values of a column, in the order of their arrival.
AGGREGATES = {
    "count": len,
    "sum": exactly(sum),
    "mean": exactly(mean),
    "min": exactly(min),
    "max": exactly(max),
    "stddev": of_several(deviation),
    "var": of_several(statistics.variance),
    "median": exactly(lambda values: quantile(values, Fraction(1, 2))),
    "p90": exactly(lambda values: quantile(values, Fraction(9, 10))),
    "p12.5": exactly(lambda values: quantile(values, Fraction(1, 8))),
    "distinct": lambda values: len(set(values)),
}

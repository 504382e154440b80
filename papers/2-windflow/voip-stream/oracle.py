#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of voip-stream, computed without the engine from the rules of README.md.

    oracle.py INPUT [--filters exact|bloom] [--numbers N] [--pairs N] [--short 21600] [--long 86400]
              [--memory 604800] [--jump 2592000] [--threshold 0] [--errors FILE]

Times are in seconds. Lines that the application refuses are left out. With --filters exact numbers
and pairs are kept in dictionaries and sets; with bloom in filters that are written here from the
rules, and beside them the exact ones: --errors writes as JSON how often a filter erred, how often
it had to by its formula, and the numbers (counted from 0) of the lines of the answer for which one
did.
"""
import argparse
import array
import calendar
import functools
import json
import math
import random
import re
import struct
import sys
import time

MASK = (1 << 64) - 1
SHARDS = 64
PERIOD = 32
SMALL = 1e-6
PRIOR = 5
NUMBER = re.compile(r"[0-9]{1,15}")
START = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII)
LATEST = calendar.timegm((2106, 1, 1, 0, 0, 0))


def mix(x):
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def hash_of(number):
    return mix(int("1" + number))


def hash_of_pair(a, b):
    return mix(hash_of(a) ^ hash_of(b) * 0x9E3779B97F4A7C15 & MASK)


def binary32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@functools.lru_cache(maxsize=None)
def error_of(load, parts, cells):
    """The probability that a line shows an entry that is not there."""
    total, probability = 0.0, math.exp(-load)
    for others in range(int(load * 4 + 200)):
        total += probability * (1 - (1 - 1 / cells) ** others) ** parts
        probability *= load / (others + 1)
    return total


class ExactCells:
    """The sums of one shard, by number."""

    def __init__(self):
        self.sums = {}

    def get(self, number):
        return self.sums.get(number, 0.0)

    def raise_to(self, number, value):
        self.sums[number] = value

    def scale(self, factor):
        scaled = ((number, binary32(value * factor)) for number, value in self.sums.items())
        self.sums = {number: value for number, value in scaled if value >= SMALL}


class BloomCells:
    """The same as a filter."""

    def __init__(self, lines):
        self.lines = lines
        self.cells = array.array("f", bytes(64 * lines))

    def places(self, number):
        h = hash_of(number)
        line = (h >> 32) * self.lines >> 32
        return [16 * line + 4 * i + (h >> 8 + 2 * i & 3) for i in range(4)]

    def get(self, number):
        return min(self.cells[place] for place in self.places(number))

    def raise_to(self, number, value):
        for place in self.places(number):
            self.cells[place] = max(self.cells[place], value)

    def scale(self, factor):
        for place, value in enumerate(self.cells):
            if value:
                self.cells[place] = value * factor
                if self.cells[place] < SMALL:
                    self.cells[place] = 0.0


class Count:
    """A decaying count by number."""

    def __init__(self, seconds, make_cells):
        self.seconds = seconds
        self.shards = [None] * SHARDS
        self.make_cells = make_cells

    def at(self, number, now):
        """The cells of a number, and their period."""
        period = now // (PERIOD * self.seconds)
        shard = hash_of(number) % SHARDS
        if self.shards[shard] is None:
            self.shards[shard] = [period, self.make_cells()]
        kept = self.shards[shard]
        while kept[0] < period:
            kept[0] += 1
            kept[1].scale(math.exp(-PERIOD))
        return kept[1], period

    def weight(self, when, period):
        return math.exp((when - period * PERIOD * self.seconds) / self.seconds)

    def add(self, number, quantity, start, now):
        cells, period = self.at(number, now)
        value = binary32(cells.get(number) + quantity * self.weight(start, period))
        cells.raise_to(number, value)
        return value / self.weight(now, period)

    def get(self, number, now):
        cells, period = self.at(number, now)
        return cells.get(number) / self.weight(now, period)


class ExactPairs:
    def __init__(self):
        self.pairs = set()

    def has(self, a, b):
        return (a, b) in self.pairs

    def add(self, a, b):
        self.pairs.add((a, b))


class BloomPairs:
    def __init__(self, lines):
        self.lines = lines
        self.shards = {}

    def place(self, a, b):
        h = hash_of_pair(a, b)
        line = (h >> 48) * self.lines >> 16
        bits = sum(1 << 64 * w + (h >> 6 * w & 63) for w in range(8))
        return (hash_of(a) % SHARDS, line), bits

    def has(self, a, b):
        place, bits = self.place(a, b)
        return self.shards.get(place, 0) & bits == bits

    def add(self, a, b):
        place, bits = self.place(a, b)
        self.shards[place] = self.shards.get(place, 0) | bits


class Detector:
    """Which pairs are known. A generation is that of `now`, which never goes back."""

    def __init__(self, memory, make_pairs):
        self.memory = memory
        self.make_pairs = make_pairs
        self.generation = None
        self.current, self.previous = make_pairs(), make_pairs()

    def is_new(self, a, b, now):
        generation = now // self.memory
        if self.generation is not None and generation > self.generation:
            self.previous = self.current if generation == self.generation + 1 else self.make_pairs()
            self.current = self.make_pairs()
        self.generation = generation
        known = self.current.has(a, b) or self.previous.has(a, b)
        self.current.add(a, b)
        return not known


class Features:
    """The state by caller, with one kind of filters."""

    def __init__(self, options, bloom):
        lines = -(-options.numbers // 32)
        pair_lines = -(-options.pairs // 2560)

        def make_cells():
            return BloomCells(lines) if bloom else ExactCells()

        def make_pairs():
            return BloomPairs(pair_lines) if bloom else ExactPairs()

        self.detector = Detector(options.memory, make_pairs)
        self.received = Count(options.short, make_cells)
        self.calls = Count(options.short, make_cells)
        self.fresh = Count(options.short, make_cells)
        self.talk = Count(options.long, make_cells)
        self.day = Count(options.long, make_cells)

    def of(self, call, now):
        a, b, start, duration = call
        new = self.detector.is_new(a, b, now)
        self.received.add(b, 1, start, now)
        rcr = self.received.get(a, now)
        ct24 = self.talk.add(a, duration, start, now)
        ecr24 = self.day.add(a, 1, start, now)
        ecr = self.calls.add(a, 1, start, now)
        encr = self.fresh.add(a, 1, start, now) if new else self.fresh.get(a, now)
        return new, rcr, ct24, ecr24, ecr, encr


def ramp(x, zero, one):
    return min(max((x - zero) / (one - zero), 0.0), 1.0)


def scores(features, mean):
    _, rcr, ct24, ecr24, ecr, encr = features
    fofir = ramp(ecr / (rcr + PRIOR), 2, 10)
    url = ramp(encr / (ecr + PRIOR), 0.5, 1)
    acd = ramp((ct24 + PRIOR * mean) / (ecr24 + PRIOR) / mean, 0.9, 0.3) if mean > 0 else 0.0
    return fofir, url, acd, (2 * fofir + 3 * url + 3 * acd) / 8


def second_of(text):
    """Seconds since 1970, or None."""
    match = START.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        return None
    if day > calendar.monthrange(year, month)[1] if year else True:
        return None
    sign, hours, minutes = match.groups()[6:]
    at = calendar.timegm((year, month, day, hour, minute, second))
    if sign:
        if int(hours) > 23 or int(minutes) > 59:
            return None
        offset = 3600 * int(hours) + 60 * int(minutes)
        at += offset if sign == "-" else -offset
    return at if 0 <= at < LATEST else None


def accepted(path, jump):
    """Yields (calling, called, start, duration, established, now) of the lines that count."""
    now = None
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for line in file:
            fields = line.rstrip("\n").removesuffix("\r").split(",")
            if len(fields) != 5:
                continue
            calling, called, text, duration, established = fields
            start = second_of(text)
            if not (NUMBER.fullmatch(calling) and NUMBER.fullmatch(called)) or calling == called:
                continue
            if start is None or established not in ("true", "false"):
                continue
            duration = duration.strip(" \t").removeprefix("+")
            if not re.fullmatch(r"[0-9]+", duration) or int(duration) >= 1 << 31:
                continue
            if now is not None and start > now + jump:
                continue
            now = start if now is None else max(now, start)
            yield calling, called, start, int(duration), established == "true", now


def filter_errors(features, exact):
    """How many of numbers and pairs that are not there a filter has, and how many it should."""
    chance = random.Random(1)
    found = {}
    for name in ("received", "calls", "talk"):
        count, tries, hits, expected = getattr(features, name), 20_000, 0, 0.0
        for _ in range(tries):
            number = str(chance.randrange(10**15, 2 * 10**15))  # 16 digits: no number of a call
            shard = hash_of(number) % SHARDS
            if count.shards[shard] is None:
                continue
            cells = count.shards[shard][1]
            hits += cells.get(number) > 0
            there = len(getattr(exact, name).shards[shard][1].sums)
            expected += error_of(there / cells.lines, 4, 4)
        found[name] = {"tries": tries, "hits": hits, "expected": expected}
    pairs, tries, hits, expected = features.detector.current, 20_000, 0, 0.0
    there = [0] * SHARDS
    for a, _ in exact.detector.current.pairs:
        there[hash_of(a) % SHARDS] += 1
    errors = [error_of(n / pairs.lines, 8, 64) for n in there]
    for _ in range(tries):
        a, b = (str(chance.randrange(10**15, 2 * 10**15)) for _ in range(2))
        hits += pairs.has(a, b)
        expected += errors[hash_of(a) % SHARDS]
    found["pairs"] = {"tries": tries, "hits": hits, "expected": expected}
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--filters", choices=["exact", "bloom"], default="exact")
    parser.add_argument("--numbers", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--short", type=int, default=6 * 3600)
    parser.add_argument("--long", type=int, default=24 * 3600)
    parser.add_argument("--memory", type=int, default=7 * 24 * 3600)
    parser.add_argument("--jump", type=int, default=30 * 24 * 3600)
    parser.add_argument("--threshold", type=float, default=0)
    parser.add_argument("--errors")
    options = parser.parse_args()
    exact = Features(options, False)
    bloom = Features(options, True) if options.filters == "bloom" else None
    talked = calls = 0.0
    before = None
    answered, erred = 0, []
    for calling, called, start, duration, established, now in accepted(options.input, options.jump):
        if not established:
            continue
        gone = 1.0 if before is None else math.exp(-(now - before) / options.long)
        weight = math.exp(-(now - start) / options.long)
        talked = talked * gone + duration * weight
        calls = calls * gone + weight
        before = now
        mean = talked / calls if calls > 0 else 0.0
        features = truth = exact.of((calling, called, start, duration), now)
        if bloom:
            features = bloom.of((calling, called, start, duration), now)
        fofir, url, acd, score = scores(features, mean)
        if score < options.threshold:
            continue
        if features != truth:
            erred.append(answered)
        answered += 1
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start))
        sys.stdout.write(f"{calling},{called},{at},{fofir!r},{url!r},{acd!r},{score!r}\n")
    if bloom and options.errors:
        with open(options.errors, "w", encoding="utf-8") as file:
            json.dump({"filters": filter_errors(bloom, exact), "rows": answered, "erred": erred},
                      file)


if __name__ == "__main__":
    main()

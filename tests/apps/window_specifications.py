#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` with random specifications over random tables, against the plain Python of
windows.py: small tables and large ones, every kind of windows, any slide, disorder, lateness,
parallelism and mode. The seed is printed with a failure; STRID_SEED repeats it.

    window_specifications.py CLASS...
"""
import os
import random
import unittest

from live_windows import CorrectionsCase
from windows import sessions, sliding, table

CASES = 60


class Specifications(CorrectionsCase):
    def test_random_ones(self):
        given = os.environ.get("STRID_SEED")
        first = int(given) if given else random.SystemRandom().randrange(10**6)
        for seed in range(first, first + (1 if given else CASES)):
            with self.subTest(STRID_SEED=seed):
                self.one(random.Random(seed), seed)

    def one(self, rng, seed):
        if rng.random() < 0.2:
            self.one_marked(rng, seed)
            return
        spread = rng.choice([1, 5, 500, 3000])
        rows = table(seed, rng.choice([1, 3, 40, 400, 1500]), spread,
                     rng.choice([1, spread, 20_000]))
        disorder = rng.choice([0, spread // 2, spread, 2 * spread])
        options = ["--disorder", f"{disorder}ms"]
        kind = rng.choice(["tumbling", "sliding", "session", "count"])
        if kind == "count":
            length = rng.choice([1, 2, 7, 100])
            self.check_counts(rows, length, rng.choice([1, 3, length, length + 5]), seed,
                              drops_open=rng.random() < 0.3)
        elif kind == "session":
            gap = rng.choice([1, 100, 2000, 30_000])
            expected, late = sessions(rows, gap, disorder)
            self.check(f"session:{gap}ms", expected, late, rows, seed, *options)
        else:
            lateness = rng.choice([0, 0, 10, spread])
            slide = rng.choice([100, 700, 5000])
            length = slide if kind == "tumbling" else \
                rng.choice([slide * 3, slide * 10, slide * 2 + 1, max(1, slide // 2)])
            name = f"tumbling:{length}ms" if length == slide else f"sliding:{length}ms/{slide}ms"
            expected, late = sliding(rows, length, slide, disorder, lateness)
            self.check(name, expected, late, rows, seed, *options, "--lateness", f"{lateness}ms")


if __name__ == "__main__":
    unittest.main()

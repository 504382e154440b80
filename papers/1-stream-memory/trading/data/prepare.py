#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bundled quotes, which are made up: prices of four symbols that are random walks.

    prepare.py > quotes.csv
"""
import random

SYMBOLS = {"OAK": 4_812, "ELM": 12_340, "ASH": 905, "FIR": 27_775}  # first bids in cents

chance = random.Random(2017)
time_ms = 1_772_442_000_000  # 2026-03-02T09:00:00Z
bids = dict(SYMBOLS)
print("symbol,time,bid,ask,bid_size,ask_size")
for _ in range(3_000):
    time_ms += chance.choice([0, 0, 1, 2, 7, 40])
    symbol = chance.choice([*SYMBOLS, "OAK", "OAK"])
    bids[symbol] = max(1, bids[symbol] + chance.choice([-1, 0, 0, 1]))
    bid, ask = bids[symbol], bids[symbol] + chance.choice([1, 1, 2])
    print(f"{symbol},{time_ms},{bid / 100:.2f},{ask / 100:.2f},"
          f"{100 * chance.randrange(1, 30)},{100 * chance.randrange(1, 30)}")

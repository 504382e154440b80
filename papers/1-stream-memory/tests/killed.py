# SPDX-License-Identifier: Apache-2.0
"""`strid run trading` with snapshots, killed at random moments and started again until a run ends,
against the forecasts that are stored, or a run without snapshots."""

import unittest

import itch
from command_line import SOURCE
from killed_runs import SEED, KilledRuns

TRADING = SOURCE / "papers/1-stream-memory/trading"


class KilledQuotes(KilledRuns):
    def check(self, quotes, *options, **how):
        """A run takes about half a second, by its rate."""
        self.check_killed({"--output": "o.csv"}, "run", "trading", *options, "--rate", 2 * quotes,
                          "--window", 100, "--slide", 10, **how)

    def test_windows_by_key(self):
        self.check(3_000, "--input", TRADING / "data/quotes.csv", "--memory", "engine-keys")

    def test_windows_that_replicas_share(self):
        self.check(3_000, "--input", TRADING / "data/quotes.csv", "--memory", "engine",
                   replicas=(1,))

    def test_quotes_that_are_made(self):
        self.check(30_000, "--generate", "30k", "--memory", "engine-keys", in_order=False)

    def test_messages_of_an_exchange(self):
        market = itch.Market({1: "AAPL", 2: "MSFT", 900: "X"}, SEED)
        for _ in range(3_000):
            market.step()
        self.check(len(market.quotes), "--input", self.file("day.itch", market.file()), "--memory",
                   "engine-keys", in_order=False)

    def test_farm_by_hand_is_refused(self):
        line = self.fails("run", "trading", "--input", TRADING / "data/quotes.csv", "--memory",
                          "wrapper-slab", "--snapshots", "s", "--quiet", code=2)
        self.assertIn("operator 'predict'", line)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid run yahoo-benchmark --reload`: files of campaigns that are exchanged while events come.

    campaigns.py CLASS...
"""
import os
import time
import unittest

from command_line import Case

SLACK_S = 60
AD = 7


class Campaigns(Case):
    def setUp(self):
        super().setUp()
        self.campaigns = self.file("campaigns.csv", f"{AD},100\n")
        self.output = self.folder / "counts.csv"
        self.errors = self.folder / "errors"
        with open(self.errors, "wb") as errors, open(self.output, "wb") as output:
            self.process = self.start("run", "yahoo-benchmark", "--campaigns", self.campaigns,
                                      "--reload", "20ms", "--window", "1s", "--disorder", "0s",
                                      "--output", "/dev/stdout", "--quiet", stdout=output,
                                      stderr=errors)
        self.second = 0

    def exchange(self, text):
        """A new file of that name, whole at once."""
        os.rename(self.file("new", text), self.campaigns)

    def view(self):
        """One view of the ad, a second after the last."""
        self.second += 1
        self.process.stdin.write(f"1,1,{AD},mail,view,{self.second * 1000},10.0.0.1\n".encode())
        self.process.stdin.flush()

    def rows(self):
        text = self.output.read_text()
        whole = text[:text.rfind("\n") + 1]
        return [tuple(map(int, line.split(","))) for line in whole.splitlines()]

    def until(self, what, is_so):
        deadline = time.monotonic() + SLACK_S
        while not is_so():
            self.assertLess(time.monotonic(), deadline,
                            f"{what}: {self.rows()[-3:]} {self.errors.read_text()!r}")
            self.assertIsNone(self.process.poll(), self.errors.read_text())
            self.view()
            time.sleep(0.02)

    def latest(self):
        return self.rows()[-1][0] if self.rows() else None

    def test_new_ones_are_taken_over_and_wrong_ones_are_not(self):
        self.until("the first campaign", lambda: self.latest() == 100)
        self.exchange(f"{AD},200\n")
        self.until("the second campaign", lambda: self.latest() == 200)
        self.exchange(f"{AD},300\n{AD},400\n")
        self.until("what is said of the wrong file",
                   lambda: "the campaigns stay as they were" in self.errors.read_text())
        self.assertIn(f"{self.campaigns}:2", self.errors.read_text())
        shown = len(self.rows())
        self.until("ten more rows", lambda: len(self.rows()) >= shown + 10)
        self.exchange(f"{AD},500\n")
        self.until("the last campaign", lambda: self.latest() == 500)
        self.process.stdin.close()
        self.assertEqual(self.process.wait(timeout=SLACK_S), 0, self.errors.read_text())
        # No view is lost or counted twice, and no campaign comes back. Replicas may write rows of
        # different campaigns in another order than that of their windows.
        rows = sorted(self.rows(), key=lambda row: row[1])
        self.assertEqual([row[1] for row in rows],
                         [second * 1000 for second in range(1, self.second + 1)])
        self.assertEqual({row[3] for row in rows}, {1})
        campaigns = [row[0] for row in rows]
        self.assertEqual(campaigns, sorted(campaigns))
        self.assertEqual(set(campaigns), {100, 200, 500})


if __name__ == "__main__":
    unittest.main()

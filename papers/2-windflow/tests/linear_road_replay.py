# SPDX-License-Identifier: Apache-2.0
"""Linear Road replayed from memory: one long input, at any rate, by any number of replicas."""

import csv
import gzip
import json
import os
import signal
import time
import unittest

from linear_road import CARS, LinearRoadAnswers, report


class LinearRoadReplay(LinearRoadAnswers):
    def test_replayed_as_one_long_input(self):
        lines = gzip.decompress(CARS.read_bytes()).decode().splitlines(keepends=True)[:900]
        cars, metrics, out = self.file("cars.csv", "".join(lines)), "metrics.json", "out.csv"
        self.strid("run", "linear-road", "--input", cars, "--duration", "500ms", "--rate", 5000,
                   "--workers", 1, "--metrics", self.folder / metrics, "--output",
                   self.folder / out)
        segments = json.loads((self.folder / metrics).read_text())["segments"]
        count = sum(one["records_out"] for segment in segments for one in segment["operators"]
                    if one["kind"] == "source")
        self.assertGreater(count, 2 * len(lines))
        span = (int(lines[-1].split(",")[1]) // 60 + 1) * 60
        long_input = []
        for i in range(count):
            cells = lines[i % len(lines)].split(",")
            cells[1] = str(int(cells[1]) + i // len(lines) * span)
            long_input.append(",".join(cells))
        expected = self.answers_of(self.file("long.csv", "".join(long_input)))
        self.same_answer(expected, self.folder / out)

    def replayed(self, lines, *options):
        """The rows of a replay, and how many records it had."""
        metrics, out = self.folder / "metrics.json", self.folder / "out.csv"
        self.strid("run", "linear-road", "--input", self.file("cars.csv", lines), "--metrics",
                   metrics, "--output", out, *options)
        segments = json.loads(metrics.read_text())["segments"]
        return (list(csv.reader(out.read_text().splitlines())),
                sum(one["records_out"] for segment in segments for one in segment["operators"]
                    if one["kind"] == "source"))

    def test_a_replay_ends_with_the_last_second(self):
        for last, passes in [(2**31 - 1, 1), (2**30 + 60, 1), (10**9, 2), (600_000_000, 3)]:
            with self.subTest(last=last):
                lines = report(10, 1) + report(last, 1, segment=6)
                rows, count = self.replayed(lines, "--duration", "10s")
                span = (last // 60 + 1) * 60
                times = [time + i * span for i in range(passes) for time in (10, last)]
                self.assertEqual([row[2] for row in rows], list(map(str, times)))
                self.assertEqual(count, 2 * passes)

    def test_a_rate_is_that_of_all_whichever_roads_there_are(self):
        lines = "".join(report(i // 10, i % 10, segment=i % 100) for i in range(600))
        _, count = self.replayed(lines, "--duration", "1s", "--rate", 5000, "--parallelism", 2)
        self.assertGreater(count, 4000)  # of 5,000
        metrics = self.folder / "metrics.json"
        self.strid("run", "linear-road", "--minutes", 1, "--expressways", 3, "--cars", 1200,
                   "--rate", 3000, "--parallelism", "events=2", "--output", "/dev/null",
                   "--metrics", metrics)
        made = json.loads(metrics.read_text())
        self.assertGreater(made["records_in"] / made["seconds"], 2600)  # of 3,000

    def test_full_and_empty_roads_stay_together(self):
        """A pass of four minutes: 3,000 reports of an expressway beside one of the other."""
        lines = "".join([report(0, 1)] + [report(0, 3) for _ in range(3000)] +
                        [report(100, 2, xway=1), report(200, 4)])
        rows, _ = self.replayed(lines, "--duration", "500ms", "--parallelism", 2)
        last = {car: max(int(row[2]) for row in rows if row[1] == car) for car in "12"}
        self.assertGreater(last["1"], 10 * 240)
        # Half an hour, and a pass that was begun.
        self.assertLess(abs(last["1"] - last["2"]), 1800 + 2 * 240, last)

    def test_all_replicas_end(self):
        """Hours of few records, of which a poll takes many; and a pass with hours between two."""
        for seed in range(3):
            made = ["--minutes", 300, "--expressways", 3, "--cars", 60, "--parallelism", "events=2",
                    "--seed", seed, "--write-input", "--output", self.folder / "made.csv"]
            self.strid("run", "linear-road", *made)
            last = (self.folder / "made.csv").read_text().splitlines()
            self.assertEqual(max(int(line.split(",")[1]) for line in last), 300 * 60 - 1)
        lines = "".join(report(time, car, xway=car) for time in (10, 600_000_000) for car in (0, 1))
        _, count = self.replayed(lines, "--duration", "10s", "--parallelism", 2)
        self.assertEqual(count, 3 * 4)

    def test_an_input_that_is_read_can_be_left(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        process = self.start("run", "linear-road", "--input", pipe, "--duration", "60s")
        with open(pipe, "w") as writer:  # does not end before the signal
            writer.write(report(1, 1) * 10)
            writer.flush()
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(out, b"")


if __name__ == "__main__":
    unittest.main()

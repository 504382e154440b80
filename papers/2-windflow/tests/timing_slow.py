# SPDX-License-Identifier: Apache-2.0
"""The command line by the clock: processor time, rates, and the time to an end."""

import json
import pathlib
import time
import unittest

from bundled import READINGS
from command_line import Case
from waits import ENDLESS, WaitsCase


def cpu_seconds(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


class Timing(Case):
    def test_a_silent_input_costs_nothing(self):
        process = self.start("run", "word-count", "--emit", "updates", "--quiet")
        process.stdin.write(b"word\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"word,1\n")
        used = []  # in each of some seconds; a process that polls uses some in each
        for _ in range(5):
            before, begin = cpu_seconds(process.pid), time.monotonic()
            time.sleep(1)
            used.append((cpu_seconds(process.pid) - before) / (time.monotonic() - begin))
        self.assertLess(min(used), 0.01, used)

    def test_metrics_tell_waiting_from_work(self):
        metrics = self.folder / "metrics.json"
        self.strid("run", "spike-detection", "--input", READINGS, "--output", "/dev/null",
                   "--duration", "300ms", "--rate", "1000", "--metrics", metrics)
        report = json.loads(metrics.read_text())
        for segment in report["segments"]:
            waited = segment["busy_ns"] + segment["idle_ns"] + segment["refused_ns"]
            run_ns = report["seconds"] * 1e9 * segment["parallelism"]
            self.assertGreater(segment["idle_ns"], run_ns / 2)
            self.assertLessEqual(waited, run_ns * 1.01)

    def test_measured_parallelism(self):
        metrics = self.folder / "metrics.json"
        result = self.strid("run", "spike-detection", "--input", READINGS, "--output", "/dev/null",
                            "--measure", "--workers", "4", "--metrics", metrics)
        words = result.stderr.decode().splitlines()[0].split(": ")[2].split()
        loads = dict(zip(words[0::2], words[1::2]))
        self.assertEqual(set(loads), {"readings", "average", "spikes", "write"})
        loads = {name: float(load) for name, load in loads.items()}
        share = (loads["average"] + loads["spikes"] + loads["write"]) / sum(loads.values())
        average = next(s for s in json.loads(metrics.read_text())["segments"]
                       if s["operators"][0]["name"] == "average")
        self.assertAlmostEqual(average["parallelism"], 4 * share, delta=1.1)

    def test_a_rate_is_kept(self):
        metrics = self.folder / "metrics.json"
        self.strid("run", "spike-detection", "--input", READINGS, "--duration", "2s", "--rate",
                   "5k", "--metrics", metrics)
        report = json.loads(metrics.read_text())
        self.assertGreater(report["records_in"], 9000)
        self.assertLess(report["records_in"], 10100)


class TimeToTheEnd(WaitsCase):
    def test_of_a_second_signal(self):
        took = [self.ends_by_two_signals(self.start(*ENDLESS, self.pipe)) for _ in range(3)]
        self.assertLess(min(took), 1, took)


if __name__ == "__main__":
    unittest.main()

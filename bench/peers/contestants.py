# SPDX-License-Identifier: Apache-2.0
"""Our engine as one that takes turns with those of java_engine.py."""
import json
import pathlib
import re
import subprocess
import tempfile

from java_engine import Failure
from reporting import PERCENTILES, percentile


class Strid:
    """Our engine: a process a round."""

    name = "strid"

    def __init__(self, path, parallelism, arguments):
        self.path = path
        self.parallelism = parallelism
        self.arguments = arguments

    def round(self):
        with tempfile.NamedTemporaryFile("r") as metrics:
            subprocess.run([self.path, "run", *self.arguments, "--workers", str(self.parallelism),
                            "--metrics", metrics.name, "--quiet"], check=True)
            with open(metrics.name, encoding="utf-8") as file:
                report = json.load(file)
        result = {"engine": "strid", "parallelism": self.parallelism,
                  "records": report["records_in"], "results": report["records_out"],
                  "seconds": report["seconds"],
                  "records_per_second": report["records_in"] / report["seconds"]}
        histogram = report["latency"]["histogram_ns"]
        if histogram:
            result["latency_us"] = {
                name: percentile(histogram, float(name)) / 1e3 for name in PERCENTILES}
            result["latency_us"]["max"] = report["latency"]["max_ns"] / 1e3
        return result


class StridYahoo:
    """bench/yahoo: the application's operators over events in memory whose times go on, as the
    engines' sources give them (strid run does not replay what has times)."""

    name = "strid"
    EVENTS = 20_000_000
    TITLE = "Yahoo, events in memory:"
    ROW = {1: "Strid, one worker", 2: "Strid, two workers"}

    def __init__(self, strid, parallelism):
        self.program = pathlib.Path(strid).resolve().parents[1] / "bench/yahoo/yahoo_bench"
        self.parallelism = parallelism
        if parallelism not in self.ROW:
            raise Failure("yahoo_bench has one worker and two")
        if not self.program.exists():
            raise Failure(f"{self.program} is not built (target yahoo_bench)")

    def round(self):
        text = subprocess.run([self.program, str(self.EVENTS), "1"], check=True,
                              capture_output=True, text=True).stdout
        table = text[text.index(self.TITLE):]
        rate = re.search(re.escape(self.ROW[self.parallelism]) + r" *\| *([0-9.]+)", table)
        per_second = float(rate[1]) * 1e6
        return {"engine": "strid", "parallelism": self.parallelism, "records": self.EVENTS,
                "seconds": self.EVENTS / per_second, "records_per_second": per_second}

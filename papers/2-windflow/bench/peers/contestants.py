# SPDX-License-Identifier: Apache-2.0
"""Our engine as one that takes turns with those of java_engine.py."""
import json
import pathlib
import subprocess
import tempfile

from java_engine import Failure
from reporting import PERCENTILES, percentile


def measured(program, arguments, parallelism):
    """The report of a run of one of our programs."""
    with tempfile.NamedTemporaryFile("r") as metrics:
        subprocess.run([program, *arguments, "--workers", str(parallelism), "--metrics",
                        metrics.name, "--quiet"], check=True)
        with open(metrics.name, encoding="utf-8") as file:
            report = json.load(file)
    return report, {"engine": "strid", "parallelism": parallelism,
                    "records": report["records_in"], "results": report["records_out"],
                    "seconds": report["seconds"],
                    "records_per_second": report["records_in"] / report["seconds"]}


class Strid:
    """Our engine: a process a round."""

    def __init__(self, path, parallelism, arguments):
        self.path = path
        self.parallelism = parallelism
        self.arguments = arguments

    def round(self):
        report, result = measured(self.path, ["run", *self.arguments], self.parallelism)
        histogram = report["latency"]["histogram_ns"]
        if histogram:
            result["latency_us"] = {
                name: percentile(histogram, float(name)) / 1e3 for name in PERCENTILES}
            result["latency_us"]["max"] = report["latency"]["max_ns"] / 1e3
        return result


class StridYahoo:
    """replayed_ads: the application's operators over events in memory whose times go
    on, as the engines' sources give them (strid run does not replay what has times). Events, ads,
    campaigns and disorder are those of the engines' input (applications.py)."""

    EVENTS = 20_000_000

    def __init__(self, strid, parallelism):
        build = pathlib.Path(strid).resolve().parents[1]
        self.program = build / "papers/2-windflow/bench/replayed_ads"
        self.parallelism = parallelism
        if not self.program.exists():
            raise Failure(f"{self.program} is not built (target replayed_ads)")

    def round(self):
        _, result = measured(self.program, ["--events", str(self.EVENTS)], self.parallelism)
        return result

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of `strid memory trace` share: a traced run, and what it says as
JSON."""

import json
import pathlib
import subprocess

import program

FOLDER = pathlib.Path(program.PROGRAM).parents[1] / "memory-tools/tests/memory"
TRACED = str(FOLDER / "memory_trace_program")
STATIC = str(FOLDER / "memory_trace_static")


def calls_of(process: dict, size: int) -> int:
    """Requests for exactly this size, up to 1,024 bytes."""
    return sum(one["calls"] for one in process["counters"]["sizes"] if one["bytes"] == size)


class TraceCase(program.Case):
    def trace(self, *command, options=(), code=0, **run_options) -> dict:
        """The JSON of a run; `self.result` is what the program printed."""
        file = self.folder / "trace.json"
        arguments = ["trace", "--json", file, "--quiet", *options, "--", *command]
        self.result = self.run_program(*arguments, code=code, **run_options)
        data = json.loads(file.read_text())
        self.assertEqual(data["format"], "strid-memory-trace")
        for process in data["processes"]:
            self.check_sums(process)
        return data

    def traced_process(self, *command, **options) -> dict:
        """The only process of a run."""
        data = self.trace(*command, **options)
        self.assertEqual(len(data["processes"]), 1, [p["command"] for p in data["processes"]])
        return data["processes"][0]

    def check_sums(self, process: dict) -> None:
        """Counts that are made in several ways must agree."""
        counters = process["counters"]
        self.assertEqual(process["calls_not_followed"], 0)
        sizes = counters["sizes"] + counters["octaves"]
        self.assertEqual(sum(one["calls"] for one in sizes), counters["calls"])
        self.assertEqual(sum(counters["calls_by_kind"].values()), counters["calls"])
        self.assertEqual(counters["blocks_begun"] + counters["blocks_resized"], counters["calls"])
        for one in sizes:
            self.assertEqual(sum(one["by_kind"].values()), one["calls"])
        requested = sum(one["bytes"] * one["calls"] for one in counters["sizes"])
        requested += sum(one["requested_bytes"] for one in counters["octaves"])
        self.assertEqual(requested, counters["requested_bytes"])
        self.assertGreaterEqual(process["peak"]["live_bytes"], counters["live_bytes_at_end"])
        self.assertEqual(
            counters["blocks_begun"] - counters["blocks_ended"], counters["live_blocks_at_end"]
        )
        self.assertEqual(
            sum(counters["releases_by_kind"].values()),
            counters["blocks_ended"] + counters["releases_of_unknown_blocks"],
        )
        lifetimes = sum(
            sum(one["blocks_by_size_group"]) for one in counters["lifetimes_in_allocations"]
        )
        self.assertEqual(
            lifetimes + counters["releases_by_another_thread"], counters["blocks_ended"]
        )
        times = [row[0] for row in process["series"]["rows"]]
        self.assertEqual(times, sorted(times))
        threads = process["threads"]
        shared = counters["calls"] - sum(one["calls"] for one in threads)
        self.assertGreaterEqual(shared, 0)

    def start(self, *arguments, **options) -> subprocess.Popen:
        child = subprocess.Popen(
            [program.PROGRAM, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

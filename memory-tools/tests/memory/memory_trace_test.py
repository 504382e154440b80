# SPDX-License-Identifier: Apache-2.0
"""Tests of `strid memory trace`: counts that are known by construction, and those of Valgrind."""

import os
import re
import shutil
import subprocess
import unittest

import program
from memory_trace_case import TRACED, TraceCase, calls_of
from memory_trace_endings import Allocators, Endings, Faults, Processes
from memory_trace_stacks import Stacks, Unwinder

__all__ = ["Allocators", "Endings", "Faults", "Processes", "Stacks", "Unwinder"]


class Counts(TraceCase):
    """One process, in which the numbers are known."""

    def test_sizes_are_exact_to_1024_and_then_by_octave(self):
        before = self.traced_process(TRACED, "nothing")["counters"]
        process = self.traced_process(TRACED, "sizes")
        counters = process["counters"]
        background = {one["bytes"]: one["calls"] for one in before["sizes"]}
        for size in range(1025):
            self.assertEqual(calls_of(process, size), size % 3 + 1 + background.get(size, 0), size)
        octaves = {one["above_bytes"]: one for one in counters["octaves"]}
        background = {one["above_bytes"]: one for one in before["octaves"]}
        # 1,025 to 1,100 by thirds, then 1,025 and 2,048; 2,049; 2^20; 2^20 + 1.
        above_1024 = [(size, size % 3 + 1) for size in range(1025, 1101)] + [(1025, 1), (2048, 1)]
        for low, expected in {
            1024: above_1024, 2048: [(2049, 1)], 1 << 19: [(1 << 20, 1)],
            1 << 20: [((1 << 20) + 1, 1)],
        }.items():
            base = background.get(low, {"calls": 0, "requested_bytes": 0})
            calls = sum(count for _, count in expected)
            bytes_ = sum(size * count for size, count in expected)
            self.assertEqual(octaves[low]["calls"] - base["calls"], calls, low)
            self.assertEqual(octaves[low]["requested_bytes"] - base["requested_bytes"], bytes_)

    def test_every_kind_of_call_is_counted_once(self):
        before = self.traced_process(TRACED, "nothing")["counters"]
        process = self.traced_process(TRACED, "kinds")
        counters = process["counters"]
        kinds = {
            name: count - before["calls_by_kind"][name]
            for name, count in counters["calls_by_kind"].items()
        }
        # The exceptions that both forms of new throw inside are a malloc each.
        self.assertEqual(
            kinds,
            {"malloc": kinds["malloc"], "calloc": 10, "realloc": 22, "aligned": 5, "new": 3,
             "new_aligned": 2},
        )
        self.assertLessEqual(kinds["malloc"], 2)
        for size, kind, count in [
            (21, "calloc", 10), (33, "realloc", 1), (50, "realloc", 1), (100, "realloc", 1),
            (200, "realloc", 1), (1000, "realloc", 1), (128, "aligned", 1), (301, "aligned", 1),
            (302, "aligned", 1), (303, "aligned", 1), (304, "aligned", 1), (401, "new", 1),
            (402, "new", 1), (403, "new", 1), (404, "new_aligned", 1), (405, "new_aligned", 1),
        ]:  # fmt: skip
            of_size = next(one for one in counters["sizes"] if one["bytes"] == size)
            self.assertEqual(of_size["by_kind"].get(kind), count, size)
        self.assertEqual(counters["blocks_resized"] - before["blocks_resized"], 20)
        self.assertEqual(counters["releases_by_kind"]["delete"], 5)
        self.assertEqual(counters["releases_of_null"] - before["releases_of_null"], 1)
        self.assertEqual(counters["refused"], 3)
        self.assertEqual(counters["releases_of_unknown_blocks"], 0)

    def test_the_peak_of_one_thread_is_exact(self):
        before = self.traced_process(TRACED, "nothing")
        process = self.traced_process(TRACED, "peak")
        base = before["counters"]["live_bytes_at_end"]
        self.assertEqual(process["peak"]["live_bytes"], base + 10_000_000)
        self.assertEqual(process["counters"]["live_bytes_at_end"], base)

    def test_lifetimes_are_counted_in_allocations(self):
        before = self.traced_process(TRACED, "nothing")["counters"]
        counters = self.traced_process(TRACED, "lifetimes")["counters"]

        def of(what, bound, group):
            return sum(
                one["blocks_by_size_group"][group]
                for one in what["lifetimes_in_allocations"]
                if one["below_calls"] == bound
            )

        # 5,000 and 1,000 blocks of up to 64 bytes end before the next one begins.
        self.assertEqual(of(counters, 1, 0) - of(before, 1, 0), 6000)
        # One of 2,000 bytes lives for 1,000 allocations.
        self.assertEqual(of(counters, 1024, 2) - of(before, 1024, 2), 1)
        sampled = sum(
            sum(one["blocks_by_size_group"]) for one in counters["lifetimes_in_time_sampled"]
        )
        # One of 64 at random distances from 1 to 127: the mean of 94 has a deviation of 5.5.
        self.assertTrue(6000 / 64 * 0.6 < sampled < 6000 / 64 * 1.5, sampled)

    def test_frees_by_other_threads_and_names(self):
        process = self.traced_process(TRACED, "threads")
        counters = process["counters"]
        self.assertEqual(counters["releases_by_another_thread"], 500 * (1 + 2 + 3 + 4))
        self.assertEqual(
            counters["bytes_released_by_another_thread"],
            sum(500 * (i + 1) * (500 + i) for i in range(4)),
        )
        threads = {one["name"]: one for one in process["threads"]}
        for i in range(4):
            one = threads[f"worker-{i}"]
            # malloc, and what the C library asks for by the way.
            self.assertTrue(1000 * (i + 1) <= one["calls"] <= 1000 * (i + 1) + 3, one)
            self.assertTrue(500 * (i + 1) <= one["blocks_ended"] <= 500 * (i + 1) + 3, one)
            self.assertIsNotNone(one["end_s"])
            self.assertEqual(calls_of(process, 500 + i), 1000 * (i + 1))
        main = process["threads"][0]
        self.assertEqual(main["releases_of_other_threads"], 5000)

    def test_the_peak_of_threads_that_exchange_blocks_is_bounded(self):
        before = self.traced_process(TRACED, "nothing")["counters"]
        process = self.traced_process(TRACED, "exchange")
        # 16 blocks of 100,000 bytes at most, and one in the hands of each of two threads.
        most = before["live_bytes_at_end"] + 18 * 100_000 + 10_000
        self.assertLessEqual(process["peak"]["live_bytes"], most + 2 * (128 << 10))
        self.assertGreaterEqual(process["peak"]["live_bytes"], 300_000)
        self.assertEqual(process["counters"]["blocks_begun"] - before["blocks_begun"] - 1, 100_000)

    def test_a_thread_in_the_place_of_an_ended_one_is_another(self):
        process = self.traced_process(TRACED, "generations")
        self.assertEqual(process["counters"]["releases_by_another_thread"], 2999)
        self.assertEqual(calls_of(process, 600), 3000)
        self.assertEqual(len(process["threads"]), 3001)

    def test_many_threads_at_once(self):
        process = self.traced_process(TRACED, "crowd")
        self.assertEqual(calls_of(process, 610), 300)
        self.assertEqual(calls_of(process, 611), 300)
        self.assertEqual(len(process["threads"]), 301)

    def test_signal_handlers(self):
        process = self.traced_process(TRACED, "signals")
        self.assertEqual(calls_of(process, 720), 500)
        self.assertEqual(calls_of(process, 721), 1_000_000)

    def test_live_bytes_over_time(self):
        process = self.traced_process(TRACED, "phases")
        rows = process["series"]["rows"]
        self.assertEqual(process["series"]["columns"][4], "live_bytes")
        live = [row[4] for row in rows]
        # Two phases of 60 ms, a sample each 10 ms where the processor is not taken away.
        first = [i for i, bytes_ in enumerate(live) if bytes_ >= 20_000_000]
        second = [i for i, bytes_ in enumerate(live) if 1_000_000 <= bytes_ < 2_000_000]
        self.assertTrue(first and second, live)
        self.assertLess(max(first), min(second))
        span = rows[max(first)][0] - rows[min(first)][0]
        self.assertTrue(0 <= span < 1, rows)
        self.assertEqual(process["series"]["interval_s"], 0.01)

    def test_five_million_blocks(self):
        process = self.traced_process(TRACED, "fast", "5000000")
        self.assertGreaterEqual(process["counters"]["calls"], 5_000_000)
        self.assertGreaterEqual(process["counters"]["blocks_ended"], 5_000_000)


@unittest.skipUnless(shutil.which("valgrind"), "Valgrind is the oracle")
class Valgrind(TraceCase):
    """Programs of others, against what Valgrind counts of them."""

    USAGE = re.compile(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes")

    def compare(self, *command, threads=0):
        environment = dict(os.environ, LC_ALL="C")
        result = subprocess.run(
            ["valgrind", "--run-libc-freeres=no", "--run-cxx-freeres=no", *command],
            capture_output=True, timeout=program.TIMEOUT_S, env=environment,
        )  # fmt: skip
        found = self.USAGE.search(result.stderr.decode())
        self.assertTrue(found, result.stderr)
        allocations, frees, bytes_ = (int(text.replace(",", "")) for text in found.groups())
        counters = self.traced_process(*command, env=environment)["counters"]
        # Valgrind counts a realloc as an allocation and a free.
        self.assertEqual(counters["calls"], allocations)
        self.assertEqual(counters["blocks_ended"] + counters["blocks_resized"], frees)
        # For each thread the loader asks for 16 bytes for each library with thread-local memory:
        # the trace library is one more.
        self.assertEqual(counters["requested_bytes"] - 16 * threads, bytes_)

    def test_sort(self):
        words = self.folder / "words"
        words.write_text("".join(f"{i * 7919 % 1000} a\n" for i in range(1000)))
        self.compare("sort", "--parallel=1", "-S", "1M", str(words))

    def test_ls(self):
        self.compare("ls", "-l", "/")

    def test_threads(self):
        # One after the other, on the stack of the first.
        self.compare(TRACED, "generations", threads=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)

# SPDX-License-Identifier: Apache-2.0
"""strid memory trace --stacks: which functions ask for memory."""

import pathlib
import re
import unittest
import xml.etree.ElementTree as xml

import program
from memory_trace_case import TRACED, TraceCase

UNWINDER = pathlib.Path(program.PROGRAM).parent / "libstrid_stacks.so"
LARGE_BYTES = 50 * 3000 + 500 + 7000
NAMESPACE = "{http://www.w3.org/2000/svg}"


def bytes_below(stacks: list, *names: str) -> tuple[int, float]:
    """(bytes, calls) of the stacks in which these functions call each other, whatever else does."""
    found = [
        one for one in stacks
        if [part for part in map(plain, one["functions"]) if part in names] == list(names)
    ]  # fmt: skip
    return sum(one["bytes"] for one in found), sum(one["calls"] for one in found)


def plain(name: str) -> str:
    return re.sub(r"^.*::|\(.*$", "", name.replace("(anonymous namespace)", ""))


@unittest.skipUnless(UNWINDER.exists(), "built without libunwind")
class Stacks(TraceCase):
    def test_of_every_request_are_exact(self):
        data = self.trace(TRACED, "stacks", options=["--stacks", "--stack-interval", "1"])
        stacks = data["stacks"]
        names = "asks_in_thread", "asks_for_both", "asks_for_small", "asks_for_large"

        def of(*path):
            chosen = [one for one in stacks
                      if [n for n in map(plain, one["functions"]) if n in names] == list(path)]
            return bytes_below(chosen, *path)

        in_thread = "asks_in_thread", "asks_for_both"
        self.assertEqual(of(*in_thread, "asks_for_small"), (100_000, 100))
        self.assertEqual(of(*in_thread, "asks_for_large"), (LARGE_BYTES, 52))
        self.assertEqual(of("asks_for_large"), (LARGE_BYTES, 52))
        self.assertEqual(of("asks_for_small"), (100_000, 100))  # of the child of the fork
        self.assertEqual(data["stack_period_bytes"], 1)
        self.assertEqual(data["stack_bytes_lost"], 0)
        # All bytes have a stack, but for those before the library was ready.
        total = data["total"]["requested_bytes"]
        self.assertLessEqual(sum(one["bytes"] for one in stacks), total)
        self.assertGreater(sum(one["bytes"] for one in stacks), 0.98 * total)
        for one in stacks:
            self.assertNotIn("libstrid", " ".join(one["functions"]))
            self.assertNotIn("strid::trace", " ".join(one["functions"]))

    def test_that_are_sampled_have_their_share(self):
        data = self.trace(TRACED, "stacks", options=["--stacks", "--stack-interval", "500"])
        bytes_, calls = bytes_below(data["stacks"], "asks_for_small")
        # 200,000 bytes in 400 samples: ten deviations of what independent ones would have.
        self.assertLess(abs(bytes_ - 200_000), 100_000)
        self.assertLess(abs(calls - 200), 100)
        self.assertNotEqual(bytes_, 200_000)

    def test_are_a_table_and_a_flame_graph(self):
        prefix = self.folder / "run"
        self.trace(TRACED, "stacks",
                   options=["--stacks", "--stack-interval", "1", "--report", f"{prefix}.txt",
                            "--flame-graph", f"{prefix}.svg"])
        text = pathlib.Path(f"{prefix}.txt").read_text()
        blocks = re.findall(r"^  ([\d.,]+ \S+), [\d.]+ %, about (\d+) requests\n    (.*)$", text,
                            re.M)
        self.assertEqual([(one[0], one[1], plain(one[2])) for one in blocks][:2],
                         [("153.8 KiB", "52", "asks_for_large")] * 2)
        image = pathlib.Path(f"{prefix}.svg").read_text()
        self.assertNotIn("<script", image)
        self.assertEqual(re.findall(r"(?:href|src)=", image), [])
        root = xml.fromstring(image)
        boxes = {}
        for group in root.iter(f"{NAMESPACE}g"):
            box = group.find(f"{NAMESPACE}rect")
            name = plain(group.find(f"{NAMESPACE}title").text.split(": ")[0])
            boxes.setdefault(name, []).append(
                tuple(float(box.get(key)) for key in ("x", "y", "width")))
        whole = boxes["all"][0]
        widest = sorted(width for _, _, width in boxes["asks_for_large"])
        scale = widest[0] / LARGE_BYTES
        self.assertAlmostEqual(widest[1], widest[0], delta=0.1)
        both = boxes["asks_for_both"][0]
        self.assertAlmostEqual(both[2], (LARGE_BYTES + 100_000) * scale, delta=0.1)
        # A function stands on the one that calls it, within its width.
        for name in ("asks_for_small", "asks_for_large"):
            above = [b for b in boxes[name] if b[1] == both[1] - 18
                     and both[0] - 0.02 <= b[0] and b[0] + b[2] <= both[0] + both[2] + 0.02]
            self.assertEqual(len(above), 1)
        self.assertTrue(all(x >= whole[0] - 0.01 for parts in boxes.values() for x, _, _ in parts))

    def test_without_the_option_there_are_none(self):
        data = self.trace(TRACED, "stacks")
        self.assertEqual((data["stacks"], data["stack_period_bytes"]), ([], 0))

    def test_of_other_programs(self):
        data = self.trace("python3", "-c", "x = [bytes(9000) for _ in range(2000)]",
                          options=["--stacks", "--stack-interval", "20000"])
        self.assertGreater(sum(one["bytes"] for one in data["stacks"]), 15_000_000)
        self.assertGreater(max(len(one["functions"]) for one in data["stacks"]), 5)

    def test_options_that_make_no_sense(self):
        for value in ("0", "-1", "2000000000", "x"):
            self.fails("trace", "--stacks", "--stack-interval", value, "--", "true", code=2)


class Unwinder(TraceCase):
    def test_that_is_not_there_is_named(self):
        """A copy of the program beside the trace library alone."""
        tools = pathlib.Path(program.PROGRAM).parent
        (self.folder / "libstrid_trace.so").symlink_to(tools / "libstrid_trace.so")
        (self.folder / "strid-memory").symlink_to(tools / "strid-memory")
        result = program.subprocess.run(
            [self.folder / "strid-memory", "trace", "--stacks", "--", "true"],
            capture_output=True, text=True)  # fmt: skip
        self.assertEqual(result.returncode, 1)
        self.assertIn("libunwind", result.stderr)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--http: the parts of a run that the page shows besides its figures. The lines and snapshots are
those that the test has written.

    http_lists.py CLASS...
"""
import json
import signal
import time
import unittest

from http_case import TIMEOUT_S, HttpCase, rows, samples


class HttpLists(HttpCase):
    def lists(self, path, name):
        status, headers, text = self.ask(path)
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        answer = json.loads(text)
        return answer.pop(name), answer

    def test_refused_lines_are_the_last(self):
        self.serve("--dead-letter", self.folder / "refused.csv")
        self.until(self.is_ready)
        self.assertEqual(self.lists("/refused", "lines"), ([], {}))
        self.feed(b"at\n" + rows(0, 30) + b"no \"time\x1b\xff\n" + b"x" * 500 + b"\n")
        self.until(lambda: len(self.lists("/refused", "lines")[0]) == 2)
        first, second = self.lists("/refused", "lines")[0]
        self.assertEqual((first["file"], first["line"]), ("standard input", 32))
        self.assertIn("not a time", first["reason"])
        self.assertEqual(first["text"], 'no "time\\x1b\\xff')
        self.assertEqual((second["line"], second["text"].rstrip(".")), (33, "x" * 200))
        self.feed(b"".join(b"bad %d\n" % i for i in range(100)))
        self.until(lambda: self.report()["segments"][0]["operators"][0]["records_malformed"] == 102)
        self.until(lambda: [one["text"] for one in self.lists("/refused", "lines")[0]] ==
                   [f"bad {i}" for i in range(90, 100)])
        self.ends(0)

    def test_snapshots_are_those_of_the_folder(self):
        self.serve()
        self.assertEqual(self.lists("/snapshots", "snapshots"), ([], {"taken": False}))
        self.ends(0)
        state = self.folder / "state"
        self.serve("--snapshots", state, "--journal", self.folder / "journal", "--snapshot-every",
                   "1h", "--output", self.folder / "rows.csv")
        self.feed(b"at\n" + rows(0, 30))
        self.until(lambda: self.is_ready() and self.report()["records_in"] == 30)
        # The run takes its first snapshot at its start, and the next one in an hour.
        self.until(lambda: self.lists("/snapshots", "snapshots")[0])
        before, others = self.lists("/snapshots", "snapshots")
        self.assertEqual(([one["number"] for one in before], others), ([1], {"taken": True}))
        for _ in range(3):
            self.assertEqual(self.act("/snapshot"), 200)
        listed = self.lists("/snapshots", "snapshots")[0]
        self.assertEqual([one["number"] for one in listed], [3, 4])
        sizes = sorted(file.stat().st_size for file in state.iterdir()
                       if file.name[:10].isdigit())
        self.assertEqual(sorted(one["file_bytes"] for one in listed), sizes)
        for one in listed:
            self.assertAlmostEqual(one["taken_ms"] / 1000, time.time(), delta=TIMEOUT_S)
            self.assertGreater(one["state_bytes"], 0)
        self.act("/stop")
        self.ends(128 + signal.SIGTERM)

    def test_the_watermark_is_in_every_form(self):
        self.serve("--unit", "ms")
        self.feed(b"at\n" + rows(0, 2500))
        self.until(lambda: self.report()["segments"][0]["watermark_ns"] == 2_499_000_000)
        self.assertEqual(samples(self.ask("/metrics")[2])[
            'strid_segment_watermark_seconds{graph="window",segment="read"}'], 2.499)
        self.assertIsNone(self.report()["segments"][-1]["watermark_ns"])
        self.ends(0)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--log json: messages on standard error as lines of JSON.

    logs.py CLASS...
"""
import datetime
import json
import signal
import unittest

from command_line import Case

ASK = ["window", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count"]
JSON = [*ASK, "--log", "json"]
TABLE = b"at\n0\n1500\n2500\n"


class Logs(Case):
    def messages(self, errors):
        """Each line is an object with a time of now, and the three names that all have."""
        now = datetime.datetime.now(datetime.timezone.utc)
        found = []
        for line in errors.decode().splitlines():
            one = json.loads(line)
            time = datetime.datetime.strptime(one.pop("time"), "%Y-%m-%dT%H:%M:%S.%f%z")
            self.assertLess(abs(now - time), datetime.timedelta(minutes=5))
            self.assertIn(one["level"], ("info", "warning", "error"))
            self.assertTrue(one["message"])
            found.append(one)
        return found

    def test_a_run_has_a_start_and_an_end(self):
        for options in ([], ["--quiet"]):
            started, ended = self.messages(self.strid(*JSON, *options, input=TABLE).stderr)
            self.assertEqual((started["event"], started["level"], started["graph"]),
                             ("started", "info", "window"))
            self.assertGreaterEqual(started["tasks"], 1)
            self.assertEqual((ended["event"], ended["how"], ended["records_in"],
                              ended["records_out"], ended["bytes_read"]),
                             ("ended", "done", 3, 3, len(TABLE)))
            self.assertGreater(ended["seconds"], 0)

    def test_snapshots_a_stop_and_a_restart(self):
        live = [*JSON, "--snapshots", self.folder / "state", "--journal", self.folder / "journal",
                "--output", self.folder / "out.csv", "--snapshot-every", "1h"]
        process = self.start(*live)
        process.stdin.write(TABLE)
        process.stdin.flush()
        seen = [json.loads(process.stderr.readline()) for _ in range(2)]
        self.assertEqual(sorted(one["event"] for one in seen), ["snapshot", "started"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 128 + signal.SIGTERM)  # its input has not ended
        stopping, snapshot, ended = self.messages(process.stderr.read())
        self.assertEqual((stopping["event"], stopping["signal"]), ("stopping", "SIGTERM"))
        self.assertEqual((snapshot["event"], snapshot["number"]), ("snapshot", 2))
        self.assertGreater(snapshot["state_bytes"], 0)
        self.assertEqual(ended["how"], "stopped at a snapshot")
        events = [(one["event"], one.get("number"))
                  for one in self.messages(self.strid(*live, input=b"").stderr)]
        self.assertIn(("restored", 2), events)
        self.assertEqual(events[-1][0], "ended")
        self.assertEqual((self.folder / "out.csv").read_text().count("\n"), 4)

    def test_errors_and_warnings_have_their_level(self):
        process = self.start(*JSON)
        _, errors = process.communicate(TABLE + b"x\n", timeout=60)
        self.assertEqual(process.returncode, 1)
        last = self.messages(errors)[-1]
        self.assertEqual(last["level"], "error")
        self.assertIn("standard input:5: ", last["message"])
        errors = self.strid(*JSON, "--metrics", "/dev/full", "--metrics-every", "10ms",
                            input=TABLE).stderr
        self.assertTrue([one for one in self.messages(errors)
                         if one["level"] == "warning" and "/dev/full" in one["message"]])

    def test_text_is_the_default(self):
        for options in ([], ["--log", "text"]):
            self.assertTrue(self.strid(*ASK, *options, input=TABLE).stderr.startswith(b"window: "))
        self.assertIn("'xml' is none of text, json", self.fails(*ASK, "--log", "xml", code=2))

    def test_a_service_has_it_in_its_file(self):
        (self.folder / "in.csv").write_bytes(TABLE)
        (self.folder / "stream.conf").write_text(
            "input = in.csv\ntime = at\nwindow = tumbling:1s\naggregate = count\nlog = json\n"
            "output = out.csv\n")
        errors = self.strid("serve", "stream.conf", cwd=self.folder).stderr
        self.assertEqual([one["event"] for one in self.messages(errors)], ["started", "ended"])


if __name__ == "__main__":
    unittest.main()

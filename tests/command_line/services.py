#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid serve`, and what a run tells a service manager by NOTIFY_SOCKET.

    services.py CLASS...
"""

import os
import select
import signal
import socket
import time
import unittest

from command_line import Case

TABLE = "at,key,x\n1,a,1\n2,b,5\n1500,a,3\n"
OPTIONS = """
# a comment, and a blank line

input     = in.csv
key=key
  time    = at
unit      = ms
window    = tumbling:1s
aggregate = count as n, sum(x) as total
output    = out.csv
"""


class Served(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "in.csv").write_text(TABLE)

    def write(self, text):
        (self.folder / "stream.conf").write_text(text)

    def test_runs_window_with_the_options_of_a_file(self):
        self.write(OPTIONS)
        result = self.strid("serve", "stream.conf", cwd=self.folder)
        self.assertEqual(result.stderr, b"")
        self.assertEqual(sorted((self.folder / "out.csv").read_text().splitlines()[1:]),
                         ["a,0,1000,1,1", "a,1000,2000,1,3", "b,0,1000,1,5"])

    def test_ends_with_0_where_it_is_stopped(self):
        self.write(OPTIONS.replace("in.csv", "-") + "snapshots = state\njournal = journal\n")
        process = self.start("serve", "stream.conf", cwd=self.folder)
        process.stdin.write(TABLE.encode())
        process.stdin.flush()
        self.until_signals_are_caught(process)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertFalse((self.folder / "out.csv").exists())
        self.strid("serve", "stream.conf", cwd=self.folder, input=b"")
        self.assertEqual(len((self.folder / "out.csv").read_text().splitlines()), 4)

    def test_mistakes_name_the_file(self):
        for text, reason in (
            ("--key = x\n", "stream.conf:1: an option is NAME = VALUE"),
            ("\nthe key = x\n", "stream.conf:2: an option is NAME = VALUE: its name"),
            ("= x\n", "stream.conf:1: "),
            (OPTIONS + "keys = x\n", "unknown option --keys (did you mean --key?)"),
            ("key = a\n", "--window"),
            ("x = " + "y" * 70_000, "stream.conf:1: the file is too long"),
            ("#\n" * 2_000, "stream.conf:1001: the file is too long"),
        ):
            with self.subTest(text[:20]):
                self.write(text)
                self.assertIn(reason, self.fails("serve", "stream.conf", code=2, cwd=self.folder))
        self.assertIn("none.conf: cannot be opened",
                      self.fails("serve", "none.conf", code=1, cwd=self.folder))


class Notices(Case):
    def setUp(self):
        super().setUp()
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)

    def run_of(self, address, **environment):
        return self.start("window", "--window", "tumbling:1s", "--time", "at", "--aggregate",
                          "count", "--output", "out.csv", "--quiet", cwd=self.folder,
                          env={**os.environ, "NOTIFY_SOCKET": address, **environment})

    def notice(self, seconds=30):
        self.assertTrue(select.select([self.manager], [], [], seconds)[0], "nothing was said")
        return self.manager.recv(1000).decode().splitlines()

    def test_ready_alive_stopping(self):
        path = str(self.folder / "notify")
        self.manager.bind(path)
        process = self.run_of(path, WATCHDOG_USEC="300000")
        self.assertEqual(self.notice(), ["READY=1", "STATUS=running"])
        for _ in range(3):
            self.assertEqual(self.notice(), ["WATCHDOG=1"])
        process.send_signal(signal.SIGTERM)
        said = []
        while not said or said[-1] != ["STOPPING=1"]:
            said.append(self.notice())
        process.wait(timeout=60)

    def test_an_abstract_address_and_another_process(self):
        name = f"strid-test-{os.getpid()}"
        self.manager.bind("\0" + name)
        process = self.run_of("@" + name, WATCHDOG_USEC="300000", WATCHDOG_PID="1")
        self.assertEqual(self.notice()[0], "READY=1")
        self.assertFalse(select.select([self.manager], [], [], 1)[0])
        process.stdin.close()
        self.assertEqual(self.notice(), ["STOPPING=1"])

    def test_a_manager_that_is_gone_changes_nothing(self):
        for address in (str(self.folder / "nothing"), "/" + "x" * 200, "relative", ""):
            process = self.run_of(address)
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()

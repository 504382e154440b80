# SPDX-License-Identifier: Apache-2.0
"""Tests of the exchange that are about its programs: `strid exchange`, stores that do not belong
together, and errors."""

import os
import pathlib
import signal
import subprocess

from exchange_case import TIMEOUT_S, TOOLS, ExchangeCase


class Stores(ExchangeCase):
    """A journal and a store that do not belong together."""

    def refuse_without(self, lost, error):
        self.start()
        self.figures(self.load("w1", "--orders", 200))
        self.stop()
        for file in self.folder.glob(lost + "*"):
            file.unlink()
        self.start("data", "session")
        process = self.processes.pop("session")
        self.assertEqual(process.wait(TIMEOUT_S), 1)
        self.assertRegex(self.log("session"), error)

    def test_a_journal_that_was_lost(self):
        self.refuse_without("journal", "store: the data manager refuses the link: .*the journal")

    def test_a_store_that_was_lost(self):
        self.refuse_without("store", "store: the data manager refuses the link: .*report")


class Launcher(ExchangeCase):
    """strid exchange."""

    def call(self, *arguments, code=0):
        result = subprocess.run(
            [str(TOOLS / "strid-exchange"), *arguments],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout if code == 0 else result.stderr

    def processes_of(self, folder):
        lines = self.call("status", "--data", folder).splitlines()
        return {name: int(process.rstrip(",")) for name, process, *_ in map(str.split, lines)}

    def test_start_kill_status_and_interrupt(self):
        folder = self.path("exchange")
        errors = open(self.path("launcher.log"), "w+")
        self.addCleanup(errors.close)
        process = subprocess.Popen(
            [str(TOOLS / "strid-exchange"), "start", "--data", folder, "--listen", self.address,
             "--sync", "normal"],
            stderr=errors,
        )  # fmt: skip
        self.addCleanup(process.kill)
        load = self.load("w1", "--orders", 300)
        self.assertEqual(self.figures(load)["requests"], 300)
        before = self.processes_of(folder)
        self.assertEqual(before["strid-exchange"], process.pid)
        for name in ("core", "session", "data"):
            os.kill(before[f"strid-exchange-{name}"], signal.SIGKILL)
        load = self.load("w1", "--orders", 300, "--symbol-prefix", "B")
        self.assertEqual(self.figures(load)["requests"], 300)
        after = self.processes_of(folder)
        self.assertEqual(len({*before.values(), *after.values()}), 7)
        error = self.call("start", "--data", folder, code=1)
        self.assertIn("an exchange runs there already", error)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT_S), 130)
        for one in after.values():
            self.assertFalse(pathlib.Path(f"/proc/{one}").exists())
        self.assertIn("no exchange runs there", self.call("stop", "--data", folder, code=1))

    def test_errors_are_one_line(self):
        core, session = str(TOOLS / "strid-exchange-core"), str(TOOLS / "strid-exchange-session")
        pathlib.Path(self.path("text")).write_text("no database" * 500)
        unused = f"unix:{self.path('x')}"
        long_path = "unix:" + "x" * 200
        for words, text, code in (
            ([core, "--listen", "nowhere", "--session", unused], "neither HOST:PORT", 2),
            ([core, "--listen", "127.0.0.1:99999", "--session", unused], "neither", 2),
            ([core, "--listen", long_path, "--session", unused], "107 bytes", 1),
            ([core, "--listen", "192.0.2.1:1", "--session", unused], "192.0.2.1:1: listen", 1),
            ([session, "--listen", unused, "--data", unused, "--store", self.path("text")],
             "text: file is not a database", 1),
            ([session, "--listen", unused, "--data", unused, "--store", "/none/x"], "/none/x: ", 1),
            ([str(TOOLS / "strid-exchange-load"), "w1", "--sessions", "3"], "an even number", 2),
            ([str(TOOLS / "strid-exchange-load"), "w1", "--connect", unused, "--timeout", "1s"],
             "x: ", 1),
        ):  # fmt: skip
            with self.subTest(words):
                result = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertEqual(result.returncode, code, result.stderr)
                lines = [one for one in result.stderr.splitlines() if "strid: error: " in one]
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertIn(text, lines[0])

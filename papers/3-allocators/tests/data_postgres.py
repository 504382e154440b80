# SPDX-License-Identifier: Apache-2.0
"""Tests of data_test.py: a journal in PostgreSQL, with a server of the test's own."""

import os
import pathlib
import shutil
import subprocess

from data_case import PROGRAM, TIMEOUT_S, DataCase, Manager, Orders


class Postgres(DataCase):
    BIN = pathlib.Path("/usr/lib/postgresql/15/bin")

    def setUp(self):
        super().setUp()
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if not (self.BIN / "initdb").exists() or (
            as_user and subprocess.run(["id", "postgres"], capture_output=True).returncode != 0
        ):
            self.skipTest("PostgreSQL 15 is not installed")
        os.chmod(self.folder, 0o755)
        data = self.folder / "server"
        data.mkdir()
        if as_user:
            shutil.chown(data, "postgres")
        self.control = [*as_user, str(self.BIN / "pg_ctl"), "-D", str(data)]
        made = subprocess.run(
            [*as_user, str(self.BIN / "initdb"), "-D", str(data), "-A", "trust", "-E", "UTF8",
             "--locale=C", "-N"],
            capture_output=True,
            timeout=TIMEOUT_S,
        )
        with open(data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"listen_addresses=''\nunix_socket_directories='{data}'\n")
        begin = [*self.control, "-l", str(data / "log"), "-w", "start"]
        if made.returncode or subprocess.run(begin, capture_output=True, timeout=60).returncode:
            self.skipTest(f"PostgreSQL cannot be started: {made.stderr[-300:]!r}")
        self.addCleanup(
            subprocess.run, [*self.control, "-m", "immediate", "stop"], capture_output=True
        )
        self.journal = f"postgresql://postgres@/postgres?host={data}"

    def test_commands_and_crashes(self):
        manager = Manager(self.address)
        orders = Orders(60)
        for _ in range(900):
            manager.add(orders.next())
        for last, batch in ((300, "1000"), (600, "3")):
            self.start("--batch", batch)
            manager.send(manager.log_on(), last)
            for _ in range(200):
                manager.take()
            self.kill()
        self.start()
        manager.run(manager.log_on())
        other = subprocess.run(
            [PROGRAM, "--listen", self.address + "2", "--journal", self.journal],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        self.assertEqual(other.returncode, 1)
        self.assertIn("another data manager has this journal", other.stderr)
        self.stop()
        self.compare(manager.commands, manager.reports)
        self.the_server_goes(manager)

    def the_server_goes(self, manager):
        """The program ends with an error; with the next server it goes on."""
        self.start()
        first = manager.log_on()
        subprocess.run([*self.control, "-m", "immediate", "stop"], capture_output=True, check=True)
        orders = Orders(61, symbols=("NEXT",))
        for _ in range(50):
            manager.add(orders.next())
        with self.assertRaises(AssertionError):
            manager.run(first)
        self.assertEqual(self.process.wait(TIMEOUT_S), 1)
        log = str(self.folder / "server" / "log")
        subprocess.run([*self.control, "-l", log, "-w", "start"], capture_output=True, check=True)
        self.start()
        manager.run(manager.log_on())
        self.stop()
        self.compare(manager.commands, manager.reports)

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the whole exchange: the three programs, a recorder between the
session manager and the data manager, and a FIX client in Python."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from fix_client import Connection, cut, value

TOOLS = pathlib.Path(os.environ["PROGRAM"]).parent
CORE = (TOOLS / "strid-exchange-core").read_bytes()
SANITIZED = any(name in CORE for name in (b"__asan_init", b"__tsan_init"))
TIMEOUT_S = 120


def now():
    """A UTCTimestamp."""
    return time.strftime("%Y%m%d-%H:%M:%S", time.gmtime())


class Client:
    """A FIX session of the application's side, without resends of its own."""

    def __init__(self, address, user):
        self.user = user
        self.next = 1
        self.connection = Connection(address)

    def fields(self, kind, *body, sequence=None):
        """A message with its header; takes the next number unless one is given."""
        if sequence is None:
            sequence, self.next = self.next, self.next + 1
        head = [("35", kind), ("49", self.user), ("56", "STRID"), ("34", str(sequence))]
        return [*head, ("52", now()), *body]

    def send(self, kind, *body, sequence=None):
        """One message."""
        self.connection.send(self.fields(kind, *body, sequence=sequence))

    def receive(self):
        """The next message; None at the end."""
        return self.connection.receive()

    def log_on(self, *extra, heartbeat=30):
        """Logs on and returns the answer."""
        self.send("A", ("98", "0"), ("108", str(heartbeat)), *extra)
        return self.receive()

    def order(self, name, side="1", price="10", quantity=100, symbol="ACME"):
        """A limit order."""
        self.send(
            "D", ("11", name), ("55", symbol), ("54", side), ("38", str(quantity)),
            ("40", "2"), ("44", price), ("60", now()),
        )  # fmt: skip

    def close(self):
        """Ends the connection without a Logout."""
        self.connection.close()


class Recorder:
    """Hands on what the session manager and the data manager send each other and keeps it by its
    number: a message that is sent again must be the same."""

    def __init__(self, listen, forward):
        self.forward = forward
        self.commands = {}
        self.reports = {}
        self.faults = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(listen)
        self.listener.listen(4)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        """One link after the other."""
        while True:
            try:
                inner, _ = self.listener.accept()
            except OSError:
                return
            outer = socket.socket(socket.AF_UNIX)
            try:
                outer.connect(self.forward)
            except OSError:
                inner.close()
                outer.close()
                continue
            ways = [
                threading.Thread(target=self.relay, args=way, daemon=True)
                for way in ((inner, outer, self.commands), (outer, inner, self.reports))
            ]
            for way in ways:
                way.start()
            for way in ways:
                way.join()
            inner.close()
            outer.close()

    def relay(self, source, target, kept):
        """One direction, until either side ends."""
        data = b""
        try:
            while more := source.recv(1 << 16):
                # Kept before it is handed on: an answer never comes before its question is kept.
                data = self.keep(data + more, kept)
                target.sendall(more)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def keep(self, data, kept):
        """The messages with a number; returns what is not whole."""
        while True:
            message, data = cut(data)
            if message is None:
                return data
            number = value(message, 34)
            if number is None or value(message, 35) in "A0":
                continue
            if kept.setdefault(int(number), message) != message:
                self.faults.append(f"number {number} was sent with two contents")


class ExchangeCase(unittest.TestCase):
    """A test with an exchange of its own, stopped at its end."""

    sync = "normal"
    core_options = ()
    session_options = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.processes = {}
        self.addCleanup(self.kill_all)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"

    def path(self, name):
        """Of a file in the folder."""
        return str(self.folder / name)

    def command(self, name):
        """How a program is called."""
        data, session = f"unix:{self.path('data')}", f"unix:{self.path('session')}"
        link = f"unix:{self.path('record')}" if hasattr(self, "recorder") else data
        return {
            "data": ["--listen", data, "--journal", self.path("journal"), "--sync", self.sync],
            "session": ["--listen", session, "--data", link, "--store", self.path("store"),
                        "--sync", self.sync, *self.session_options],
            "core": ["--listen", self.address, "--session", session, *self.core_options],
        }[name]  # fmt: skip

    def start(self, *names):
        """Programs that do not run; all three without a name."""
        for name in names or ("data", "session", "core"):
            errors = open(self.path(name + ".log"), "ab")
            self.addCleanup(errors.close)
            self.processes[name] = subprocess.Popen(
                [str(TOOLS / f"strid-exchange-{name}"), *self.command(name)], stderr=errors
            )

    def client(self, user):
        """A client that is connected, closed at the end of the test."""
        client = Client(self.address, user)
        self.addCleanup(client.close)
        return client

    def record(self):
        """Before start(): what goes between session manager and data manager."""
        self.recorder = Recorder(self.path("record"), self.path("data"))
        self.addCleanup(self.recorder.listener.close)

    def kill(self, name):
        """As a crash would."""
        process = self.processes.pop(name)
        process.kill()
        process.wait(TIMEOUT_S)

    def kill_all(self):
        """Ends the programs that still run after a test that failed."""
        for name in list(self.processes):
            self.kill(name)

    def stop(self, *names):
        """By SIGTERM, in the order in which nothing is cut off."""
        for name in names or ("core", "session", "data"):
            process = self.processes.pop(name)
            process.send_signal(signal.SIGTERM)
            code = process.wait(TIMEOUT_S)
            self.assertIn(code, (0, 128 + signal.SIGTERM), self.log(name))

    def log(self, name):
        """The output of a program so far."""
        return pathlib.Path(self.path(name + ".log")).read_text()

    def await_log(self, name, pattern):
        """Until the log has it."""
        deadline = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, self.log(name)):
            self.assertLess(time.monotonic(), deadline, f"{pattern}: {self.log(name)[-2000:]}")
            time.sleep(0.02)

    def load(self, workload, *options):
        """A load generator in the background."""
        return subprocess.Popen(
            [str(TOOLS / "strid-exchange-load"), workload, "--connect", self.address, "--json",
             *map(str, options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def figures(self, load):
        """Of a load generator that has found nothing wrong."""
        output, errors = load.communicate(timeout=TIMEOUT_S)
        self.assertEqual(load.returncode, 0, errors)
        return json.loads(output)

    def journal_lines(self):
        """The data manager's output about its journal."""
        result = subprocess.run(
            [str(TOOLS / "strid-exchange-data"), "--check", self.path("journal")],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()

# SPDX-License-Identifier: Apache-2.0
"""A Redis server of tests, and a small client of its protocol that fills and reads streams."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from transport_case import TIMEOUT_S, ServerProcess, Ticks, TransportCase, free_port, until

SERVER = shutil.which("redis-server")
PASSWORD = "STRID_REDIS_PASSWORD"


class Refused(Exception):
    """An error that the server has replied with."""


class Client:
    """One connection."""

    def __init__(self, port: int, *login: str):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.file = self.socket.makefile("rb")
        if login:
            self.ask("AUTH", *login)

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def answer(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("the server has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Refused(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode()
        return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]

    def ask_all(self, commands: list[tuple]) -> list:
        answers = []
        for begin in range(0, len(commands), 1_000):
            part = commands[begin:begin + 1_000]
            words = [[str(word).encode() for word in command] for command in part]
            self.socket.sendall(b"".join(
                b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                                     for word in command) for command in words))
            answers += [self.answer() for _ in part]
        for answer in answers:
            if isinstance(answer, Refused):
                raise answer
        return answers

    def ask(self, *command):
        return self.ask_all([command])[0]

    def entries(self, stream: str) -> list[dict[str, str]]:
        return [dict(zip(fields[::2], fields[1::2])) for _, fields in
                self.ask("XRANGE", stream, "-", "+")]


class Server(ServerProcess):
    """With the options of its command line."""

    def __init__(self, *options: str, login: tuple[str, ...] = ()):
        self.folder = Path(tempfile.mkdtemp())
        self.port = free_port()
        self.options = options
        self.login = login
        self.start()

    def start(self) -> None:
        with open(self.folder / "log", "ab") as out:
            self.process = subprocess.Popen(
                [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir",
                 str(self.folder), "--save", "", *self.options], stdout=out, stderr=out)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        def is_ready():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            try:
                client = self.client()
            except (OSError, Refused):
                return False
            try:
                return client.ask("PING") == "PONG"
            except (OSError, Refused):
                return False
            finally:
                client.close()
        until(is_ready)

    def client(self) -> Client:
        return Client(self.port, *self.login)

    def address(self, stream: str, options: str = "") -> str:
        return f"redis://127.0.0.1:{self.port}/{stream}" + ("?" + options if options else "")


class RedisCase(TransportCase):
    each_apart = True
    streams = 0
    options = ()  # of the server of the class

    @classmethod
    def setUpClass(cls):
        if not SERVER:
            raise unittest.SkipTest("redis-server is not installed")
        cls.server = Server(*cls.options)
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.connect()

    def connect(self) -> Client:
        """Also once more, when the server was killed."""
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        return self.client

    def stream(self) -> str:
        """The name of one that is not there yet."""
        RedisCase.streams += 1
        return f"plant:{RedisCase.streams}"

    def fill(self, stream: str, ticks: Ticks, begin: int = 0, end: int | None = None) -> list[str]:
        """Entries with a field for each column; their ids."""
        return self.client.ask_all([
            ("XADD", stream, "*", "at", at, "symbol", symbol, "price", price)
            for at, symbol, price in ticks.rows[begin:end]])

    def begun(self, source: str, target: str, *options: str, stderr=subprocess.PIPE
              ) -> subprocess.Popen:
        run = subprocess.Popen(self.arguments(source, target, *options), cwd=self.folder,
                               stderr=stderr, text=True)
        if run.stderr:
            self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def read(self, source: str, *options: str, key="symbol") -> list[tuple]:
        """The windows of a stream."""
        run = subprocess.run(self.arguments(source, "out.csv", "--format", "json", *options,
                                            key=key),
                             cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        return self.rows()

    def rows(self) -> list[tuple]:
        lines = [line.split(",") for line in
                 (self.folder / "out.csv").read_text().splitlines()[1:]]
        return sorted((line[0], *map(int, line[1:])) for line in lines)

    def bars(self, stream: str) -> list[tuple]:
        """The windows that were written to a stream."""
        return sorted((entry["symbol"], int(entry["window_start"]), int(entry["window_end"]),
                       int(entry["n"]), int(entry["total"])) for entry in
                      self.client.entries(stream))

    @staticmethod
    def wait_for_rows(server, count: int) -> None:
        """Until the source of a run has emitted so many."""
        until(lambda: re.search(r'records_out_total\{.*operator="read".*\} %d\n' % count,
                                server.ask("/metrics")[1]))

    def stopped(self, run: subprocess.Popen, with_signal: int = signal.SIGTERM) -> str:
        run.send_signal(with_signal)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 128 + with_signal, text)
        return text

    def refused(self, source: str, target: str, *options: str, environment=None) -> str:
        run = subprocess.run(self.arguments(source, target, *options), cwd=self.folder,
                             capture_output=True, text=True, timeout=TIMEOUT_S,
                             env={**os.environ, **(environment or {})})
        self.assertIn(run.returncode, (1, 2), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr

    @staticmethod
    def json_of(tick: tuple) -> str:
        at, symbol, price = tick
        return json.dumps({"at": at, "symbol": symbol, "price": price})

    @staticmethod
    def took(action) -> float:
        begin = time.monotonic()
        action()
        return time.monotonic() - begin

# SPDX-License-Identifier: Apache-2.0
"""A NATS server of tests, and a small client of its text protocol that makes, fills and reads
streams of JetStream by plain requests."""

import base64
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

SERVER = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")


class Client:
    """One connection. Requests are sent many at once; their answers come in any order."""

    def __init__(self, port: int, user: str = "", password: str = ""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.file = self.socket.makefile("rb")
        assert self.file.readline().startswith(b"INFO "), "no server of NATS"
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        if password:
            options |= {"user": user, "pass": password} if user else {"auth_token": password}
        self.send(b"CONNECT " + json.dumps(options).encode() + b"\r\nSUB _INBOX.test.* 1\r\n")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> tuple[int, bytes]:
        """The number of a request, and the payload of its answer."""
        while True:
            line = self.file.readline()
            assert line, "the server has closed the connection"
            words = line.split()
            if words[0] == b"PING":
                self.send(b"PONG\r\n")
            elif words[0] in (b"MSG", b"HMSG"):
                headers = int(words[-2]) if words[0] == b"HMSG" else 0
                payload = self.file.read(int(words[-1]) + 2)[:-2]
                return int(words[1].rsplit(b".", 1)[1]), payload[headers:]
            else:
                assert words[0] != b"-ERR", line

    def requests(self, all_of: list[tuple]) -> list[dict]:
        """The answers, in JSON, to (subject, payload[, headers]) in their order."""
        answers = [None] * len(all_of)
        for begin in range(0, len(all_of), 500):
            part = all_of[begin:begin + 500]
            for number, (subject, payload, *headers) in enumerate(part, begin):
                to = f"{subject} _INBOX.test.{number}"
                payload = payload.encode()
                if headers:
                    head = "NATS/1.0\r\n" + "".join(
                        f"{name}: {value}\r\n" for name, value in headers[0].items()) + "\r\n"
                    head = head.encode()
                    text = f"HPUB {to} {len(head)} {len(head) + len(payload)}\r\n".encode() + head
                else:
                    text = f"PUB {to} {len(payload)}\r\n".encode()
                self.send(text + payload + b"\r\n")
            for _ in part:
                number, text = self.answer()
                answers[number] = json.loads(text)
        return answers

    def api(self, request: str, body: dict) -> dict:
        answer = self.requests([("$JS.API." + request, json.dumps(body))])[0]
        assert "error" not in answer, answer
        return answer

    def add_stream(self, name: str, *subjects: str, **others) -> None:
        self.api(f"STREAM.CREATE.{name}", {
            "name": name, "subjects": list(subjects), "storage": "file", "retention": "limits",
            "discard": "old", "num_replicas": 1, "duplicate_window": 120_000_000_000, **others})

    def publish(self, messages: list[tuple]) -> list[int]:
        """(subject, payload[, headers]); their numbers in the stream."""
        answers = self.requests(messages)
        for answer in answers:
            assert "error" not in answer, answer
        return [answer["seq"] for answer in answers]

    def state(self, stream: str) -> dict:
        return self.api(f"STREAM.INFO.{stream}", {})["state"]

    def messages(self, stream: str) -> list[tuple[str, str]]:
        """The subject and the payload of all, in their order."""
        state = self.state(stream)
        if state["messages"] == 0:
            return []
        answers = self.requests([(f"$JS.API.STREAM.MSG.GET.{stream}", json.dumps({"seq": number}))
                                 for number in range(state["first_seq"], state["last_seq"] + 1)])
        found = [one["message"] for one in answers if "message" in one]
        return [(one["subject"], base64.b64decode(one.get("data", "")).decode()) for one in found]


class Server(ServerProcess):
    """A password without a user is a token."""

    def __init__(self, configuration: str = "", user: str = "", password: str = "", *,
                 without_jetstream: bool = False):
        self.folder = Path(tempfile.mkdtemp())
        self.port = free_port()
        self.login = (user, password)
        (self.folder / "conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\n' + configuration + (
                "" if without_jetstream else f'jetstream {{ store_dir: "{self.folder}/data" }}\n'))
        self.start()

    def start(self) -> None:
        log = self.folder / "log"
        before = log.read_text().count("Server is ready") if log.exists() else 0
        with open(log, "ab") as out:
            self.process = subprocess.Popen([SERVER, "-c", str(self.folder / "conf")], stdout=out,
                                            stderr=out)
        deadline = time.monotonic() + TIMEOUT_S
        while log.read_text().count("Server is ready") == before:
            assert self.process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)

    def client(self) -> Client:
        return Client(self.port, *self.login)

    def address(self, subject: str, stream: str, options: str = "") -> str:
        return f"nats://127.0.0.1:{self.port}/{subject}?stream={stream}" + (
            "&" + options if options else "")


class NatsCase(TransportCase):
    each_apart = True
    streams = 0

    @classmethod
    def setUpClass(cls):
        if not SERVER:
            raise unittest.SkipTest("nats-server is not installed")
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.connect()

    def connect(self) -> Client:
        """Also once more, when the server was killed."""
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        return self.client

    def stream(self, *more: str, **options) -> str:
        """A new one, whose subjects are its name, all behind it, and others."""
        NatsCase.streams += 1
        name = f"s{NatsCase.streams}"
        self.client.add_stream(name, name, name + ".>", *more, **options)
        return name

    def fill(self, stream: str, ticks: Ticks, begin: int = 0, end: int | None = None) -> None:
        self.client.publish([(f"{stream}.{symbol}", json.dumps({"at": at, "symbol": symbol,
                                                                "price": price}))
                             for at, symbol, price in ticks.rows[begin:end]])

    def source(self, stream: str, options: str = "", subject: str = ".>") -> str:
        return self.server.address(stream + subject, stream, options)

    def begun(self, source: str, target: str, *options: str, stderr=subprocess.PIPE
              ) -> subprocess.Popen:
        run = subprocess.Popen(self.arguments(source, target, *options), cwd=self.folder,
                               stderr=stderr, text=True)
        if run.stderr:
            self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def read_json(self, source: str, *options: str, key="symbol") -> list[tuple]:
        """The windows of messages in JSON."""
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
        """The rows of CSV in a stream."""
        lines = [text.split(",") for _, text in self.client.messages(stream)]
        return sorted((line[0], *map(int, line[1:])) for line in lines)

    def wait_for_consumer(self, stream: str) -> None:
        """A run reads it."""
        until(lambda: self.client.state(stream)["consumer_count"] > 0)

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

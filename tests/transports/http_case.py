# SPDX-License-Identifier: Apache-2.0
"""The tests of HTTP as an input share a run of `strid window` that listens, and clients."""

import gzip
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections import Counter

from transport_case import STRID, TIMEOUT_S, TransportCase, free_port


class HttpCase(TransportCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def live(self, *options: str, query: str = "", host: str = "127.0.0.1", token: str = "",
             target: str = "out.csv", window: str = "tumbling:1s",
             disorder: str = "end") -> subprocess.Popen:
        """A run that listens: it counts the rows of each symbol."""
        environment = {name: value for name, value in os.environ.items()
                       if name != "STRID_HTTP_TOKEN"}
        if token:
            environment["STRID_HTTP_TOKEN"] = token
        run = subprocess.Popen(
            [STRID, "window", "--quiet", "--input",
             f"http-listen://{host}:{self.port}/rows?{query}", "--output", target, "--format",
             "json", "--key", "symbol", "--time", "at", "--unit", "ms", "--window", window,
             "--disorder", disorder, "--aggregate", "count as n", *options],
            cwd=self.folder, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(self.killed_at_end, run)
        for _ in range(1000):
            try:
                if self.ask("GET", token=token)[0] == 200 or run.poll() is not None:
                    break
            except OSError:
                time.sleep(0.01)
        return run

    @staticmethod
    def killed_at_end(run: subprocess.Popen) -> None:
        run.kill()
        run.wait()
        run.stderr.close()

    def ask(self, method: str, body=None, path: str = "/rows", token: str = "",
            **headers: str) -> tuple[int, str]:
        """One request on a connection of its own: the status and the answer."""
        client = self.connection()
        try:
            if token:
                headers["Authorization"] = "Bearer " + token
            client.request(method, path, body,
                           {name.replace("_", "-"): value for name, value in headers.items()})
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def check_many_clients(self, run: subprocess.Popen, clients: int, posts: int) -> None:
        """They post at once, plain, packed and in chunks, and each line is counted once."""
        expected = Counter()
        faults = []

        def client(number: int) -> None:
            rng = random.Random(number)
            connection = self.connection()
            for post in range(posts):
                names = [f"c{number}-{post}-{i}" for i in range(rng.randrange(1, 40))]
                body = body_of(names)
                headers = {}
                if post % 3 == 1:
                    body = gzip.compress(body)
                    headers["Content-Encoding"] = "gzip"
                if post % 5 == 2:  # chunks of any size
                    cuts = sorted(rng.sample(range(1, len(body)), min(5, len(body) - 1)))
                    body = iter([body[begin:end] for begin, end in
                                 zip([0, *cuts], [*cuts, len(body)])])
                connection.request("PUT" if post % 2 else "POST", "/rows", body, headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status != 200 or json.loads(text) != {"lines": len(names)}:
                    faults.append((number, post, answer.status, text))
                expected.update(names)
            connection.close()

        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.stopped(run)
        self.assertEqual(faults, [])
        self.assertEqual(self.counts(), expected)

    def raw(self, text: bytes, *more: bytes, pause_s: float = 0) -> str:
        """The answers to bytes that may be no request, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S) as client:
            answer = b""
            try:
                for piece in (text, *more):
                    client.sendall(piece)
                    time.sleep(pause_s)
                while piece := client.recv(65536):
                    answer += piece
            except ConnectionError:
                pass
            return answer.decode(errors="replace")

    def stopped(self, run: subprocess.Popen) -> str:
        run.send_signal(signal.SIGTERM)
        text = run.stderr.read()
        self.assertEqual(run.wait(timeout=TIMEOUT_S), 128 + signal.SIGTERM, text)
        return text

    def counts(self) -> Counter:
        """How often each symbol was counted."""
        found = Counter()
        for line in (self.folder / "out.csv").read_text().splitlines()[1:]:
            cells = line.split(",")
            found[cells[0]] += int(cells[-1])
        return found


def body_of(names: list[str], at: int = 0) -> bytes:
    return "".join(json.dumps({"at": at, "symbol": name}) + "\n" for name in names).encode()

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of --http: a run of `strid window`, and requests to it."""

import contextlib
import http.client
import json
import re
import socket
import time

from command_line import Case

ASK = ["window", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count"]
TIMEOUT_S = 60
STARTED = re.compile(r"strid: http://(\S+):(\d+)/ shows the run; the token is in ([^;\n]+)(;.*)?\n")


def rows(first, count):
    return "".join(f"{at}\n" for at in range(first, first + count)).encode()


def samples(text):
    """The values of a text of Prometheus by their names with labels."""
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if not line.startswith("#")}


class HttpCase(Case):
    def serve(self, *options, host="127.0.0.1", port=0, command=None, **popen):
        """Starts a run whose input is a pipe, and reads where it listens."""
        self.run_ = self.start(*(command or ASK), "--http", f"{host}:{port}", *options, **popen)
        line = self.run_.stderr.readline().decode()
        found = STARTED.fullmatch(line)
        self.assertTrue(found, line)
        self.host, self.port = host, int(found.group(2))
        self.token_path = found.group(3)
        with open(self.token_path, encoding="ascii") as file:
            self.token = file.read().strip()
        return self.run_

    def ask(self, path, method="GET", **headers):
        """Status, headers and body."""
        with contextlib.closing(
                http.client.HTTPConnection("127.0.0.1", self.port,
                                           timeout=TIMEOUT_S)) as connection:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=names)
            answer = connection.getresponse()
            body = answer.read().decode()
            return answer.status, answer.headers, body

    def act(self, path, token=None):
        return self.ask(path, "POST", Authorization=f"Bearer {token or self.token}")[0]

    def feed(self, data):
        self.run_.stdin.write(data)
        self.run_.stdin.flush()

    def report(self):
        """Of the run, once it has begun."""
        deadline = time.monotonic() + TIMEOUT_S
        while (answer := self.ask("/report"))[0] == 503:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(answer[0], 200, answer)
        return json.loads(answer[2])

    def until(self, holds):
        deadline = time.monotonic() + TIMEOUT_S
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def is_ready(self):
        return self.ask("/readyz")[0] == 200

    def raw(self, data):
        """The answer to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S) as peer:
            with contextlib.suppress(OSError):
                peer.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := peer.recv(65536):
                    answer += piece
            return answer.decode()

    def ends(self, code):
        out, err = self.run_.communicate(timeout=TIMEOUT_S)
        self.assertEqual(self.run_.returncode, code, err)
        return out, err.decode()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests to the input of `strid window` by HTTP that are malformed, too long, too slow or not
allowed, also by sockets that send what no client should.

    http_refusals_test.py STRID [CLASS...]
"""

import contextlib
import gzip
import os
import re
import socket
import subprocess
import threading
import time
from collections import Counter

from http_case import HttpCase, body_of
from transport_case import TIMEOUT_S, main, until


class Refusals(HttpCase):
    def status(self, answer: str) -> list[int]:
        return [int(found) for found in re.findall(r"^HTTP/1\.1 (\d+) ", answer, re.M)]

    def test_requests_that_are_none_of_its_own(self):
        run = self.live("--dead-letter", "dead.csv")
        body = body_of(["a"])
        for expected, method, given, options in (
            (404, "POST", body, {"path": "/row"}),
            (404, "POST", body, {"path": "/rows/"}),
            (405, "DELETE", None, {}),
            (405, "PATCH", body, {}),
            (415, "POST", body, {"Content_Encoding": "br"}),
            (400, "POST", body, {"Content_Encoding": "gzip"}),
            (400, "POST", gzip.compress(body)[:-9], {"Content_Encoding": "gzip"}),
            (400, "POST", gzip.compress(body) + b"x", {"Content_Encoding": "gzip"}),
            (417, "POST", body, {"Expect": "200-ok"}),
            (403, "POST", body, {"Origin": "http://127.0.0.1"}),
            (400, "POST", b"\xff\xfea\0", {}),
            (400, "POST", b"a\0b", {}),
        ):
            with self.subTest(method, **options):
                self.assertEqual(self.ask(method, given, **options)[0], expected)
        self.assertEqual(self.ask("GET"), (200, "ready\n"))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter())

    def test_bodies_with_two_ends_are_refused(self):
        """Bytes behind such a body are not taken for a request either."""
        run = self.live()
        line = body_of(["a"]).decode()
        post = "POST /rows HTTP/1.1\r\nHost: a\r\n"
        smuggled = f"{post}Content-Length: {len(line)}\r\n\r\n{line}"
        size = f"{len(line):x}\r\n{line}\r\n"
        for expected, request in (
            (400, f"{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            (400, f"{post}Content-Length: 0\r\nContent-Length: {len(line)}\r\n\r\n{line}"),
            (400, f"{post}Content-Length: +5\r\n\r\n{line}"),
            (400, f"{post}Content-Length: -1\r\n\r\n{line}"),
            (400, f"{post}Content-Length: 5, 5\r\n\r\n{line}"),
            (400, f"{post}Content-Length: 0x10\r\n\r\n{line}"),
            (400, f"{post}Content-Length:\r\n\r\n{line}"),
            (400, f"{post}Content-Length: 99999999999999999999999\r\n\r\n{line}"),
            (413, f"{post}Content-Length: 9999999999999999999\r\n\r\n{line}"),
            (501, f"{post}Transfer-Encoding: gzip, chunked\r\n\r\n{size}0\r\n\r\n"),
            (501, f"{post}Transfer-Encoding: identity\r\n\r\n{line}"),
            (400, f"{post}Transfer-Encoding : chunked\r\n\r\n{size}0\r\n\r\n"),
            (400, f"{post.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\nx\r\n{line}\r\n0\r\n\r\n"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\n-1\r\n{line}\r\n0\r\n\r\n"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\n{len(line):x}\n{line}\n0\n\n"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\n2\r\n{line}\r\n0\r\n\r\n"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{line}"),
            (400, f"{post}Transfer-Encoding: chunked\r\n\r\n2;{'x' * 300}\r\n{line}"),
            (411, f"{post}\r\n{line}"),
            (505, f"{post.replace('1.1', '2.0')}Content-Length: 2\r\n\r\n{line}"),
            (431, f"{post}X: {'x' * 9000}\r\nContent-Length: 2\r\n\r\n{line}"),
        ):
            with self.subTest(request[len(post):][:60]):
                found = self.raw((request + smuggled).encode())
                if expected == 431 and not found:
                    continue  # it was closed while more was sent
                self.assertEqual(self.status(found)[:1], [expected], found)
                self.assertEqual(len(self.status(found)), 1, found)
        self.assertEqual(self.ask("GET"), (200, "ready\n"))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter())

    def test_requests_behind_each_other_are_all_answered(self):
        run = self.live()
        line = body_of(["a"]).decode()
        post = "POST /rows HTTP/1.1\r\nHost: a\r\n"
        one = f"{post}Content-Length: {len(line)}\r\n\r\n{line}"
        two = (f"{post}Transfer-Encoding: chunked\r\n\r\n"
               f"{len(line):X}\r\n{line}\r\n0\r\nA: b\r\n\r\n")
        last = one.replace("Host", "Connection: close\r\nHost")
        self.assertEqual(self.status(self.raw((one + two + one + last + one).encode())),
                         [200, 200, 200, 200])
        # A byte at a time.
        self.assertEqual(self.status(self.raw(*(bytes([c]) for c in (two + last).encode()))),
                         [200, 200])
        self.stopped(run)
        self.assertEqual(self.counts(), Counter({"a": 6}))

    def test_limits_of_a_body(self):
        run = self.live(query="body=10K&waiting=20K")
        line = body_of(["a"])
        most = (line * 10_000)[:10_240 // len(line) * len(line)]
        self.assertEqual(self.ask("POST", most)[0], 200)
        for expected, body, headers in (
            (413, line * 500, {}),
            (413, gzip.compress(line * 100_000), {"Content_Encoding": "gzip"}),
            (413, iter([line * 100] * 100), {}),
        ):
            self.assertEqual(self.ask("POST", body, **headers)[0], expected)
        self.stopped(run)
        self.assertEqual(self.counts(), Counter({"a": len(most) // len(line)}))

    def test_slow_clients_are_given_up_and_delay_nobody(self):
        run = self.live(query="within=500ms")
        head = b"POST /rows HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n"
        answers = []
        threads = [threading.Thread(target=lambda text=text: answers.append(self.raw(text)))
                   for text in (head, head + b"\r\n{", b"", b"P") for _ in range(5)]
        for thread in threads:
            thread.start()
        begin = time.monotonic()
        self.assertEqual(self.ask("POST", body_of(["a"]))[0], 200)
        self.assertLess(time.monotonic() - begin, 0.4)
        for thread in threads:
            thread.join()
        self.assertEqual([self.status(answer) for answer in answers], [[408]] * len(answers))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter("a"))

    def test_so_many_connections_and_no_more(self):
        run = self.live()
        clients = []

        def is_held(client):
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.recv(1)  # it was answered: there was no place
                return False
            return True

        def all_are_taken():
            """The connection that found the run ready may have a place for a second more."""
            clients[:] = [client for client in clients if is_held(client)]
            while len(clients) < 64:
                clients.append(socket.create_connection(("127.0.0.1", self.port)))
            return self.ask("GET")[0] == 503

        until(all_are_taken)
        for client in clients:
            client.close()
        time.sleep(0.5)
        self.assertEqual(self.ask("GET")[0], 200)
        self.stopped(run)

    def test_the_token_is_needed_always(self):
        run = self.live(host="0.0.0.0", token="secret token")
        body = body_of(["a"])
        for method, given in (("POST", ""), ("GET", ""), ("POST", "secret toke"),
                              ("POST", "secret tokens"), ("POST", "Secret token")):
            self.assertEqual(self.ask(method, body, token=given)[0], 401)
        self.assertEqual(self.ask("POST", body, Authorization="Basic secret token")[0], 401)
        self.assertEqual(self.ask("POST", body, token="secret token")[0], 200)
        self.stopped(run)
        self.assertEqual(self.counts(), Counter("a"))

    def test_faults_are_one_sentence(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        environment = {name: value for name, value in os.environ.items()
                       if name != "STRID_HTTP_TOKEN"}
        with socket.socket() as used:
            used.bind(("127.0.0.1", 0))
            used.listen()
            for source, target, reason in (
                (f"http-listen://0.0.0.0:{self.port}", "out.csv", "STRID_HTTP_TOKEN"),
                (f"http-listen://127.0.0.1:{used.getsockname()[1]}", "out.csv", "cannot listen"),
                ("http-listen://127.0.0.1", "out.csv", "http-listen://HOST:PORT/PATH"),
                ("http-listen://127.0.0.1:0", "out.csv", "a number from 1 to 65535"),
                ("http-listen://:1/a?body=0", "out.csv", "body: '0' is not a number of bytes"),
                ("http-listen://:1/a?within=5", "out.csv", "within: '5' is a time without a unit"),
                ("http-listen://:1/a?waiting=1M", "out.csv", "waiting is more than body"),
                ("http-listen://:1/a?size=1M", "out.csv", "there is no option 'size'"),
                ("http-listen://u:secret@:1/a", "out.csv", "an address holds no password"),
                ("in.csv", "http-listen://:1/a", "nothing can be written there"),
            ):
                with self.subTest(source + target):
                    run = subprocess.run(self.arguments(source, target), cwd=self.folder,
                                         capture_output=True, text=True, timeout=TIMEOUT_S,
                                         env=environment)
                    self.assertIn(run.returncode, (1, 2), run.stderr)
                    self.assertIn(reason, run.stderr)
                    self.assertNotIn("secret", run.stderr)
                    self.assertEqual(run.stderr.count("\n"), 1, run.stderr)


if __name__ == "__main__":
    main()

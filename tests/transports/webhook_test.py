#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows that `strid window` posts to servers of the test, which refuse, are slow, cut connections
and are away: each row is there, and a key has one body, also over kills.

    webhook_test.py STRID [CLASS...]
"""

import http.server
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import threading
import time
import unittest
from collections import Counter

from http_case import HttpCase, body_of
from transport_case import TIMEOUT_S, Ticks, TransportCase, first, main


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what is posted; `answer` says how each request is answered: None cuts it off."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0):
        self.posts = []  # (key, body, headers, status)
        self.answer = lambda number: 200
        self.headers = {}  # of answers that are no success
        self.text = ""
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()

    def handle_error(self, request, client_address) -> None:
        pass  # the client was killed

    def address(self, options: str = "") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?{options}"

    def bodies(self) -> dict[str, str]:
        """The bodies that were taken, each key once."""
        found = {}
        for key, body, _, status in self.posts:
            if status == 200:
                found[key] = body
        return found

    def rows(self) -> list[tuple]:
        lines = [line.split(",") for body in self.bodies().values() for line in body.splitlines()]
        return sorted((line[0], *map(int, line[1:])) for line in lines)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet

    def log_message(self, *_) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        server = self.server
        with server.lock:
            number = len(server.posts)
            server.posts.append((self.headers["Idempotency-Key"], body, self, None))
        status = server.answer(number)
        server.posts[number] = (*server.posts[number][:3], status)
        if status is None:
            self.close_connection = True
            return
        text = server.text.encode() if status != 200 else b"ok"
        self.send_response(status)
        for name, value in (server.headers if status != 200 else {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class WebhookCase(TransportCase):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def feed(self, count: int) -> list[tuple]:
        ticks = Ticks(count)
        ticks.write_csv(self.folder / "ticks.csv")
        return ticks.expected()

    def check_keys(self) -> int:
        """A key has one body; how many were posted more than once."""
        bodies = {}
        for key, body, _, _ in self.receiver.posts:
            self.assertEqual(bodies.setdefault(key, body), body)
        self.assertNotIn(None, bodies)
        return len(self.receiver.posts) - len(bodies)


class Posts(WebhookCase):
    def test_rows_are_bodies_of_csv(self):
        expected = self.feed(6_000)
        self.window("ticks.csv", self.receiver.address("rows=7"))
        self.assertEqual(self.receiver.rows(), expected)
        self.assertEqual(self.check_keys(), 0)
        lengths = [body.count("\n") for _, body, _, _ in self.receiver.posts]
        self.assertEqual(lengths, [7] * (len(expected) // 7) + [len(expected) % 7])
        for _, _, request, _ in self.receiver.posts:
            self.assertEqual(request.path, "/hook")
            self.assertEqual(request.headers["Content-Type"], "text/csv")
            self.assertNotIn("Authorization", request.headers)

    def test_rows_are_objects_with_what_the_server_wants(self):
        expected = self.feed(3_000)
        os.environ["STRID_HTTP_AUTHORIZATION"] = "Bearer secret"
        self.addCleanup(os.environ.pop, "STRID_HTTP_AUTHORIZATION")
        self.window("ticks.csv", self.receiver.address("source=a%20b&format=json&n=1"))
        found = []
        for _, body, request, _ in self.receiver.posts:
            self.assertEqual(request.path, "/hook?source=a%20b&n=1")
            self.assertEqual(request.headers["Content-Type"], "application/x-ndjson")
            self.assertEqual(request.headers["Authorization"], "Bearer secret")
            for row in map(json.loads, body.splitlines()):
                found.append((row["symbol"], row["window_start"], row["window_end"], row["n"],
                              row["total"]))
        self.assertEqual(sorted(found), expected)

    def test_large_rows_are_bodies_of_a_mebibyte(self):
        rows = [f"{i},{'x' * 300_000}{i},1\n" for i in range(10)]
        (self.folder / "ticks.csv").write_text("at,symbol,price\n" + "".join(rows))
        self.window("ticks.csv", self.receiver.address())
        self.assertEqual([body.count("\n") for _, body, _, _ in self.receiver.posts], [3, 3, 3, 1])

    def test_a_failed_post_is_tried_again(self):
        expected = self.feed(6_000)
        answers = [500, None, 503, 200, None, None, 200, 429, 200, 502, 408]
        self.receiver.answer = lambda number: answers[number] if number < len(answers) else 200
        self.receiver.headers = {"Retry-After": "1"}
        begin = time.monotonic()
        self.window("ticks.csv", self.receiver.address("rows=20"))
        self.assertGreater(time.monotonic() - begin, 4)  # by Retry-After
        self.assertEqual(self.receiver.rows(), expected)
        self.assertEqual(self.check_keys(), 8)

    def test_a_slow_server_is_asked_again(self):
        expected = self.feed(1_000)

        def answer(number: int) -> int:
            if number < 2:
                time.sleep(1)
            return 200

        self.receiver.answer = answer
        self.window("ticks.csv", self.receiver.address("within=300ms"))
        self.assertEqual(self.receiver.rows(), expected)
        self.assertGreater(self.check_keys(), 1)

    def test_a_refusal_ends_the_run_with_its_text(self):
        self.feed(1_000)
        self.receiver.text = "no such\ncolumn " + "x" * 300
        for status in (400, 401, 404, 422, 301):
            self.receiver.answer = lambda number, status=status: status
            with self.subTest(status):
                before = len(self.receiver.posts)
                text = self.window("ticks.csv", self.receiver.address(), status=1)
                self.assertIn(f"the server answers {status}: no such column xxx", text)
                self.assertEqual(text.count("\n"), 1)
                self.assertIn("x" * 185, text)
                self.assertNotIn("x" * 187, text)
                self.assertEqual(len(self.receiver.posts), before + 1)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_a_certificate_is_checked(self):
        expected = self.feed(1_000)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", "key", "-out", "cert"], cwd=self.folder, check=True,
                       capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "cert", self.folder / "key")
        self.receiver.socket = context.wrap_socket(self.receiver.socket, server_side=True)
        address = self.receiver.address().replace("http:", "https:")
        self.assertIn("certificate", self.window("ticks.csv", address, status=1))
        self.window("ticks.csv", address + "cafile=cert")
        self.assertEqual(self.receiver.rows(), expected)

    def test_faults_are_one_sentence(self):
        self.feed(10)
        for target, reason in (
            ("http://", "http://HOST:PORT/PATH"),
            ("http:///a", "http://HOST:PORT/PATH"),
            ("http://user:secret@127.0.0.1/a", "an address holds no password"),
            ("http://127.0.0.1:99999/a", "URL"),
            ("http://127.0.0.1/a?rows=0", "rows: '0' is not a number like"),
            ("http://127.0.0.1/a?within=1", "within: '1' is a time without a unit"),
            ("http://127.0.0.1/a?format=xml", "format is csv or json"),
            ("http://127.0.0.1/a?key=symbol", "key is for messages"),
            ("http://127.0.0.1/a?cafile=x", "cafile is for https"),
            ("https://127.0.0.1/a?cafile=x", "the file cannot be read"),
        ):
            with self.subTest(target):
                run = subprocess.run(self.arguments("ticks.csv", target), cwd=self.folder,
                                     capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertIn(run.returncode, (1, 2), run.stderr)
                self.assertIn(reason, run.stderr)
                self.assertNotIn("secret", run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)


class Epochs(WebhookCase):
    @first
    def test_kills_repeat_bodies_with_their_keys(self):
        expected = self.feed(60_000)
        self.receiver.answer = lambda number: time.sleep(0.01) or 200
        killed = self.killed("ticks.csv", self.receiver.address("rows=5"), 8)
        self.assertGreater(killed, 2)
        self.assertGreater(self.check_keys(), 0)
        self.assertEqual(self.receiver.rows(), expected)

    @first
    def test_a_server_that_fails_has_each_row_once_by_the_keys(self):
        """It takes bodies also where it cuts the connection, as one that is lost behind them."""
        ticks = Ticks(20_000)
        rng = random.Random(1)
        answers = [rng.choice([200, 200, 200, 500, 429, None]) for _ in range(200)]
        self.receiver.answer = lambda number: answers[number % 200]
        run = self.fed(ticks, 2, self.receiver.address("rows=20"), "--disorder", "1s",
                       "--snapshots", "state", "--snapshot-every", "100ms")
        text = self.ended(run)
        self.assertIn("rows wait", text)
        self.assertIn("connected again", text)
        self.assertEqual(self.receiver.rows(), ticks.expected())
        self.assertGreater(self.check_keys(), 10)
        taken = Counter(key for key, _, _, status in self.receiver.posts if status == 200)
        self.assertEqual(set(taken.values()), {1})  # only the parts that were missing come again

    def test_a_server_that_is_away_for_a_while(self):
        ticks = Ticks(20_000)
        run = self.fed(ticks, 3, self.receiver.address(), "--disorder", "1s", "--snapshots",
                       "state", "--snapshot-every", "100ms")
        for _ in range(1000):
            if len(self.receiver.posts) > 2:
                break
            time.sleep(0.01)
        port, posts = self.receiver.server_address[1], self.receiver.posts
        self.receiver.close()
        time.sleep(1)
        self.receiver = Receiver(port)
        self.addCleanup(self.receiver.close)
        self.receiver.posts = posts
        self.ended(run)
        self.check_keys()
        self.assertEqual(self.receiver.rows(), ticks.expected())

    def test_a_start_does_not_need_the_server(self):
        expected = self.feed(6_000)
        self.receiver.answer = lambda number: 503
        options = ["--snapshots", "state", "--snapshot-every", "10ms"]
        run = subprocess.Popen(self.arguments("ticks.csv", self.receiver.address(), *options),
                               cwd=self.folder, stderr=subprocess.DEVNULL)
        for _ in range(1000):
            if len(self.receiver.posts) > 2:
                break
            time.sleep(0.01)
        run.kill()
        run.wait()
        run = subprocess.Popen(self.arguments("ticks.csv", self.receiver.address(), *options),
                               cwd=self.folder, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.receiver.answer = lambda number: 200
        text = self.ended(run)
        self.assertIn("rows wait", text)
        self.check_keys()
        self.assertEqual(self.receiver.rows(), expected)

    @first
    def test_a_stop_does_not_wait_for_a_server_that_hangs(self):
        self.receiver.answer = lambda number: time.sleep(20) or 200
        run = self.fed(Ticks(20_000), 20, self.receiver.address(), "--disorder", "1s",
                       "--snapshots", "state", "--snapshot-every", "100ms")
        for _ in range(1000):
            if self.receiver.posts:
                break
            time.sleep(0.01)
        begin = time.monotonic()
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=TIMEOUT_S), 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 12)
        run.stderr.close()


class Both(HttpCase):
    def test_posted_lines_become_posted_rows_over_kills(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        options = ["--snapshots", "state", "--snapshot-every", "50ms", "--journal", "journal"]
        expected = []
        for life in range(5):
            run = self.live(*options, target=receiver.address("rows=10"), disorder="0ms")
            for second in range(life * 40, life * 40 + 40):
                names = [f"s{i}" for i in range(random.randrange(1, 30))]
                expected += [(name, second * 1000, second * 1000 + 1000, 1) for name in names]
                self.assertEqual(self.ask("POST", body_of(names, at=second * 1000))[0], 200)
                time.sleep(0.005)
            run.kill()
            run.wait()
        self.stopped(self.live(*options, "--drain", target=receiver.address("rows=10"),
                               disorder="0ms"))
        self.assertEqual(receiver.rows(), sorted(expected))
        taken = {}
        for key, body, _, _ in receiver.posts:
            self.assertEqual(taken.setdefault(key, body), body)


if __name__ == "__main__":
    main()

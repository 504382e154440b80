#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TLS of the servers of `strid window`: lines that are posted, and --http. The clients are Python's
ssl, and curl where it is installed.

    tls_test.py STRID [CLASS...]
"""

import http.client
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
from collections import Counter

from http_case import HttpCase, body_of
from transport_case import STRID, TIMEOUT_S, first, main

STARTED = re.compile(r"strid: https://127\.0\.0\.1:(\d+)/ shows the run; the token is in (\S+)\n")


class TlsCase(HttpCase):
    def setUp(self):
        super().setUp()
        self.make_certificate("own")
        self.make_certificate("other")
        self.context = ssl.create_default_context(cafile=str(self.folder / "own.pem"))

    def make_certificate(self, name: str) -> None:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
             self.folder / f"{name}.key", "-out", self.folder / f"{name}.pem"],
            check=True, capture_output=True)

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=TIMEOUT_S,
                                           context=self.context)

    def secure(self, *options: str, query: str = "") -> subprocess.Popen:
        return self.live(*options, query=f"certificate=own.pem&key=own.key&{query}")

    def refused(self, *arguments: str) -> str:
        """One sentence, of a run that does not begin."""
        done = subprocess.run(
            [STRID, "window", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count",
             *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=TIMEOUT_S)
        self.assertIn(done.returncode, (1, 2))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]


class Lines(TlsCase):
    def test_many_clients_have_each_line_counted_once(self):
        self.check_many_clients(self.secure(), clients=20, posts=20)

    def test_a_body_of_ten_megabytes(self):
        run = self.secure()
        names = [f"name-{i % 1000}" for i in range(280_000)]
        self.assertEqual(self.ask("POST", body_of(names)), (200, '{"lines": 280000}\n'))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter(names))

    @first
    def test_the_slow_the_rude_and_those_without_tls_disturb_no_other(self):
        run = self.secure(query="within=2s")
        held = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(5)]
        for one in held:
            self.addCleanup(one.close)
        held[1].sendall(b"\x16\x03\x01")  # the beginning of a handshake
        held[2].sendall(b"POST /rows HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
        held[3].sendall(bytes(range(256)) * 20)
        for _ in range(20):  # leave with an answer on its way
            rude = self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port)),
                                            server_hostname="127.0.0.1")
            rude.sendall(b"GET /rows HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            rude.close()
        self.assertEqual(self.ask("POST", body_of(["a"])), (200, '{"lines": 1}\n'))
        begin = time.monotonic()
        for one in held:
            one.settimeout(TIMEOUT_S)
            try:
                while one.recv(1000):
                    pass
            except ConnectionError:
                pass
        self.assertLess(time.monotonic() - begin, TIMEOUT_S / 2)
        self.assertIsNone(run.poll())
        with self.assertRaises(ssl.SSLError):
            strange = ssl.create_default_context(cafile=str(self.folder / "other.pem"))
            strange.wrap_socket(socket.create_connection(("127.0.0.1", self.port)),
                                server_hostname="127.0.0.1")
        self.stopped(run)
        self.assertEqual(self.counts(), Counter("a"))

    def test_old_protocols_are_refused(self):
        run = self.secure()
        old = ssl.create_default_context(cafile=str(self.folder / "own.pem"))
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with old.wrap_socket(socket.create_connection(("127.0.0.1", self.port)),
                             server_hostname="127.0.0.1") as client:
            self.assertEqual(client.version(), "TLSv1.2")
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-tls1_1", "-cipher",
             "ALL:@SECLEVEL=0"], input=b"", capture_output=True, timeout=TIMEOUT_S)
        self.assertNotEqual(done.returncode, 0)
        self.stopped(run)

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_curl(self):
        run = self.secure()
        (self.folder / "body").write_bytes(body_of(["a", "b", "a"]))
        for _ in range(3):
            done = subprocess.run(
                ["curl", "-sS", "--cacert", "own.pem", "--data-binary", "@body",
                 f"https://127.0.0.1:{self.port}/rows"], cwd=self.folder, capture_output=True,
                text=True, timeout=TIMEOUT_S)
            self.assertEqual((done.stdout, done.stderr), ('{"lines": 3}\n', ""))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter({"a": 6, "b": 3}))

    def test_files_that_are_of_no_use(self):
        address = f"http-listen://127.0.0.1:{self.port}/rows?"
        (self.folder / "text.pem").write_text("no certificate\n")
        subprocess.run(["openssl", "rsa", "-aes128", "-passout", "pass:secret", "-in", "own.key",
                        "-out", "locked.key"], cwd=self.folder, check=True, capture_output=True)
        for query, said in (
            ("certificate=own.pem", "a certificate and its key"),
            ("key=own.key", "a certificate and its key"),
            ("certificate=none.pem&key=own.key", "none.pem: No such file"),
            ("certificate=own.pem&key=none.key", "none.key: No such file"),
            ("certificate=text.pem&key=own.key", "text.pem: "),
            ("certificate=own.pem&key=other.key", "other.key: "),
            ("certificate=own.pem&key=locked.key", "locked.key: "),
        ):
            with self.subTest(query):
                self.assertIn(said, self.refused("--input", address + query))


class Watched(TlsCase):
    def watched(self, *options: str) -> subprocess.Popen:
        run = subprocess.Popen(
            [STRID, "window", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count",
             "--quiet", "--http", "127.0.0.1:0", "--http-certificate", "own.pem", "--http-key",
             "own.key", *options], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        for stream in (run.stdin, run.stdout):
            self.addCleanup(stream.close)
        self.addCleanup(self.killed_at_end, run)
        line = run.stderr.readline()
        found = STARTED.fullmatch(line)
        self.assertTrue(found, line)
        self.port = int(found.group(1))
        with open(found.group(2), encoding="ascii") as file:
            self.token = file.read().strip()
        return run

    def test_figures_events_and_a_stop(self):
        run = self.watched()
        run.stdin.write("at\n0\n1500\n")
        run.stdin.flush()
        deadline = time.monotonic() + TIMEOUT_S
        while self.ask("GET", path="/readyz")[0] != 200:
            self.assertLess(time.monotonic(), deadline)
        self.assertIn("strid_", self.ask("GET", path="/metrics")[1])
        self.assertIn("<html", self.ask("GET", path="/")[1])
        stream = self.connection()
        stream.request("GET", "/events")
        answer = stream.getresponse()
        self.assertEqual(answer.status, 200)
        seen = 0
        while seen < 3:  # one each second
            seen += answer.readline().startswith(b"data:")
        origin = f"https://127.0.0.1:{self.port}"
        self.assertEqual(self.ask("POST", path="/stop", Origin=origin)[0], 401)
        self.assertEqual(self.ask("POST", path="/stop", Origin=origin,
                                  Authorization=f"Bearer {self.token}")[0], 202)
        self.assertEqual(run.wait(TIMEOUT_S), 128 + signal.SIGTERM)

    def test_options_that_do_not_fit(self):
        some = ("--http", "127.0.0.1:0")
        self.assertIn("a certificate and its key",
                      self.refused(*some, "--http-certificate", "own.pem"))
        self.assertIn("a certificate and its key", self.refused(*some, "--http-key", "own.key"))
        self.assertIn("need --http", self.refused("--http-certificate", "own.pem"))
        self.assertIn("none.pem: ", self.refused(*some, "--http-certificate", "none.pem",
                                                 "--http-key", "own.key"))


if __name__ == "__main__":
    main()

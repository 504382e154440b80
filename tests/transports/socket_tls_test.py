#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TLS of sockets of `strid window`, against Python's ssl: servers and clients, certificates that
are of no use, peers that do not speak TLS.

    socket_tls_test.py STRID [CLASS...]
"""

import random
import socket
import ssl
import threading
import time
import unittest
from collections import Counter

from socket_case import (Certificates, SocketCase, lines_of, messages_of, reset,
                         send_in_pieces)
from transport_case import SEED, TIMEOUT_S, first, main


class TlsCase(SocketCase):
    def setUp(self):
        super().setUp()
        self.certificates = Certificates(self.folder)

    def secure(self, query: str = "clients=20", **more):
        return self.listening(f"{query}&certificate=own.pem&key=own.key", **more)

    def wrapped(self, run, context=None) -> ssl.SSLSocket:
        context = context or self.certificates.client()
        return context.wrap_socket(self.connect(run), server_hostname="127.0.0.1")


class Listening(TlsCase):
    def test_many_clients_have_each_line_counted_once(self):
        for query, encode in (("", lines_of), ("&framing=length32", messages_of)):
            run = self.secure("clients=20" + query)
            expected = Counter()

            def client(number: int) -> None:
                names = [f"c{number}-{i}" for i in range(1_500)]
                expected.update(names)
                one = self.wrapped(run)
                send_in_pieces(one, encode(names), random.Random(SEED + number))
                one.unwrap().close()

            threads = [threading.Thread(target=client, args=(number,)) for number in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            time.sleep(0.2)
            self.assertEqual(self.stopped(run), "")
            self.assertEqual(self.counts(), expected)

    @first
    def test_those_without_tls_and_those_that_do_nothing_disturb_no_other(self):
        run = self.secure("clients=2")
        strange = self.connect(run)
        strange.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with self.assertRaises(ssl.SSLError):  # it does not trust this server
            self.wrapped(run, self.certificates.client("other"))
        silent = [self.connect(run), self.connect(run)]  # all that it takes
        begin = time.monotonic()
        last = self.wrapped(run)
        self.assertGreater(time.monotonic() - begin, 5)
        last.sendall(lines_of(["a"]))
        last.unwrap().close()
        self.assertEqual(silent[0].recv(10), b"")
        time.sleep(0.2)
        said = self.stopped(run, within_s=10)
        self.assertIn("a client was refused: TLS: the other end does not speak TLS", said)
        self.assertIn("handshakes of TLS failed", said)
        self.assertEqual(self.counts(), Counter("a"))

    def test_clients_with_certificates(self):
        run = self.secure("clients=2&authority=other.pem")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            one = self.wrapped(run)
            one.sendall(lines_of(["x"]))
            one.recv(10)
        one = self.wrapped(run, self.certificates.client(own="other"))
        one.sendall(lines_of(["a"]))
        one.unwrap().close()
        time.sleep(0.2)
        self.assertIn("peer did not return a certificate", self.stopped(run))
        self.assertEqual(self.counts(), Counter("a"))

    def test_one_client_whose_end_is_the_end(self):
        run = self.secure("framing=lines")
        one = self.wrapped(run)
        one.sendall(lines_of(["a", "b"])[:-1])
        one.unwrap().close()
        self.assertEqual(self.ended(run), "")
        self.assertEqual(self.counts(), Counter("ab"))
        run = self.secure("framing=lines")
        one = self.wrapped(run)
        one.sendall(lines_of(["a", "b"]))
        one.shutdown(socket.SHUT_WR)  # without TLS's end; close() would reset what it has not read
        self.assertIn("the connection was cut", self.ended(run, 1))
        one.close()

    def test_one_that_is_no_client_leaves_the_port_to_the_one_that_is(self):
        run = self.secure("framing=lines")
        strange = self.connect(run)
        time.sleep(0.2)
        waits = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        self.addCleanup(waits.close)
        strange.sendall(b"GET / HTTP/1.1\r\n\r\n")
        one = self.certificates.client().wrap_socket(waits, server_hostname="127.0.0.1")
        one.sendall(lines_of(["a"]))
        time.sleep(0.2)
        with self.assertRaises(ConnectionRefusedError):  # it has its client
            socket.create_connection(("127.0.0.1", self.port))
        one.unwrap().close()
        self.assertIn("a client was refused", self.ended(run))
        self.assertEqual(self.counts(), Counter("a"))

    def test_files_that_are_of_no_use(self):
        address = f"tcp-listen://127.0.0.1:{self.port}?clients=2&"
        (self.folder / "text.pem").write_text("no certificate\n")
        for query, said in (
            ("certificate=own.pem", "a certificate and its key"),
            ("key=own.key", "has a certificate and its key"),
            ("certificate=none.pem&key=own.key", "none.pem: No such file"),
            ("certificate=own.pem&key=none.key", "none.key: No such file"),
            ("certificate=text.pem&key=own.key", "text.pem: "),
            ("certificate=own.pem&key=other.key", "other.key: "),
            ("certificate=own.pem&key=own.key&authority=none.pem", "none.pem: No such file"),
        ):
            with self.subTest(query):
                self.assertIn(said, self.refused("--input", address + query))


class Connecting(TlsCase):
    def serve(self, context: ssl.SSLContext, data: bytes, is_polite: bool = True) -> int:
        """The port of a server that sends that to its first client."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def work() -> None:
            try:
                peer, _ = server.accept()
                peer.settimeout(TIMEOUT_S)
                with context.wrap_socket(peer, server_side=True) if context else peer as one:
                    one.sendall(data)
                    if context and is_polite:
                        one.unwrap()
                    elif context:
                        one.shutdown(socket.SHUT_WR)
                        while one.recv(4096):  # closed before, it would be reset
                            pass
            except OSError:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        return server.getsockname()[1]

    def window(self, port: int, host: str = "localhost", query: str = "authority=own.pem"):
        return self.start(f"tls://{host}:{port}?{query}", "out.csv", "--format", "json")

    def test_rows_of_a_server(self):
        names = [f"n{i}" for i in range(20_000)]
        for host, query, data in (("localhost", "", lines_of(names)),
                                  ("127.0.0.1", "&framing=length32", messages_of(names))):
            port = self.serve(self.certificates.server(), data)
            run = self.window(port, host, "authority=own.pem" + query)
            self.assertEqual(self.ended(run), "")
            self.assertEqual(self.counts(), Counter(names))

    def test_it_shows_a_certificate_of_its_own(self):
        port = self.serve(self.certificates.server(trusted="other"), lines_of(["a"]))
        run = self.window(port, query="authority=own.pem&certificate=other.pem&key=other.key")
        self.assertEqual(self.ended(run), "")
        self.assertEqual(self.counts(), Counter("a"))

    def test_servers_that_are_refused(self):
        self.certificates.make_expired("expired")
        self.certificates.make("elsewhere", alternative="DNS:elsewhere.example,IP:127.0.0.2")
        for name, host, query, said in (
            ("other", "localhost", "authority=own.pem", "self-signed certificate"),
            ("own", "localhost", "", "self-signed certificate"),  # the system's authorities
            ("expired", "localhost", "authority=expired.pem", "certificate has expired"),
            ("elsewhere", "localhost", "authority=elsewhere.pem", "hostname mismatch"),
            ("elsewhere", "127.0.0.1", "authority=elsewhere.pem", "IP address mismatch"),
        ):
            with self.subTest(name, host=host):
                port = self.serve(self.certificates.server(name), lines_of(["a"]))
                text = self.ended(self.window(port, host, query), 1)
                self.assertEqual(len(text.splitlines()), 1, text)
                self.assertIn("TLS: the certificate of the other end is refused: ", text)
                self.assertIn(said, text)

    def test_other_ends_that_are_none(self):
        port = self.serve(None, b"220 some other server\r\n")
        self.assertIn("TLS: the other end does not speak TLS", self.ended(self.window(port), 1))
        port = self.serve(self.certificates.server(), lines_of(["a"]), is_polite=False)
        self.assertIn("the connection was cut", self.ended(self.window(port), 1))
        self.assertIn("none.pem: No such file",
                      self.ended(self.window(port, query="authority=none.pem"), 1))
        self.assertIn("cannot connect: Connection refused", self.ended(self.window(self.port), 1))

    def test_a_connection_that_is_reset_is_no_end(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.window(server.getsockname()[1])
        peer = self.certificates.server().wrap_socket(server.accept()[0], server_side=True)
        peer.sendall(lines_of(["a", "b", "c"]))
        time.sleep(0.3)
        reset(peer)
        self.assertIn("cannot read: Connection reset by peer", self.ended(run, 1))

    @first
    def test_a_server_that_says_nothing(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.window(server.getsockname()[1])
        self.assertIn("before the handshake was over", self.ended(run, 1))


class Outputs(TlsCase):
    ROWS = "at,symbol\n1,a\n2,a\n3,b\n"

    def test_rows_for_a_server_and_for_readers(self):
        (self.folder / "in.csv").write_text(self.ROWS)
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.start("in.csv",
                         f"tls://localhost:{server.getsockname()[1]}?authority=own.pem")
        peer = self.certificates.server().wrap_socket(server.accept()[0], server_side=True)
        self.assertEqual(self.all_of(peer),
                         b"symbol,window_start,window_end,n\na,0,1000,2\nb,0,1000,1\n")
        peer.close()
        self.assertEqual(self.ended(run), "")
        run = self.start("in.csv", f"tcp-listen://127.0.0.1:{self.port}?await=1&format=json&"
                                   "certificate=own.pem&key=own.key")
        reader = self.wrapped(run)
        self.assertEqual(len(self.all_of(reader).splitlines()), 2)
        self.assertEqual(self.ended(run), "")

    def all_of(self, peer: ssl.SSLSocket) -> bytes:
        return b"".join(iter(lambda: peer.recv(65536), b""))

    def test_a_server_that_resets_the_connection_at_the_end(self):
        (self.folder / "in.csv").write_text(self.ROWS)
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.start("in.csv",
                         f"tls://localhost:{server.getsockname()[1]}?authority=own.pem")
        peer = self.certificates.server().wrap_socket(server.accept()[0], server_side=True)
        peer.recv(1)
        time.sleep(0.3)  # the run has ended its side, and waits for this one
        reset(peer)
        self.assertIn("the last rows may be lost: Connection reset", self.ended(run, 1))

    def test_a_server_that_is_not_trusted(self):
        (self.folder / "in.csv").write_text(self.ROWS)
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.start("in.csv",
                         f"tls://localhost:{server.getsockname()[1]}?authority=other.pem")
        with self.assertRaises(ssl.SSLError):
            self.certificates.server().wrap_socket(server.accept()[0], server_side=True)
        self.assertIn("certificate of the other end is refused", self.ended(run, 1))


if __name__ == "__main__":
    main()

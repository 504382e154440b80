#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NATS: addresses, servers and streams that `strid window` refuses, each with one sentence, and
credentials.

    nats_refusals_test.py STRID [CLASS...]
"""

import os
import socket
import subprocess
import threading

from nats_case import NatsCase, Server
from transport_case import Ticks, first, main, shown_at, until


class Faults(NatsCase):
    def test_are_one_sentence(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        stream, queue = self.stream(), self.stream(retention="workqueue")
        narrow = self.stream()
        port = self.server.port
        for source, target, reason in (
            ("nats://127.0.0.1:1/a?stream=s", "out.csv", "no server of NATS answers"),
            ("nats://127.0.0.1?stream=s", "out.csv", "nats://HOST:PORT/SUBJECT?stream=NAME"),
            ("nats://127.0.0.1:x/a?stream=s", "out.csv", "a number from 1 to 65535"),
            (f"nats://127.0.0.1:{port}/a", "out.csv", "stream=NAME is missing"),
            (f"nats://u@127.0.0.1:{port}/a?stream=s", "out.csv", "user=NAME"),
            (f"nats://u:secret@127.0.0.1:{port}/a?stream=s", "out.csv", "holds no password"),
            (self.server.address("a..b", stream), "out.csv", "is no subject"),
            (self.server.address("a", "a.b"), "out.csv", "no name of a stream"),
            (self.server.address("a", "none"), "out.csv",
             "has no stream 'none': it is made by: nats stream add none --subjects 'a'"),
            ("in.csv", self.server.address("a", "none", "key=symbol"), "--subjects 'a.*'"),
            (self.source(stream, "start=soon"), "out.csv", "start is earliest, latest"),
            (self.source(stream, "start=9"), "out.csv", "has messages up to 0"),
            (self.source(stream, "until=now"), "out.csv", "until is end"),
            (self.source(stream, "quality=1"), "out.csv", "there is no option 'quality'"),
            (self.source(stream, "with=oops"), "out.csv", "oops"),
            (self.server.address("elsewhere", stream), "out.csv", "has no subject 'elsewhere'"),
            (self.source(queue), "out.csv", "drops messages that a consumer has had"),
            ("in.csv", self.source(stream), "wildcards are for inputs"),
            ("in.csv", self.server.address("elsewhere", narrow), "does not take the subject"),
            ("in.csv", self.server.address(stream, stream, "key=oops"),
             "there is no column 'oops'"),
            ("in.csv", self.server.address(stream, stream, "cafile=/none"), "cannot be read"),
        ):
            with self.subTest(source + " " + target):
                text = self.refused(source, target)
                self.assertIn(reason, text)
                self.assertNotIn("secret", text)

    @first
    def test_a_server_of_another_protocol(self):
        for greeting in (b"220 mail.example ESMTP\r\n", b""):
            with self.subTest(greeting), socket.create_server(("127.0.0.1", 0)) as other:
                taken = []
                thread = threading.Thread(target=self.greet, args=(other, greeting, taken))
                thread.start()
                port = other.getsockname()[1]
                text = self.refused(f"nats://127.0.0.1:{port}/a?stream=s", "out.csv")
                self.assertRegex(text, "none of NATS|no server of NATS")
                other.shutdown(socket.SHUT_RDWR)
                thread.join()
                for connection in taken:
                    connection.close()

    @staticmethod
    def greet(other: socket.socket, greeting: bytes, taken: list) -> None:
        try:
            while True:
                taken.append(other.accept()[0])
                taken[-1].sendall(greeting)
        except OSError:
            pass

    def test_a_server_without_jetstream(self):
        server = Server(without_jetstream=True)
        self.addCleanup(server.close)
        self.assertIn("nats-server -js", self.refused(server.address("a", "s"), "out.csv"))

    def test_messages_that_are_gone(self):
        """A run does not go on where messages between are gone, or the stream is another one."""
        ticks = Ticks(300)
        stream = self.stream()
        self.fill(stream, ticks, 0, 100)
        options = ("--format", "json", "--snapshots", "state", "--disorder", "end")
        run = self.begun(self.source(stream), "out.csv", *options, "--http", "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), 100)
        self.stopped(run)
        self.fill(stream, ticks, 100, 200)
        self.client.api(f"STREAM.PURGE.{stream}", {"seq": 150})
        self.assertIn("goes on at message 101 of the stream",
                      self.refused(self.source(stream), "out.csv", *options))
        self.client.api(f"STREAM.DELETE.{stream}", {})
        self.client.add_stream(stream, stream + ".>")
        self.fill(stream, ticks)
        self.assertIn("was made anew", self.refused(self.source(stream), "out.csv", *options))

    @first
    def test_messages_of_other_subjects_may_go(self):
        ticks = Ticks(200)
        stream = self.stream("other")
        self.fill(stream, ticks, 0, 100)
        options = ("--format", "json", "--snapshots", "state", "--snapshot-every", "100ms",
                   "--disorder", "end")
        run = self.begun(self.source(stream), "out.csv", *options, "--http", "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), 100)
        numbers = self.client.publish([("other", "x")] * 50)
        # A second look at the stream: a request that has brought nothing is made twice by then.
        made = self.client.api(f"CONSUMER.NAMES.{stream}", {})["consumers"]
        until(lambda: made != self.client.api(f"CONSUMER.NAMES.{stream}", {})["consumers"])
        self.stopped(run)
        self.client.api(f"STREAM.PURGE.{stream}", {"seq": numbers[-1]})
        self.fill(stream, ticks, 100)
        run = self.begun(self.source(stream), "out.csv", *options, "--drain", "--http",
                         "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), 100)
        self.stopped(run)
        self.assertEqual(self.rows(), ticks.expected())


class Credentials(NatsCase):
    def certificate(self, name: str, names: str = "DNS:localhost,IP:127.0.0.1") -> None:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=" + name, "-addext",
                        "subjectAltName=" + names, "-keyout", f"{name}.key",
                        "-out", f"{name}.crt"], cwd=self.folder, capture_output=True, check=True)

    def test_a_user_and_a_token(self):
        ticks = Ticks(200)
        for configuration, login, options, environment in (
            ("authorization { user: strid, password: geheim }\n", ("strid", "geheim"),
             "user=strid", "STRID_NATS_PASSWORD"),
            ('authorization { token: "geheim" }\n', ("", "geheim"), "", "STRID_NATS_TOKEN"),
        ):
            with self.subTest(environment):
                server = Server(configuration, *login)
                self.addCleanup(server.close)
                self.client = server.client()
                self.addCleanup(self.client.close)
                stream = self.stream()
                self.fill(stream, ticks)
                source = server.address(stream + ".>", stream, "until=end&" + options)
                for wrong in ({}, {environment: "falsch"}):
                    text = self.refused(source, "out.csv", environment=wrong)
                    self.assertIn("the server refuses", text)
                    self.assertNotIn("falsch", text)
                os.environ[environment] = "geheim"
                try:
                    self.assertEqual(self.read_json(source), ticks.expected())
                finally:
                    del os.environ[environment]

    def test_tls(self):
        for name in ("right", "wrong"):
            self.certificate(name)
        self.certificate("other", "DNS:elsewhere")
        for name, options, reason in (
            ("right", "", "no certificate that is trusted"),
            ("right", "cafile=wrong.crt", "no certificate that is trusted"),
            ("right", "cafile=right.key", "no certificates are in the file"),
            # It is connected to, and asked for the stream.
            ("right", "cafile=right.crt", "has no stream 's'"),
            ("other", "cafile=other.crt", "no certificate that is trusted"),
        ):
            with self.subTest(name + options):
                server = Server(f'tls {{ cert_file: "{self.folder}/{name}.crt", '
                                f'key_file: "{self.folder}/{name}.key" }}\n')
                self.addCleanup(server.close)
                self.assertIn(reason, self.refused(server.address("a", "s", options), "out.csv"))
        self.assertIn("takes no TLS",
                      self.refused(self.server.address("a", "s", "cafile=right.crt"), "out.csv"))


if __name__ == "__main__":
    main()

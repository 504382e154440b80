#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid serve` at SIGHUP: options that change while the run goes on, and those that stay; files
that are wrong.

    reloads.py CLASS...
"""

import http.client
import json
import os
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from command_line import Case

OPTIONS = """
input     = {}
format    = json
time      = at
unit      = ms
window    = tumbling:1s
disorder  = end
aggregate = count as n
output    = out.csv
"""
TIMEOUT_S = 60
LINE = b'{"at":1}\n'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ReloadCase(Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def write(self, query="", more="", scheme="http-listen"):
        address = f"{scheme}://127.0.0.1:{self.port}{query}"
        (self.folder / "stream.conf").write_text(OPTIONS.format(address) + more)

    def serve(self, **environment):
        run = self.start("serve", "stream.conf", cwd=self.folder,
                         env={**os.environ, **environment})
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return run
            except ConnectionRefusedError:
                self.assertIsNone(run.poll(), run.stderr.read() if run.poll() is not None else "")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)

    def reload(self, run, end="was read again"):
        """The text on standard error, up to a line that has this."""
        run.send_signal(signal.SIGHUP)
        text = ""
        while not (text.endswith("\n") and end in text.splitlines()[-1]):
            self.assertTrue(select.select([run.stderr], [], [], TIMEOUT_S)[0], text)
            piece = os.read(run.stderr.fileno(), 65_536).decode()
            self.assertTrue(piece, text)
            text += piece
        return text

    def post(self, body, context=None):
        make = http.client.HTTPSConnection if context else http.client.HTTPConnection
        client = make("127.0.0.1", self.port, timeout=TIMEOUT_S,
                      **({"context": context} if context else {}))
        try:
            client.request("POST", "/", body)
            answer = client.getresponse()
            answer.read()
            return answer.status
        finally:
            client.close()

    def stopped(self, run):
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(TIMEOUT_S), 0, run.stderr.read())

    def count(self):
        return sum(int(line.split(",")[-1])
                   for line in (self.folder / "out.csv").read_text().splitlines()[1:])


class Reloads(ReloadCase):
    def test_limits_of_an_input(self):
        self.write("?body=1K")
        run = self.serve()
        self.assertEqual(self.post(LINE * 1_000), 413)
        self.write("?body=1M&within=20s&waiting=4M&clients=10")
        self.assertEqual(self.reload(run),
                         "strid: stream.conf was read again; changed: input\n")
        self.assertEqual(self.post(LINE * 1_000), 200)
        self.assertEqual(self.reload(run), "strid: stream.conf was read again\n")
        self.stopped(run)
        self.assertEqual(self.count(), 1_000)

    def test_clients_of_a_socket(self):
        self.write("?clients=1", scheme="tcp-listen")
        run = self.serve()
        held = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(held.close)
        held.sendall(LINE)
        time.sleep(0.2)
        waits = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(waits.close)
        waits.sendall(LINE * 2)
        time.sleep(0.2)
        self.write("?clients=5&message=10", scheme="tcp-listen")
        self.assertIn("changed: input", self.reload(run))
        time.sleep(0.2)
        short = socket.create_connection(("127.0.0.1", self.port))
        self.addCleanup(short.close)
        short.sendall(LINE + b'{"at":1, "x":"too long"}\n')
        self.assertEqual(short.recv(1), b"")
        self.stopped(run)
        self.assertEqual(self.count(), 4)

    def test_lower_limits_cost_a_client_that_is_there_nothing(self):
        """Its message is more than the clients from then on may send together."""
        self.write("?clients=20&message=10M", scheme="tcp-listen")
        run = self.serve()
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.sendall(LINE)
            time.sleep(0.2)
            self.write("?clients=1&message=1K", scheme="tcp-listen")
            self.assertIn("changed: input", self.reload(run))
            client.sendall(b'{"at":1,"more":"' + b"x" * 5_000_000 + b'"}\n' + LINE)
            time.sleep(1)
        self.stopped(run)
        self.assertEqual(self.count(), 3)

    def test_one_of_two_inputs_can_change(self):
        (self.folder / "in.csv").write_text('{"at":1}\n')
        self.write("?body=1K", "input = in.csv\n")
        run = self.serve()
        self.write("?body=1M", "input = in.csv?x\n")
        for said in ("; changed: input", ""):
            self.assertEqual(
                self.reload(run),
                "strid: warning: stream.conf: input cannot change while the run goes on; the next "
                f"start takes it\nstrid: stream.conf was read again{said}\n")
        self.stopped(run)

    def test_a_file_that_is_wrong_changes_nothing(self):
        self.write("?body=1K")
        run = self.serve()
        for query, more, reason in (
            ("?body=1M", "keys = x\n", "unknown option --keys"),
            ("?body=1M", "= x\n", "stream.conf:10: an option is NAME = VALUE"),
            ("?body=1M", "log = xml\n", "log is text or json"),
            ("?body=many", "", "body: "),
            ("?body=1M&waiting=1K", "", "waiting is more than body"),
            ("?body=1M&colour=red", "", "there is no option 'colour'"),
        ):
            with self.subTest(reason):
                self.write(query, more)
                said = self.reload(run, "nothing was changed")
                self.assertIn(reason, said)
                self.assertEqual(self.post(LINE * 1_000), 413)
        (self.folder / "stream.conf").unlink()
        self.assertIn("cannot be opened", self.reload(run, "nothing was changed"))
        self.write("?body=1M")
        self.reload(run)
        self.assertEqual(self.post(LINE * 1_000), 200)
        self.stopped(run)

    def test_options_that_may_not_change_are_named_and_stay(self):
        self.write("?body=1K")
        run = self.serve()
        text = (self.folder / "stream.conf").read_text()
        text = text.replace("tumbling:1s", "tumbling:2s") + "key = at\n"
        (self.folder / "stream.conf").write_text(text)
        for _ in range(2):
            self.assertEqual(
                self.reload(run),
                "strid: warning: stream.conf: key, window cannot change while the run goes on; the "
                "next start takes it\nstrid: stream.conf was read again\n")
        (self.folder / "stream.conf").write_text(
            text.replace(f":{self.port}", f":{free_port()}"))
        self.assertIn("input, key, window cannot change", self.reload(run))
        self.assertEqual(self.post(LINE), 200)
        self.stopped(run)
        self.assertEqual((self.folder / "out.csv").read_text().splitlines()[1], "0,1000,1")

    def test_the_log_and_the_figures(self):
        self.write("", "metrics = figures\nmetrics-every = 1h\n")
        run = self.serve()
        self.write("", "metrics = figures\nmetrics-every = 20ms\nlog = json\n")
        said = json.loads(self.reload(run))
        self.assertEqual((said["level"], said["message"]),
                         ("info", "stream.conf was read again; changed: log, metrics-every"))
        figures = self.folder / "figures"
        deadline = time.monotonic() + TIMEOUT_S
        while len(figures.read_text().splitlines()) < 3:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.write("", "metrics = figures\nmetrics-every = 1ns\nlog = text\n")
        said = json.loads(self.reload(run, "nothing was changed"))
        self.assertEqual(said["level"], "error")
        self.write("", "metrics = figures\nmetrics-every = 20ms\n")
        self.assertEqual(self.reload(run), "strid: stream.conf was read again; changed: log\n")
        self.stopped(run)

    def test_the_service_manager_is_told(self):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.settimeout(TIMEOUT_S)
        manager.bind(str(self.folder / "notify"))
        self.write()
        run = self.serve(NOTIFY_SOCKET=str(self.folder / "notify"))
        self.assertEqual(manager.recv(1_000), b"READY=1\nSTATUS=running")
        for is_wrong in (False, True):
            if is_wrong:
                self.write("", "nonsense = x\n")
            before = time.clock_gettime(time.CLOCK_MONOTONIC)
            self.reload(run, "nothing was changed" if is_wrong else "was read again")
            first, second = manager.recv(1_000).decode().splitlines()
            self.assertEqual(first, "RELOADING=1")
            self.assertAlmostEqual(int(second.split("=")[1]) / 1e6, before, delta=30)
            self.assertEqual(manager.recv(1_000), b"READY=1\nSTATUS=running")
        self.stopped(run)

    def test_lines_go_on_while_it_is_read_again_and_again(self):
        self.write("?body=1M")
        run = self.serve()
        is_over = threading.Event()
        statuses = []

        def client():
            while not is_over.is_set():
                statuses.append(self.post(LINE * 10))

        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(40):
            self.write(f"?body={number % 3 + 1}M")
            self.reload(run)
        is_over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {200})
        self.stopped(run)
        self.assertEqual(self.count(), 10 * len(statuses))


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class ReloadedCertificates(ReloadCase):
    def make(self, name):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=strid", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
             self.folder / f"{name}.key", "-out", self.folder / f"{name}.pem"],
            check=True, capture_output=True)

    def trusts(self, name):
        return ssl.create_default_context(cafile=str(self.folder / f"{name}.pem"))

    def test_new_ones_in_old_files_and_in_new_ones(self):
        for name in ("first", "second", "third"):
            self.make(name)
        for ending in ("pem", "key"):
            shutil.copy(self.folder / f"first.{ending}", self.folder / f"own.{ending}")
        self.write("?certificate=own.pem&key=own.key")
        run = self.serve()
        held = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=TIMEOUT_S,
                                           context=self.trusts("first"))
        self.addCleanup(held.close)
        held.request("POST", "/", LINE)
        self.assertEqual(held.getresponse().read(), b'{"lines": 1}\n')
        for ending in ("pem", "key"):
            shutil.copy(self.folder / f"second.{ending}", self.folder / f"own.{ending}")
        self.assertIn("certificates of 1 servers were read", self.reload(run))
        self.assertEqual(self.post(LINE, self.trusts("second")), 200)
        with self.assertRaises(ssl.SSLError):
            self.post(LINE, self.trusts("first"))
        held.request("POST", "/", LINE)  # a connection that is open stays
        self.assertEqual(held.getresponse().read(), b'{"lines": 1}\n')
        shutil.copy(self.folder / "third.key", self.folder / "own.key")  # of another one
        self.assertIn("own.key: ", self.reload(run, "nothing was changed"))
        self.assertEqual(self.post(LINE, self.trusts("second")), 200)
        shutil.copy(self.folder / "second.key", self.folder / "own.key")
        self.write("?certificate=third.pem&key=third.key")
        for ending in ("pem", "key"):  # though the open connection was made by them
            (self.folder / f"own.{ending}").unlink()
        for _ in range(2):
            self.assertIn("certificates of 1 servers were read", self.reload(run))
        self.assertEqual(self.post(LINE, self.trusts("third")), 200)
        held.request("POST", "/", LINE)
        self.assertEqual(held.getresponse().status, 200)
        self.write("")
        self.assertIn("cannot begin or cease to be encrypted",
                      self.reload(run, "nothing was changed"))
        self.stopped(run)
        self.assertEqual(self.count(), 6)


if __name__ == "__main__":
    unittest.main()

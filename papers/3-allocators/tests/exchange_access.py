# SPDX-License-Identifier: Apache-2.0
"""Tests of the exchange: passwords, TLS, the modes of files, and damage in the store."""

import os
import pathlib
import signal
import sqlite3
import ssl
import subprocess
import time
import warnings

from exchange_case import TIMEOUT_S, TOOLS, Client, ExchangeCase
from fix_client import encode, value

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        import crypt  # the oracle of hashes
    except ImportError:
        crypt = None


def set_password(file, user, password=None, code=0):
    """By the command; the last line of its standard error."""
    remove = [] if password is not None else ["--remove"]
    result = subprocess.run(
        [str(TOOLS / "strid-exchange"), "password", user, "--passwords", str(file), *remove],
        input=(password or "") + "\n", capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    if result.returncode != code:
        raise AssertionError(result.stderr)
    return result.stderr


class Passwords(ExchangeCase):
    """Logons with and without the right password."""

    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.path("passwords"))
        for user, password in (("alice", "secret 1"), ("bob", "b" * 200)):
            set_password(self.file, user, password)
        self.session_options = ("--passwords", str(self.file))

    def assert_refused(self, answer, text="Logon: Username or Password is wrong"):
        self.assertEqual([value(answer, tag) for tag in (35, 34, 58)], ["5", "1", text])

    def try_to_log_on(self, user, *fields, sequence=1):
        """The answer and how long it took; behind a Logout the connection is closed."""
        client = self.client(user)
        client.next = sequence
        begin = time.monotonic()
        answer, seconds = client.log_on(*fields), time.monotonic() - begin
        if value(answer, 35) == "5":
            self.assertIsNone(client.receive())
        return answer, seconds

    def test_logons(self):
        self.start()
        self.await_log("core", "the session manager is connected")
        for user, fields in (
            ("alice", []),
            ("alice", [("554", "secret 2")]),
            ("alice", [("554", "b" * 200)]),
            ("alice", [("553", "bob"), ("554", "b" * 200)]),
            ("carol", [("554", "secret 1")]),
            ("bob", [("554", "b" * 600)]),
        ):
            with self.subTest(user=user, fields=fields):
                answer, seconds = self.try_to_log_on(user, *fields)
                if fields:
                    self.assert_refused(answer)
                else:
                    self.assert_refused(answer, "Logon: Password (554) is missing")
                self.assertGreater(seconds, 0.9)
        self.assertNotIn("secret", self.log("core") + self.log("session"))
        # The refused ones have used no number, and a message behind the Logon waits for the check.
        alice = self.client("alice")
        logon = encode(alice.fields("A", ("98", "0"), ("108", "30"), ("554", "secret 1")))
        test = encode(alice.fields("1", ("112", "behind")))
        alice.connection.socket.sendall(logon + test)
        self.assertEqual(value(alice.receive(), 34), "1")
        self.assertEqual(value(alice.receive(), 112), "behind")
        answer, _ = self.try_to_log_on("bob", ("553", "bob"), ("554", "b" * 200))
        self.assertEqual(value(answer, 35), "A")

    def test_a_logon_behind_another_message_is_checked_too(self):
        self.start()
        self.await_log("core", "the session manager is connected")
        for first in ("0", "A"):
            client = self.client("alice")
            logon = client.fields("A", ("98", "0"), ("108", "0"))
            data = encode(client.fields(first)) + encode(logon)
            client.connection.socket.sendall(data)
            if first == "A":
                self.assert_refused(client.receive(), "Logon: Password (554) is missing")
            self.assertIsNone(client.receive())

    def test_the_file_changes_while_the_exchange_runs(self):
        self.start()
        self.await_log("core", "the session manager is connected")
        set_password(self.file, "carol", "c")
        self.assertEqual(value(self.try_to_log_on("carol", ("554", "c"))[0], 35), "A")
        set_password(self.file, "alice", "new")
        self.assert_refused(self.try_to_log_on("alice", ("554", "secret 1"))[0])
        self.assertEqual(value(self.try_to_log_on("alice", ("554", "new"))[0], 35), "A")
        text = self.file.read_text()
        self.file.write_text("no colon\n" + text)
        self.assertEqual(value(self.try_to_log_on("bob", ("554", "b" * 200))[0], 35), "A")
        self.await_log("session", "passwords:1: not USER:HASH.*the passwords stay as they were")
        self.file.write_text(text)
        set_password(self.file, "bob")
        self.assert_refused(self.try_to_log_on("bob", ("554", "b" * 200), sequence=2)[0])

    def test_the_file(self):
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        text = self.file.read_text()
        lines = dict(line.rsplit(":", 1) for line in text.splitlines())
        self.assertEqual(sorted(lines), ["alice", "bob"])
        self.assertNotIn("secret", text)
        self.file.write_text("# users\n\n" + text)
        set_password(self.file, "alice", "other")
        changed = self.file.read_text()
        self.assertTrue(changed.startswith("# users\n\nalice:"))
        self.assertEqual(changed.splitlines()[-1], text.splitlines()[-1])
        if crypt is not None:
            new = dict(line.rsplit(":", 1) for line in changed.splitlines()[2:])
            self.assertEqual(crypt.crypt("secret 1", lines["alice"]), lines["alice"])
            self.assertEqual(crypt.crypt("other", new["alice"]), new["alice"])
            self.assertNotEqual(crypt.crypt("secret 1", new["alice"]), new["alice"])
        self.assertIn("no user 'dave'", set_password(self.file, "dave", code=1))
        self.assertIn("the password is empty", set_password(self.file, "dave", "", code=1))
        self.file.write_text("someone's notes\n")
        self.assertIn("passwords:1: not USER:HASH", set_password(self.file, "a", "b", code=1))
        self.assertEqual(self.file.read_text(), "someone's notes\n")
        self.start("session")
        self.assertEqual(self.processes.pop("session").wait(TIMEOUT_S), 1)
        self.assertIn("passwords:1: not USER:HASH", self.log("session"))


class Tls(ExchangeCase):
    """Clients over TLS, by Python's ssl."""

    def setUp(self):
        super().setUp()
        self.certificate, self.key = self.path("certificate.pem"), self.path("key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", self.key,
             "-out", self.certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        self.core_options = ("--tls-certificate", self.certificate, "--tls-key", self.key)

    def client(self, user):
        client = Client(self.address, user)
        self.addCleanup(client.close)
        context = ssl.create_default_context(cafile=self.certificate)
        client.connection.socket = context.wrap_socket(
            client.connection.socket, server_hostname="localhost"
        )
        return client

    def test_orders_and_a_long_resend(self):
        self.start()
        client = self.client("u")
        self.assertEqual(value(client.log_on(), 35), "A")
        for number in range(300):
            client.order(f"o{number}")
        for number in range(300):
            self.assertEqual(value(client.receive(), 11), f"o{number}")
        large = "x" * 50_000
        client.send("1", ("112", large))
        self.assertEqual(value(client.receive(), 112), large)
        client.send("2", ("7", "2"), ("16", "301"))
        for number in range(300):
            self.assertEqual(value(client.receive(), 11), f"o{number}")
        client.send("5")
        self.assertEqual(value(client.receive(), 35), "5")
        self.assertIsNone(client.receive())

    def test_who_does_not_speak_tls_is_closed(self):
        self.start()
        self.await_log("core", "the session manager is connected")
        plain = Client(self.address, "u")
        self.addCleanup(plain.close)
        plain.send("A", ("98", "0"), ("108", "0"))
        try:
            self.assertIsNone(plain.receive())
        except ValueError:
            pass  # an alert of TLS
        self.await_log("core", "closed: TLS: ")
        client = self.client("u")
        self.assertEqual(value(client.log_on(), 35), "A")

    def test_files_that_do_not_fit(self):
        text = self.path("text")
        pathlib.Path(text).write_text("no PEM\n")
        subprocess.run(["openssl", "genrsa", "-out", self.path("other"), "2048"], check=True,
                       capture_output=True)  # fmt: skip
        for certificate, key, named in (
            ("/none", self.key, "/none: "),
            (text, self.key, "text: "),
            (self.certificate, text, "text: "),
            (self.certificate, self.path("other"), "other: "),
        ):
            with self.subTest(certificate=certificate, key=key):
                result = subprocess.run(
                    [str(TOOLS / "strid-exchange-core"), "--listen", self.address, "--session",
                     f"unix:{self.path('x')}", "--tls-certificate", certificate, "--tls-key", key],
                    capture_output=True, text=True, timeout=TIMEOUT_S,
                )  # fmt: skip
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(named, result.stderr)


class Files(ExchangeCase):
    """The files of an exchange are the owner's."""

    def test_modes(self):
        folder = pathlib.Path(self.path("exchange"))
        process = subprocess.Popen(
            [str(TOOLS / "strid-exchange"), "start", "--data", str(folder), "--listen",
             self.address, "--sync", "normal", "--quiet"],
            preexec_fn=lambda: os.umask(0), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.figures(self.load("w1", "--orders", 100))
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        names = {file.name for file in folder.iterdir()}
        self.assertLessEqual(
            {"journal.db", "journal.db-wal", "sessions.db", "sessions.db-wal", "exchange.lock",
             "data.socket", "session.socket"},
            names,
        )  # fmt: skip
        for file in folder.iterdir():
            self.assertEqual(file.stat().st_mode & 0o077, 0, file)
        process.send_signal(signal.SIGTERM)
        process.wait(TIMEOUT_S)


class Damage(ExchangeCase):
    """A store that is damaged is found at the start, and left as it is."""

    def test_damage(self):
        self.start()
        self.figures(self.load("w1", "--orders", 400))
        self.stop()
        store = pathlib.Path(self.path("store"))
        whole = store.read_bytes()
        self.assertGreater(len(whole), 16 * 4096)

        def changed(statement):
            with sqlite3.connect(store) as database:
                database.execute(statement)
            database.close()
            return store.read_bytes()

        # One byte of a message that was sent.
        at = whole.rindex(b"\x01150=0\x01") + 2
        cases = {
            "a byte of a message": whole[:at] + b"6" + whole[at + 1 :],
            "half": whole[: len(whole) // 2],
            "nothing": b"",
            "a page of zeros": whole[: 8 * 4096] + bytes(4096) + whole[9 * 4096 :],
        }
        for statement in (
            "update users set next_outgoing = next_outgoing + 1",
            "update progress set value = value || '0'",
            "delete from users where number = 1",
            "delete from messages where sequence = (select max(sequence) from messages)",
        ):
            store.write_bytes(whole)
            cases[statement] = changed(statement)
        for name, data in cases.items():
            with self.subTest(name):
                pathlib.Path(self.path("session.log")).unlink(missing_ok=True)
                store.write_bytes(data)
                self.start("session")
                self.assertEqual(self.processes.pop("session").wait(TIMEOUT_S), 1)
                error = "strid: error: [^\n]*store: the store is damaged: "
                self.assertRegex(self.log("session"), error)
                self.assertEqual(store.read_bytes(), data)
        store.write_bytes(whole)
        self.start()
        self.figures(self.load("w1", "--orders", 20, "--user-prefix", "Z"))

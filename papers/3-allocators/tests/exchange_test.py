# SPDX-License-Identifier: Apache-2.0
"""The whole exchange over its sockets. The oracles: the load generators' own sums, the sequential
exchange in Python for each report, and the rules of FIX for what sessions are told.

EXCHANGE_SESSIONS in the environment says how many sessions are on at once (1,000)."""

import os
import re
import time
import unittest

from data_case import canonical
from exchange_access import Damage, Files, Passwords, Tls  # noqa: F401, tests of the same programs
from exchange_bounds import Bounds  # noqa: F401
from exchange_case import SANITIZED, TIMEOUT_S, ExchangeCase
from exchange_programs import Launcher, Stores  # noqa: F401
from fix_client import encode, value
from oracle import Exchange

SESSIONS = int(os.environ.get("EXCHANGE_SESSIONS", "1000"))


class Kills(ExchangeCase):
    """Each program is killed while orders are on their way: nothing is lost or doubled."""

    def run_with_kills(self, workload, orders, *options):
        self.record()
        self.start()
        load = self.load(workload, "--orders", orders, "--timeout", "30s", *options)
        for name in ("data", "session", "core", "session", "data"):
            reports = len(self.recorder.reports)
            deadline = time.monotonic() + TIMEOUT_S
            while len(self.recorder.reports) < reports + orders // 8:
                if load.poll() is not None:
                    self.fail(f"the load has ended: {load.communicate()}")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.002)
            self.kill(name)
            self.start(name)
        figures = self.figures(load)
        self.assertEqual(figures["requests"], orders)
        self.assertGreater(figures["reconnects"], 0)
        self.stop()
        return figures

    def check_by_oracle(self, figures):
        """Each report that the data manager has sent, and the sums of its journal."""
        recorder = self.recorder
        self.assertEqual(recorder.faults, [])
        self.assertEqual(sorted(recorder.commands), list(range(1, len(recorder.commands) + 1)))
        self.assertEqual(len(recorder.commands), figures["requests"])
        oracle = Exchange(None)
        for number in sorted(recorder.commands):
            oracle.handle(dict(recorder.commands[number]))
        self.assertEqual(len(recorder.reports), len(oracle.reports))
        for number, wanted in enumerate(oracle.reports, 1):
            self.assertEqual(canonical(recorder.reports[number]), canonical(wanted))
        self.assertEqual(2 * oracle.trades, figures["trades"])
        self.assertEqual(self.journal_lines()[4:], oracle.summary())

    def test_buys_and_sells(self):
        figures = self.run_with_kills("w1", 800 if SANITIZED else 2400, "--window", 8)
        self.assertEqual(figures["rejects"], 0)
        self.check_by_oracle(figures)

    def test_orders_by_market_rules(self):
        figures = self.run_with_kills("w2", 800 if SANITIZED else 2400, "--sessions", 10)
        self.check_by_oracle(figures)


class Sessions(ExchangeCase):
    """Rules of sessions, seen by one client."""

    def setUp(self):
        super().setUp()
        self.start()

    def expect(self, client, kind, **fields):
        """The next message is of this type and has these fields, written tag_55="ACME"."""
        message = client.receive()
        self.assertIsNotNone(message, self.log("core"))
        self.assertEqual(value(message, 35), kind, message)
        for name, text in fields.items():
            self.assertEqual(value(message, name[4:]), text, message)
        return message

    def test_an_order_and_its_trade(self):
        buyer, seller = self.client("buyer"), self.client("seller")
        for client in (buyer, seller):
            self.assertEqual(value(client.log_on(), 35), "A")
        buyer.order("b1", "1", "10.25", 100)
        self.expect(buyer, "8", tag_11="b1", tag_150="0", tag_39="0", tag_34="2")
        seller.order("s1", "2", "10", 60)
        self.expect(seller, "8", tag_11="s1", tag_150="0")
        # At the price of the order that was there first.
        trade = {"tag_150": "F", "tag_31": "10.25", "tag_32": "60"}
        self.expect(seller, "8", tag_11="s1", tag_39="2", tag_151="0", **trade)
        self.expect(buyer, "8", tag_11="b1", tag_39="1", tag_151="40", **trade)
        buyer.send("F", ("11", "b2"), ("41", "b1"), ("55", "ACME"), ("54", "1"), ("60", "x"))
        self.expect(buyer, "3", tag_371="60", tag_373="6", tag_45="3")
        buyer.send("F", ("11", "b2"), ("41", "b1"), ("55", "ACME"), ("54", "1"))
        self.expect(buyer, "8", tag_11="b2", tag_41="b1", tag_150="4", tag_151="0")
        buyer.send("F", ("11", "b3"), ("41", "b1"), ("55", "ACME"), ("54", "1"))
        self.expect(buyer, "9", tag_11="b3", tag_41="b1")
        buyer.send("5")
        self.expect(buyer, "5")
        self.assertIsNone(buyer.receive())

    def test_instructions_that_the_exchange_cannot_follow(self):
        client = self.client("u")
        client.log_on()
        limit = {"55": "ACME", "54": "1", "38": "100", "40": "2", "44": "10"}
        refused = [
            {"111": "10"}, {"18": "G"}, {"110": "50"}, {"1138": "10"}, {"210": "10"},
            {"211": "0.1"}, {"388": "0"}, {"99": "9"}, {"432": "20261231"}, {"168": "x"},
            {"100": "XNYS"}, {"21": "3"}, {"423": "1"}, {"854": "1"}, {"167": "OPT"},
            {"65": "WI"}, {"9000": "x"}, {"59": "6", "126": "20261231-00:00:00"},
            {"40": "1"}, {"54": "5"},
            *({"59": life} for life in "12567"),
            *({"40": kind} for kind in "3456789DEGIJKLMP"),
        ]  # fmt: skip
        for number, instruction in enumerate(refused):
            with self.subTest(instruction):
                name = ("11", f"r{number}")
                client.send("D", name, *{**limit, **instruction}.items())
                refusal = {"tag_150": "8", "tag_39": "8", "tag_103": "11", "tag_37": "NONE"}
                report = self.expect(client, "8", tag_11=name[1], **refusal)
                self.assertTrue(value(report, 58))
        # The refused orders are not there, and what changes nothing is no reason to refuse.
        for number, note in enumerate(
            [{}, {"1": "a", "21": "1", "15": "USD", "58": "x", "528": "A"}, {"59": "0", "63": "0"}]
        ):
            client.send("D", ("11", f"a{number}"), *{**limit, **note}.items())
            self.expect(client, "8", tag_11=f"a{number}", tag_150="0", tag_39="0")
        change = [("41", "a0"), ("55", "ACME"), ("54", "1"), ("38", "50"), ("40", "2"), ("44", "9")]
        client.send("G", ("11", "g"), *change, ("111", "10"))
        answer = self.expect(client, "9", tag_11="g", tag_39="0", tag_434="2", tag_102="99")
        self.assertEqual(value(answer, 58), "tag 111 is not supported")
        client.send("F", ("11", "f"), *change[:3], ("586", "20260101-00:00:00"))
        self.expect(client, "9", tag_11="f", tag_434="1", tag_102="99")
        client.send("F", ("11", "f"), *change[:3])
        self.expect(client, "8", tag_11="f", tag_150="4")

    def test_market_data_that_the_exchange_does_not_have(self):
        client = self.client("u")
        client.log_on()
        for number, (wish, reason) in enumerate((
            ((("265", "0"),), "6"),
            ((("266", "N"),), "7"),
            ((("267", "1"), ("269", "2")), "8"),
            ((("267", "1"), ("269", "0")), "8"),
            ((("146", "2"), ("55", "OTHER")), "0"),
            ((("336", "x"),), "9"),
        )):  # fmt: skip
            request = [("262", f"m{number}"), ("263", "1"), ("264", "0"), ("55", "ACME")]
            client.send("V", *request, *wish)
            self.expect(client, "Y", tag_262=f"m{number}", tag_281=reason)

    def test_market_data(self):
        watcher, trader = self.client("watcher"), self.client("trader")
        for client in (watcher, trader):
            client.log_on()
        watcher.send(
            "V", ("262", "m"), ("263", "1"), ("264", "0"), ("265", "1"), ("267", "2"),
            ("269", "0"), ("269", "1"), ("146", "1"), ("55", "ACME"),
        )  # fmt: skip
        self.expect(watcher, "W", tag_262="m", tag_55="ACME")
        trader.order("a")
        self.expect(watcher, "X", tag_262="m")

    def test_numbers_out_of_sequence(self):
        client = self.client("u")
        client.log_on()
        client.next = 4
        client.order("late")  # as number 4
        request = self.expect(client, "2", tag_7="2")
        self.assertEqual(value(request, 16), "0")
        order = [("11", "early"), ("55", "ACME"), ("54", "1"), ("38", "5"), ("40", "2")]
        order.append(("44", "1"))
        client.send("D", ("43", "Y"), ("122", "20260101-00:00:00"), *order, sequence=2)
        client.send("4", ("43", "Y"), ("123", "Y"), ("36", "4"), sequence=3)
        self.expect(client, "8", tag_11="early")
        self.expect(client, "8", tag_11="late")
        client.order("next")
        self.expect(client, "8", tag_11="next")
        client.send("0", sequence=2)
        self.expect(client, "5", tag_58="MsgSeqNum too low, expecting 6 but received 2")
        self.assertIsNone(client.receive())

    def test_garbled_messages_are_passed_over(self):
        client = self.client("u")
        client.log_on()
        good = encode(client.fields("1", ("112", "first")))
        wrong_sum = good[:-2] + (b"0" if good[-2:-1] != b"0" else b"1") + good[-1:]
        wrong_length = good.replace(b"\x019=", b"\x019=1")
        for wrong in (wrong_sum, wrong_length, b"\x01" * 50, good[: len(good) // 2]):
            client.connection.socket.sendall(wrong)
        client.connection.socket.sendall(good)
        self.expect(client, "0", tag_112="first")
        for byte in encode(client.fields("1", ("112", "second"))):
            client.connection.socket.sendall(bytes([byte]))
        self.expect(client, "0", tag_112="second")
        self.await_log("core", r"garbled, the message is passed over: CheckSum is")
        self.await_log("core", r"BodyLength is 1\d+, but CheckSum comes after")

    def test_fields_that_are_wrong_and_messages_that_are_unknown(self):
        client = self.client("u")
        client.log_on()
        client.send("1", ("112", ""))
        self.expect(client, "3", tag_45="2", tag_371="112", tag_373="4")
        client.send("1", ("5001", "9"), ("112", "x"))  # the tags of the core are not the client's
        self.expect(client, "0", tag_112="x")
        client.send("E")
        self.expect(client, "j", tag_45="4", tag_372="E", tag_380="3")
        client.send("UC", ("5001", "1"))
        self.expect(client, "3", tag_45="5", tag_373="11")
        client.send("F", ("128", "FIRM"), ("11", "x"), ("41", "y"), ("55", "A"), ("54", "1"))
        self.expect(client, "j", tag_45="6", tag_372="F", tag_380="7")

    def test_what_is_large(self):
        client = self.client("u")
        client.log_on()
        order = [("11", "x"), ("55", "ACME"), ("54", "1"), ("38", "5"), ("40", "2"), ("44", "1")]
        client.send("D", *order, ("58", "x" * 20_000))
        self.expect(client, "3", tag_45="2", tag_373="99")
        client.send("D", *order, *[(str(tag), "x") for tag in range(6000, 6200)])
        self.expect(client, "3", tag_45="3", tag_373="99")
        # The body of 64 KiB, to the byte.
        empty = encode(client.fields("1", ("112", ""), sequence=4))
        large = "x" * (65_536 - int(re.search(rb"\x019=(\d+)\x01", empty)[1]))
        client.send("1", ("112", large))
        self.expect(client, "0", tag_112=large)
        client.connection.socket.sendall(encode(client.fields("1", ("112", large + "x"))))
        client.next -= 1
        client.send("1", ("112", "y"))
        self.expect(client, "0", tag_112="y")
        self.await_log("core", "a body of 65537 bytes, more than 65536")

    def test_times_that_are_wrong(self):
        client = self.client("u")
        client.log_on()
        order = [("11", "x"), ("55", "ACME"), ("54", "1"), ("38", "5"), ("40", "2"), ("44", "1")]
        client.send("D", ("43", "Y"), *order)
        self.expect(client, "3", tag_45="2", tag_371="122", tag_373="1")
        old = [("52", "20260101-00:00:00") if tag == "52" else (tag, text)
               for tag, text in client.fields("D", *order)]  # fmt: skip
        client.connection.send(old)
        self.expect(client, "3", tag_45="3", tag_371="52", tag_373="10")
        text = "SendingTime accuracy problem: 20260101-00:00:00 is "
        self.assertIn(text, value(self.expect(client, "5"), 58))
        self.assertIsNone(client.receive())

    def test_a_second_logon_is_refused(self):
        first = self.client("u")
        first.log_on()
        second = self.client("u")
        self.assertIsNone(second.log_on())
        first.send("1", ("112", "still"))
        self.expect(first, "0", tag_112="still")
        first.close()
        # The number that the refused one has used does not count.
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            again = self.client("u")
            again.next = 3
            if (answer := again.log_on()) is not None:
                break
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(value(answer, 35), "A")

    def test_reports_of_a_client_that_was_away_come_as_a_resend(self):
        client = self.client("u")
        client.log_on()
        for number in range(3):
            client.order(f"o{number}")
        client.send("1", ("112", "q"))
        kinds = sorted(value(client.receive(), 35) for _ in range(4))
        self.assertEqual(kinds, ["0", "8", "8", "8"])
        client.close()
        other = self.client("other")
        other.log_on()
        other.order("s", "2", "10", 300)
        for _ in range(4):
            self.expect(other, "8")
        self.stop("core")
        self.kill("session")
        self.start("session", "core")
        again = self.client("u")
        again.next = client.next
        answer = again.log_on()
        while answer is None:  # the link of the core was not there yet
            again = self.client("u")
            again.next = client.next
            answer = again.log_on()
        last = int(value(answer, 34))
        self.assertEqual(last, 9)  # Logon, 3 reports, heartbeat, 3 trades
        again.send("2", ("7", "1"), ("16", "0"))
        next_number, trades = 1, 0
        while next_number <= last:
            message = again.receive()
            self.assertEqual(int(value(message, 34)), next_number, message)
            self.assertEqual(value(message, 43), "Y")
            if value(message, 35) == "4":
                self.assertEqual(value(message, 123), "Y")
                next_number = int(value(message, 36))
            else:
                self.assertIsNotNone(value(message, 122))
                trades += value(message, 150) == "F"
                next_number += 1
        self.assertEqual(trades, 3)

    def test_heartbeats_and_a_client_that_says_nothing(self):
        client = self.client("u")
        client.log_on(heartbeat=1)
        kinds = []
        while (message := client.receive()) is not None:
            kinds.append(value(message, 35))
        self.assertEqual(kinds[0], "0")
        self.assertIn("1", kinds)
        self.assertEqual(kinds[-1], "5")


class Floods(ExchangeCase):
    """Clients that harm others where they can."""

    core_options = ("--output-bytes", "20000", "--message-time", "1s", "--clients", "30000")

    def test_a_client_that_never_reads(self):
        self.start()
        client = self.client("deaf")
        client.connection.socket.setsockopt(1, 8, 4096)  # SOL_SOCKET, SO_RCVBUF
        client.log_on()
        other = self.client("other")
        other.log_on()
        client.connection.socket.settimeout(TIMEOUT_S)
        try:
            while "does not read" not in self.log("core"):
                for _ in range(50):
                    client.send("1", ("112", "x" * 2000))
        except OSError:
            pass
        self.await_log("core", "it does not read: [0-9]+ bytes wait for it")
        other.send("1", ("112", "y"))
        self.assertEqual(value(other.receive(), 112), "y")

    def test_messages_that_never_end_and_clients_that_say_nothing(self):
        self.start()
        self.await_log("core", "the session manager is connected")
        silent = self.client("silent")
        half = self.client("half")
        half.connection.socket.sendall(encode(half.fields("A"))[:20])
        slow = self.client("slow")
        slow.log_on()
        slow.connection.socket.sendall(b"8=FIX.4.4\x019=5")
        no_fix = self.client("http")
        no_fix.connection.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        begin = time.monotonic()
        for client in (no_fix, silent, half, slow):
            while client.receive() is not None:
                pass
        self.assertLess(time.monotonic() - begin, 10)
        log = self.log("core")
        self.assertEqual(log.count("a message takes too long"), 3, log)
        self.assertEqual(log.count("no FIX 4.4"), 1, log)

    def test_more_connections_than_are_let_in(self):
        self.core_options = ("--clients", "2")
        self.start()
        first, second, third = (self.client(name) for name in ("a", "b", "c"))
        for client in (first, second):
            self.assertEqual(value(client.log_on(), 35), "A")
        third.send("A", ("98", "0"), ("108", "30"))
        third.connection.socket.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            third.receive()
        third.connection.socket.settimeout(TIMEOUT_S)
        first.close()
        self.assertEqual(value(third.receive(), 35), "A")

    def test_arrivals_of_a_day(self):
        self.start()
        figures = self.figures(self.load("w2", "--orders", 300, "--rate", 300))
        self.assertEqual(figures["requests"], 300)
        # By the last arrival at the earliest, and behind it by no more than answers take.
        self.assertGreater(figures["seconds"], 0.9)

    def test_many_sessions(self):
        self.start()
        count = min(SESSIONS, 200) if SANITIZED else SESSIONS
        figures = self.figures(
            self.load("w2", "--sessions", count, "--orders", 3 * count, "--window", 2)
        )
        self.assertEqual(figures["requests"], 3 * count)
        self.assertEqual(figures["reconnects"], 0)
        self.stop()


if __name__ == "__main__":
    unittest.main()

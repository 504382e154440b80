# SPDX-License-Identifier: Apache-2.0
"""Tests of the exchange: resends and messages that wait cost others nothing, and are bounded."""

import time

from exchange_case import SANITIZED, TIMEOUT_S, ExchangeCase
from fix_client import encode, value

ORDERS = 500


class Bounds(ExchangeCase):
    """One client asks for much, or sends what has to wait."""

    def rest(self, client, quiet_s=1):
        """All that still comes, until nothing comes for a while."""
        client.connection.socket.settimeout(quiet_s)
        messages = []
        try:
            while (message := client.receive()) is not None:
                messages.append(message)
        except TimeoutError:
            pass
        client.connection.socket.settimeout(TIMEOUT_S)
        return messages

    def give_orders(self, client, first, count):
        """Without waiting for their reports."""
        order = [("55", "ACME"), ("54", "1"), ("38", "1"), ("40", "2"), ("44", "10")]
        return b"".join(
            encode(client.fields("D", ("11", f"o{number}"), *order))
            for number in range(first, first + count)
        )

    def with_orders(self, name):
        """A client that has the reports of its orders: ORDERS + 1 messages with the Logon."""
        client = self.client(name)
        client.log_on()
        client.connection.socket.sendall(self.give_orders(client, 0, ORDERS))
        for _ in range(ORDERS):
            self.assertEqual(value(client.receive(), 150), "0")
        return client

    def test_a_storm_of_resend_requests(self):
        self.start()
        client = self.with_orders("storm")
        other = self.client("other")
        other.log_on()
        storm = b"".join(
            encode(client.fields("2", ("7", "1"), ("16", "0"))) for _ in range(200)
        )
        client.connection.socket.sendall(storm)
        begin = time.monotonic()
        other.order("x", symbol="B")
        self.assertEqual(value(other.receive(), 11), "x")
        self.assertLess(time.monotonic() - begin, 20 if SANITIZED else 5)
        # Those that come while one is answered are answered together: not 100,000 messages.
        messages = self.rest(client)
        reports = [message for message in messages if value(message, 35) == "8"]
        self.assertGreaterEqual(len(reports), ORDERS)
        self.assertLess(len(reports), 10 * ORDERS)
        self.assertEqual(len(reports) % ORDERS, 0)
        for at, report in enumerate(reports):
            self.assertEqual(value(report, 11), f"o{at % ORDERS}")
            self.assertEqual(value(report, 43), "Y")

    def test_what_comes_during_a_resend_keeps_its_order(self):
        self.start()
        client = self.with_orders("u")
        request = encode(client.fields("2", ("7", "1"), ("16", "0")))
        test = encode(client.fields("1", ("112", "between")))
        orders = self.give_orders(client, ORDERS, 300)
        client.connection.socket.sendall(request + test + orders)
        next_number, fresh, kinds = 1, [], []
        while len(fresh) < 301:
            message = client.receive()
            self.assertEqual(int(value(message, 34)), next_number, message)
            next_number = int(value(message, 36) or next_number + 1)
            if value(message, 43) != "Y":
                fresh.append(value(message, 11) or value(message, 112))
                kinds.append(int(value(message, 34)))
        self.assertEqual(kinds, list(range(ORDERS + 2, ORDERS + 303)))
        names = ["between"] + [f"o{ORDERS + number}" for number in range(300)]
        self.assertEqual(sorted(fresh), sorted(names))

    def test_a_client_that_leaves_in_a_resend_gets_it_when_it_is_back(self):
        self.start()
        client = self.with_orders("u")
        client.send("2", ("7", "1"), ("16", "0"))
        client.close()
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            again = self.client("u")
            again.next = client.next
            if (answer := again.log_on(("789", "2"))) is not None:
                break
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(value(answer, 34), str(ORDERS + 2))
        reports = [message for message in self.rest(again) if value(message, 35) == "8"]
        self.assertEqual([value(one, 11) for one in reports], [f"o{n}" for n in range(ORDERS)])

    def test_early_messages_are_bounded_by_bytes(self):
        self.session_options = ("--waiting-bytes", "20000")
        self.start()
        client = self.client("u")
        client.log_on()
        client.next = 3
        client.connection.socket.sendall(self.give_orders(client, 0, 200))
        kinds = {}
        while (message := client.receive()) is not None:
            kinds[value(message, 35)] = message
        text = "messages that wait for number 2 take more than 20000 bytes of this session"
        self.assertEqual(value(kinds["5"], 58), text)
        self.await_log("core", text)
        # The session goes on where it was.
        client = self.client("u")
        client.next = 2
        answer = client.log_on()
        while answer is None:
            client = self.client("u")
            client.next = 2
            answer = client.log_on()
        self.assertEqual(value(answer, 35), "A")

    def test_early_messages_of_many_fields_take_no_memory(self):
        if SANITIZED:
            self.skipTest("its memory is the sanitizer's")
        self.start()
        client = self.client("u")
        client.log_on()
        fields = [("1", "x")] * 15_900
        try:
            for sequence in range(1003, 1203):
                client.connection.send(client.fields("D", *fields, sequence=sequence))
        except OSError:
            pass  # it was logged out
        self.await_log("core", "messages that wait for number 2 take more than 1048576 bytes")
        process = self.processes["session"].pid
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(peak, 150_000)  # KiB; the fields of 200 messages take 200 MiB

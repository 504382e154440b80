#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several clients at one socket of `strid window`: their lines and messages, whole and each once;
those that are silent, rude, slow or too many; a run that is stopped and killed.

    sockets_test.py STRID [CLASS...]
"""

import contextlib
import os
import random
import resource
import select
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

from socket_case import SocketCase, lines_of, messages_of, send_in_pieces
from transport_case import SEED, STRID, TIMEOUT_S, first, main, until


class Clients(SocketCase):
    def check_many(self, query: str, clients: int, encode, names_each: int = 2_000) -> None:
        """They send at once, in pieces of any size, and each message is counted once."""
        run = self.listening(query)
        self.connect(run).close()
        expected = Counter()

        def client(number: int) -> None:
            rng = random.Random(SEED + number)
            names = [f"c{number}-{i}" for i in range(rng.randrange(names_each // 2, names_each))]
            expected.update(names)
            with self.connect(run) as one:
                send_in_pieces(one, encode(names), rng)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.stopped(run), "")
        self.assertEqual(self.counts(), expected)

    def test_twenty_at_once_have_each_line_counted_once(self):
        self.check_many("clients=20", 20, lines_of)

    def test_those_beyond_the_number_wait(self):
        self.check_many("clients=3", 20, lines_of, 500)

    def test_messages_with_their_length_in_front(self):
        self.check_many("clients=20&framing=length32", 20, messages_of)

    def test_one_that_is_silent_or_in_the_middle_of_a_line_holds_up_no_other(self):
        run = self.listening("clients=3")
        silent = self.connect(run)
        half = self.connect(run)
        half.sendall(b'{"at":0,"sym')
        other = self.connect(run)
        for i in range(20):
            other.sendall(lines_of([f"o{i}"]))
            time.sleep(0.01)
        half.sendall(b'bol":"half"}\n')
        time.sleep(0.3)
        self.assertEqual(self.stopped(run, within_s=10), "")
        self.assertEqual(self.counts(), Counter(["half"] + [f"o{i}" for i in range(20)]))
        self.assertEqual(silent.recv(10), b"")

    def test_rows_come_out_while_clients_are_connected(self):
        os.mkfifo(self.folder / "fifo")
        run = self.listening("clients=2", target="fifo", disorder="0ms")
        with open(self.folder / "fifo", encoding="utf-8") as rows:
            first, second = self.connect(run), self.connect(run)
            first.sendall(lines_of(["a"], 1) + lines_of(["a"], 1_500))
            self.assertEqual(rows.readline(), "symbol,window_start,window_end,n\n")
            self.assertEqual(rows.readline(), "a,0,1000,1\n")
            second.sendall(lines_of(["b"], 5_000))
            self.assertEqual(rows.readline(), "a,1000,2000,1\n")
            self.stopped(run)
            self.assertEqual(rows.read(), "b,5000,6000,1\n")

    def test_a_line_that_was_not_ended_is_dropped_and_said(self):
        run = self.listening("clients=2")
        for _ in range(3):
            client = self.connect(run)
            client.sendall(lines_of(["a"]) + b'{"at":0,"symbol":"x"}')
            client.close()
        with self.connect(run) as client:
            client.sendall(lines_of(["b"]))
        time.sleep(0.3)
        said = self.stopped(run)
        self.assertIn("a message that a client had not ended when it went was dropped", said)
        self.assertIn("3 messages that clients had not ended when they went were dropped", said)
        self.assertEqual(len(said.splitlines()), 2)
        self.assertEqual(self.counts(), Counter("aaab"))

    def test_a_connection_that_is_reset_costs_its_line_only(self):
        run = self.listening("clients=2")
        with self.connect(run) as client:
            client.sendall(lines_of(["a"]) + b"{")
            time.sleep(0.3)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with self.connect(run) as client:
            client.sendall(lines_of(["b"]))
        time.sleep(0.3)
        self.assertIn("had not ended", self.stopped(run))
        self.assertEqual(self.counts(), Counter("ab"))

    def test_messages_that_are_too_long_close_their_connection(self):
        for query, data in (("", b"x" * 100_000), ("", lines_of(["a"]) + b"x" * 3_000 + b"\n"),
                            ("&framing=length32", b"\xff" * 4), ("&framing=length32", b"GET / H")):
            with self.subTest(query, data=data[:10]):
                run = self.listening("clients=2&message=2K" + query)
                client = self.connect(run)
                try:
                    client.sendall(data)
                    self.assertEqual(client.recv(10), b"")
                except ConnectionError:
                    pass
                other = self.connect(run)
                other.sendall((messages_of if query else lines_of)(["b"]))
                time.sleep(0.3)
                said = self.stopped(run)
                self.assertIn("more than 2048 bytes: its connection was closed", said)
                self.assertEqual(self.counts()["b"], 1)

    def test_silent_clients_are_closed_where_that_is_asked_for(self):
        run = self.listening("clients=1&idle=300ms")
        silent = self.connect(run)
        self.assertEqual(silent.recv(10), b"")
        with self.connect(run) as client:
            client.sendall(lines_of(["a"]))
            time.sleep(0.1)
        self.assertIn("a client was silent for the time of idle", self.stopped(run))
        self.assertEqual(self.counts(), Counter("a"))

    def test_unix_sockets_and_rows_of_csv(self):
        path = str(self.folder / "rows.sock")
        run = self.taking_csv(f"unix-listen://{path}?clients=5", "out.csv")
        until(lambda: os.path.exists(path))
        for name in ("a", "b", "a"):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(f"0,{name}\n".encode())
        time.sleep(0.3)
        self.assertEqual(self.stopped(run), "")
        self.assertEqual(self.counts(), Counter("aab"))
        self.assertFalse(os.path.exists(path))

    def test_a_line_end_in_quotes_waits_for_the_rest(self):
        """The parser has no row before the rest, which is to be read while it waits for it."""
        os.mkfifo(self.folder / "fifo")
        run = self.taking_csv(f"tcp-listen://127.0.0.1:{self.port}?clients=2", "fifo")
        with open(self.folder / "fifo", "rb", buffering=0) as rows, self.connect(run) as client:
            for piece in (b'0,"a\n', b'b"\n5000,c\n'):
                client.sendall(piece)
                time.sleep(0.2)
            found = b""
            while b",1\n" not in found:
                self.assertTrue(select.select([rows], [], [], 10)[0], "the client is not read")
                found += rows.read(1_000)
            self.assertIn(b'"a\nb",0,1000,1\n', found)
            self.stopped(run)

    def test_what_an_address_may_have(self):
        listen = f"tcp-listen://127.0.0.1:{self.port}"
        for address, said in (
            (f"{listen}?clients=0", "clients"),
            (f"{listen}?clients=100000", "clients: 100000 is above 1000"),
            (f"{listen}?clients=2&framing=length16", "framing is lines or length32"),
            (f"{listen}?client=2", "there is no option 'client': there are clients, framing"),
            (f"{listen}?idle=1s", "idle needs clients=NUMBER"),
            (f"{listen}?clients=2&message=100M", "message: 100M is above"),
            (f"tcp://127.0.0.1:{self.port}?clients=2", "those of an address that listens"),
            (f"tcp://127.0.0.1:{self.port}?authority=x.pem", "encrypted by tls://HOST:PORT"),
            ("tcp-listen://127.0.0.1?clients=2", "not an address"),
        ):
            with self.subTest(address):
                self.assertIn(said, self.refused("--input", address))


class OneConnection(SocketCase):
    def test_messages_of_a_server_and_of_a_client(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        run = self.start(f"tcp://127.0.0.1:{server.getsockname()[1]}?framing=length32", "out.csv",
                         "--format", "json")
        peer, _ = server.accept()
        names = [f"n{i}" for i in range(30_000)]
        send_in_pieces(peer, messages_of(names) + struct.pack(">I", 0), random.Random(SEED))
        peer.close()
        self.assertEqual(self.ended(run), "")
        self.assertEqual(self.counts(), Counter(names))
        run = self.listening("framing=length32")
        peer = self.connect(run)
        peer.sendall(messages_of(["a", "b"]))
        peer.close()
        self.assertEqual(self.ended(run), "")
        self.assertEqual(self.counts(), Counter("ab"))

    def test_ends_that_are_none(self):
        for data, said in ((messages_of(["a"])[:-1], "in the middle of a message"),
                           (b"\xff\xff\xff\xff", "a message has more than 1048576 bytes")):
            run = self.listening("framing=length32")
            peer = self.connect(run)
            peer.sendall(data)
            peer.close()
            self.assertIn(said, self.ended(run, 1))


class BackPressure(SocketCase):
    @first
    def test_clients_are_not_read_while_the_graph_waits(self):
        """The rows go into a FIFO that is not read for a while."""
        os.mkfifo(self.folder / "fifo")
        reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        run = self.listening("clients=8", target="fifo", window="tumbling:1ms", disorder="0ms")
        sent = Counter()
        is_over = threading.Event()

        def client(number: int) -> None:
            with self.connect(run) as one:
                one.settimeout(0.2)
                data = b""
                while not is_over.is_set():
                    if not data:
                        data = lines_of([f"s{sent[number] + i}" for i in range(1_000)],
                                        1 + int(time.monotonic() * 1000))
                    try:
                        data = data[one.send(data):]
                    except TimeoutError:
                        continue
                    if not data:
                        sent[number] += 1_000
                one.settimeout(TIMEOUT_S)
                one.sendall(data)  # the rest of it
                sent[number] += 1_000 if data else 0

        threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        before = -1
        while before != sum(sent.values()) or before == 0:  # until nothing moves
            before = sum(sent.values())
            time.sleep(1.5)
        resident = int(Path(f"/proc/{run.pid}/statm").read_text().split()[1]) * 4096
        self.assertLess(resident, 300 << 20)
        os.set_blocking(reader, True)
        reading = threading.Thread(
            target=lambda: [None for _ in iter(lambda: os.read(reader, 65536), b"")])
        reading.start()
        is_over.set()
        for thread in threads:
            thread.join()
        self.assertGreaterEqual(sum(sent.values()), before)
        self.stopped(run)
        reading.join()


class Stops(SocketCase):
    def test_a_signal_ends_it_with_clients_that_do_nothing(self):
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            run = self.listening("clients=30")
            clients = [self.connect(run) for _ in range(30)]
            clients.append(self.connect(run))  # waits in the system
            clients[0].sendall(lines_of(["a"]))
            time.sleep(0.3)
            begin = time.monotonic()
            run.send_signal(signal_number)
            run.wait(TIMEOUT_S)
            self.assertLess(time.monotonic() - begin, 5)
            self.assertEqual(self.counts(), Counter("a"))
            for client in clients:
                client.close()

    def test_a_signal_ends_it_where_the_system_gives_no_thread(self):
        """There is memory for all but the stack of the first."""
        path = str(self.folder / "rows.sock")
        before = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (256 << 20, before[1]))
        try:
            run = self.start(f"unix-listen://{path}?clients=3", "out.csv", "--format", "json")
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, before)
        until(lambda: os.path.exists(path))
        time.sleep(0.3)
        threads = len(os.listdir(f"/proc/{run.pid}/task"))
        used = int(Path(f"/proc/{run.pid}/statm").read_text().split()[0]) * 4096
        resource.prlimit(run.pid, resource.RLIMIT_AS, (used + (200 << 20),) * 2)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            time.sleep(0.3)
            self.assertEqual(len(os.listdir(f"/proc/{run.pid}/task")), threads)
            self.stopped(run, within_s=5)

    def test_a_client_that_sends_all_the_time_does_not_delay_the_end(self):
        run = self.listening("clients=3&message=60M")
        client = self.connect(run)
        client.sendall(lines_of(["a"]))

        def dribble() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client.sendall(b"x")
                    time.sleep(0.0005)

        thread = threading.Thread(target=dribble)
        thread.start()
        time.sleep(0.3)
        self.stopped(run, within_s=5)
        thread.join()
        self.assertEqual(self.counts(), Counter("a"))

    def test_what_was_sent_before_a_signal_is_counted(self):
        """Also where it is still in the system's buffers."""
        for more in ([], ["--snapshots", "state", "--journal", "journal", "--drain"]):
            with self.subTest(more):
                run = self.listening("clients=10", *more)
                clients = [self.connect(run) for _ in range(10)]
                expected = []
                for number, client in enumerate(clients):
                    names = [f"n{number}-{i}" for i in range(1_000)]
                    client.sendall(lines_of(names))
                    expected += names
                self.stopped(run)
                self.assertEqual(self.counts(), Counter(expected))

    @first
    def test_what_the_journal_has_before_a_kill_is_counted_once(self):
        options = ["--snapshots", "state", "--snapshot-every", "50ms", "--journal", "journal"]
        is_over = threading.Event()
        sent = []  # when and what
        lock = threading.Lock()

        def client(number: int) -> None:
            count = 0
            while not is_over.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", self.port)) as one:
                        while not is_over.is_set():
                            names = [f"c{number}-{count + i}"
                                     for i in range(random.randrange(1, 15))]
                            count += len(names)
                            one.sendall(lines_of(names))
                            with lock:
                                sent.append((time.monotonic(), names))
                            time.sleep(0.02)
                        one.shutdown(socket.SHUT_WR)
                        one.recv(1)
                except OSError:
                    time.sleep(0.01)

        run = self.listening("clients=12", *options)
        self.connect(run).close()
        threads = [threading.Thread(target=client, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        kills = []
        for _ in range(6):
            time.sleep(random.uniform(1.2, 1.6))
            kills.append(time.monotonic())
            run.kill()
            run.wait()
            run = self.listening("clients=12", *options)
            self.connect(run).close()
        time.sleep(0.5)
        is_over.set()
        for thread in threads:
            thread.join()
        self.stopped(run)
        run = self.listening("clients=12", *options, "--drain")
        self.connect(run).close()
        self.stopped(run)
        found = self.counts()
        self.assertEqual(set(found.values()), {1})
        surely = 0
        for at, names in sent:
            if any(kill - 0.8 < at < kill + 0.3 for kill in kills):
                continue  # it may have been on its way
            surely += len(names)
            for name in names:
                self.assertEqual(found[name], 1, f"{name} was sent long before a kill")
        self.assertGreater(surely, 1_000)

    def test_acknowledgements_have_one_producer(self):
        said = self.refused("--input", f"tcp-listen://127.0.0.1:{self.port}?clients=2",
                            "--snapshots", "state", "--journal", "journal",
                            "--journal-acknowledge")
        self.assertIn("acknowledgements go to the other end of a socket without options", said)


if __name__ == "__main__":
    main()

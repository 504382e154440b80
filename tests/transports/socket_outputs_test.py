#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of `strid window` for sockets: a server that it connects to, readers that connect to it, and
readers that are slow.

    socket_outputs_test.py STRID [CLASS...]
"""

import json
import os
import signal
import socket
import threading
import time
import unittest

from socket_case import SocketCase, reset
from transport_case import TIMEOUT_S, first, main, until

HEADER = "symbol,window_start,window_end,n"


class OutputCase(SocketCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in.csv").write_text("at,symbol\n1,a\n2,a\n3,b\n")

    def server(self) -> tuple[socket.socket, int]:
        server = socket.create_server(("127.0.0.1", 0))
        server.settimeout(TIMEOUT_S)
        self.addCleanup(server.close)
        return server, server.getsockname()[1]

    def all_of(self, peer: socket.socket) -> list[str]:
        peer.settimeout(TIMEOUT_S)
        text = b"".join(iter(lambda: peer.recv(65536), b""))
        peer.close()
        return text.decode().splitlines()

    @staticmethod
    def many(count: int) -> str:
        return "at,symbol\n" + "".join(f"{at},s\n" for at in range(count))

    def fed(self, target: str, *options: str):
        """A run whose rows come as it is fed: a window of a millisecond has one row."""
        return self.start("-", target, "--disorder", "0ms", *options, window="tumbling:1ms")

    def feed(self, run, begin: int, count: int, symbol: str = "s") -> None:
        text = "".join(f"{at},{symbol}\n" for at in range(begin, begin + count))
        run.stdin.write((("at,symbol\n" if begin == 0 else "") + text).encode())
        run.stdin.flush()


class ToAServer(OutputCase):
    def test_rows_and_objects(self):
        for query, options in (("", ()), ("?format=json", ()), ("", ("--output-format", "json"))):
            server, port = self.server()
            run = self.start("in.csv", f"tcp://127.0.0.1:{port}{query}", *options)
            rows = self.all_of(server.accept()[0])
            self.assertEqual(self.ended(run), "")
            if query or options:
                self.assertEqual([json.loads(row)["n"] for row in rows], [2, 1])
            else:
                self.assertEqual(rows, [HEADER, "a,0,1000,2", "b,0,1000,1"])

    def test_unix_sockets(self):
        path = str(self.folder / "out.sock")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        run = self.start("in.csv", f"unix://{path}")
        self.assertEqual(self.all_of(server.accept()[0]), [HEADER, "a,0,1000,2", "b,0,1000,1"])
        self.assertEqual(self.ended(run), "")

    def test_one_that_is_not_there(self):
        port = self.port
        self.assertIn(f"tcp://127.0.0.1:{port}: cannot connect: Connection refused",
                      self.refused("--input", "in.csv", "--output", f"tcp://127.0.0.1:{port}"))
        self.assertIn("there are format and retry",
                      self.refused("--input", "in.csv", "--output",
                                   f"tcp://127.0.0.1:{port}?slow=drop"))
        begin = time.monotonic()
        address = f"tcp://127.0.0.1:{port}?retry=1s"
        run = self.start("in.csv", address)
        said = self.ended(run, 1)
        self.assertIn("rows wait, and it is connected to once more", said)
        self.assertIn("Connection refused", said.splitlines()[-1])
        self.assertGreater(time.monotonic() - begin, 0.5)
        run = self.start("in.csv", f"tcp://127.0.0.1:{port}?retry=1m")
        time.sleep(0.5)
        server = socket.create_server(("127.0.0.1", port))
        self.addCleanup(server.close)
        self.assertEqual(len(self.all_of(server.accept()[0])), 3)
        self.ended(run)

    def test_a_signal_ends_it_while_a_server_is_waited_for(self):
        run = self.fed(f"tcp://127.0.0.1:{self.port}?retry=1h")
        self.assertIn("Connection refused", run.stderr.readline().decode())
        begin = time.monotonic()
        self.stopped(run)
        run = self.start("in.csv", f"tcp://127.0.0.1:{self.port}?retry=1h")
        self.assertIn("Connection refused", run.stderr.readline().decode())
        time.sleep(0.3)
        run.send_signal(signal.SIGTERM)  # rows wait for the server: a second one cancels
        time.sleep(0.3)
        self.stopped(run)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_connection_that_breaks_is_an_error_without_retry(self):
        server, port = self.server()
        run = self.fed(f"tcp://127.0.0.1:{port}")
        peer = server.accept()[0]
        self.feed(run, 0, 10)
        peer.recv(1)
        reset(peer)
        try:
            for begin in range(10, 200):
                self.feed(run, begin, 1)
                time.sleep(0.01)
        except BrokenPipeError:
            pass
        said = self.ended(run, 1)
        self.assertIn("cannot write: ", said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_with_retry_the_next_connection_goes_on(self):
        server, port = self.server()
        run = self.fed(f"tcp://127.0.0.1:{port}?retry=1m")
        received = []

        def serve() -> None:
            for number in range(4):
                peer = server.accept()[0]
                if number == 3:
                    received.append(self.all_of(peer))
                    return
                text = b""
                while text.count(b"\n") < 20:
                    text += peer.recv(1_000)
                received.append(text.decode().splitlines())
                reset(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        for at in range(600):
            self.feed(run, at, 1)
            time.sleep(0.002)
        run.stdin.close()
        run.stdin = open(os.devnull, "wb")
        self.assertEqual(run.wait(TIMEOUT_S), 0)
        thread.join()
        self.assertTrue(all(rows[0] == HEADER for rows in received))
        self.assertEqual(received[-1][-1], "s,599,600,1")
        # Of a connection that broke, rows that its buffers had are gone.
        found = {row for rows in received for row in rows[1:]}
        self.assertGreater(len(found), 300)
        self.assertIn("and it is connected to once more", run.stderr.read().decode())

    def test_a_server_that_takes_its_time_spends_none_of_retry(self):
        server, port = self.server()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        server.settimeout(10)
        (self.folder / "many.csv").write_text(self.many(400_000))
        run = self.start("many.csv", f"tcp://127.0.0.1:{port}?retry=2s", window="tumbling:1ms")
        slow = server.accept()[0]
        time.sleep(4)
        self.assertIsNone(run.poll())
        reset(slow)
        rows = self.all_of(server.accept()[0])
        self.assertEqual([rows[0], rows[-1]], [HEADER, "s,399999,400000,1"])
        self.assertIn("it is connected to once more", self.ended(run))


class ToReaders(OutputCase):
    def reader(self, run) -> tuple[threading.Thread, list]:
        client = self.connect(run)
        rows = []
        thread = threading.Thread(target=lambda: rows.extend(self.all_of(client)))
        thread.start()
        return thread, rows

    def test_each_has_all_rows(self):
        run = self.start("in.csv", f"tcp-listen://127.0.0.1:{self.port}?await=5")
        readers = [self.reader(run) for _ in range(5)]
        for thread, rows in readers:
            thread.join()
            self.assertEqual(rows, [HEADER, "a,0,1000,2", "b,0,1000,1"])
        self.assertEqual(self.ended(run), "")

    def taken(self, run) -> socket.socket:
        """A reader that the run has accepted: it has the header, and no row has gone before."""
        client = self.connect(run)
        client.settimeout(TIMEOUT_S)
        text = b""
        while text != HEADER.encode() + b"\n":
            text += client.recv(1)
        return client

    def test_rows_from_when_they_connect(self):
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}")
        early = self.taken(run)
        self.feed(run, 0, 100)
        text = b""
        while b"s,98,99,1\n" not in text:
            text += early.recv(1000)
        early.close()
        late = self.taken(run)
        self.feed(run, 100, 100)
        run.stdin.close()
        run.stdin = open(os.devnull, "wb")
        self.assertEqual(self.all_of(late), [f"s,{at},{at + 1},1" for at in range(99, 200)])
        self.assertEqual(self.ended(run), "")

    def test_many_rows_for_many_readers_while_some_leave(self):
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}?await=12")
        readers = [self.reader(run) for _ in range(10)]
        rude = [self.connect(run) for _ in range(2)]
        for begin in range(0, 60_000, 2_000):
            self.feed(run, begin, 2_000)
            if rude and begin > 20_000:
                one = rude.pop()
                reset(one)
        run.stdin.close()
        run.stdin = open(os.devnull, "wb")
        expected = [HEADER] + [f"s,{at},{at + 1},1" for at in range(60_000)]
        for thread, rows in readers:
            thread.join()
            self.assertEqual(rows, expected)
        self.assertEqual(self.ended(run), "")

    def slow(self, policy: str):
        """A run with a fast reader and one that reads nothing, and 400,000 rows for them."""
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}?await=2&waiting=64K&slow={policy}")
        fast = self.reader(run)
        stuck = socket.socket()
        self.addCleanup(stuck.close)
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        stuck.connect(("127.0.0.1", self.port))

        def feed() -> None:
            for begin in range(0, 400_000, 4_000):
                self.feed(run, begin, 4_000)
            run.stdin.close()

        feeding = threading.Thread(target=feed)
        feeding.start()
        self.addCleanup(feeding.join)
        return run, fast, stuck

    def test_a_slow_reader_holds_the_graph_back(self):
        run, fast, stuck = self.slow("wait")
        time.sleep(2)
        held = len(fast[1])
        time.sleep(1)
        self.assertEqual(len(fast[1]), held)
        self.assertIsNone(run.poll())
        rows = self.all_of(stuck)
        fast[0].join()
        self.assertEqual(rows, fast[1])
        self.assertEqual(len(rows), 400_001)
        run.wait(TIMEOUT_S)

    def test_a_slow_reader_loses_rows(self):
        run, fast, stuck = self.slow("drop")
        said = []
        reading = threading.Thread(target=lambda: said.append(run.stderr.read().decode()))
        reading.start()
        time.sleep(3)
        rows = self.all_of(stuck)
        fast[0].join()
        reading.join()
        run.wait(TIMEOUT_S)
        self.assertIn("a reader is too slow, and loses rows", said[0])
        found = [int(word) for word in said[0].split() if word.isdigit()]
        # Each row is whole, in order, there or counted; a fast reader may lose some, too.
        self.assertEqual(len(rows) - 1 + len(fast[1]) - 1 + found[-1], 800_000)
        self.assertEqual([len(row.split(",")) for row in rows], [4] * len(rows))
        self.assertEqual(rows[0], HEADER)

    def test_a_slow_reader_is_closed(self):
        run, fast, stuck = self.slow("close")
        fast[0].join()
        self.assertIn("a reader is too slow, and was closed", run.stderr.read().decode())
        run.wait(TIMEOUT_S)

    def test_a_signal_ends_it_with_readers_that_wait(self):
        for query in ("", "?await=3"):
            run = self.fed(f"tcp-listen://127.0.0.1:{self.port}{query}")
            readers = [self.reader(run) for _ in range(2)]
            self.feed(run, 0, 10)
            time.sleep(0.3)
            begin = time.monotonic()
            run.send_signal(signal.SIGTERM)
            if query:
                run.send_signal(signal.SIGTERM)  # rows wait for readers: a second one cancels
                time.sleep(0.2)
                run.send_signal(signal.SIGTERM)
            run.wait(TIMEOUT_S)
            self.assertLess(time.monotonic() - begin, 5)
            for thread, _ in readers:
                thread.join()

    def small_reader(self) -> socket.socket:
        """One that is connected, with room for few rows."""
        client = socket.socket()
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        until(lambda: client.connect_ex(("127.0.0.1", self.port)) == 0)
        return client

    def held_back(self, count: int):
        """A run with rows for readers that do not take them, which a signal stops."""
        (self.folder / "many.csv").write_text(self.many(400_000))
        run = self.start("many.csv", f"tcp-listen://127.0.0.1:{self.port}?await={count}&"
                         "waiting=64K", window="tumbling:1ms")
        readers = [self.small_reader() for _ in range(count)]
        time.sleep(2)
        run.send_signal(signal.SIGTERM)
        return run, readers

    @first
    def test_a_reader_that_is_stuck_does_not_hold_a_stop(self):
        run, _ = self.held_back(1)
        self.assertEqual(run.wait(15), 128 + signal.SIGTERM)
        self.assertIn("a reader has not taken its rows in time, and was left",
                      run.stderr.read().decode())

    @first
    def test_a_reader_that_takes_little_holds_neither_a_stop_nor_the_others(self):
        run, (drip, _) = self.held_back(2)
        begin = time.monotonic()
        drip.settimeout(1)
        while run.poll() is None and time.monotonic() - begin < 26:
            try:
                drip.recv(8_192)
            except OSError:
                pass
            time.sleep(0.5)
        self.assertEqual(run.poll(), 128 + signal.SIGTERM)
        said = run.stderr.read().decode()
        self.assertEqual(said.count("has not taken its rows in time"), 2, said)

    def test_a_stop_with_a_snapshot_sends_what_the_snapshot_has(self):
        options = ("--snapshots", "state", "--journal", "journal")
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}?await=1&waiting=64M", *options)
        reader = self.small_reader()
        for begin in range(0, 400_000, 4_000):
            self.feed(run, begin, 4_000)
        time.sleep(2)
        run.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        before = self.all_of(reader)
        self.ended(run, 128 + signal.SIGTERM)
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}?await=1", *options)
        thread, after = self.reader(run)
        self.feed(run, 400_000, 10)
        run.stdin.close()
        run.stdin = open(os.devnull, "wb")
        thread.join()
        self.ended(run)
        found = before + after[1:]
        self.assertEqual(found, [HEADER] + [f"s,{at},{at + 1},1" for at in range(400_010)])

    def test_with_snapshots_rows_since_the_last_one_come_again(self):
        options = ("--snapshots", "state", "--snapshot-every", "20ms", "--journal", "journal")
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}", *options)
        first = self.taken(run)
        self.feed(run, 0, 1_000)
        until(lambda: len(list((self.folder / "state").glob("*.snapshot"))) > 0)
        time.sleep(0.5)
        run.kill()
        run.wait()
        before = [HEADER, *self.all_of(first)]
        run = self.fed(f"tcp-listen://127.0.0.1:{self.port}?await=1", *options)
        thread, after = self.reader(run)
        self.feed(run, 1_000, 100)
        run.stdin.close()
        run.stdin = open(os.devnull, "wb")
        thread.join()
        self.ended(run)
        self.assertEqual(after[0], HEADER)
        self.assertEqual(set(before) | set(after),
                         {HEADER} | {f"s,{at},{at + 1},1" for at in range(1_100)})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Redis: addresses, servers and streams that `strid window` refuses, each with one sentence, and
credentials.

    redis_refusals_test.py STRID [CLASS...]
"""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from redis_case import PASSWORD, RedisCase, Server
from transport_case import TIMEOUT_S, Ticks, main, shown_at, until


class Faults(RedisCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")

    def test_are_one_sentence(self):
        stream, port = self.stream(), self.server.port
        self.client.ask("XADD", stream, "*", "at", 1, "symbol", "a", "price", 1)
        self.client.ask("SET", "text", "x")
        for source, target, reason in (
            ("redis://127.0.0.1:1/s", "out.csv", "no server of Redis answers"),
            ("redis://127.0.0.1", "out.csv", "redis://HOST:PORT/STREAM"),
            ("redis://:1/s", "out.csv", "the host is missing"),
            ("redis://127.0.0.1:x/s", "out.csv", "a number from 1 to 65535"),
            (f"redis://u@127.0.0.1:{port}/s", "out.csv", "user=NAME"),
            (f"redis://u:secret@127.0.0.1:{port}/s", "out.csv", "holds no password"),
            (f"rediss://127.0.0.1:{port}/s", "out.csv", "TLS is not served"),
            (self.server.address(stream, "user=u"), "out.csv", "STRID_REDIS_PASSWORD has it"),
            (self.server.address(stream, "db=x"), "out.csv", "db is the number of a database"),
            (self.server.address(stream, "db=99"), "out.csv", "no database of this number"),
            (self.server.address(stream, "start=soon"), "out.csv", "start is earliest, latest"),
            (self.server.address(stream, "start=@x"), "out.csv", "a time is @ and milliseconds"),
            (self.server.address(stream, "until=now"), "out.csv", "until is end"),
            (self.server.address(stream, "quality=1"), "out.csv", "there is no option 'quality'"),
            (self.server.address(stream, "with=oops"), "out.csv", "there is no 'oops'"),
            (self.server.address(stream, "field=a&columns=b"), "out.csv", "columns=A,B several"),
            (self.server.address("none", "until=end"), "out.csv", "there is no stream 'none'"),
            (self.server.address("text"), "out.csv", "the key 'text' is no stream"),
            ("in.csv", self.server.address("text"), "the key 'text' is no stream"),
            ("in.csv", self.server.address(stream, "key=symbol"), "there is no option 'key'"),
            ("in.csv", self.server.address(stream, "format=json"), "field=NAME"),
            ("in.csv", self.server.address(stream, "field=a&format=xml"), "format is csv or json"),
            ("in.csv", self.server.address(stream, "maxlen=0"), "maxlen"),
        ):
            with self.subTest(source + " " + target):
                text = self.refused(source, target)
                self.assertIn(reason, text)
                self.assertNotIn("secret", text)

    def test_a_server_of_another_protocol(self):
        for greeting, reason in ((b"220 mail.example ESMTP\r\n", "none of Redis"),
                                 (b"HTTP/1.1 400 Bad Request\r\n", "none of Redis"),
                                 (b"", "no server of Redis answers"),
                                 (None, "closes the connection")):
            with self.subTest(greeting), socket.create_server(("127.0.0.1", 0)) as other:
                taken = []
                thread = threading.Thread(target=self.greet, args=(other, greeting, taken))
                thread.start()
                address = f"redis://127.0.0.1:{other.getsockname()[1]}/s"
                self.assertIn(reason, self.refused(address, "out.csv"))
                other.shutdown(socket.SHUT_RDWR)
                thread.join()
                for connection in taken:
                    connection.close()

    @staticmethod
    def greet(other: socket.socket, greeting: bytes | None, taken: list) -> None:
        try:
            while True:
                taken.append(other.accept()[0])
                if greeting is None:
                    taken.pop().close()
                else:
                    taken[-1].sendall(greeting)
        except OSError:
            pass

    def test_a_server_without_memory(self):
        """A start is refused; a run waits until there is room."""
        server = Server("--maxmemory", "1")
        self.addCleanup(server.close)
        self.assertIn("no memory left (maxmemory)",
                      self.refused("in.csv", server.address("s"), "--snapshots", "other"))
        client = server.client()
        self.addCleanup(client.close)
        client.ask("CONFIG", "SET", "maxmemory", 0)
        ticks = Ticks(10_000)
        run = self.fed(ticks, 2, server.address("s"), "--snapshots", "state", "--snapshot-every",
                       "20ms")
        until(lambda: client.ask("XLEN", "s") > 20)
        client.ask("CONFIG", "SET", "maxmemory", 1)
        time.sleep(0.5)
        client.ask("CONFIG", "SET", "maxmemory", 0)
        self.assertIn("no memory left (maxmemory); rows wait", self.ended(run))
        self.client = client
        self.assertEqual(self.bars("s"), ticks.expected())

    def test_a_replica(self):
        """It can be read, and takes no rows."""
        ticks = Ticks(100)
        stream = self.stream()
        self.fill(stream, ticks)
        self.client.ask("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        replica = Server("--replicaof", f"127.0.0.1 {self.server.port}")
        self.addCleanup(replica.close)
        client = replica.client()
        self.addCleanup(client.close)
        until(lambda: client.ask("XLEN", stream) == 100)
        self.assertIn("is a replica, which takes no rows",
                      self.refused("in.csv", replica.address(stream)))
        self.assertEqual(self.read(replica.address(stream, "until=end")), ticks.expected())

    def test_a_server_that_loads_its_data(self):
        server = Server("--appendonly", "yes", "--key-load-delay", "20000",
                        "--loading-process-events-interval-bytes", "1024")
        self.addCleanup(server.close)
        client = server.client()
        client.ask_all([("XADD", f"s{i}", "*", "at", i) for i in range(200)])
        client.ask("BGREWRITEAOF")
        until(lambda: "aof_rewrite_in_progress:0" in client.ask("INFO", "persistence"))
        client.close()
        server.kill()
        server.wait_until_ready = lambda: until(self.answers_at(server))
        server.start()
        text = self.refused(server.address("s1", "until=end"), "out.csv")
        self.assertIn("still loading its data", text)

    @staticmethod
    def answers_at(server: Server):
        def answers():
            try:
                socket.create_connection(("127.0.0.1", server.port)).close()
                return True
            except OSError:
                return False
        return answers

    def test_a_user_and_a_password(self):
        ticks = Ticks(200)
        for user, options in (("default", ""), ("reader", "user=reader")):
            with self.subTest(user):
                server = Server("--requirepass", "geheim", login=("default", "geheim"))
                self.addCleanup(server.close)
                self.client = server.client()
                self.addCleanup(self.client.close)
                self.client.ask("ACL", "SETUSER", "reader", "on", ">geheim", "~ticks", "+@read",
                                "+@connection")
                self.fill("ticks", ticks)
                source = server.address("ticks", "until=end" + (options and "&" + options))
                text = self.refused(source, "out.csv", environment={PASSWORD: "falsch"})
                self.assertIn("refuses the user or the password", text)
                self.assertNotIn("falsch", text)
                self.assertIn("STRID_REDIS_PASSWORD has it", self.refused(source, "out.csv"))
                os.environ[PASSWORD] = "geheim"
                self.addCleanup(os.environ.pop, PASSWORD, None)
                self.assertEqual(self.read(source), ticks.expected())
                if options:
                    self.assertIn("NOPERM", self.refused("in.csv", server.address("s", options)))
                del os.environ[PASSWORD]


class Gone(RedisCase):
    """Entries that are no longer in the stream."""

    def read_a_part(self, stream: str, ticks: Ticks, count: int, *options: str) -> tuple:
        """By a run that is stopped; its options."""
        self.fill(stream, ticks, 0, count)
        options = ("--format", "json", "--snapshots", "state", "--disorder", "end", *options)
        run = self.begun(self.server.address(stream), "out.csv", *options, "--http", "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), count)
        self.stopped(run)
        return options

    def test_behind_the_place_is_noticed(self):
        ticks = Ticks(300)
        stream = self.stream()
        options = self.read_a_part(stream, ticks, 100)
        [(last, _)] = self.client.ask("XREVRANGE", stream, "+", "-", "COUNT", 1)
        ids = self.fill(stream, ticks, 100, 200)
        self.client.ask("XTRIM", stream, "MAXLEN", 60)
        text = self.refused(self.server.address(stream), "out.csv", *options)
        self.assertIn(f"behind entry {last}, and the first one of the stream is {ids[40]} now: "
                      "40 entries between are gone", text)
        self.client.ask("DEL", stream)
        self.assertIn("the stream is gone",
                      self.refused(self.server.address(stream), "out.csv", *options))
        self.client.ask("XADD", stream, "1-0", "at", 1)
        self.assertIn("the stream was made anew",
                      self.refused(self.server.address(stream), "out.csv", *options))
        self.client.ask("DEL", stream)
        self.fill(stream, ticks)
        self.assertIn("gone, or the stream was made anew",
                      self.refused(self.server.address(stream), "out.csv", *options))

    def test_up_to_the_place_is_no_loss(self):
        """Entries that were read may be cut off, all or some of them."""
        ticks = Ticks(300)
        for left in (200, 230, 300):
            with self.subTest(left):
                stream = self.stream()
                shutil.rmtree(self.folder / "state", ignore_errors=True)
                options = self.read_a_part(stream, ticks, 100)
                self.fill(stream, ticks, 100)
                self.client.ask("XTRIM", stream, "MAXLEN", left)
                run = self.begun(self.server.address(stream), "out.csv", *options, "--drain",
                                 "--http", "127.0.0.1:0")
                self.wait_for_rows(shown_at(run), 200)
                self.stopped(run)
                self.assertEqual(self.rows(), ticks.expected())

    def test_while_a_run_is_behind_ends_it(self):
        """The reader is held up by a server that stands still for the others, too: entries are
        added and cut off by one transaction."""
        ticks = Ticks(400)
        stream = self.stream()
        run = self.begun(self.server.address(stream), "out.csv", "--format", "json", "--http",
                         "127.0.0.1:0")
        server = shown_at(run)
        self.fill(stream, ticks, 0, 100)
        self.wait_for_rows(server, 100)
        self.client.ask_all([("MULTI", )] + [
            ("XADD", stream, "MAXLEN", "30", "*", "at", at, "symbol", symbol, "price", price)
            for at, symbol, price in ticks.rows[100:200]] + [("EXEC", )])
        self.assertEqual(run.wait(timeout=TIMEOUT_S), 1)
        self.assertIn("70 entries behind", run.stderr.read())

    def test_a_bound_that_a_run_keeps_up_with_is_no_loss(self):
        ticks = Ticks(3_000)
        stream = self.stream()
        run = self.begun(self.server.address(stream), "out.csv", "--format", "json", "--http",
                         "127.0.0.1:0")
        server = shown_at(run)
        for begin in range(0, 3_000, 100):
            self.client.ask_all([
                ("XADD", stream, "MAXLEN", "100", "*", "at", at, "symbol", symbol, "price", price)
                for at, symbol, price in ticks.rows[begin:begin + 100]])
            self.wait_for_rows(server, begin + 100)
        ids = self.client.ask("XRANGE", stream, "-", "+")
        self.client.ask("XDEL", stream, *(entry[0] for entry in ids[:50]))  # on purpose
        self.client.ask("XADD", stream, "*", "at", ticks.rows[-1][0], "symbol", "x", "price", 1)
        self.wait_for_rows(server, 3_001)
        self.stopped(run)
        self.assertEqual(sum(row[3] for row in self.rows()), 3_001)


class Fences(RedisCase):
    """Two processes of a stream, and servers that forget."""

    def fed_with_snapshots(self, ticks: Ticks, target: str) -> subprocess.Popen:
        return self.fed(ticks, 4, self.server.address(target), "--snapshots", "state",
                        "--snapshot-every", "50ms")

    def copied(self) -> None:
        for name in ("state", "journal"):
            shutil.copytree(self.folder / name, self.folder / "copy" / name,
                            ignore=shutil.ignore_patterns("lock", "requests"))

    def gone_on(self, target: str, folder: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            self.arguments("-", self.server.address(target), "--snapshots", folder + "state",
                           "--journal", folder + "journal"),
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=TIMEOUT_S)

    def test_another_process_ends_the_first_one(self):
        ticks, target = Ticks(20_000), self.stream()
        run = self.fed_with_snapshots(ticks, target)
        until(lambda: self.client.ask("XLEN", target) > 20)
        run.send_signal(signal.SIGSTOP)
        self.copied()
        self.assertEqual(self.gone_on(target, "copy/").returncode, 0)
        run.send_signal(signal.SIGCONT)
        self.assertIn("another process writes this stream", self.ended(run, 1))
        found = self.bars(target)
        self.assertEqual(len({row[:2] for row in found}), len(found))

    def test_an_old_copy_of_the_snapshots_is_refused(self):
        """Its rows would be cut into epochs in another way than those that are there."""
        ticks, target = Ticks(20_000), self.stream()
        run = self.fed_with_snapshots(ticks, target)
        until(lambda: self.client.ask("XLEN", target) > 20)
        run.kill()
        run.wait(timeout=TIMEOUT_S)
        run.stderr.close()
        self.copied()
        done = self.gone_on(target)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.bars(target)
        done = self.gone_on(target, "copy/")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("would be written twice", done.stderr)
        self.assertEqual(found, self.bars(target))
        self.assertEqual(len({row[:2] for row in found}), len(found))

    def test_a_server_that_has_forgotten_is_refused(self):
        ticks, target = Ticks(20_000), self.stream()
        run = self.fed_with_snapshots(ticks, target)
        until(lambda: self.client.ask("XLEN", target) > 20)
        self.client.ask("FLUSHDB")
        self.assertIn("the server has forgotten epoch", self.ended(run, 1))
        self.assertIn("has forgotten its epochs", self.gone_on(target).stderr)

    def test_a_key_of_another_type_in_between(self):
        """Redis would set the number although no row was added."""
        ticks, target = Ticks(20_000), self.stream()
        run = self.fed_with_snapshots(ticks, target)
        until(lambda: self.client.ask("XLEN", target) > 20)
        self.client.ask_all([("MULTI", ), ("RENAME", target, "aside"), ("SET", target, "x"),
                             ("EXEC", )])
        self.assertIn("is no stream", self.ended(run, 1))
        self.client.ask("RENAME", "aside", target)
        self.assertEqual(self.gone_on(target).returncode, 0)
        found = self.bars(target)
        self.assertEqual(len({row[:2] for row in found}), len(found))


if __name__ == "__main__":
    main()

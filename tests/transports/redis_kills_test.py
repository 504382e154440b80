#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Redis: the program and the server are killed or stand still, and each row is there once; with a
server of each test, which writes each command to its disk before it answers.

    redis_kills_test.py STRID [CLASS...]
"""

import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

from redis_case import RedisCase, Server
from redis_proxy import LateProxy
from transport_case import TIMEOUT_S, Ticks, first, main, shown_at, until

KILLS = 8
# A start that finds no server is an error, and is tried again.
AWAY = ("no server of Redis answers", "still loading its data", "the connection")
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


class Killed(RedisCase):
    def setUp(self):
        self.server = Server(*DURABLE)
        self.addCleanup(self.server.close)
        super().setUp()

    def test_each_entry_counts_once(self):
        """And each window is in the target once."""
        ticks = Ticks(60_000)
        source, target = self.stream(), self.stream()
        self.fill(source, ticks)
        killed = self.killed(self.server.address(source, "until=end"), self.server.address(target),
                             KILLS, "--format", "json", "--disorder", "10s")
        self.assertEqual(self.bars(target), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"redis: {killed} kills")

    def test_an_entry_of_many_rows_is_passed_in_part(self):
        ticks = Ticks(400_000)
        stream = self.stream()
        lines = [self.json_of(tick) for tick in ticks.rows]
        self.client.ask_all([("XADD", stream, "*", "rows", "\n".join(lines[begin:begin + 20_000]))
                             for begin in range(0, len(lines), 20_000)])
        killed = self.killed(self.server.address(stream, "until=end&field=rows"), "out.csv", KILLS,
                             "--format", "json", "--disorder", "10s")
        self.assertEqual(self.rows(), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"redis: {killed} kills")

    @first
    def test_both_are_killed(self):
        """At random moments of a run: the program, the server while the program runs, or both."""
        ticks = Ticks(100_000)
        source, target = self.stream(), self.stream()
        self.fill(source, ticks)
        arguments = (self.server.address(source, "until=end"), self.server.address(target),
                     "--format", "json", "--snapshots", "state", "--snapshot-every", "20ms",
                     "--disorder", "1s")
        rows = len(ticks.expected())
        log = open(self.folder / "log", "a+", encoding="utf-8")
        self.addCleanup(log.close)
        run = self.begun(*arguments, stderr=log)
        for killed in range(KILLS):
            up_to = rows * (killed + self.random.random()) // (KILLS + 2)
            until(lambda: run.poll() is not None or self.client.ask("XLEN", target) >= up_to)
            victim = self.random.choice(("program", "server", "both"))
            if run.poll() is None and victim != "server":
                run.kill()
                run.wait()
            if victim != "program":
                self.server.kill()
                self.server.start()
                self.connect()
            if run.poll() is not None:
                if run.returncode == 0:
                    break
                self.check_is_killed(run, log)
                run = self.begun(*arguments, stderr=log)
        while run.wait(timeout=TIMEOUT_S) != 0:
            self.check_is_killed(run, log)
            run = self.begun(*arguments, stderr=log)
        self.assertEqual(self.bars(target), ticks.expected())

    def check_is_killed(self, run: subprocess.Popen, log) -> None:
        """Or has begun while the server was away."""
        log.seek(0)
        last = (log.readlines() or [""])[-1]
        self.assertTrue(run.returncode == -signal.SIGKILL or
                        (run.returncode == 1 and any(word in last for word in AWAY)), last)

    def test_a_stop_is_gone_on_with(self):
        """Entries that come while the program is away are read when it is back."""
        ticks = Ticks(3_000)
        stream = self.stream()
        options = ("--format", "json", "--snapshots", "state", "--snapshot-every", "50ms",
                   "--disorder", "end")
        for begin in (0, 1_000):
            run = self.begun(self.server.address(stream), "out.csv", *options, "--http",
                             "127.0.0.1:0")
            server = shown_at(run)
            self.fill(stream, ticks, begin, begin + 1_000)
            self.wait_for_rows(server, 1_000)
            self.stopped(run)
        self.fill(stream, ticks, 2_000)
        run = self.begun(self.server.address(stream), "out.csv", *options, "--drain", "--http",
                         "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), 1_000)
        self.stopped(run)
        self.assertEqual(self.rows(), ticks.expected())


class Servers(RedisCase):
    """Each with a server of its own, which is killed, or stands still."""

    def setUp(self):
        self.server = Server(*DURABLE)
        self.addCleanup(self.server.close)
        super().setUp()

    def test_one_that_is_killed_is_connected_to_again(self):
        ticks = Ticks(2_000)
        stream, target = self.stream(), self.stream()
        arguments = (self.server.address(stream), self.server.address(target), "--format", "json",
                     "--http", "127.0.0.1:0", "--snapshots", "state", "--disorder", "10s")
        run = self.begun(*arguments, "--snapshot-every", "50ms")
        server = shown_at(run)
        for begin in range(0, 2_000, 1_000):
            self.fill(stream, ticks, begin, begin + 1_000)
            if begin == 0:
                self.wait_for_rows(server, 1_000)
            self.server.kill()
            until(lambda: server.ask("/readyz")[0] == 503)
            self.assertIn("127.0.0.1", server.ask("/readyz")[1])
            self.server.start()
            self.connect()
            until(lambda: server.ask("/readyz")[0] == 200)
        self.wait_for_rows(server, 2_000)
        self.assertIn("connected again", self.stopped(run))
        run = self.begun(*arguments, "--drain")
        server = shown_at(run)
        until(lambda: server.ask("/readyz")[0] == 200)
        self.stopped(run)
        self.assertEqual(self.bars(target), ticks.expected())

    def test_without_snapshots_rows_are_sent_again(self):
        """Once each, and the run says so."""
        ticks = Ticks(30_000)
        target = self.stream()
        run = self.fed(ticks, 3, self.server.address(target), "--write", "live")
        for _ in range(3):
            rows = self.client.ask("XLEN", target)
            until(lambda: self.client.ask("XLEN", target) > rows + 20)
            self.server.kill()
            self.server.start()
            self.connect()
        text = self.ended(run)
        self.assertIn("the rows are sent once more", text)
        self.assertIn("connected again", text)
        self.assertEqual(self.bars(target), ticks.expected())

    def test_a_transaction_of_a_lost_connection_comes_late(self):
        """A proxy breaks the connection when it has the rows, and hands them on when the program
        has connected again: one of the two transactions is made."""
        ticks = Ticks(20_000)
        for options in (("--write", "live"), ("--snapshots", "state", "--snapshot-every", "20ms")):
            with self.subTest(options):
                target = self.stream()
                proxy = LateProxy(self.server.port)
                self.addCleanup(proxy.close)
                self.ended(self.fed(ticks, 2, f"redis://127.0.0.1:{proxy.port}/{target}", *options))
                self.assertGreater(proxy.late, 0)
                print(f"redis: {proxy.late} transactions came late")
                self.assertEqual(self.bars(target), ticks.expected())

    def check_end(self, to: str, most_s: float, *options: str) -> None:
        """Of a run whose server stands still."""
        ticks = Ticks(1_000)
        stream = self.stream()
        self.fill(stream, ticks)
        run = self.begun(self.server.address(stream), to, "--format", "json", "--http",
                         "127.0.0.1:0", *options)
        self.wait_for_rows(shown_at(run), 1_000)
        self.server.process.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        took = time.monotonic() - begin
        self.server.process.send_signal(signal.SIGCONT)
        print(f"redis: ended {took:.1f} s behind a stop: {text[-200:]!r}")
        self.assertLess(took, most_s)

    def test_an_input_that_stands_still_does_not_hold_up_the_end(self):
        self.check_end("out.csv", 5, "--snapshots", "state")

    @first
    def test_an_output_that_stands_still_does_not_hold_up_the_end(self):
        self.check_end(self.server.address(self.stream()), 15, "--snapshots", "state")

    @first
    def test_an_output_without_snapshots_holds_up_the_end_for_a_while(self):
        """Because its rows are nowhere else."""
        self.check_end(self.server.address(self.stream()), 40)

    @first
    def test_rows_of_one_that_stands_still_have_a_bound(self):
        """The graph is held back behind 64 MiB of rows that wait."""
        target = self.stream()
        run = subprocess.Popen(
            self.arguments("-", self.server.address(target), "--snapshots", "state", "--journal",
                           "journal", "--snapshot-every", "1s", "--http", "127.0.0.1:0"),
            cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.stdin.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        server = shown_at(run)
        until(lambda: self.client.ask("KEYS", "strid:*"))  # it has begun its epochs
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        written = self.feed(run, 300_000)
        peak = int(next(line for line in Path(f"/proc/{run.pid}/status").read_text().splitlines()
                        if line.startswith("VmHWM")).split()[1]) >> 10
        found = re.search(r"strid_connection_held_bytes\{.*redis.*\} (\d+)",
                          server.ask("/metrics")[1])
        held = int(found.group(1)) >> 20
        print(f"redis: {held} MiB wait, {peak} MiB in all, behind {written} rows")
        self.assertLess(written, 300_000)  # of about 3,000 bytes
        self.assertGreaterEqual(held, 64)
        self.assertLessEqual(held, 129)
        self.assertLess(peak, 1_500)

    @staticmethod
    def feed(run: subprocess.Popen, most: int) -> int:
        """Rows that are windows of their own, until the program takes none for three seconds."""
        os.set_blocking(run.stdin.fileno(), False)
        waiting = b"at,symbol,price\n"
        rows, symbol = 0, b"s" * 3_000
        while rows < most:
            if not waiting:
                waiting = b"".join(b"%d,%s,1\n" % (i * 1_000, symbol)
                                   for i in range(rows, rows + 100))
                rows += 100
            if not select.select([], [run.stdin.fileno()], [], 3)[1]:
                break
            waiting = waiting[os.write(run.stdin.fileno(), waiting):]
        return rows


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams of NATS JetStream as input and output of `strid window`, with a server of the test; the
oracle are the windows that transport_case.py computes.

    nats_test.py STRID [CLASS...]
"""

import json
import shutil
import signal
import subprocess
import time

from nats_case import NatsCase, Server
from transport_case import STRID, TIMEOUT_S, Ticks, first, main, shown_at, until

KILLS = 12


class Streams(NatsCase):
    def test_messages_by_wildcards(self):
        ticks = Ticks(6_000)
        stream = self.stream()
        self.fill(stream, ticks)
        self.assertEqual(self.read_json(self.source(stream, "until=end")), ticks.expected())
        self.assertEqual(self.read_json(self.source(stream, "until=end", ".*")), ticks.expected())
        one = [row for row in ticks.expected() if row[0] == "s3"]
        self.assertEqual(self.read_json(self.source(stream, "until=end", ".s3")), one)
        self.assertEqual(self.read_json(self.source(stream, "until=end", ".none")), [])

    def test_fields_about_a_message(self):
        """The subject and a header are columns; a malformed message is kept with its number."""
        ticks = Ticks(2_000)
        stream = self.stream()
        messages = [(f"{stream}.{symbol}", json.dumps({"at": at, "price": price}),
                     {"Place": symbol}) for at, symbol, price in ticks.rows]
        messages.insert(1_000, (f"{stream}.bad", '{"at":"never","price":1}'))
        messages.insert(1_500, (f"{stream}.empty", ""))
        self.client.publish(messages)
        source = self.source(stream, "until=end&with=subject,sequence,time,header.Place")
        rows = self.read_json(source, "--dead-letter", "bad.txt", key="@subject")
        self.assertEqual([(row[0].removeprefix(stream + "."), *row[1:]) for row in rows],
                         ticks.expected())
        letter = (self.folder / "bad.txt").read_text()
        self.assertRegex(letter, r'""@subject"":""s\d+\.bad"",""@sequence"":1001,'
                                 r'""@time"":\d{13},""@Place"":null}')
        self.assertEqual(self.read_json(source, "--dead-letter", "bad.txt", key="@Place"),
                         ticks.expected())

    def test_rows_of_csv(self):
        ticks = Ticks(500)
        stream = self.stream()
        self.client.publish([(f"{stream}.a", f"{at},{symbol},{price}")
                             for at, symbol, price in ticks.rows])
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", self.source(stream, "until=end"), "--output",
             "out.csv", "--no-header", "--key", "2", "--time", "1", "--unit", "ms", "--window",
             "tumbling:1s", "--aggregate", "count as n, sum(3) as total"],
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.rows(), ticks.expected())

    def test_where_it_starts(self):
        ticks = Ticks(300)
        stream = self.stream()
        self.fill(stream, ticks, 0, 100)
        while time.time() % 1 > 0.02:  # a fraction of a second that begins with a zero
            time.sleep(0.005)
        time.sleep(0.03)
        since = int(time.time() * 1000)
        time.sleep(0.05)
        self.fill(stream, ticks, 100)
        for start, first in (("earliest", 0), ("151", 150), (f"@{since}", 100), ("latest", 300),
                             (f"@{since + 3_600_000}", 300)):
            with self.subTest(start):
                rows = self.read_json(self.source(stream, f"until=end&start={start}"))
                self.assertEqual(sum(row[3] for row in rows), 300 - first)
                self.assertEqual(sum(row[4] for row in rows),
                                 sum(price for _, _, price in ticks.rows[first:]))

    def test_the_latest_are_waited_for(self):
        ticks = Ticks(400)
        stream = self.stream()
        self.fill(stream, ticks, 0, 200)
        run = self.begun(self.source(stream, "start=latest"), "out.csv", "--format", "json",
                         "--http", "127.0.0.1:0")
        server = shown_at(run)
        self.wait_for_consumer(stream)
        self.fill(stream, ticks, 200)
        self.wait_for_rows(server, 200)
        self.stopped(run)
        self.assertEqual(sum(row[3] for row in self.rows()), 200)



class Rows(NatsCase):
    """Written to streams."""

    def test_json_with_keys(self):
        ticks = Ticks(3_000)
        ticks.write_csv(self.folder / "ticks.csv")
        stream = self.stream()
        self.window("ticks.csv", self.server.address(stream, stream, "format=json&key=symbol"))
        found = []
        for subject, text in self.client.messages(stream):
            row = json.loads(text)
            self.assertEqual(subject, f"{stream}.{row['symbol']}")
            found.append((row["symbol"], row["window_start"], row["window_end"], row["n"],
                          row["total"]))
        self.assertEqual(sorted(found), ticks.expected())

    def test_keys_with_characters_that_subjects_do_not_have(self):
        keys = ["a b", "a.b", "*", ">", "50%", "", "Zürich", "tab\t"]
        (self.folder / "in.csv").write_text(
            "at,symbol,price\n" + "".join(f'{at},"{key}",1\n' for at, key in enumerate(keys)))
        stream = self.stream()
        self.window("in.csv", self.server.address(stream, stream, "format=json&key=symbol"))
        self.assertEqual(
            sorted(subject.removeprefix(stream + ".") for subject, _ in
                   self.client.messages(stream)),
            sorted(["a%20b", "a%2Eb", "%2A", "%3E", "50%25", "%", "Zürich", "tab%09"]))

    def test_an_old_copy_of_the_snapshots_is_refused(self):
        """Its rows would be cut into epochs in another way than those that are there."""
        ticks = Ticks(20_000)
        target = self.stream()
        run = self.fed(ticks, 4, self.server.address(target, target), "--snapshots", "state",
                       "--snapshot-every", "50ms")
        until(lambda: self.client.state(target)["messages"] > 20)
        run.kill()
        run.wait(timeout=TIMEOUT_S)
        run.stderr.close()
        for name in ("state", "journal"):
            shutil.copytree(self.folder / name, self.folder / "copy" / name,
                            ignore=shutil.ignore_patterns("lock", "requests"))
        found = []
        for place, status in (("", 0), ("copy/", 1)):
            done = subprocess.run(
                self.arguments("-", self.server.address(target, target), "--snapshots",
                               place + "state", "--journal", place + "journal"),
                cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, status, done.stderr)
            found.append(self.bars(target))
        self.assertIn("would be written twice", done.stderr)
        self.assertEqual(found[0], found[1])
        self.assertEqual(len({row[:2] for row in found[0]}), len(found[0]))

    def test_rows_wait_for_room(self):
        """A stream that refuses messages while it is full takes them when it is purged."""
        ticks = Ticks(2_000)
        ticks.write_csv(self.folder / "ticks.csv")
        stream = self.stream(max_msgs=10, discard="new")
        run = self.begun("ticks.csv", self.server.address(stream, stream), "--snapshots", "state")
        until(lambda: self.client.state(stream)["messages"] == 10)
        found = []
        while run.poll() is None:
            last = self.client.state(stream)["last_seq"]
            found += self.client.messages(stream)  # others may come until the purge
            self.client.api(f"STREAM.PURGE.{stream}", {"seq": last + 1})
            time.sleep(0.02)
        self.assertEqual(run.wait(), 0, run.stderr.read())
        found += self.client.messages(stream)
        rows = {tuple(text.split(",")) for _, text in found}
        self.assertEqual(sorted((row[0], *map(int, row[1:])) for row in rows), ticks.expected())


class Killed(NatsCase):
    def test_each_message_counts_once(self):
        """And each window is in the target once, within its duplicate window."""
        ticks = Ticks(120_000)
        source, target = self.stream(), self.stream()
        self.fill(source, ticks)
        killed = self.killed(self.source(source, "until=end"),
                             self.server.address(target, target), KILLS,
                             "--format", "json", "--disorder", "10s")
        self.assertEqual(self.bars(target), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"nats: {killed} kills")

    def test_each_window_is_there_once_beyond_the_duplicate_window(self):
        """The server forgets ids soon: those of the last epoch are read from the stream."""
        ticks = Ticks(120_000)
        source, target = self.stream(), self.stream(duplicate_window=100_000_000)
        self.fill(source, ticks)
        arguments = (self.source(source, "until=end"),
                     self.server.address(target, target, "key=symbol"), "--format", "json",
                     "--snapshots", "state", "--snapshot-every", "20ms", "--disorder", "1s")
        rows = len(ticks.expected())
        for killed in range(KILLS + 1):
            run = self.begun(*arguments, stderr=subprocess.DEVNULL)
            up_to = rows * (killed + self.random.random()) // (KILLS + 2)
            until(lambda: run.poll() is not None or (
                killed < KILLS and self.client.state(target)["messages"] >= up_to))
            if run.poll() == 0:
                break
            run.kill()
            self.assertEqual(run.wait(), -signal.SIGKILL)
            time.sleep(0.3)  # the duplicate window passes
        self.assertGreater(killed, KILLS // 2)
        self.assertEqual(self.bars(target), ticks.expected())

    def test_a_message_of_many_rows_is_passed_in_part(self):
        ticks = Ticks(1_000_000)
        stream = self.stream()
        lines = [f'{{"at":{at},"symbol":"{symbol}","price":{price}}}'
                 for at, symbol, price in ticks.rows]
        for begin in range(0, len(lines), 20_000):
            self.client.publish([(f"{stream}.many", "\n".join(lines[begin:begin + 20_000]))])
        killed = self.killed(self.source(stream, "until=end"), "out.csv", KILLS, "--format",
                             "json", "--disorder", "10s")
        self.assertEqual(self.rows(), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"nats: {killed} kills")

    def test_a_stop_is_gone_on_with(self):
        """Messages that come while the program is away are read when it is back."""
        ticks = Ticks(3_000)
        stream = self.stream()
        options = ("--format", "json", "--snapshots", "state", "--snapshot-every", "50ms",
                   "--disorder", "end")
        for begin in (0, 1_000):
            run = self.begun(self.source(stream), "out.csv", *options, "--http", "127.0.0.1:0")
            server = shown_at(run)
            self.fill(stream, ticks, begin, begin + 1_000)
            self.wait_for_rows(server, 1_000)
            self.stopped(run)
        self.fill(stream, ticks, 2_000)
        run = self.begun(self.source(stream), "out.csv", *options, "--drain", "--http",
                         "127.0.0.1:0")
        self.wait_for_rows(shown_at(run), 1_000)
        self.stopped(run)
        self.assertEqual(self.rows(), ticks.expected())


class Servers(NatsCase):
    """Each with a server of its own, which is killed, or stands still."""

    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        super().setUp()

    def test_one_that_is_killed_is_connected_to_again(self):
        ticks = Ticks(4_000)
        stream, target = self.stream(), self.stream()
        run = self.begun(self.source(stream), self.server.address(target, target), "--format",
                         "json", "--http", "127.0.0.1:0", "--snapshots", "state",
                         "--snapshot-every", "50ms", "--disorder", "10s")
        server = shown_at(run)
        for begin in range(0, 4_000, 1_000):
            self.fill(stream, ticks, begin, begin + 1_000)
            if begin % 2_000 == 0:
                self.wait_for_rows(server, begin + 1_000)
            self.server.kill()
            until(lambda: server.ask("/readyz")[0] == 503)
            self.assertIn("127.0.0.1", server.ask("/readyz")[1])
            self.server.start()
            self.connect()
            until(lambda: server.ask("/readyz")[0] == 200)
        self.wait_for_rows(server, 4_000)
        text = self.stopped(run)
        self.assertIn("connected again", text)
        run = self.begun(self.source(stream), self.server.address(target, target), "--format",
                         "json", "--snapshots", "state", "--disorder", "10s", "--drain",
                         "--http", "127.0.0.1:0")
        server = shown_at(run)
        until(lambda: server.ask("/readyz")[0] == 200)
        self.stopped(run)
        self.assertEqual(self.bars(target), ticks.expected())

    @first
    def test_both_are_killed(self):
        """At random moments of a run: the program, the server while the program runs, or both."""
        ticks = Ticks(150_000)
        stream, target = "ticks", self.stream()
        self.client.add_stream(stream, stream + ".>")
        self.fill(stream, ticks)
        arguments = (self.source(stream, "until=end"),
                     self.server.address(target, target, "key=symbol&format=csv"), "--format",
                     "json", "--snapshots", "state", "--snapshot-every", "20ms", "--disorder", "1s")
        rows = len(ticks.expected())
        log = open(self.folder / "log", "a+", encoding="utf-8")
        self.addCleanup(log.close)
        run = self.begun(*arguments, stderr=log)
        for killed in range(KILLS):
            up_to = rows * (killed + self.random.random()) // (KILLS + 2)
            until(lambda: run.poll() is not None
                  or self.client.state(target)["messages"] >= up_to)
            what = self.random.choice(("program", "server", "both"))
            if run.poll() is None and what != "server":
                run.kill()
                run.wait()
            if what != "program":
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
                        (run.returncode == 1 and "no server of NATS answers" in last), last)

    def test_without_snapshots_rows_are_sent_again(self):
        ticks = Ticks(30_000)
        target = self.stream()
        run = self.fed(ticks, 3, self.server.address(target, target))
        until(lambda: self.client.state(target)["messages"] > 100)
        self.server.kill()
        self.server.start()
        self.connect()
        self.ended(run)
        self.assertEqual(self.bars(target), ticks.expected())

    def check_end(self, to: str, most_s: float, *options: str) -> None:
        """Of a run whose server stands still."""
        ticks = Ticks(1_000)
        stream = self.stream()
        self.fill(stream, ticks)
        run = self.begun(self.source(stream), to, "--format", "json", "--http", "127.0.0.1:0",
                         *options)
        self.wait_for_rows(shown_at(run), 1_000)
        self.server.process.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        took = time.monotonic() - begin
        self.server.process.send_signal(signal.SIGCONT)
        print(f"nats: ended {took:.1f} s behind a stop: {text[-200:]!r}")
        self.assertLess(took, most_s)

    def test_an_input_that_stands_still_does_not_hold_up_the_end(self):
        self.check_end("out.csv", 5)

    def test_an_input_with_snapshots_that_stands_still_does_not_hold_up_the_end(self):
        self.check_end("out.csv", 5, "--snapshots", "state")

    @first
    def test_an_output_that_stands_still_does_not_hold_up_the_end(self):
        self.check_end(self.server.address("out", self.stream("out")), 15, "--snapshots", "state")

    @first
    def test_an_output_without_snapshots_holds_up_the_end_for_a_while(self):
        """Because its rows are nowhere else."""
        self.check_end(self.server.address("out", self.stream("out")), 30)


if __name__ == "__main__":
    main()

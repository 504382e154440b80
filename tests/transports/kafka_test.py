#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of a real Kafka broker as input and output of `strid window`. The broker is of the test;
the tools that fill and read topics are Kafka's, in Java, and the oracle are the windows that
transport_case.py computes.

    kafka_test.py STRID [CLASS...]

It is skipped where the jars are missing: scripts/install-dependencies --kafka brings them.
"""

import csv
import json
import shutil
import signal
import subprocess
import time

from kafka_case import KafkaCase
from transport_case import STRID, TIMEOUT_S, Ticks, main, shown_at, until


class Topics(KafkaCase):
    def test_from_topic_to_topic(self):
        ticks = Ticks(20_000)
        source, target = self.ticks_topic(ticks), self.topic("bars")
        # Partitions are read one behind the other where they are there at once.
        self.window(self.broker.address(source, "until=end"), self.broker.address(target),
                    "--disorder", "end")
        self.check_bars(target, ticks)

    def test_json_with_keys(self):
        ticks = Ticks(2_000)
        ticks.write_csv(self.folder / "ticks.csv")
        target = self.topic("bars")
        self.window("ticks.csv", self.broker.address(target, "format=json&key=symbol"))
        rows = [json.loads(line) for line in self.broker.committed(target)]
        self.assertEqual(
            sorted((row["symbol"], row["window_start"], row["window_end"], row["n"], row["total"])
                   for row in rows), ticks.expected())

    def test_fields_about_a_message(self):
        """The key is a column; a malformed message is kept with its partition and offset."""
        ticks = Ticks(3_000)
        topic = self.topic("keyed")
        messages = [(symbol, json.dumps({"at": at, "price": price}))
                    for at, symbol, price in ticks.rows]
        messages.insert(1_000, ("bad", '{"at":"never","price":1}'))
        self.broker.produce(topic, messages)
        source = self.broker.address(topic, "until=end&with=key,partition,offset,time")
        run = subprocess.run(
            self.arguments(source, "out.csv", "--disorder", "end", "--format", "json",
                           "--dead-letter", "bad.txt", key="@key"),
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [line.split(",") for line in
                (self.folder / "out.csv").read_text().splitlines()[1:]]
        self.assertEqual(sorted((row[0], *map(int, row[1:])) for row in rows), ticks.expected())
        letter = (self.folder / "bad.txt").read_text()
        fields = r'""@key"":""bad"",""@partition"":\d,""@offset"":\d+,""@time"":\d{13}}'
        self.assertRegex(letter, fields)

    def test_tombstones_and_headers(self):
        """Kafka's own consumer sees them, and so does an input."""
        rows = ["user,t,pages", "a,0,1", "a,20,2", '"b,c",45,0', "a,10,4", "a,100,0"]
        (self.folder / "visits.csv").write_text("\n".join(rows) + "\n")
        target = self.topic("sessions", 1)
        options = ("key=user,window_start&header=correction,user&tombstones=void&format=json")
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", "visits.csv", "--key", "user", "--time", "t",
             "--unit", "s", "--window", "session:10s", "--lateness", "60s", "--aggregate", "count",
             "--corrections", "--output", self.broker.address(target, options)],
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        shown = self.broker.tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer", "--topic", target,
            "--from-beginning", "--timeout-ms", "6000", "--max-messages", "7",
            *(f"--property=print.{what}=true" for what in ("headers", "key", "value")),
            "--property=key.separator=|", "--property=headers.separator=;",
            "--property=null.literal=NONE").splitlines()

        def line(user: str, key: str, begin: int, end: int, word: str, count: int) -> str:
            value = f'{{"window_start":{begin},"window_end":{end},"count":{count}}}'
            return (f"correction:{word};user:{user}|{key},{begin}|"
                    + ("NONE" if word == "void" else value))

        self.assertEqual(sorted(shown), sorted([
            line("a", "a", 0, 10, "first", 1), line("a", "a", 20, 30, "first", 1),
            line("a", "a", 0, 10, "void", 1), line("a", "a", 20, 30, "void", 1),
            line("a", "a", 0, 30, "again", 3), line("b,c", '"b,c"', 45, 55, "first", 1),
            line("a", "a", 100, 110, "first", 1)]))
        read = subprocess.run(
            [STRID, "window", "--quiet", "--input",
             self.broker.address(target, "until=end&tombstones=rows&with=key,header.correction"),
             "--format", "json", "--key", "@key,@correction", "--window", "count:1",
             "--aggregate", "count,sum(count) as n"],
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(read.returncode, 0, read.stderr)
        rows = csv.DictReader(read.stdout.splitlines())
        self.assertCountEqual(
            [(row["@key"], row["@correction"], row["n"]) for row in rows],
            [("a,0", "first", "1"), ("a,20", "first", "1"), ("a,0", "void", ""),
             ("a,20", "void", ""), ("a,0", "again", "3"), ('"b,c",45', "first", "1"),
             ("a,100", "first", "1")])

    def test_from_a_time_on_and_the_latest(self):
        topic = self.topic("times", 1)
        self.broker.produce(topic, [("a", '{"at":1,"symbol":"old","price":1}')])
        time.sleep(0.1)
        since = int(time.time() * 1000)
        time.sleep(0.1)
        self.broker.produce(topic, [("a", '{"at":2,"symbol":"new","price":1}')])
        self.window(self.broker.address(topic, f"start=@{since}&until=end"), "out.csv")
        self.assertEqual((self.folder / "out.csv").read_text().splitlines()[1:],
                         ["new,0,1000,1,1"])
        run = subprocess.Popen(
            self.arguments(self.broker.address(topic, "start=latest"), "live.csv"),
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        self.broker.produce(topic, [("a", '{"at":3,"symbol":"newest","price":1}')])
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 128 + signal.SIGINT, text)
        self.assertEqual((self.folder / "live.csv").read_text().splitlines()[1:],
                         ["newest,0,1000,1,1"])


class Killed(KafkaCase):
    def test_each_window_is_there_once(self):
        ticks = Ticks(300_000)
        source, target = self.ticks_topic(ticks), self.topic("bars")
        killed = self.killed(self.broker.address(source, "until=end"),
                             self.broker.address(target), 8, "--disorder", "end")
        self.check_bars(target, ticks)
        self.assertGreater(killed, 0)
        print(f"kafka: {killed} kills")

    def test_the_broker_is_killed(self):
        ticks = Ticks(60_000)
        target = self.topic("bars")
        run = self.fed(ticks, 6, self.broker.address(target), "--snapshots", "state",
                       "--snapshot-every", "50ms")
        time.sleep(2)
        self.broker.kill()
        time.sleep(1)
        self.broker.start()
        self.ended(run)
        self.check_bars(target, ticks)

    def test_a_broker_that_is_away_is_seen(self):
        """On both sides, by /readyz and the figures; also where nothing is to be read."""
        source, target = self.topic("quiet"), self.topic("bars")
        run = subprocess.Popen(
            self.arguments(self.broker.address(source), self.broker.address(target), "--http",
                           "127.0.0.1:0", "--format", "json", "--snapshots", "state"),
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        server = shown_at(run)
        until(lambda: server.ask("/readyz")[0] == 200)
        self.broker.kill()
        until(lambda: server.ask("/readyz")[0] == 503)
        self.assertRegex(server.ask("/metrics")[1], r"strid_connection_up\{.*quiet.*\} 0\n")
        self.broker.start()
        until(lambda: server.ask("/readyz")[0] == 200)
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, text)
        self.assertIn("connected again", text)

    def test_a_second_process_is_fenced(self):
        """The first one, which does not hear of it, writes no more."""
        ticks = Ticks(20_000)
        topic = self.topic("bars")
        target = self.broker.address(topic)
        first = self.fed(ticks, 4, target, "--snapshots", "state", "--snapshot-every", "100ms")
        time.sleep(2)
        first.send_signal(signal.SIGSTOP)
        for name in ("state", "journal"):
            shutil.copytree(self.folder / name, self.folder / "copy" / name,
                            ignore=shutil.ignore_patterns("lock", "requests"))
        second = subprocess.run(
            self.arguments("-", target, "--snapshots", "copy/state", "--journal", "copy/journal"),
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=TIMEOUT_S)
        self.assertEqual(second.returncode, 0, second.stderr)
        written = self.broker.committed(topic)
        first.send_signal(signal.SIGCONT)
        self.assertIn("another process writes this stream", self.ended(first, 1))
        self.assertEqual(self.broker.committed(topic), written)


class Faults(KafkaCase):
    def test_are_one_sentence(self):
        topic = self.topic("faults", 1)
        self.broker.produce(topic, [("a", "this is no JSON"),
                                    ("a", '{"at":1,"symbol":"a","price":1}')])
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        for source, target, reason in (
            (self.broker.address("none"), "out.csv", "Unknown topic or partition"),
            ("in.csv", self.broker.address("none"), "Unknown topic or partition"),
            ("kafka://127.0.0.1:1/topic", "out.csv", "no broker answers"),
            (self.broker.address(topic, "until=end&partition=3"), "out.csv",
             "there is no partition 3"),
            (self.broker.address(topic, "until=end"), "out.csv", "not a JSON object"),
            ("in.csv", self.broker.address(topic, "key=oops"), "there is no column 'oops'"),
        ):
            with self.subTest(source + target):
                run = subprocess.run(self.arguments(source, target, "--format", "json")
                                     if target == "out.csv" else self.arguments(source, target),
                                     cwd=self.folder, capture_output=True, text=True,
                                     timeout=TIMEOUT_S)
                self.assertIn(run.returncode, (1, 2), run.stderr)
                self.assertIn(reason, run.stderr)
        self.window(self.broker.address(topic, "until=end"), "out.csv", "--format", "json",
                    "--dead-letter", "dead.csv")
        self.assertIn("this is no JSON", (self.folder / "dead.csv").read_text())


if __name__ == "__main__":
    main()

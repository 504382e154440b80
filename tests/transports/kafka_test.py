#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of a real Kafka broker as input and output of `strid window`. The broker is of the test;
the tools that fill and read topics are Kafka's, in Java, and the oracle are the windows that
transport_case.py computes.

    kafka_test.py STRID [CLASS...]

It is skipped where the jars are missing: scripts/install-dependencies --kafka brings them.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from transport_case import (SYMBOLS, TIMEOUT_S, Ticks, TransportCase, free_port, main,
                            shown_at, until)

JARS = Path(os.environ.get("STRID_KAFKA_JARS",
                           Path(__file__).resolve().parents[2] / "build/peers/kafka"))
PARTITIONS = 4


class Broker:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        self.port, controller = free_port(), free_port()
        self.servers = f"127.0.0.1:{self.port}"
        (self.folder / "server.properties").write_text(f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://{self.servers},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://{self.servers}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={self.folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
offsets.topic.num.partitions=4
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
""")
        subprocess.run(self.java("-Xmx128m", "kafka.tools.StorageTool", "format", "-t",
                                 "MkU3OEVBNTcwNTJENDM2Qk", "-c",
                                 str(self.folder / "server.properties")),
                       capture_output=True, check=True, timeout=TIMEOUT_S)
        self.start()

    @staticmethod
    def java(memory: str, name: str, *arguments: str) -> list[str]:
        return ["java", memory, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{JARS}/*", name,
                *arguments]

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                self.java("-Xmx512m", "kafka.Kafka", str(self.folder / "server.properties")),
                stdout=log, stderr=log)
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.1)
        raise AssertionError("the broker does not begin")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def tool(self, name: str, *arguments: str, text: str = "") -> str:
        run = subprocess.run(
            self.java("-Xmx256m", name, "--bootstrap-server", self.servers, *arguments),
            input=text, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert run.returncode == 0, run.stderr[-3000:]
        return run.stdout

    def create(self, topic: str, partitions: int = PARTITIONS) -> None:
        self.tool("org.apache.kafka.tools.TopicCommand", "--create", "--topic", topic,
                  "--partitions", str(partitions))

    def produce(self, topic: str, messages: list[tuple[str, str]]) -> None:
        """Keys and values."""
        self.tool("org.apache.kafka.tools.ConsoleProducer", "--topic", topic,
                  "--property", "parse.key=true",
                  text="".join(f"{key}\t{value}\n" for key, value in messages))

    def committed(self, topic: str) -> list[str]:
        return self.tool("org.apache.kafka.tools.consumer.ConsoleConsumer", "--topic", topic,
                         "--from-beginning", "--isolation-level", "read_committed",
                         "--timeout-ms", "6000").splitlines()

    def address(self, topic: str, options: str = "") -> str:
        return f"kafka://{self.servers}/{topic}?{options}"


class KafkaCase(TransportCase):
    broker = None
    topics = 0

    @classmethod
    def setUpClass(cls):
        if not shutil.which("java") or not list(JARS.glob("kafka_*.jar")):
            raise unittest.SkipTest("no Java, or no jars of Kafka")
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.close)

    def topic(self, name: str, partitions: int = PARTITIONS) -> str:
        KafkaCase.topics += 1
        topic = f"{name}-{KafkaCase.topics}"
        self.broker.create(topic, partitions)
        return topic

    def ticks_topic(self, ticks: Ticks) -> str:
        topic = self.topic("ticks")
        self.broker.produce(topic, [(symbol, json.dumps({"at": at, "symbol": symbol,
                                                         "price": price}))
                                    for at, symbol, price in ticks.rows])
        return topic

    def check_bars(self, topic: str, ticks: Ticks) -> None:
        rows = []
        for line in self.broker.committed(topic):
            symbol, *numbers = line.split(",")
            rows.append((symbol, *map(int, numbers)))
        self.assertEqual(sorted(rows), ticks.expected())


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

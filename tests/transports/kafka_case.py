# SPDX-License-Identifier: Apache-2.0
"""A Kafka broker of a class of tests, which fill and read topics by Kafka's own tools, in Java."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from transport_case import TIMEOUT_S, ServerProcess, Ticks, TransportCase, free_port

JARS = Path(os.environ.get("STRID_KAFKA_JARS",
                           Path(__file__).resolve().parents[2] / "build/peers/kafka"))
PARTITIONS = 4


class Broker(ServerProcess):
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
group.min.session.timeout.ms=1000
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

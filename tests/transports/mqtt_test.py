#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of MQTT as input and output of `strid window`, with a Mosquitto broker of the test, whose
clients fill and read topics.

    mqtt_test.py STRID [CLASS...]
"""

import json
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from transport_case import (TIMEOUT_S, Ticks, TransportCase, free_port, first, main, shown_at,
                            until)

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")


class Broker:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        self.port = free_port()
        (self.folder / "passwords").write_text("")
        (self.folder / "conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
            f"persistence true\npersistence_location {self.folder}/\nuser root\n")
        self.start()

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([MOSQUITTO, "-v", "-c", str(self.folder / "conf")],
                                            stdout=log, stderr=log)
        for _ in range(200):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def count(self, event: str) -> int:
        return (self.folder / "log").read_text(errors="replace").count(event)

    def wait_for(self, event: str, count: int) -> None:
        """Until the log has the event so often."""
        for _ in range(1200):
            if self.count(event) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.count(event)} of {count}: {event}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def address(self, topic: str, options: str = "") -> str:
        return f"mqtt://127.0.0.1:{self.port}/{topic}?{options}"

    def publish(self, topic: str, lines: list[str]) -> None:
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", topic, "-l"],
                       input="".join(line + "\n" for line in lines), text=True, check=True,
                       timeout=TIMEOUT_S)

    def subscribe(self, topic: str, count: int) -> subprocess.Popen:
        before = self.count("Sending SUBACK")
        reader = subprocess.Popen(["mosquitto_sub", "-p", str(self.port), "-q", "1", "-v", "-t",
                                   topic, "-C", str(count), "-W", "60"],
                                  stdout=subprocess.PIPE, text=True)
        self.wait_for("Sending SUBACK", before + 1)
        return reader


class MqttCase(TransportCase):
    each_apart = True

    @classmethod
    def setUpClass(cls):
        if not MOSQUITTO or not shutil.which("mosquitto_pub"):
            raise unittest.SkipTest("Mosquitto is not installed")
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.close)

    def live(self, source: str, *options: str, key="symbol") -> subprocess.Popen:
        """A run that has subscribed."""
        before = self.broker.count("Sending SUBACK")
        run = subprocess.Popen(
            self.arguments(source, "out.csv", "--format", "json", *options, key=key),
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.broker.wait_for("Sending SUBACK", before + 1)
        return run

    def stopped(self, run: subprocess.Popen, messages: int = 0) -> None:
        """Stops a run when it has had so many messages since the broker began."""
        self.broker.wait_for("Received PUBACK from", messages)
        time.sleep(0.2)
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, text)

    def rows(self) -> list[tuple]:
        lines = [line.split(",") for line in
                 (self.folder / "out.csv").read_text().splitlines()[1:]]
        return sorted((line[0], *map(int, line[1:])) for line in lines)

    @staticmethod
    def messages(ticks: Ticks) -> list[str]:
        return [json.dumps({"at": at, "symbol": symbol, "price": price})
                for at, symbol, price in ticks.rows]


class Topics(MqttCase):
    def test_messages_of_all_topics_of_a_filter(self):
        ticks = Ticks(6_000)
        run = self.live(self.broker.address("plant/%23"), "--disorder", "end")
        messages = self.messages(ticks)
        before = self.broker.count("Received PUBACK from")
        self.broker.publish("plant/a", messages[::2])
        self.broker.publish("plant/b/c", messages[1::2])
        self.stopped(run, before + len(messages))
        self.assertEqual(self.rows(), ticks.expected())

    def test_the_topic_is_a_column(self):
        ticks = Ticks(2_000)
        run = self.live(self.broker.address("by/%2B", "with=topic"), "--disorder", "end",
                        key="@topic")
        before = self.broker.count("Received PUBACK from")
        for symbol in sorted({symbol for _, symbol, _ in ticks.rows}):
            self.broker.publish("by/" + symbol, [
                json.dumps({"at": at, "price": price})
                for at, of, price in ticks.rows if of == symbol])
        self.stopped(run, before + len(ticks.rows))
        self.assertEqual([(row[0].removeprefix("by/"), *row[1:]) for row in self.rows()],
                         ticks.expected())

    def test_rows_are_messages(self):
        ticks = Ticks(3_000)
        ticks.write_csv(self.folder / "ticks.csv")
        expected = ticks.expected()
        reader = self.broker.subscribe("bars/#", len(expected))
        self.window("ticks.csv", self.broker.address("bars", "format=json&key=symbol"))
        text, _ = reader.communicate(timeout=TIMEOUT_S)
        found = []
        for line in text.splitlines():
            topic, message = line.split(" ", 1)
            row = json.loads(message)
            self.assertEqual(topic, "bars/" + row["symbol"])
            found.append((row["symbol"], row["window_start"], row["window_end"], row["n"],
                          row["total"]))
        self.assertEqual(sorted(found), expected)

    @first
    def test_a_session_and_a_journal_lose_nothing(self):
        """The program is stopped, and killed behind all that it was sent."""
        ticks = Ticks(6_000)
        messages = self.messages(ticks)
        source = self.broker.address("session", "client=test")
        options = ["--disorder", "end", "--snapshots", "state", "--snapshot-every", "50ms",
                   "--journal", "journal"]
        before = self.broker.count("Received PUBACK from")
        self.stopped(self.live(source, *options))
        self.broker.publish("session", messages[:2000])  # while it is away
        run = self.live(source, *options)
        self.broker.wait_for("Received PUBACK from", before + 2000)
        time.sleep(0.5)  # until the journal has them
        run.kill()
        run.communicate()
        self.broker.publish("session", messages[2000:4000])
        run = self.live(source, *options)
        self.broker.publish("session", messages[4000:])
        self.stopped(run, before + len(messages))
        final = self.live(source, *options, "--drain")
        self.stopped(final)
        self.assertEqual(self.rows(), ticks.expected())

    def test_a_broker_that_is_stopped_is_connected_to_again(self):
        """It sends what is not acknowledged once more, so that rows may be there twice."""
        ticks = Ticks(2_000)
        messages = self.messages(ticks)
        run = self.live(self.broker.address("away", "client=away"), "--disorder", "end")
        before = self.broker.count("Received PUBACK from")
        self.broker.publish("away", messages[:1000])
        self.broker.wait_for("Received PUBACK from", before + 1000)
        self.broker.stop()
        self.broker.start()
        self.broker.publish("away", messages[1000:])
        self.stopped(run, before + len(messages))
        found = {row[:3]: row[3] for row in self.rows()}
        for symbol, begin, end, count, _ in ticks.expected():
            self.assertGreaterEqual(found[symbol, begin, end], count)

    def test_a_broker_that_is_away_is_seen(self):
        """By /readyz, the figures and a warning; and that it is back, too, though nothing comes."""
        run = self.live(self.broker.address("seen"), "--http", "127.0.0.1:0")
        server = shown_at(run)
        self.assertEqual(server.ask("/readyz"), (200, "ready\n"))
        self.broker.stop()
        until(lambda: server.ask("/readyz")[0] == 503)
        self.assertIn("not reached for", server.ask("/readyz")[1])
        self.assertIn("127.0.0.1", server.ask("/readyz")[1])
        self.assertRegex(server.ask("/metrics")[1], r"strid_connection_up\{.*seen.*\} 0\n")
        self.broker.start()
        until(lambda: server.ask("/readyz")[0] == 200)
        self.assertRegex(server.ask("/metrics")[1],
                         r"strid_connection_losses_total\{.*seen.*\} 1\n")
        run.send_signal(signal.SIGTERM)
        _, text = run.communicate(timeout=TIMEOUT_S)
        self.assertIn("it is connected to once more", text)
        self.assertIn("connected again", text)

    def test_faults_are_one_sentence(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        for source, target, reason in (
            ("mqtt://127.0.0.1:1/a", "out.csv", "Connection refused"),
            ("mqtt://127.0.0.1", "out.csv", "mqtt://HOST:PORT/TOPIC"),
            ("mqtt://127.0.0.1:x/a", "out.csv", "a number from 1 to 65535"),
            (self.broker.address("a", "qos=3"), "out.csv", "qos is 0, 1 or 2"),
            (self.broker.address("a", "quality=1"), "out.csv", "there is no option 'quality'"),
            ("in.csv", self.broker.address("a/%23"), "wildcards are for inputs"),
            ("in.csv", self.broker.address("a", "cafile=/none"), "/none"),
        ):
            with self.subTest(source + target):
                run = subprocess.run(self.arguments(source, target), cwd=self.folder,
                                     capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertIn(run.returncode, (1, 2), run.stderr)
                self.assertIn(reason, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of `strid window` that share a topic of a real Kafka broker as a consumer group.

    kafka_groups_test.py STRID [CLASS...]

It is skipped where the jars are missing: scripts/install-dependencies --kafka brings them.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import unittest
from collections import Counter

from kafka_case import PARTITIONS, KafkaCase
from transport_case import STRID, TIMEOUT_S, main, until


class Member:
    """A process of a group that writes the id of each message, its own key, and its partition."""

    def __init__(self, case: KafkaCase, name: str, address: str, *options: str, out=None):
        self.case, self.out = case, case.folder / f"{name}.csv"
        with open(self.out, "wb") as file:
            self.process = subprocess.Popen(
                [STRID, "window", "--quiet", "--input", address, "--format", "json",
                 "--key", "id,@partition", "--aggregate", "count", *options],
                cwd=case.folder, stdout=out or file, stderr=subprocess.PIPE, text=True)
        case.addCleanup(self.process.stderr.close)
        if out:
            case.addCleanup(self.process.stdout.close)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)

    def rows(self) -> list[tuple[int, int]]:
        """Ids and partitions; a line that is not written whole does not count."""
        return [tuple(map(int, line.split(",")[:2]))
                for line in self.out.read_text().split("\n")[1:-1]]

    def take_output(self, most: int) -> None:
        """Of a pipe: what has come, up to so many bytes."""
        pipe = self.process.stdout.fileno()
        os.set_blocking(pipe, False)
        with open(self.out, "ab") as file, contextlib.suppress(BlockingIOError):
            file.write(os.read(pipe, most))

    def ids(self) -> list[int]:
        return [one for one, _ in self.rows()]

    def partitions(self) -> set[int]:
        return {partition for _, partition in self.rows()}

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.case.assertEqual(self.process.wait(timeout=TIMEOUT_S), 128 + signal.SIGINT,
                              self.process.stderr.read())


class Feed:
    """Messages with ids from 0 on, one every few milliseconds, spread over the partitions."""

    def __init__(self, case: KafkaCase, topic: str):
        self.kcat = subprocess.Popen(
            ["kcat", "-P", "-b", case.broker.servers, "-t", topic, "-X", "linger.ms=1"],
            stdin=subprocess.PIPE, text=True)
        self.count, self.ends = 0, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        case.addCleanup(self.end)

    def run(self) -> None:
        while not self.ends.wait(0.002):
            self.kcat.stdin.write(json.dumps({"id": self.count, "at": int(time.time() * 1000)})
                                  + "\n")
            self.kcat.stdin.flush()
            self.count += 1

    def end(self) -> int:
        """Returns how many there are, when the broker has them."""
        self.ends.set()
        self.thread.join()
        if not self.kcat.stdin.closed:
            self.kcat.stdin.close()
        assert self.kcat.wait(timeout=TIMEOUT_S) == 0
        return self.count


class Groups(KafkaCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("kcat"):
            raise unittest.SkipTest("no kcat")
        super().setUpClass()

    def address(self, topic: str, options: str) -> str:
        return self.broker.address(topic, "with=partition&" + options)

    def test_members_come_and_go(self):
        """Where none is killed each message is read once, and is in a window or late; and a run
        behind a clean stop begins behind it."""
        topic = self.topic("shared")
        address = self.address(topic, "group=windows&settle=200ms&heartbeat.interval.ms=300")

        def windows(name: str) -> Member:
            return Member(self, name, address, "--time", "at", "--unit", "ms", "--window",
                          "tumbling:100ms", "--disorder", "50ms", "--late", f"{name}.late")

        def late_ids(member: Member) -> list[int]:
            path = member.out.with_suffix(".late")
            return [json.loads(line)["id"] for line in path.read_text().splitlines()]

        feed = Feed(self, topic)
        first = windows("first")
        until(lambda: len(first.partitions()) == PARTITIONS)
        second = windows("second")
        until(lambda: len(second.partitions()) == PARTITIONS / 2)
        second.stop()
        left = feed.count
        until(lambda: {partition for one, partition in first.rows() if one > left}
              == set(range(PARTITIONS)))
        first.stop()
        time.sleep(0.1)  # some more for the third one
        count = feed.end()
        read = Counter(one for member in (first, second)
                       for one in member.ids() + late_ids(member))
        # There is no partition without an offset any more, of which `start` is.
        third = Member(self, "third", address + "&start=latest", "--window", "count:1")
        until(lambda: len(read) + len(third.ids()) >= count)
        third.stop()
        read.update(third.ids())
        self.assertEqual(read, Counter(range(count)))

    def test_one_is_killed(self):
        """Each message is read at least once, by those that are left, also where the output is slow
        and the graph is full of rows."""
        topic = self.topic("killed")
        address = self.address(topic, "group=killed&settle=500ms&session.timeout.ms=3000"
                                      "&heartbeat.interval.ms=500")
        killed = Member(self, "killed", address, "--window", "count:1", out=subprocess.PIPE)
        left = Member(self, "left", address, "--window", "count:1")
        few = 0
        while not (left.ids() and killed.partitions()):
            few += 8
            self.broker.produce(topic, [(str(i), json.dumps({"id": i}))
                                        for i in range(few - 8, few)])
            killed.take_output(1_000)
        count = few + 200_000
        many = threading.Thread(target=self.broker.produce, args=(
            topic, [(str(i), json.dumps({"id": i})) for i in range(few, count)]))
        many.start()
        self.addCleanup(many.join)
        while killed.out.stat().st_size < 300_000:
            killed.take_output(5_000)
            time.sleep(0.05)
        killed.process.kill()
        killed.take_output(1 << 20)  # of the pipe
        many.join()
        until(lambda: len(set(killed.ids()) | set(left.ids())) == count)
        self.assertEqual(left.partitions(), set(range(PARTITIONS)))
        left.stop()
        again = len(killed.ids()) + len(left.ids()) - count
        print(f"kafka: killed behind {len(killed.ids())} messages, {again} came again")

    def test_members_of_another_protocol(self):
        topic = self.topic("ranges")
        with subprocess.Popen(["kcat", "-b", self.broker.servers, "-G", "ranges", topic],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as other:
            self.addCleanup(other.kill)
            until(lambda: "assigned" in other.stderr.readline())
            self.assertIn("the group 'ranges' has members that share out partitions in another "
                          "way: all of them need partition.assignment.strategy=cooperative-sticky",
                          self.refused(self.broker.address(topic, "group=ranges")))
            other.kill()

    def test_snapshots_are_refused(self):
        self.assertIn("group= is for runs without snapshots",
                      self.refused(self.broker.address(self.topic("faults"), "group=a"),
                                   "--snapshots", "state"))

    def refused(self, source: str, *options: str) -> str:
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", source, "--format", "json", "--key", "id",
             "--window", "count:1", "--aggregate", "count", *options],
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr


if __name__ == "__main__":
    main()

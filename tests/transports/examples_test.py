#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the worked examples of the book (docs/worked-examples.md) and those on pages of transports
against servers of the test, and compares what they print with what the page says. An example whose
server is missing is skipped.

    examples_test.py STRID

A block of sh is an example where `<!-- servers: NAMES -->` stands above it; the block below
`<!-- printed -->` is what it prints. A name with an underscore is that of a program of
the page, which the build has made. The addresses in it are those of the servers' own defaults.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

import kafka_test
import mqtt_test
import postgres_test
import redis_case
from transport_case import STRID, TIMEOUT_S, TransportCase, free_port, main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "worked-examples.md", DOCS / "redis.md")
EXAMPLE = re.compile(r"^## (.*?)\n.*?<!-- servers: ([a-z_ ]+) -->\n```sh\n(.*?)^```\n\n"
                     r"<!-- printed -->\n```\n(.*?)^```\n", re.S | re.M)
PROGRAMS = Path(STRID).parents[1] / "tests/examples"
TOPICS = ("trades", "rows")
CASES = {"kafka": kafka_test.KafkaCase, "postgres": postgres_test.PostgresCase,
         "mqtt": mqtt_test.MqttCase, "redis": redis_case.RedisCase}


def end_session(run: subprocess.Popen) -> None:
    """With what the script has left in the background."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


class WorkedExamples(TransportCase):
    def environment(self, servers: list[str]) -> dict[str, str]:
        """Starts the servers; where libpq and `strid` are found."""
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "strid").symlink_to(STRID)
        for name in (name for name in servers if "_" in name):
            program = PROGRAMS / f"example_{name}"
            if not program.exists():
                raise unittest.SkipTest(f"{name} is not built")
            (tools / name).symlink_to(program)
        found = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
        self.ports = {}
        if "kafka" in servers and not shutil.which("kcat"):
            raise unittest.SkipTest("kcat is not installed")
        if "parquet" in servers and not (Path(STRID).parent / "strid-parquet.so").exists():
            raise unittest.SkipTest("strid is built without Parquet")
        if "http" in servers:  # ours
            for port in (8088, 8089):
                self.ports[f":{port}"] = f":{free_port()}"
        for name in CASES.keys() & servers:
            CASES[name].setUpClass()
            self.addCleanup(CASES[name].doClassCleanups)
        if "kafka" in servers:
            broker = kafka_test.KafkaCase.broker
            self.ports["127.0.0.1:9092"] = broker.servers
            for topic in TOPICS:
                broker.create(topic, 1)
        if "mqtt" in servers:
            port = str(mqtt_test.MqttCase.broker.port)
            self.ports |= {"127.0.0.1:1883": f"127.0.0.1:{port}", "-p 1883": f"-p {port}"}
        if "redis" in servers:
            port = str(redis_case.RedisCase.server.port)
            self.ports |= {"127.0.0.1:6379": f"127.0.0.1:{port}", "-p 6379": f"-p {port}"}
        if "postgres" in servers:
            server = postgres_test.PostgresCase.server
            server.sql("create database shop")
            found |= {"PGHOST": str(server.data), "PGUSER": "postgres"}
        return found

    def test_print_what_the_page_says(self):
        examples = []
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            found = EXAMPLE.findall(text)
            self.assertEqual(len(found), text.count("<!-- servers:"))
            examples += found
        ran = 0
        for title, servers, script, printed in examples:
            with self.subTest(title):
                self.doCleanups()
                self.setUp()
                try:
                    environment = self.environment(servers.split())
                except unittest.SkipTest as reason:
                    print(f"{title}: skipped: {reason}")
                    continue
                for default, own in self.ports.items():
                    script = script.replace(default, own)
                run = subprocess.Popen(["bash", "-euc", script], cwd=self.folder,
                                       env=environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True)
                self.addCleanup(end_session, run)
                out, errors = run.communicate(timeout=TIMEOUT_S)
                self.assertEqual(out, printed, errors)
                self.assertEqual(run.returncode, 0, errors)
                ran += 1
        if ran == 0:
            self.skipTest("no server is installed")


if __name__ == "__main__":
    main()

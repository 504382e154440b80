#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every pair of a source and a target: files, SQLite, PostgreSQL and Kafka. The program is killed
at random moments, and before some of its kills the server that it reads or writes; the rows are
those that transport_case.py computes, each once.

    pairs_test.py STRID

It is skipped where a server is missing, as the tests of each are.
"""

import json
import random
import signal
import sqlite3
import subprocess
import time

import kafka_test
import postgres_test
from transport_case import SEED, TIMEOUT_S, Ticks, main

KILLS = 8
COLUMNS = "(symbol text, window_start bigint, window_end bigint, n bigint, total bigint)"
# A start that finds no server is an error, and is tried again.
AWAY = ("onnection", "no broker answers", "starting up", "shutting down", "terminat", "recovery")


class Pairs(kafka_test.KafkaCase, postgres_test.PostgresCase):
    @classmethod
    def setUpClass(cls):
        kafka_test.KafkaCase.setUpClass.__func__(cls)
        postgres_test.PostgresCase.setUpClass.__func__(cls)

    def sources(self, ticks: Ticks) -> dict[str, str]:
        self.insert(ticks)  # into PostgreSQL, by ticks.csv
        topic = self.topic("ticks")
        self.broker.produce(topic, [(symbol, json.dumps({"at": at, "symbol": symbol,
                                                         "price": price}))
                                    for at, symbol, price in ticks.rows])
        base = sqlite3.connect(self.folder / "ticks.db", isolation_level=None)
        base.execute("create table ticks (at integer, symbol text, price integer)")
        base.execute("begin")
        base.executemany("insert into ticks values (?, ?, ?)", ticks.rows)
        base.execute("commit")
        base.close()
        return {"file": str(self.folder / "ticks.csv"),
                "sqlite": f"sqlite:{self.folder}/ticks.db?table=ticks",
                "postgres": self.server.address("table=ticks"),
                "kafka": self.broker.address(topic, "until=end")}

    def target(self, source: str, kind: str):
        """Its address, and a function that gives its rows."""
        def numbers(lines):
            return sorted((line[0], *map(int, line[1:])) for line in lines)

        if kind == "file":
            path = self.folder / f"{source}.csv"
            return str(path), lambda: numbers(
                line.split(",") for line in path.read_text().splitlines()[1:])
        if kind == "sqlite":
            path = self.folder / f"{source}.db"
            base = sqlite3.connect(path, isolation_level=None, timeout=TIMEOUT_S)
            self.addCleanup(base.close)
            base.execute("create table bars " + COLUMNS)
            return f"sqlite:{path}?table=bars", lambda: sorted(
                base.execute("select * from bars").fetchall())
        if kind == "postgres":
            self.server.sql(f"create table bars_{source} " + COLUMNS)
            return self.server.address(f"table=bars_{source}"), lambda: numbers(
                self.server.sql(f"table bars_{source}"))
        topic = self.topic("bars")
        return self.broker.address(topic), lambda: numbers(
            line.split(",") for line in self.broker.committed(topic))

    def kill(self, run: subprocess.Popen, pair: tuple[str, str], rng: random.Random) -> None:
        time.sleep(rng.uniform(0.02, 0.25))
        if "postgres" in pair and rng.random() < 0.3:
            self.server.stop("immediate")
            self.server.start()
        if "kafka" in pair and rng.random() < 0.05:
            self.broker.kill()
            self.broker.start()
        run.kill()

    def run_killed(self, pair: tuple[str, str], source: str, target: str) -> int:
        rng = random.Random(f"{SEED} {pair}")
        options = ["--snapshots", f"state-{pair[0]}-{pair[1]}", "--snapshot-every", "10ms",
                   "--disorder", "end" if pair[0] == "kafka" else "0s"]
        killed = 0
        while True:
            run = subprocess.Popen(self.arguments(source, target, *options), cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True)
            if killed < KILLS:
                self.kill(run, pair, rng)
            _, text = run.communicate(timeout=TIMEOUT_S)
            if run.returncode == 0 or (killed and "has reached its end" in text):
                return killed
            killed += 1
            if run.returncode != -signal.SIGKILL:
                self.assertTrue(any(word in text for word in AWAY), text)
                time.sleep(0.5)

    def test_each_row_is_there_once(self):
        ticks = Ticks(120_000)
        total = 0
        for source, address in self.sources(ticks).items():
            for kind in ("file", "sqlite", "postgres", "kafka"):
                with self.subTest(f"{source} to {kind}"):
                    target, rows = self.target(source, kind)
                    total += self.run_killed((source, kind), address, target)
                    self.assertEqual(rows(), ticks.expected())
        print(f"{total} kills")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of PostgreSQL as input and output of `strid window`, with a server of the test's own; the
oracle are the windows that transport_case.py computes, read by psql.

    postgres_test.py STRID [CLASS...]
"""

import csv
import io
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from transport_case import TIMEOUT_S, Ticks, TransportCase, main

BIN = Path("/usr/lib/postgresql/15/bin")
AS_USER = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


class Server:
    """A server in a folder, at a socket there."""

    settings = "wal_level=logical\n"

    def __init__(self):
        self.root = tempfile.mkdtemp()
        os.chmod(self.root, 0o755)
        self.data = Path(self.root) / "server"
        self.data.mkdir()
        if AS_USER:
            shutil.chown(self.data, "postgres")
        subprocess.run([*AS_USER, str(BIN / "initdb"), "-D", str(self.data), "-A", "trust", "-E",
                        "UTF8", "--locale=C", "-N"], capture_output=True, check=True)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            # Servers are killed, machines are not: what is written need not reach the disk.
            file.write(f"listen_addresses=''\nunix_socket_directories='{self.data}'\n"
                       "fsync=off\n" + self.settings)
        self.start()

    def control(self, *arguments: str) -> None:
        subprocess.run([*AS_USER, str(BIN / "pg_ctl"), "-D", str(self.data), *arguments],
                       capture_output=True, check=True, timeout=60)

    def start(self) -> None:
        self.control("-l", str(self.data / "log"), "-w", "start")

    def stop(self, how: str) -> None:
        self.control("-m", how, "stop")

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.root)

    def address(self, options: str) -> str:
        return f"postgres://postgres@/postgres?host={self.data}&{options}"

    def sql(self, text: str, rows: str = "") -> list[tuple]:
        run = subprocess.run(
            ["psql", "-h", str(self.data), "-U", "postgres", "-X", "-q", "--csv", "-t", "-v",
             "ON_ERROR_STOP=1", "-c", text], input=rows, capture_output=True, text=True,
            timeout=TIMEOUT_S)
        assert run.returncode == 0, run.stderr
        return [tuple(row) for row in csv.reader(io.StringIO(run.stdout))]


class PostgresCase(TransportCase):
    server = None
    make_server = Server

    @classmethod
    def setUpClass(cls):
        there = (BIN / "initdb").exists() and shutil.which("psql")
        if not there or (AS_USER and
                         subprocess.run(["id", "postgres"], capture_output=True).returncode):
            raise unittest.SkipTest("PostgreSQL 15 is not installed")
        cls.server = cls.make_server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.server.sql("drop schema public cascade; create schema public; create table bars "
                        "(symbol text, window_start bigint, window_end bigint, n bigint, "
                        "total bigint)")

    def insert(self, ticks: Ticks) -> None:
        self.server.sql("create table ticks (at bigint, symbol text, price bigint)")
        ticks.write_csv(self.folder / "ticks.csv")
        self.server.sql("copy ticks from stdin (format csv, header)",
                        (self.folder / "ticks.csv").read_text())

    def bars(self) -> list[tuple]:
        return sorted((row[0], *map(int, row[1:])) for row in self.server.sql("table bars"))


class Tables(PostgresCase):
    def test_from_table_to_table(self):
        ticks = Ticks(50_000)
        self.insert(ticks)
        self.window(self.server.address("table=ticks"), self.server.address("table=bars"))
        self.assertEqual(self.bars(), ticks.expected())

    def test_a_query_is_read_in_its_order(self):
        ticks = Ticks(20_000)
        self.insert(ticks)
        query = "select at, symbol, price from ticks where symbol <> 's3' order by at -- all"
        self.window(self.server.address(f"query={query}"),
                    self.server.address("table=public.bars"))
        self.assertEqual(self.bars(), [row for row in ticks.expected() if row[0] != "s3"])

    def test_keys_replace_rows(self):
        ticks = Ticks(5_000)
        ticks.write_csv(self.folder / "ticks.csv")
        self.server.sql("create unique index bar on bars (symbol, window_start)")
        self.server.sql("insert into bars values ('s1', 0, 1000, -1, -1), ('old', 0, 0, 0, 0)")
        for _ in range(2):
            self.window("ticks.csv",
                        self.server.address("table=bars&keys=symbol,window_start"))
            self.assertEqual(self.bars(), sorted(ticks.expected() + [("old", 0, 0, 0, 0)]))

    def test_of_rows_with_the_same_keys_the_last_counts(self):
        """A window that late rows change is written once more."""
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n1500,a,1\n2,a,7\n")
        self.server.sql("create unique index bar on bars (symbol, window_start)")
        self.window("in.csv", self.server.address("table=bars&keys=symbol,window_start"),
                    "--lateness", "1m")
        self.assertEqual(self.bars(), [("a", 0, 1000, 2, 12), ("a", 1000, 2000, 1, 1)])

    def test_a_run_that_fails_leaves_nothing(self):
        lines = [f"{i},s,1\n" for i in range(200_000)]
        lines.append("oops,s,1\n")
        (self.folder / "in.csv").write_text("at,symbol,price\n" + "".join(lines))
        self.window("in.csv", self.server.address("table=bars"), status=1)
        self.assertEqual(self.bars(), [])


class Killed(PostgresCase):
    each_apart = True

    def test_each_window_is_there_once(self):
        ticks = Ticks(400_000)
        self.insert(ticks)
        killed = self.killed(self.server.address("table=ticks"),
                             self.server.address("table=bars"), 8)
        self.assertEqual(self.bars(), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"postgres: {killed} kills")

    def test_the_server_is_killed(self):
        """Three times, while rows come; in the middle it is away for longer than the program
        waits at first."""
        ticks = Ticks(100_000)
        run = self.fed(ticks, 5, self.server.address("table=bars"), "--snapshots", "state",
                       "--snapshot-every", "20ms")
        while self.server.sql("select to_regclass('strid_epochs')") == [("",)]:
            time.sleep(0.05)  # it connects when it begins
        for away in (0, 1, 0):
            time.sleep(self.random.uniform(0.3, 1))
            self.server.stop("immediate")
            time.sleep(away)
            self.server.start()
        self.assertIn("connected again", self.ended(run))
        self.assertEqual(self.bars(), ticks.expected())

    def test_a_silent_server_holds_the_run_and_a_signal_ends_it(self):
        ticks = Ticks(100_000)
        run = self.fed(ticks, 10, self.server.address("table=bars"), "--write", "live")
        while not self.bars():
            time.sleep(0.05)
        backends = self.server.sql("select pid from pg_stat_activity where "
                                   "backend_type = 'client backend' and pid <> pg_backend_pid()")
        for (pid,) in backends:
            os.kill(int(pid), signal.SIGSTOP)
        time.sleep(1)
        begun = time.monotonic()
        run.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        if run.poll() is None:
            run.send_signal(signal.SIGTERM)
        run.stderr.read()
        run.wait(timeout=TIMEOUT_S)
        self.assertLess(time.monotonic() - begun, 10)
        for (pid,) in backends:
            os.kill(int(pid), signal.SIGCONT)


class Faults(PostgresCase):
    def test_are_one_sentence(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        self.server.sql("create table few (symbol text, n bigint); create table odd (symbol text, "
                        "window_start bigint, window_end bigint, n bigint, total date)")
        for target, reason in (
            ("postgres://postgres@127.0.0.1:1/db?table=bars", "onnection refused"),
            (self.server.address("x=1"), "has the option 'table'"),
            (self.server.address("table=none"), 'relation "none" does not exist'),
            (self.server.address("table=few"), 'column "window_start" does not exist'),
            (self.server.address("table=bars&keys=symbol"), "no unique or exclusion constraint"),
            (self.server.address("table=bars&tabel=x"), "tabel"),
            (self.server.address("table=odd"), 'COPY odd, line 1, column total: "5"'),
            (self.server.address("table=bars&user=nobody"), 'role "nobody" does not exist'),
            ("postgres:db?table=bars", "postgres://USER@HOST:PORT/DATABASE"),
        ):
            with self.subTest(target):
                run = subprocess.run(self.arguments("in.csv", target), cwd=self.folder,
                                     capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertIn(run.returncode, (1, 2))
                self.assertIn(reason, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for source, reason in (
            (self.server.address("query=selekt"), "syntax error"),
            (self.server.address("query=select 1/0 as at, 's' as symbol, 1 as price"),
             "division by zero"),
            (self.server.address("query=select 1&table=bars"), "'table' and 'query'"),
        ):
            with self.subTest(source):
                self.assertIn(reason, self.window(source, "out.csv", status=1))
        self.assertEqual(self.bars(), [])


if __name__ == "__main__":
    main()

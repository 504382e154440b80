#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of SQLite as input and output of `strid window`; the oracle is Python's own sqlite3.

    sqlite_test.py STRID [CLASS...]
"""

import csv
import io
import sqlite3
import subprocess
import threading
import time
import unittest

from look_up import LookUpCase
from transport_case import TIMEOUT_S, Ticks, TransportCase, first, main, until

BARS = ("create table bars (symbol text, window_start integer, window_end integer, n integer, "
        "total integer)")


class SqliteCase(TransportCase):
    def setUp(self):
        super().setUp()
        self.base = sqlite3.connect(self.folder / "base.db", isolation_level=None,
                                    timeout=TIMEOUT_S)
        self.addCleanup(self.base.close)
        self.base.execute("pragma journal_mode = wal")
        self.base.execute(BARS)

    def insert(self, ticks: Ticks) -> None:
        self.base.execute("create table ticks (at integer, symbol text, price integer)")
        self.base.execute("begin")
        self.base.executemany("insert into ticks values (?, ?, ?)", ticks.rows)
        self.base.execute("commit")

    def bars(self) -> list[tuple]:
        return sorted(self.base.execute("select * from bars").fetchall())


class Tables(SqliteCase):
    def test_from_table_to_table(self):
        ticks = Ticks(20_000)
        self.insert(ticks)
        self.window("sqlite:base.db?table=ticks", "sqlite:base.db?table=bars")
        self.assertEqual(self.bars(), ticks.expected())

    def test_a_query_is_read_in_its_order(self):
        ticks = Ticks(20_000)
        self.insert(ticks)
        query = "select at, symbol, price from ticks where symbol <> 's3' order by at"
        self.window(f"sqlite:base.db?query={query}", "sqlite:base.db?table=bars")
        self.assertEqual(self.bars(), [row for row in ticks.expected() if row[0] != "s3"])

    def test_keys_replace_rows(self):
        ticks = Ticks(5_000)
        ticks.write_csv(self.folder / "ticks.csv")
        self.base.execute("create unique index bar on bars (symbol, window_start)")
        self.base.execute("insert into bars values ('s1', 0, 1000, -1, -1), ('old', 0, 0, 0, 0)")
        target = "sqlite:base.db?table=bars&keys=symbol,window_start"
        for _ in range(2):
            self.window("ticks.csv", target, "--write", "live")
            self.assertEqual(self.bars(), sorted(ticks.expected() + [("old", 0, 0, 0, 0)]))

    def test_options_of_text_are_refused(self):
        for source in ("sqlite:base.db?table=ticks", "postgres:///base?table=ticks",
                       "postgresql:///base?table=ticks"):
            run = subprocess.run(self.arguments(source, "out.csv", "--comment", "#"),
                                 cwd=self.folder, capture_output=True, text=True,
                                 timeout=TIMEOUT_S)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(f"{source}: --delimiter, ", run.stderr)

    def test_values_are_read_as_they_are(self):
        self.base.execute("create table odd (symbol, at, price)")
        rows = [('a,"b"', 1, 0.1), ("two\nlines", 2, 1e300), ("", 3, -0.0), ("é", 4, 2**62),
                (b"\x00\xff", 5, 7), (None, 6, None)]
        self.base.executemany("insert into odd values (?, ?, ?)", rows)
        target = self.folder / "out.csv"
        self.window("sqlite:base.db?table=odd", str(target))
        found = list(csv.reader(io.StringIO(target.read_text())))[1:]
        self.assertEqual(
            {row[0]: row[4] for row in found},
            {'a,"b"': "0.1", "two\nlines": "1e+300", "": "0", "é": str(2**62), "00ff": "7"})
        self.assertEqual({row[0]: row[3] for row in found}[""], "2")  # an empty text and no value

    def test_a_text_of_many_lines_is_no_open_quote(self):
        self.base.execute("create table ticks (at integer, symbol text, price integer)")
        text = "a line\n" * 500
        self.base.execute("insert into ticks values (1, ?, 5)", (text,))
        self.window("sqlite:base.db?table=ticks", "sqlite:base.db?table=bars")
        self.assertEqual(self.bars(), [(text, 0, 1000, 1, 5)])

    def test_empty_fields_are_no_values(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,,5\n2,a,\n")
        self.window("in.csv", "sqlite:base.db?table=bars")
        self.assertEqual(self.base.execute("select symbol, n, total from bars order by n, symbol")
                         .fetchall(), [(None, 1, 5), ("a", 1, None)])


class Killed(SqliteCase):
    def test_each_window_is_there_once(self):
        ticks = Ticks(400_000)
        self.insert(ticks)
        killed = self.killed("sqlite:base.db?table=ticks", "sqlite:base.db?table=bars", 8)
        self.assertEqual(self.bars(), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"sqlite: {killed} kills")

    @first
    def test_a_lock_is_waited_for(self):
        ticks = Ticks(50_000)
        begun = threading.Event()

        def lock():
            other = sqlite3.connect(self.folder / "base.db", isolation_level=None)
            other.execute("begin immediate")
            begun.set()
            time.sleep(4)  # longer than the program waits at once
            other.execute("commit")
            other.close()

        thread = threading.Thread(target=lock)
        run = self.fed(ticks, 6, "sqlite:base.db?table=bars", "--snapshots", "state",
                       "--snapshot-every", "50ms")
        for _ in range(1000):
            if self.bars():
                break
            time.sleep(0.01)
        thread.start()
        begun.wait()
        text = self.ended(run)
        thread.join()
        self.assertIn("database is locked", text)
        self.assertIn("connected again", text)
        self.assertEqual(self.bars(), ticks.expected())


class Faults(SqliteCase):
    def test_are_one_sentence(self):
        (self.folder / "in.csv").write_text("at,symbol,price\n1,a,5\n")
        (self.folder / "text.db").write_text("this is no database, but a text " * 100)
        self.base.execute("create table few (symbol text, n integer)")
        self.base.execute("create table odd (symbol text, window_start integer, window_end integer,"
                          " n integer, total integer check (total < 0))")
        for target, reason in (
            ("sqlite:none.db?table=bars", "unable to open database file"),
            ("sqlite:base.db", "has the option 'table'"),
            ("sqlite:base.db?table=none", "no such table: none"),
            ("sqlite:base.db?table=few", 'no column named window_start'),
            ("sqlite:base.db?table=bars&keys=symbol", "does not match any PRIMARY KEY or UNIQUE"),
            ("sqlite:base.db?table=bars&tabel=x", "there is no option 'tabel'"),
            ("sqlite:text.db?table=bars", "file is not a database"),
            ("sqlite:?table=bars", "sqlite:PATH"),
            ("sqlite:base.db?table=odd", "CHECK constraint failed"),
        ):
            with self.subTest(target):
                text = self.window("in.csv", target, status=2 if "option" in reason or
                                   "PATH" in reason else 1)
                self.assertIn(reason, text)
                self.assertEqual(text.count("\n"), 1, text)
        for source, reason in (
            ("sqlite:base.db?query=delete from bars", "the query changes the database"),
            ("sqlite:base.db?query=select 1; select 2", "one statement is expected"),
            ("sqlite:base.db?query=selekt", 'near "selekt": syntax error'),
            ("sqlite:base.db", "one of the options 'table' and 'query'"),
        ):
            with self.subTest(source):
                text = self.window(source, "out.csv", status=1)
                self.assertIn(reason, text)
        self.assertEqual(self.bars(), [])

    def test_one_database_for_both_needs_a_log(self):
        """Else a transaction would wait for the query, and the query for the graph."""
        self.insert(Ticks(10))
        self.base.execute("pragma journal_mode = delete")
        text = self.window("sqlite:base.db?table=ticks", "sqlite:base.db?table=bars", status=1)
        self.assertIn("this program reads and writes the database", text)


class LookUps(SqliteCase, LookUpCase):
    def test_follow_the_table(self):
        create = "create table products (number integer, name text)"
        self.base.execute(create)
        self.base.execute("insert into products values (1, 'tea')")
        self.begin("sqlite:base.db?table=products")
        self.assertEqual([self.name(number) for number in (1, 2)], ["tea", "-"])
        self.base.execute("insert into products values (2, 'milk')")
        until(lambda: self.name(2) == "milk")
        self.base.execute("drop table products")
        self.assertIn("no such table: products", self.reported())
        self.assertEqual(self.name(1), "tea")
        self.base.execute(create)
        until(lambda: self.name(1) == "-")
        self.assertEqual(self.end(), "")
        self.assertIn("no such table", self.fault("sqlite:base.db?table=none"))

    def test_ask_for_each_key(self):
        self.base.execute("create table products (number integer, name text)")
        self.base.execute("insert into products values (1, 'tea'), (2, null)")
        self.begin("sqlite:base.db?table=products", "asked")
        self.assertEqual([self.name(number) for number in (1, 2, 3)], ["tea", "", "-"])
        self.base.execute("update products set name = 'milk' where number = 1")
        until(lambda: self.name(1) == "milk")
        self.base.execute("insert into products values (1, 'tea')")
        checkpoint = self.base.execute("pragma wal_checkpoint(truncate)").fetchone()
        self.assertEqual(checkpoint[0], 0)  # no answer holds a transaction
        until(lambda: self.name(1) == "")  # it has ended
        self.assertIn("the key 1 is there twice", self.reported())
        self.assertIn("no such column", self.fault(
            "sqlite:base.db?query=select number from products", "asked"))
        self.begin("sqlite:base.db?query=select number, name from products where name <> 'tea';"
                   "%0A", "asked")
        self.assertEqual(self.name(2), "-")
        self.begin("sqlite:base.db?query=select number, 'x' as name from products limit 1 -- one",
                   "asked")
        self.assertEqual(self.name(1), "x")
        # Columns without a type, of numbers and of texts.
        self.begin("sqlite:base.db?query=select max(number) as number, 'last' as name from products"
                   " union all select '3', 'text' union all select 4.0, 'real'", "asked")
        self.assertEqual([self.name(number) for number in (1, 2, 3, 4)],
                         ["-", "last", "text", "real"])


if __name__ == "__main__":
    main()

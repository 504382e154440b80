#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of PostgreSQL for look-ups, which is read again while it changes and while its server is
away.

    postgres_look_up_test.py STRID [CLASS...]
"""

from look_up import LookUpCase
from postgres_test import PostgresCase
from transport_case import main, until


class LookUps(PostgresCase, LookUpCase):
    def setUp(self):
        super().setUp()
        self.server.sql("create table products (price real, name text, number bigint); "
                        "insert into products values (1, 'tea', 1), (2, 'milk', 2)")

    def test_follow_the_table_and_outlive_its_server(self):
        self.begin(self.server.address("table=products"))
        self.assertEqual([self.name(number) for number in (1, 2, 3)], ["tea", "milk", "-"])
        self.server.sql("insert into products values (3, 'bread, \"white\"', 3); "
                        "delete from products where number = 2")
        until(lambda: self.name(2) == "-")
        self.assertEqual(self.name(3), 'bread, "white"')
        for name in ("green tea", "black tea"):
            self.server.stop("immediate")
            self.assertIn("/postgres?host=", self.reported())
            self.assertEqual(self.name(3), 'bread, "white"')
            self.server.start()
            self.server.sql(f"update products set name = '{name}' where number = 1")
            until(lambda: self.name(1) == name)
        self.server.sql("insert into products values (0, 'tea', 1)")
        self.assertIn("the key 1 is named twice, first in line", self.reported())
        self.assertEqual(self.name(1), "black tea")
        self.server.sql("delete from products where price = 0; insert into products values (4, "
                        "'salt', 4)")
        until(lambda: self.name(4) == "salt")
        self.assertEqual(self.end(), "")

    def test_ask_for_each_key_also_behind_a_restart(self):
        self.begin(self.server.address("table=products"), "asked")
        self.assertEqual([self.name(number) for number in (1, 3, 2)], ["tea", "-", "milk"])
        self.server.sql("insert into products values (3, null, 3); "
                        "update products set name = 'bread, \"white\"' where number = 1")
        until(lambda: self.name(1) == 'bread, "white"')
        until(lambda: self.name(3) == "")
        self.server.stop("immediate")
        until(lambda: self.name(1) == "lost")
        self.server.start()
        until(lambda: self.name(2) == "milk")
        self.assertEqual(self.end(), "")
        self.begin(self.server.address("query=select name, -number as number from products; "),
                   "asked")
        self.assertEqual(self.name(-2), "milk")
        self.server.sql("insert into products values (0, 'tea', 1)")
        self.name(-1)
        self.assertIn("the key -1 is there twice", self.reported())
        self.begin(self.server.address(
            "query=select (1 / (number - 1))::text as name, number::int as number from products"),
            "asked")
        self.assertEqual([self.name(number) for number in (2, 3_000_000_000)], ["1", "-"])
        self.name(1)
        self.assertIn("division by zero", self.reported())
        for address, reason in (
            (self.server.address("table=none"), 'relation "none" does not exist'),
            (self.server.address("query=select 1 as number"), 'name does not exist'),
            (self.server.address("changes=sold&slot=one"), "'table' and 'query'"),
        ):
            self.assertIn(reason, self.fault(address, "asked"))

    def test_begin_with_a_table_or_not_at_all(self):
        for address, reason in (
            (self.server.address("table=none"), 'relation "none" does not exist'),
            (self.server.address("query=select 1 as number"), "no column 'name'"),
            (self.server.address("query=select 'x' as number, '' as name"), "not an integer"),
            (self.server.address("changes=sold&slot=one"), "there is no publication"),
            ("postgres://postgres@127.0.0.1:1/db?table=products", "onnection refused"),
        ):
            with self.subTest(address):
                self.assertIn(reason, self.fault(address))
        self.server.sql("create publication sold for table products")
        self.assertIn("has an end", self.fault(self.server.address("changes=sold&slot=one")))
        self.server.sql("drop publication sold")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes of tables of PostgreSQL as an input of `strid window`, with a server of the test's own:
their rows, errors, and back-pressure.

    postgres_changes_test.py STRID [CLASS...]
"""

import csv
import re
import subprocess
import time

from postgres_changes_case import SHORT, ChangesCase
from transport_case import STRID, TIMEOUT_S, main, until


class Rows(ChangesCase):
    def rows(self, options: str) -> str:
        """As they come: the kind of a change is no time, so each row is a dead letter."""
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", self.changes(options), "--output", "out.csv",
             "--time", "@op", "--unit", "ms", "--window", "tumbling:1s", "--aggregate", "count",
             "--dead-letter", "letters"], cwd=self.folder, text=True, capture_output=True,
            timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.warnings = run.stderr
        with open(self.folder / "letters", encoding="utf-8", newline="") as file:
            return "".join(letter[3] + "\n" for letter in csv.reader(file))

    def test_have_all_values(self):
        self.server.sql("""
            drop publication changes;
            create table texts (id int primary key, t text, n numeric(9,2), b boolean);
            insert into texts values (1, 'copied', 1.5, true), (2, null, null, null);
            create publication changes for table texts""")
        self.rows("&until=end")
        self.server.sql("""
            insert into texts values (3, '', 0, false), (4, E'a "b",\\n\\\\N', -7.25, null),
                                     (5, 'Größe → 東京 🙂', null, true);
            begin; update texts set t = 'x' where id = 4; update texts set id = 6 where id = 5;
                   delete from texts where id = 3; commit;
            truncate texts""")
        self.assertEqual(self.rows("&until=end"), (
            '3,"",0.00,f,insert\n4,"a ""b"",\n\\N",-7.25,,insert\n5,Größe → 東京 🙂,,t,insert\n'
            '4,x,-7.25,,update\n6,Größe → 東京 🙂,,t,update\n3,,,,delete\n,,,,truncate\n'))

    def test_of_the_copy_come_first(self):
        self.server.sql("insert into items select i, i, 7 from generate_series(1, 3) i")
        before = time.time()
        text = self.rows("&until=end&with=lsn,time")
        rows = list(csv.reader(text.splitlines()))
        self.assertEqual([row[:4] for row in rows], [[str(i), str(i), "7", "copy"]
                                                     for i in (1, 2, 3)])
        self.assertTrue(all(re.fullmatch("[0-9A-F]+/[0-9A-F]+", row[4]) for row in rows))
        self.assertTrue(all(before - 60 < int(row[5]) / 1000 < time.time() + 1 for row in rows))
        self.assertEqual(self.server.slots(), ["strid"])

    def test_may_be_those_from_now_on(self):
        self.server.sql("insert into items values (1, 1, 1)")
        self.assertEqual(self.rows("&until=end&first=none"), "")
        self.server.sql("insert into items values (2, 2, 2)")
        self.assertEqual(self.rows("&until=end&first=none"), "2,2,2,insert\n")

    def test_follow_the_publication(self):
        """Its columns, its condition and its kinds of changes; another table is passed over."""
        self.server.sql("""
            drop publication changes; alter table items replica identity default;
            insert into items values (1, 1, 10), (2, 2, -10);
            create table "Other; one" (id int primary key);
            create publication changes for table items (id, price) where (id > 1),
                table "Other; one" with (publish = 'insert, delete')""")
        self.assertEqual(self.rows("&until=end&table=items"), "2,-10,copy\n")
        self.server.sql("""
            insert into items values (0, 3, 1), (3, 4, 30);
            update items set price = 0;
            insert into "Other; one" values (1); delete from items where id = 2""")
        self.assertEqual(self.rows("&until=end&table=public.items"), "3,30,insert\n2,,delete\n")

    def test_have_long_values_that_were_not_changed(self):
        """Where the log has them: else the field is empty, and a warning says so."""
        self.server.sql("""
            drop publication changes;
            create table texts (id int primary key, t text, n int);
            alter table texts alter t set storage external;
            create publication changes for table texts""")
        self.rows("&until=end")
        self.server.sql("insert into texts values (1, repeat('x', 9000), 1);"
                        "update texts set n = 2; alter table texts replica identity full;"
                        "update texts set n = 3")
        long = "x" * 9000
        self.assertEqual(self.rows("&until=end"),
                         f"1,{long},1,insert\n1,,2,update\n1,{long},3,update\n")
        self.assertIn("a long value of the column 't' unchanged", self.warnings)


class HeldBack(ChangesCase):
    def test_the_server_keeps_the_connection(self):
        """For longer than its time limit, while the output is not read."""
        self.run_to_end(self.changes("&until=end"))
        self.server.sql("alter table items disable trigger note; insert into items select i, i, i "
                        "from generate_series(1, 200000) i")
        self.until_alone()
        run = subprocess.Popen(
            self.counting(self.changes("&until=end" + SHORT), "--output", "-", "--write", "live"),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.until_read()
        pids = self.server.sql("select pid from pg_stat_replication")
        time.sleep(2.5)
        self.assertIsNone(run.poll())
        self.assertEqual(self.server.sql("select pid from pg_stat_replication"), pids)
        out, errors = run.communicate(timeout=TIMEOUT_S)
        self.assertEqual((run.returncode, errors), (0, ""))
        self.assertEqual(out.count("insert"), 200_000)

    def test_a_log_that_grows_is_warned_of(self):
        self.run_to_end(self.changes("&until=end"))
        self.server.sql("insert into items select i, i, i from generate_series(1, 20000) i")
        run = self.started(self.changes("&held_mib=0"))
        self.assertIn("the slot 'strid' holds ", run.stderr.readline())


class Faults(ChangesCase):
    def test_are_one_sentence(self):
        self.server.sql("""
            create table more (id int); create publication two for table items, more;
            create publication none; drop role if exists guest; create role guest login;
            grant select on items to guest""")
        self.server.sql("select pg_create_logical_replication_slot('others', 'test_decoding')")
        for options, reason in (
            ("changes=absent&slot=s&table=items",
             'no publication \'absent\': create publication "absent" for table "items"'),
            ("changes=two&slot=s", "has 2 tables, 'public.items' and 'public.more' among them"),
            ("changes=none&slot=s", "the publication 'none' has no table"),
            ("changes=two&slot=s&table=audit", 'alter publication "two" add table "audit"'),
            ("changes=changes&slot=s&user=guest", 'alter role "guest" replication'),
            ("changes=changes&slot=others", "is none of pgoutput in this database"),
            ("changes=changes", "slot=NAME"),
            ("changes=changes&slot=Upper", "slot=NAME"),
            ("changes=changes&slot=s&first=all", "first is copy or none"),
            ("changes=changes&slot=s&until=now", "until is end"),
            ("changes=changes&slot=s&held_mib=x", "held_mib is a number of MiB"),
            ("changes=changes&slot=s&with=offset", "with: there is no 'offset'"),
            ("changes=changes&slot=s&query=select 1", "query"),
        ):
            with self.subTest(options):
                run = subprocess.run(self.counting(self.server.address(options)), cwd=self.folder,
                                     capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertIn(run.returncode, (1, 2))
                self.assertIn(reason, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual(self.server.slots(), ["others"])

    def test_a_server_without_logical_changes(self):
        self.server.stop("fast")
        self.server.control("-l", str(self.server.data / "log"), "-o", "-c wal_level=replica", "-w",
                            "start")
        try:
            text = self.run_to_end(self.changes(), status=1)
        finally:
            self.server.stop("fast")
            self.server.start()
        self.assertIn("the server has wal_level = replica: changes are read where it is 'logical'",
                      text)


if __name__ == "__main__":
    main()

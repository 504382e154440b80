#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes of tables of PostgreSQL: the program and the server are killed while a client writes, and
each change counts once; places that a run cannot go on at are refused.

    postgres_changes_kills_test.py STRID [CLASS...]
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time

from postgres_changes_case import SHORT, ChangesCase
from transport_case import TIMEOUT_S, main, until

KILLS = 5


class Once(ChangesCase):
    def test_copy_and_changes_have_no_gap(self):
        """While two clients write."""
        self.server.sql("insert into items select i, nextval('numbers'), i from "
                        "generate_series(1, 3000) i")
        writers = [self.writer(1000), self.writer(2000)]
        until(lambda: all(writer.turns > 20 for writer in writers))
        run = self.started(self.changes(), "--snapshots", "state", "--snapshot-every", "100ms")
        until(lambda: self.server.slots() == ["strid"])
        begun = [writer.turns for writer in writers]
        until(lambda: all(writer.turns > turns + 50 for writer, turns in zip(writers, begun)))
        for writer in writers:
            writer.stop()
        self.stop_at_snapshot(run)
        self.run_to_end(self.changes("&until=end"), "--snapshots", "state")
        self.check_histories()

    def test_both_are_killed(self):
        """The program at random moments while a client writes; the server once, and once it is
        stopped, which does not wait for the run."""
        self.server.sql("insert into items select i, nextval('numbers'), i from "
                        "generate_series(1, 20000) i")
        options = ["--snapshots", "state", "--snapshot-every", "20ms"]
        writer = self.writer(1000)
        for kill in range(KILLS):
            if kill in (1, 3):
                self.until_alone()
            run = self.started(self.changes(), *options)
            if kill == 0:
                until(lambda: self.server.slots() == ["strid"] or run.poll() is not None)
            time.sleep(self.random.uniform(0, 0.3))
            if kill in (1, 3):
                self.until_read()  # a start without a server is an error
                writer.stop()
                self.server.stop("immediate" if kill == 1 else "fast")
                self.server.start()
                writer = self.writer(1000 * kill)
                until(lambda: writer.turns > 5)
            self.assertIsNone(run.poll(), run.poll() is not None and run.stderr.read())
            run.kill()
            run.wait()
        writer.stop()
        self.assertGreater(writer.turns, 5)
        self.run_to_end(self.changes("&until=end"), *options)
        self.check_histories()

    def snapshot_bytes(self) -> int:
        """Of the largest; one may be removed meanwhile."""
        sizes = [0]
        for path in (self.folder / "state").glob("*.snapshot"):
            with contextlib.suppress(FileNotFoundError):
                sizes.append(path.stat().st_size)
        return max(sizes)

    def synchronization_s(self) -> float:
        """Of a file; a snapshot takes some."""
        with open(self.folder / "synchronized", "wb") as file:
            begin = time.monotonic()
            for _ in range(3):
                file.write(b" ")
                file.flush()
                os.fsync(file.fileno())
            return (time.monotonic() - begin) / 3

    def test_a_copy_is_made_once_more(self):
        """If the rows that were read are still the same."""
        count = 150_000 + int(5_000_000 * self.synchronization_s())  # the copy takes longer
        self.server.sql("alter table items disable trigger note; insert into items select i, i, i "
                        f"from generate_series(1, {count}) i")
        options = ["--snapshots", "state", "--snapshot-every", "10ms"]
        run = self.started(self.changes(), *options)
        until(lambda: run.poll() is not None or self.snapshot_bytes() > 20_000)  # it has rows
        run.kill()
        self.assertEqual(run.wait(), -signal.SIGKILL, run.stderr.read())
        self.assertEqual(self.server.slots(), ["strid_copy"])
        shutil.copytree(self.folder / "state", self.folder / "kept",
                        ignore=shutil.ignore_patterns("requests"))
        self.run_to_end(self.changes("&until=end"), *options)
        self.assertEqual(self.seen(), [("copy", i, i, i) for i in range(1, count + 1)])
        self.assertEqual(self.server.slots(), ["strid"])
        self.drop_slots()
        self.server.sql("update items set price = 0 where id = 1")
        text = self.run_to_end(self.changes("&until=end"), "--snapshots", "kept", status=1)
        self.assertIn("the rows that were read have changed since", text)

    def test_a_large_transaction_is_passed_in_part(self):
        options = ["--snapshots", "state", "--snapshot-every", "10ms"]
        self.run_to_end(self.changes("&until=end&first=none"))
        self.server.sql("alter table items disable trigger note; insert into items select i, i, i "
                        "from generate_series(1, 150000) i")
        for _ in range(2):
            before = self.snapshot_bytes()
            run = self.started(self.changes("&first=none"), *options)
            until(lambda: run.poll() is not None or self.snapshot_bytes() > before + 20_000)
            run.kill()
            self.assertEqual(run.wait(), -signal.SIGKILL, run.stderr.read())
        self.run_to_end(self.changes("&first=none&until=end"), *options)
        self.assertEqual(self.seen(), [("insert", i, i, i) for i in range(1, 150001)])

    def test_without_snapshots_a_run_goes_on_at_the_slot(self):
        self.server.sql("insert into items values (1, 1, 10)")
        self.run_to_end(self.changes("&until=end"))
        self.assertEqual(self.seen(), [("copy", 1, 1, 10)])
        self.server.sql("insert into items values (2, 2, 20)")
        self.run_to_end(self.changes("&until=end"))
        self.assertEqual(self.seen(), [("insert", 2, 2, 20)])


class Places(ChangesCase):
    def begin(self) -> None:
        self.server.sql("insert into items values (1, 1, 10)")
        run = self.started(self.changes(), "--snapshots", "state", "--snapshot-every", "50ms")
        until(lambda: self.server.slots() == ["strid"])
        self.stop_at_snapshot(run)

    def newest_snapshot(self) -> str:
        return max(path.name for path in (self.folder / "state").glob("*.snapshot"))

    def refused(self, *reasons: str) -> None:
        text = self.run_to_end(self.changes("&until=end"), "--snapshots", "state", status=1)
        for reason in reasons:
            self.assertIn(reason, text)

    def test_what_a_snapshot_has_is_confirmed(self):
        """Rows are read, and the slot stays where it is until a snapshot is stored."""
        self.begin()
        stored = self.newest_snapshot()
        run = self.started(self.changes(SHORT), "--snapshots", "state", "--snapshot-every", "1h")
        self.until_read()
        until(lambda: self.newest_snapshot() != stored)  # that of its start
        before = self.server.confirmed()
        self.server.sql("insert into items values (2, 2, 20)")
        end = self.server.sql("select pg_current_wal_flush_lsn()")[0][0]
        sent = f"select 1 from pg_stat_replication where sent_lsn >= '{end}'"
        until(lambda: self.server.sql(sent))
        time.sleep(1)  # several statuses
        self.assertEqual(self.server.confirmed(), before)
        self.stop_at_snapshot(run)
        after = self.server.confirmed()
        self.assertEqual(self.server.sql(f"select '{after}'::pg_lsn >= '{end}'"), [("t",)])
        self.run_to_end(self.changes("&until=end"), "--snapshots", "state")
        self.assertEqual(self.seen(), [("copy", 1, 1, 10), ("insert", 2, 2, 20)])

    def test_a_snapshot_that_is_not_stored_confirms_nothing(self):
        """No file of the run can grow for a while."""
        run = subprocess.Popen(
            self.counting(self.changes(SHORT), "--output", "-", "--snapshots", "state",
                          "--snapshot-every", "50ms"),
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            restore_signals=False)  # as Python: SIGXFSZ is ignored
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        until(lambda: self.server.slots() == ["strid"])
        _, most = resource.prlimit(run.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (0, most))
        self.until_warned(run, "could not be stored")
        self.server.sql("insert into items values (2, 2, 20)")
        end = self.server.sql("select pg_current_wal_flush_lsn()")[0][0]
        reached = ("select 1 from pg_replication_slots where confirmed_flush_lsn >= "
                   f"'{end}'::pg_lsn")
        for _ in range(10):  # snapshots behind the row
            self.until_warned(run, "could not be stored")
        self.assertEqual(self.server.sql(reached), [])
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (most, most))
        until(lambda: self.server.sql(reached))

    def test_a_slot_that_is_gone_is_refused(self):
        self.begin()
        self.drop_slots()
        self.refused("the slot 'strid' is gone, and the changes behind ", "--restart")
        self.server.sql("insert into items values (2, 2, 20)")
        self.server.sql("select pg_create_logical_replication_slot('strid', 'pgoutput')")
        self.refused("the slot 'strid' was confirmed up to ", "the changes between are gone")

    def test_a_slot_that_has_no_name_yet_gets_it(self):
        """As if the program had been killed between the snapshot of the copy and that."""
        self.begin()
        self.server.sql("select pg_copy_logical_replication_slot('strid', 'strid_copy')")
        self.server.sql("select pg_drop_replication_slot('strid')")
        self.server.sql("insert into items values (2, 2, 20)")
        self.run_to_end(self.changes("&until=end"), "--snapshots", "state")
        self.assertEqual(self.seen(), [("copy", 1, 1, 10), ("insert", 2, 2, 20)])
        self.assertEqual(self.server.slots(), ["strid"])

    def test_a_slot_beyond_is_refused(self):
        self.begin()
        self.server.sql("insert into items values (2, 2, 20)")
        self.server.sql("select pg_replication_slot_advance('strid', pg_current_wal_lsn())")
        self.refused("the slot 'strid' was confirmed up to ", "the changes between are gone")

    def test_a_new_run_does_not_take_a_slot_over(self):
        self.begin()
        text = self.run_to_end(self.changes("&until=end"), "--snapshots", "state", "--restart",
                               status=1)
        self.assertIn("select pg_drop_replication_slot('strid') for a new copy", text)
        self.run_to_end(self.changes("&until=end&first=none"), "--snapshots", "state", "--restart")
        self.assertEqual(self.seen(), [])

    def test_other_columns_are_refused(self):
        self.begin()
        self.server.sql("alter table items add note text; insert into items values (2, 2, 20)")
        self.refused("'id,at,price' at the snapshot, and are 'id,at,price,note' now")

    def test_columns_that_change_in_the_middle_are_refused(self):
        run = self.started(self.changes())
        until(lambda: self.server.slots() == ["strid"])
        self.server.sql("alter table items add note text; insert into items values (2, 2, 20)")
        self.assertEqual(run.wait(timeout=TIMEOUT_S), 1)
        self.assertRegex(run.stderr.read(), "the columns of 'public.items' are 'id,at,price,note' "
                         "from [0-9A-F]+/[0-9A-F]+ on, and were 'id,at,price' before")


if __name__ == "__main__":
    main()

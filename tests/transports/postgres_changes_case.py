# SPDX-License-Identifier: Apache-2.0
"""Tests of changes of PostgreSQL share a server, a table whose rows have the number of their last
change, a client that writes, and the oracle: a table that a trigger writes."""

import csv
import signal
import subprocess
import threading
from collections import defaultdict

from postgres_test import PostgresCase, Server
from transport_case import STRID, TIMEOUT_S, until

# The server gives a connection up that is silent for so long.
SHORT = "&options=-c wal_sender_timeout=1500ms"
TABLE = """
create sequence numbers;
create table items (id bigint primary key, at bigint default nextval('numbers'), price bigint);
alter table items replica identity full;
create table audit (kind text, at bigint, id bigint, price bigint);
create function note() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        insert into audit values ('delete', old.at, old.id, old.price);
    else
        insert into audit values (lower(tg_op), new.at, new.id, new.price);
    end if;
    return null;
end $$;
create trigger note after insert or update or delete on items for each row execute function note();
create publication changes for table items;
"""


class ChangesServer(Server):
    def slots(self) -> list[str]:
        return [name for (name,) in self.sql("select slot_name from pg_replication_slots")]

    def confirmed(self, slot: str = "strid") -> str:
        return self.sql("select confirmed_flush_lsn from pg_replication_slots where slot_name = "
                        f"'{slot}'")[0][0]


class ChangesCase(PostgresCase):
    make_server = ChangesServer

    def setUp(self):
        super().setUp()
        self.server.sql("drop publication if exists changes")
        self.drop_slots()
        self.server.sql(TABLE)

    def writer(self, base: int) -> "Writer":
        writer = Writer(self.server, base)
        self.addCleanup(writer.stop)
        return writer

    def until_alone(self):
        """The server has noticed the end of all runs."""
        until(lambda: not self.server.sql("select 1 from pg_stat_replication"))

    def until_read(self):
        """A run has begun to read changes."""
        until(lambda: self.server.sql("select 1 from pg_stat_replication where state in "
                                      "('catchup', 'streaming')"))

    def drop_slots(self):
        """Those of runs that were killed a moment ago are still in use."""
        self.server.sql("select pg_terminate_backend(active_pid) from pg_replication_slots where "
                        "active")
        until(lambda: not self.server.sql("select 1 from pg_replication_slots where active"))
        self.server.sql("select pg_drop_replication_slot(slot_name) from pg_replication_slots")

    def changes(self, options: str = "") -> str:
        return self.server.address("changes=changes&slot=strid" + options)

    def counting(self, source: str, *options: str) -> list[str]:
        """A run that writes a row for each change, with how often it has come."""
        if "--output" not in options:
            options = ("--output", "out.csv", "--disorder", "1d", *options)
        return [STRID, "window", "--quiet", "--input", source, "--key", "@op", "--time", "at",
                "--unit", "ms", "--window", "tumbling:1ms", "--aggregate",
                "count as n, sum(id) as id, sum(price) as price", *options]

    def run_to_end(self, source: str, *options: str, status: int = 0) -> str:
        run = subprocess.run(self.counting(source, *options), cwd=self.folder, text=True,
                             capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def started(self, source: str, *options: str) -> subprocess.Popen:
        run = subprocess.Popen(self.counting(source, *options), cwd=self.folder,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def stop_at_snapshot(self, run: subprocess.Popen) -> None:
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=TIMEOUT_S), 128 + signal.SIGTERM, run.stderr.read())

    def seen(self) -> list[tuple]:
        """Kind, number, key and value of each change; each has come once."""
        with open(self.folder / "out.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["n"] for row in rows} - {"1"}, set())
        return sorted((row["@op"], int(row["window_start"]), int(row["id"]), int(row["price"]))
                      for row in rows)

    def audited(self, kinds: str = "true") -> list[tuple]:
        rows = self.server.sql(f"select * from audit where {kinds}")
        return sorted((kind, *map(int, rest)) for kind, *rest in rows)

    def check_histories(self) -> None:
        """With a first copy: of each key the changes behind its row of the copy, and no other."""
        seen = self.seen()
        copied = {key: (at, price) for kind, at, key, price in seen if kind == "copy"}
        changes = [row for row in seen if row[0] != "copy"]
        audited = self.audited()
        self.assertEqual(len(set(changes) - set(audited)), 0)
        since = {row[:2] for row in changes}
        of_key = defaultdict(list)
        for row in sorted(audited, key=lambda row: (row[1], row[0] == "delete")):
            of_key[row[2]].append(row)
        for key, own in of_key.items():
            first = next((i for i, row in enumerate(own) if row[:2] in since), len(own))
            self.assertTrue(all(row[:2] in since for row in own[first:]), (own, first))
            before = own[first - 1] if first else None
            alive = before is not None and before[0] != "delete"
            self.assertEqual(copied.get(key), (before[1], before[3]) if alive else None)


class Writer:
    """Changes the table in transactions of several rows, until it is stopped. Two of them have keys
    of their own, so that the order of the changes of a key is that of its numbers."""

    STATEMENTS = """
        insert into items select {first} + i, nextval('numbers'), i from generate_series(1, 3) i
            on conflict (id) do update set price = excluded.price + 1, at = excluded.at;
        update items set price = price + 1, at = nextval('numbers') where id % 7 = {turn} % 7
            and id between {base} and {base} + 999;
        delete from items where id = {first} - 4;
    """

    def __init__(self, server: Server, base: int, begin=0.0):
        self.stopped = threading.Event()
        self.server, self.base, self.wait_s = server, base, begin
        self.turns = 0
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def write(self):
        client = subprocess.Popen(
            ["psql", "-h", str(self.server.data), "-U", "postgres", "-X", "-q", "-v",
             "ON_ERROR_STOP=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        try:
            while not self.stopped.is_set():
                text = self.STATEMENTS.format(base=self.base, turn=self.turns,
                                              first=self.base + self.turns * 3 % 300)
                client.stdin.write(f"begin;{text}commit;\n\\echo done\n")
                client.stdin.flush()
                if client.stdout.readline() != "done\n":
                    break  # the server is killed
                self.turns += 1
                self.stopped.wait(self.wait_s)
            client.stdin.close()
        except BrokenPipeError:
            pass
        client.wait(timeout=TIMEOUT_S)
        client.stdout.close()
        client.stderr.close()

    def stop(self):
        self.stopped.set()
        self.thread.join()

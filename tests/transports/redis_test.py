#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams of Redis as input and output of `strid window`, with a server of the test; the oracle are
the windows that transport_case.py computes.

    redis_test.py STRID [CLASS...]
"""

import csv
import io
import json
import re
import subprocess
import time

from redis_case import RedisCase
from transport_case import STRID, TIMEOUT_S, Ticks, main, shown_at, until


class Entries(RedisCase):
    """Read."""

    def test_fields_are_columns(self):
        ticks = Ticks(6_000)
        stream = self.stream()
        self.fill(stream, ticks)
        self.assertEqual(self.read(self.server.address(stream, "until=end")), ticks.expected())

    def test_a_long_entry_makes_requests_short(self):
        """A reply has as many entries as were asked for, however long they are."""
        stream = self.stream()
        names = ["x"] * 4_000
        names[1_200] = "y" * 300_000
        self.client.ask_all([("XADD", stream, "*", "at", at, "symbol", name, "price", 1)
                             for at, name in enumerate(names)])
        seen = self.server.client()
        self.addCleanup(seen.close)
        self.assertEqual(seen.ask("MONITOR"), "OK")
        found = self.read(self.server.address(stream, "until=end"))
        self.client.ask("PING")
        counts = []
        while "PING" not in (line := seen.answer()):
            if "XREAD" in line:
                counts.append(int(re.search(r'"COUNT" "(\d+)"', line)[1]))
        self.assertEqual(sum(n for _, _, _, n, _ in found), len(names))
        self.assertGreater(max(counts), 500)
        self.assertLessEqual(min(counts[counts.index(max(counts)):]), 3)

    def test_values_of_any_text(self):
        """Quotes, line ends and characters beyond ASCII come through as they are."""
        keys = ['a"b', "a\\b", "two\nlines", "tab\t", "Zürich", "", "50%", "{}", "a,b"]
        stream = self.stream()
        self.client.ask_all([("XADD", stream, "*", "at", at, "symbol", key, "price", 1)
                             for at, key in enumerate(keys)])
        for options, more in (("until=end", ("--format", "json", "--key", "symbol")),
                              ("until=end&columns=at,symbol", ("--no-header", "--key", "2"))):
            with self.subTest(options):
                run = subprocess.run(
                    [STRID, "window", "--quiet", "--input", self.server.address(stream, options),
                     "--output", "out.csv", "--time", "1" if "columns" in options else "at",
                     "--unit", "ms", "--window", "tumbling:1s", "--aggregate", "count", *more],
                    cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
                self.assertEqual(run.returncode, 0, run.stderr)
                text = (self.folder / "out.csv").read_text()
                found = [row[0] for row in csv.reader(io.StringIO(text))][1:]
                self.assertEqual(sorted(found), sorted(keys))

    def test_text_in_a_field(self):
        """A row, or some of them, of JSON or CSV."""
        ticks = Ticks(2_000)
        texts, rows = self.stream(), self.stream()
        self.client.ask_all([("XADD", texts, "*", "other", "x", "text", "\n".join(
            self.json_of(tick) for tick in ticks.rows[i:i + 3])) for i in range(0, 2_000, 3)])
        self.client.ask("XADD", texts, "*", "other", "without the field")
        self.assertEqual(self.read(self.server.address(texts, "until=end&field=text")),
                         ticks.expected())
        self.client.ask_all([("XADD", rows, "*", "text", f"{at},{symbol},{price}")
                             for at, symbol, price in ticks.rows])
        self.window_of_rows(self.server.address(rows, "until=end&field=text"))
        self.assertEqual(self.rows(), ticks.expected())

    def window_of_rows(self, source: str) -> None:
        """Columns by number."""
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", source, "--output", "out.csv", "--no-header",
             "--key", "2", "--time", "1", "--unit", "ms", "--window", "tumbling:1s", "--aggregate",
             "count as n, sum(3) as total"], cwd=self.folder, capture_output=True, text=True,
            timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_columns_in_the_order_that_is_named(self):
        ticks = Ticks(1_000)
        stream = self.stream()
        self.client.ask_all([("XADD", stream, "*", "price", price, "more", "x", "at", at, "symbol",
                              symbol) for at, symbol, price in ticks.rows])
        self.window_of_rows(self.server.address(stream, "until=end&columns=at,symbol,price"))
        self.assertEqual(self.rows(), ticks.expected())

    def test_fields_about_an_entry(self):
        """A malformed entry is kept with its id."""
        stream = self.stream()
        self.client.ask_all([("XADD", stream, f"{1_000 + at}-7", "at", at, "price", 2)
                             for at in range(10)])
        self.client.ask("XADD", stream, "5000-0", "at", "never", "price", 1)
        rows = self.read(self.server.address(stream, "until=end&with=id,time"), "--dead-letter",
                         "bad.txt", key="@time")
        self.assertEqual(rows, [(str(1_000 + at), 0, 1_000, 1, 2) for at in range(10)])
        self.assertIn('""@id"":""5000-0"",""@time"":5000}', (self.folder / "bad.txt").read_text())

    def test_where_it_starts(self):
        ticks = Ticks(300)
        stream = self.stream()
        ids = self.fill(stream, ticks, 0, 100)
        time.sleep(0.05)
        since = int(time.time() * 1000)
        time.sleep(0.05)
        ids += self.fill(stream, ticks, 100)
        for start, first in (("earliest", 0), (ids[150], 150), (f"@{since}", 100),
                             ("latest", 300), (f"@{since + 3_600_000}", 300)):
            with self.subTest(start):
                rows = self.read(self.server.address(stream, f"until=end&start={start}"))
                self.assertEqual(sum(row[3] for row in rows), 300 - first)
                self.assertEqual(sum(row[4] for row in rows),
                                 sum(price for _, _, price in ticks.rows[first:]))

    def test_the_latest_are_waited_for(self):
        """Also in a stream that is not there yet; a stop ends the wait at once."""
        ticks = Ticks(400)
        for begin, start in ((200, "latest"), (0, "earliest")):
            with self.subTest(start):
                stream = self.stream()
                if begin:
                    self.fill(stream, ticks, 0, begin)
                run = self.begun(self.server.address(stream, "start=" + start), "out.csv",
                                 "--format", "json", "--http", "127.0.0.1:0")
                server = shown_at(run)
                until(lambda: "cmd=xread" in self.client.ask("CLIENT", "LIST"))
                if not begin:
                    until(lambda: server.ask("/readyz")[0] == 503)
                    self.assertIn("there is no stream", server.ask("/readyz")[1])
                self.fill(stream, ticks, begin)
                self.wait_for_rows(server, 400 - begin)
                self.assertEqual(server.ask("/readyz")[0], 200)
                time.sleep(0.1)  # it waits again
                self.assertLess(self.took(lambda: self.stopped(run)), 2)
                self.assertEqual(sum(row[3] for row in self.rows()), 400 - begin)

    def test_a_database_of_another_number(self):
        ticks = Ticks(500)
        stream = self.stream()
        self.client.ask("SELECT", 3)
        self.fill(stream, ticks)
        self.assertEqual(self.read(self.server.address(stream, "until=end&db=3")),
                         ticks.expected())


class Rows(RedisCase):
    """Written."""

    def test_columns_are_fields(self):
        ticks = Ticks(20_000)
        ticks.write_csv(self.folder / "ticks.csv")
        stream = self.stream()
        self.window("ticks.csv", self.server.address(stream))
        self.assertEqual(self.bars(stream), ticks.expected())

    def test_text_of_one_field(self):
        ticks = Ticks(2_000)
        ticks.write_csv(self.folder / "ticks.csv")
        objects, rows = self.stream(), self.stream()
        self.window("ticks.csv", self.server.address(objects, "field=row&format=json"))
        self.window("ticks.csv", self.server.address(rows, "field=row"))
        found = [json.loads(entry["row"]) for entry in self.client.entries(objects)]
        self.assertEqual(sorted(tuple(row.values()) for row in found), ticks.expected())
        found = [next(csv.reader([entry["row"]])) for entry in self.client.entries(rows)]
        self.assertEqual(sorted((row[0], *map(int, row[1:])) for row in found), ticks.expected())

    def test_a_column_without_a_value_is_no_field(self):
        (self.folder / "in.csv").write_text('at,symbol,price\n0,"a ""b"",\nc",\n1,d,5\n')
        stream = self.stream()
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", "in.csv", "--output",
             self.server.address(stream), "--key", "symbol", "--time", "at", "--unit", "ms",
             "--window", "tumbling:1s", "--aggregate", "max(price) as high"], cwd=self.folder,
            capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = {entry["symbol"]: entry.get("high") for entry in self.client.entries(stream)}
        self.assertEqual(found, {'a "b",\nc': None, "d": "5"})

    def test_a_stream_is_cut_off_at_its_front(self):
        ticks = Ticks(20_000)
        ticks.write_csv(self.folder / "ticks.csv")
        stream = self.stream()
        self.window("ticks.csv", self.server.address(stream, "maxlen=50"))
        left = self.bars(stream)
        self.assertLess(len(left), len(ticks.expected()))
        self.assertGreaterEqual(len(left), 50)
        self.assertLessEqual(set(left), set(ticks.expected()))

    def test_each_epoch_is_there_once(self):
        """The key beside the stream has the number of the last one."""
        ticks = Ticks(20_000)
        ticks.write_csv(self.folder / "ticks.csv")
        stream = self.stream()
        self.window("ticks.csv", self.server.address(stream), "--snapshots", "state",
                    "--snapshot-every", "20ms")
        self.assertEqual(self.bars(stream), ticks.expected())
        [key] = self.client.ask("KEYS", f"strid:{{{stream}}}:epoch:*")
        self.assertRegex(self.client.ask("GET", key), r"^\d+ [0-9a-f]{32}$")
        self.assertEqual(self.client.ask("TTL", key), -1)


if __name__ == "__main__":
    main()

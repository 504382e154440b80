# SPDX-License-Identifier: Apache-2.0
"""`strid run trading` against its oracle (../trading/oracle.py) and a market that keeps its orders
in the most obvious way (itch.py), and its errors for bad input.

The environment names the command line (STRID) and the project (STRID_SOURCE).
"""

import bz2
import csv
import decimal
import gzip
import json
import lzma
import math
import random
import signal
import subprocess
import sys
import time
import unittest

import itch
from command_line import SOURCE, Case

TRADING = SOURCE / "papers/1-stream-memory/trading"
QUOTES = TRADING / "data/quotes.csv"
MEMORIES = ["engine", "engine-keys", "static", "copy", "wrapper", "wrapper-slab", "shared_ptr",
            "shared_ptr-static", "static-block", "block"]
SMALL = ["--window", 100, "--slide", 10]
HEADER = "symbol,time,bid,ask,bid_size,ask_size\n"


class Trading(Case):
    def forecasts(self, text):
        """[window, time, price, volume] by symbol, in the order of the rows."""
        found = {}
        for symbol, *cells in csv.reader(text.splitlines()):
            found.setdefault(symbol, []).append(cells)
        return found

    def oracle(self, quotes, *options):
        words = [sys.executable, "-B", TRADING / "oracle.py", quotes, *options]
        return subprocess.run(list(map(str, words)), capture_output=True, check=True,
                              text=True).stdout

    def check(self, expected, actual):
        """The rows of each symbol are the same in the same order; prices to a part of 10^9."""
        expected, actual = self.forecasts(expected), self.forecasts(actual)
        self.assertEqual({symbol: len(rows) for symbol, rows in expected.items()},
                         {symbol: len(rows) for symbol, rows in actual.items()})
        for symbol, rows in expected.items():
            for one, other in zip(rows, actual[symbol]):
                self.assertEqual((*one[:2], one[3]), (*other[:2], other[3]), symbol)
                self.assertTrue(math.isclose(float(one[2]), float(other[2]), rel_tol=1e-9),
                                (symbol, one, other))

    def trade(self, *arguments, **options):
        return self.strid("run", "trading", "--quiet", *arguments, **options).stdout.decode()

    def refused(self, *arguments, code=1, **options):
        return self.fails("run", "trading", "--quiet", *arguments, code=code, **options)

    def skipped(self, *arguments):
        """How many records are refused under --skip-malformed."""
        metrics = self.folder / "metrics.json"
        self.trade("--skip-malformed", "--metrics", metrics, *arguments)
        return sum(one["records_malformed"] for segment in
                   json.loads(metrics.read_text())["segments"] for one in segment["operators"])


class Rows(Trading):
    def test_the_golden_answer_is_the_oracles(self):
        golden = (TRADING / "golden/forecasts.csv").read_text()
        self.assertEqual(golden, self.oracle(QUOTES, *SMALL))
        made = subprocess.run([sys.executable, "-B", TRADING / "data/prepare.py"],
                              capture_output=True, check=True, text=True).stdout
        self.assertEqual(QUOTES.read_text(), made)

    def test_every_memory(self):
        golden = (TRADING / "golden/forecasts.csv").read_text()
        for memory in MEMORIES:
            for replicas in (1, 3):
                with self.subTest(memory=memory, replicas=replicas):
                    self.check(golden, self.trade("--input", QUOTES, *SMALL, "--memory", memory,
                                                  "--parallelism", replicas))

    def test_every_mode(self):
        golden = (TRADING / "golden/forecasts.csv").read_text()
        for memory in ("engine", "engine-keys", "block"):
            for way in (["--mode", "dedicated"], ["--mode", "simulation", "--seed", 3],
                        ["--workers", 1], ["--no-fuse", "--parallelism", 2]):
                with self.subTest(memory=memory, way=way):
                    self.check(golden, self.trade("--input", QUOTES, *SMALL, "--memory", memory,
                                                  *way))

    def test_other_windows_and_models(self):
        for window, slide, degree, resolution in ((30, 30, 0, "1ms"), (7, 20, 1, "1ms"),
                                                  (200, 15, 5, "40us"), (1, 1, 3, "1ns"),
                                                  (50, 9, 3, "1s")):
            options = ["--window", window, "--slide", slide, "--degree", degree]
            ns = {"1ms": 10**6, "40us": 40_000, "1ns": 1, "1s": 10**9}[resolution]
            expected = self.oracle(QUOTES, *options, "--resolution-ns", ns)
            self.assertGreater(len(expected.splitlines()), 10)
            for memory in ("engine", "wrapper"):
                with self.subTest(options=options, memory=memory):
                    self.check(expected, self.trade("--input", QUOTES, *options, "--resolution",
                                                    resolution, "--memory", memory))

    def test_pipes_and_compressed_files(self):
        golden = (TRADING / "golden/forecasts.csv").read_text()
        plain = QUOTES.read_bytes()
        for packed in (gzip.compress(plain), bz2.compress(plain), lzma.compress(plain)):
            self.check(golden, self.trade("--input", self.file("packed", packed), *SMALL))
            self.check(golden, self.trade(*SMALL, input=packed))

    def test_columns_units_decimals_and_one_sided_quotes(self):
        chance = random.Random(3)
        rows, ours = [HEADER], ["bid size,x,when,Ticker,offer,bid,offer size\n"]
        for i in range(400):
            bid = decimal.Decimal(chance.randrange(1, 10**6)).scaleb(-6)
            ask = bid + decimal.Decimal(chance.randrange(3)).scaleb(-6)
            sizes = [chance.choice(["0", "", str(chance.randrange(1, 10**12))]) if i % 9 == 0
                     else str(chance.randrange(1, 10**12)) for _ in range(2)]
            name = chance.choice(["a symbol, of more than eight bytes", "B", 'say "C"'])
            quoted = '"' + name.replace('"', '""') + '"'
            when = f"{i}.{chance.randrange(1000):03}"
            rows.append(f"{quoted},{when},{bid:f},{ask:f},{sizes[0]},{sizes[1]}\n")
            ours.append(f"{sizes[0]},?,{when},{quoted},{ask:f}000,{bid:f},{sizes[1]}\n")
        expected = self.oracle(self.file("expected.csv", "".join(rows)), "--window", 20, "--slide",
                               3, "--unit-ns", 1_000_000_000, "--decimals", 6)
        self.assertGreater(len(expected.splitlines()), 50)
        for columns in ("Ticker,when,bid,offer,bid size,offer size", "4,3,6,5,1,7"):
            ours_now = ours if columns[0] == "T" else ours[1:]
            self.check(expected, self.trade(
                "--input", self.file("ours.csv", "".join(ours_now)), "--columns", columns,
                "--time-unit", "s", "--decimals", 6, "--window", 20, "--slide", 3))

    def test_times_that_are_dates(self):
        rows = [f"S,2026-03-02T10:00:00.{i:03}Z,1.5,1.5,1,1\n" for i in range(10)]
        text = self.trade("--input", self.file("dates.csv", HEADER + "".join(rows)), "--window", 10)
        self.assertEqual(text, "S,0,2026-03-02T10:00:00.01Z,1.5,20\n")

    def test_prices_and_sizes_as_large_as_they_may_be(self):
        rows = "".join(f"S,{i // 50},100000000000,100000000000,1000000000000,1000000000000\n"
                       for i in range(100))
        text = self.trade("--input", self.file("large.csv", HEADER + rows), "--window", 100)
        self.check("S,0,2,100000000000,200000000000000\n", text)

    def test_malformed_rows(self):
        good = "S,5,1.5,1.6,10,10\n"
        for row, reason in ((",5,1,1,1,1", "the symbol is missing"),
                            (f"{'x' * 65},5,1,1,1,1", "the symbol is longer than 64 bytes"),
                            ("S,noon,1,1,1,1", "the time 'noon'"),
                            ("S,4,1,1,1,1", "the time '4' lies before that of the quote of S"),
                            ("S,5,1.00001,1,1,1", "'1.00001' is no price of at most 4 decimal"),
                            ("S,5,-1,1,1,1", "the bid '-1' is no price"),
                            ("S,5,1,1e3,1,1", "the ask '1e3' is no price"),
                            ("S,5,1,.,1,1", "the ask '.' is no price"),
                            ("S,5,1,100000000000.1,1,1", "is no price"),
                            ("S,5,1,1,1.5,1", "the bid size '1.5' is no whole number"),
                            ("S,5,1,1,1,-7", "the ask size '-7' is no whole number"),
                            ("S,5,1,1,1,1000000000001", "is no whole number up to"),
                            ("S,5,1,1,1", "5")):
            with self.subTest(row=row):
                path = self.file("bad.csv", HEADER + good + row + "\n" + good)
                line = self.refused("--input", path)
                self.assertIn(f"{path}:3: ", line)
                self.assertIn(reason, line)
                self.assertEqual(self.skipped("--input", path), 1)
        letters = self.folder / "letters.csv"
        self.trade("--input", path, "--dead-letter", letters, "--window", 2)
        [letter] = csv.reader(letters.read_text().splitlines())
        self.assertEqual((letter[0], letter[1], letter[3]), (str(path), "3", "S,5,1,1,1"))

    def test_a_column_that_is_missing(self):
        line = self.refused("--input", self.file("bad.csv", "symbol,time,bid,ask,bid_size\n"))
        self.assertIn("ask_size", line)


class Itch(Trading):
    def market(self, seed=5, steps=6_000):
        market = itch.Market({1: "AAPL", 2: "MSFT", 900: "X", 65_535: "BRK.A"}, seed)
        for _ in range(steps):
            market.step()
        return market

    def test_quotes_and_forecasts(self):
        for seed in (1, 2):
            market = self.market(seed)
            quotes = self.file("quotes.csv", market.quotes_csv())
            expected = self.oracle(quotes, *SMALL, "--unit-ns", 1)
            self.assertGreater(len(expected.splitlines()), 40)
            feed = self.file("day.itch", market.file())
            ours = self.folder / "ours.csv"
            self.check(expected, self.trade("--input", feed, *SMALL, "--quotes", ours))
            with quotes.open() as first, ours.open() as second:
                read = [[row[:1] + list(map(decimal.Decimal, row[1:])) for row in
                         list(csv.reader(file))[1:]] for file in (first, second)]
            self.assertEqual(*read)
            self.check(expected, self.trade("--input", ours, "--time-unit", "ns", *SMALL))
            self.check(expected, self.trade("--input", self.file("day.gz", gzip.compress(
                market.file())), *SMALL, "--memory", "block"))
            self.check(expected, self.trade("--format", "itch", *SMALL, input=market.file()))

    def test_a_pipe_that_gives_a_byte_at_a_time(self):
        market = self.market(steps=300)
        expected = self.trade("--input", self.file("day.itch", market.file()), "--window", 5)
        process = self.start("run", "trading", "--quiet", "--format", "itch", "--window", 5)
        text = market.file()
        for at in range(0, len(text), 97):
            process.stdin.write(text[at : at + 97])
            process.stdin.flush()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.check(expected, out.decode())

    def test_an_end_of_the_session(self):
        market = self.market(steps=500)
        ended = market.file() + b"\0\0"
        expected = self.trade("--input", self.file("day.itch", market.file()), "--window", 10)
        path = self.file("ended.itch", ended)
        self.check(expected, self.trade("--input", path, "--window", 10))
        path = self.file("more.itch", ended + itch.framed(market.messages[0]))
        self.assertIn("behind the end of the session", self.refused("--input", path))

    def test_a_cut_file(self):
        text = self.market(steps=200).file()
        for missing in (1, 5, 12):
            path = self.file("cut.itch", text[:-missing])
            line = self.refused("--input", path)
            at = len(text) - 14
            self.assertIn(f"at byte {at}: the file ends inside a message: of its 12 bytes "
                          f"{12 - missing} are there", line)
            self.assertEqual(self.skipped("--input", path), 1)
        line = self.refused("--input", self.file("cut.itch", text[:-13]))
        self.assertIn("ends inside the length of a message", line)

    def test_messages_that_are_refused(self):
        first = [itch.system_event(0, "O"), itch.directory(7, 1, "OAK"),
                 itch.add(7, 9, 100, "B", 50, "OAK", 10_000)]
        at = sum(len(itch.framed(message)) for message in first)
        day_ns = 24 * 3600 * itch.NS
        for message, reason in (
                (b"z" + first[2][1:], "a message of the unknown type 'z'"),
                (b"\xff", "unknown type"),
                (first[2][:-1], "a message of type A has 36 bytes and not 35"),
                (first[2] + b" ", "a message of type A has 36 bytes and not 37"),
                (itch.add(7, 9, 100, "S", 50, "OAK", 10_100), "there is an order 100 already"),
                (itch.add(7, 9, 101, "T", 50, "OAK", 10_100), "neither to buy nor to sell"),
                (itch.add(7, 9, 101, "S", 0, "OAK", 10_100), "0 shares"),
                (itch.add(7, 9, 101, "S", 5, "ELM", 10_100), "stock 7 is OAK and not ELM"),
                (itch.add(8, 9, 101, "S", 5, "E\x07M", 10_100), "stock 8 has the name"),
                (itch.deleted(7, 9, 99), "there is no order 99"),
                (itch.executed(7, 9, 100, 51), "order 100 has 50 shares and not 51"),
                (itch.cancelled(8, 9, 100, 5), "order 100 is of stock 7 and not 8"),
                (itch.replaced(7, 9, 100, 100, 5, 10_000), "there is an order 100 already"),
                (itch.deleted(7, 8, 100), "the time 8 ns lies before that of a message before it"),
                (itch.deleted(7, day_ns, 100), "behind the end of the day")):
            with self.subTest(reason=reason):
                # The message has changed nothing: the order is still there to be deleted.
                messages = [*first, message, itch.deleted(7, 10, 100)]
                path = self.file("bad.itch", b"".join(map(itch.framed, messages)))
                line = self.refused("--input", path)
                self.assertIn(f"{path}: message 4 at byte {at}: ", line)
                self.assertIn(reason, line)
                self.assertEqual(self.skipped("--input", path), 1)
        letters = self.folder / "letters.csv"
        self.trade("--input", path, "--dead-letter", letters)
        [letter] = csv.reader(letters.read_text().splitlines())
        self.assertEqual(letter[:2], [str(path), "4"])
        self.assertEqual(letter[3], itch.deleted(7, day_ns, 100).hex())

    def test_rubbish_ends_with_a_sentence(self):
        chance = random.Random(11)
        text = self.market(steps=50).file()
        for _ in range(6):
            broken = bytearray(text)
            for _ in range(chance.randrange(1, 30)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            path = self.file("broken.itch", bytes(broken))
            self.trade("--format", "itch", "--input", path, "--skip-malformed", "--window", 2)

    def test_a_csv_file_that_is_said_to_be_itch(self):
        line = self.refused("--format", "itch", "--input", QUOTES)
        self.assertIn("message 1 at byte 0", line)


class Use(Trading):
    def test_help(self):
        text = self.strid("run", "trading", "--help").stdout.decode()
        for word in ["--memory", "--window", "--slide", "--format", "--columns", "--quotes",
                     "ITCH", "Examples", *MEMORIES]:
            self.assertIn(word, text)
        self.assertIn("predict", self.strid("explain", "trading").stdout.decode())

    def test_mistakes(self):
        run = ["--input", QUOTES]
        self.assertIn("names 2 columns", self.refused(*run, "--columns", "a,b", code=2))
        self.assertIn("cannot be replayed", self.refused(*run, "--duration", "1s", code=2))
        self.assertIn("--window", self.refused(*run, "--window", "0", code=2))
        self.assertIn("--memory", self.refused(*run, "--memory", "ours", code=2))
        self.assertIn("No such file", self.refused("--input", self.folder / "missing"))
        self.assertIn("leave --input out", self.refused(*run, "--generate", "10", code=2))
        self.assertIn("quotes.csv", self.refused(*run, "--quotes", QUOTES, code=2))
        for memory in ("engine", "block"):
            self.assertIn("No space left", self.refused(*run, *SMALL, "--memory", memory,
                                                        "--output", "/dev/full"))

    def test_nothing_in_nothing_out(self):
        self.assertEqual(self.trade("--input", self.file("empty", "")), "")
        self.assertEqual(self.trade("--input", self.file("header", HEADER)), "")
        self.assertEqual(self.trade("--format", "itch", "--input", self.file("empty", "")), "")

    def test_made_quotes_are_the_same_for_the_same_seed(self):
        options = ["--generate", "60k", "--window", 50]
        first = self.trade(*options, "--seed", 4)
        self.assertGreater(len(first.splitlines()), 100)
        self.check(first, self.trade(*options, "--seed", 4, "--memory", "copy"))
        self.assertNotEqual(first, self.trade(*options, "--seed", 5))

    def test_ctrl_c_drains(self):
        for memory in ("engine", "wrapper-slab"):
            output = self.folder / f"{memory}.csv"
            process = self.start("run", "trading", "--generate", "100M", "--memory", memory,
                                 "--rate", "200k", "--output", output)
            self.until_workers_run(process)
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn(b"stopped and drained", err)
            for rows in self.forecasts(output.read_text()).values():
                self.assertEqual([int(row[0]) for row in rows], list(range(len(rows))))
            self.assertGreater(len(output.read_text().splitlines()), 10)

    def test_a_live_stream_has_its_answers_at_once(self):
        for memory in ("engine", "block"):
            with self.subTest(memory=memory):
                process = self.start("run", "trading", "--quiet", "--window", 2, "--memory", memory)
                process.stdin.write((HEADER + "S,1,2,2,1,1\nS,2,2,2,1,1\n").encode())
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), b"S,0,3,2,4\n")
                process.stdin.close()
                self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of Parquet and Arrow as inputs of `strid window`; the oracle is pyarrow, which writes them.

    parquet_test.py STRID [CLASS...]

parquet_output_test.py has the outputs.
"""

import csv
import datetime
import decimal
import io
import os
import random
import shutil
import struct
import subprocess

from parquet_case import ParquetCase, pyarrow
from transport_case import SEED, STRID, TIMEOUT_S, Ticks, main

EPOCH = datetime.datetime(1970, 1, 1)
UNITS = {"s": (1, 0), "ms": (10**3, 3), "us": (10**6, 6), "ns": (10**9, 9)}


class Files(ParquetCase):
    def test_a_file(self):
        ticks = Ticks(50_000)
        for name in (self.write(ticks, "ticks.parquet"), "parquet:ticks.parquet",
                     f"parquet://{self.folder}/ticks.parquet",
                     "parquet:ticks.parquet?columns=price,symbol,at&threads=1"):
            self.window(name, "out.csv")
            self.assertEqual(self.of_csv("out.csv"), ticks.expected(), name)

    def test_a_folder_is_read_in_the_order_of_its_paths(self):
        ticks = Ticks(30_000)
        table = self.table(ticks)
        bounds = sorted(self.random.sample(range(1, table.num_rows), 40))
        (self.folder / "in").mkdir()
        for number, (begin, end) in enumerate(zip([0] + bounds, bounds + [table.num_rows])):
            day = self.folder / "in" / f"day={number // 10:02}"
            day.mkdir(exist_ok=True)
            pyarrow.parquet.write_table(table.slice(begin, end - begin),
                                        day / f"{number:03}.parquet", row_group_size=200)
        for hidden in ("_metadata.parquet", ".part.parquet", "day=00/text.txt"):
            (self.folder / "in" / hidden).write_text("no Parquet")
        self.window("parquet:in", "out.csv")
        self.assertEqual(self.of_csv("out.csv"), ticks.expected())

    def test_folders_are_columns(self):
        for value, name in (("a b/c", "a%20b%2Fc"), ("", ""),
                            (None, "__HIVE_DEFAULT_PARTITION__")):
            place = self.folder / "in" / f"symbol={name}" / "kind=x"
            place.mkdir(parents=True)
            count = 3 if value else 2
            pyarrow.parquet.write_table(
                pyarrow.table({"at": list(range(count)), "price": [1] * count}),
                place / "one.parquet")
        self.window("parquet:in", "out.csv", "--disorder", "end")
        self.assertEqual(self.of_csv("out.csv"),
                         [("", 0, 1000, 4, 4), ("a b/c", 0, 1000, 3, 3)])
        self.strid("--input", "parquet:in", "--output", "out.csv", "--key", "kind", "--time", "at",
                   "--window", "tumbling:1s", "--disorder", "end",
                   "--aggregate", "count as n, sum(price) as total")
        self.assertEqual(self.of_csv("out.csv"), [("x", 0, 1000, 7, 7)])

    def test_arrow_files(self):
        ticks = Ticks(20_000)
        table = self.table(ticks)
        with pyarrow.ipc.new_file(self.folder / "ticks.arrow", table.schema) as file:
            file.write_table(table, max_chunksize=3000)
        self.window("ticks.arrow", "out.csv")
        self.assertEqual(self.of_csv("out.csv"), ticks.expected())

    def test_late_rows_are_whole(self):
        (self.folder / "late.csv").unlink(missing_ok=True)
        pyarrow.parquet.write_table(
            pyarrow.table({"at": [0, 5000, 1], "more": ["x", "y", 'a "z"'],
                           "symbol": ["a"] * 3, "price": [1] * 3}), self.folder / "in.parquet")
        self.window("in.parquet", "out.csv", "--late", "late.csv")
        self.assertEqual((self.folder / "late.csv").read_text(),
                         'at,more,symbol,price\n1,"a ""z""",a,1\n')

    def test_a_run_with_snapshots_goes_on(self):
        ticks = Ticks(400_000)
        name = self.write(ticks, "ticks.parquet", 30)
        # With a column that takes long, so that there is time to kill it.
        killed = self.killed(f"parquet:{name}?columns=at,symbol,price,note", "out.csv", 6)
        self.assertEqual(self.of_csv("out.csv"), ticks.expected())
        self.assertGreater(killed, 0)
        print(f"parquet input: {killed} kills")


class Values(ParquetCase):
    """A window of each row, whose fields are the texts of its values."""

    def texts(self, table, **options) -> list[list[str]]:
        pyarrow.parquet.write_table(table, self.folder / "in.parquet", row_group_size=100,
                                    **options)
        names = table.column_names
        aggregates = ", ".join(f"last({name}) as {name}" for name in names)
        self.strid("--input", "in.parquet", "--output", "out.csv", "--window", "count:1",
                   "--aggregate", aggregates)
        text = (self.folder / "out.csv").read_bytes().decode()
        return [row[2:] for row in csv.reader(io.StringIO(text, newline=""))][1:]

    def compare(self, columns: dict, text_of: dict, **options) -> None:
        table = pyarrow.table(columns)
        found = self.texts(table, **options)
        self.assertEqual(len(found), table.num_rows)
        for place, name in enumerate(table.column_names):
            expected = ["" if value is None else text_of[name](value)
                        for value in table.column(name).to_pylist()]
            self.assertEqual([row[place] for row in found], expected, name)

    def with_nulls(self, values: list, kind):
        rng = self.random
        mixed = [None if rng.random() < 0.1 else value for value in values]
        mixed[-1] = values[-1]
        return pyarrow.array(mixed, kind)

    def test_integers(self):
        columns = {}
        for bits in (8, 16, 32, 64):
            for kind, low, high in (("int", -2**(bits - 1), 2**(bits - 1) - 1),
                                    ("uint", 0, 2**bits - 1)):
                values = [low, high] + [self.random.randint(low, high) for _ in range(498)]
                columns[f"{kind}{bits}"] = self.with_nulls(values,
                                                           getattr(pyarrow, f"{kind}{bits}")())
        self.compare(columns, {name: str for name in columns})

    def test_floating_numbers_come_back(self):
        """The text is the shortest that is the same number."""
        doubles = [struct.unpack("d", struct.pack("Q", self.random.getrandbits(64)))[0]
                   for _ in range(498)] + [0.1, 1e300]
        doubles = [0.5 if value != value or abs(value) == float("inf") else value
                   for value in doubles]
        floats = [struct.unpack("f", struct.pack("f", self.random.gauss(0, 1e5)))[0]
                  for _ in range(500)]
        table = pyarrow.table({"double": pyarrow.array(doubles, pyarrow.float64()),
                               "single": pyarrow.array(floats, pyarrow.float32())})
        found = self.texts(table)
        self.assertEqual([float(row[0]) for row in found], doubles)
        self.assertEqual([struct.unpack("f", struct.pack("f", float(row[1])))[0]
                          for row in found], floats)

    def test_texts(self):
        alphabet = 'ab,"\n\r é€\U0001f600;\t'
        words = ["".join(self.random.choices(alphabet, k=self.random.randrange(1, 8)))
                 for _ in range(299)] + ["end"]
        raw = [self.random.randbytes(self.random.randrange(1, 5)) for _ in range(300)]
        words[0] = "many lines\n" * 10_000
        columns = {"word": self.with_nulls(words, pyarrow.string()),
                   "large": self.with_nulls(words, pyarrow.large_string()),
                   "category": self.with_nulls([word[:1] for word in words],
                                               pyarrow.string()).dictionary_encode(),
                   "raw": self.with_nulls(raw, pyarrow.binary()),
                   "fixed": pyarrow.array([(one * 4)[:4] for one in raw], pyarrow.binary(4))}
        self.compare(columns, {"word": str, "large": str, "category": str, "raw": bytes.hex,
                               "fixed": bytes.hex})

    def test_decimals_and_booleans(self):
        columns, text_of = {}, {}
        for precision, scale in ((5, 2), (18, 0), (38, 10), (60, 30)):
            kind = pyarrow.decimal128 if precision <= 38 else pyarrow.decimal256
            values = [decimal.Decimal(self.random.randrange(-10**precision + 1, 10**precision))
                      .scaleb(-scale, decimal.Context(prec=80)) for _ in range(300)]
            values += [decimal.Decimal(one).scaleb(-scale) for one in (0, 1, -1)]
            name = f"decimal_{precision}_{scale}"
            columns[name] = self.with_nulls(values, kind(precision, scale))
            text_of[name] = lambda value: f"{value:f}"
        columns["boolean"] = self.with_nulls([self.random.random() < 0.5 for _ in range(303)],
                                             pyarrow.bool_())
        text_of["boolean"] = lambda value: str(value).lower()
        self.compare(columns, text_of)

    def test_times(self):
        def moment(unit: str, zone: str):
            scale, places = UNITS[unit]

            def text(value: int) -> str:
                whole = EPOCH + datetime.timedelta(seconds=value // scale)
                fraction = f".{value % scale:0{places}}" if places else ""
                return whole.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction + zone
            return text

        def of_day(unit: str):
            text = moment(unit, "")
            return lambda value: text(value)[11:]

        columns, expected = {}, {}
        for unit, (scale, _) in UNITS.items():
            values = [self.random.randrange(-9 * 10**9 * scale, 9 * 10**9 * scale)
                      for _ in range(300)] + [-1, 0]
            day = [abs(value) % (86400 * scale) for value in values]
            written = "ms" if unit == "s" else unit  # Parquet has no seconds
            factor = UNITS[written][0] // scale
            for zone in (None, "Europe/Paris"):
                name = f"moment_{unit}_{zone is None}"
                columns[name] = pyarrow.array(values, pyarrow.timestamp(unit, zone))
                text = moment(written, "Z" if zone else "")
                expected[name] = [text(value * factor) for value in values]
            kind = pyarrow.time32 if unit in ("s", "ms") else pyarrow.time64
            columns[f"day_{unit}"] = pyarrow.array(day, kind(unit))
            expected[f"day_{unit}"] = [of_day(written)(value * factor) for value in day]
        days = [self.random.randrange(-100_000, 100_000) for _ in range(302)]
        columns["date"] = pyarrow.array(days, pyarrow.date32())
        expected["date"] = [(EPOCH + datetime.timedelta(days=day)).strftime("%Y-%m-%d")
                            .rjust(10, "0") for day in days]
        found = self.texts(pyarrow.table(columns))
        for place, (name, texts) in enumerate(expected.items()):
            self.assertEqual([row[place] for row in found], texts, name)

    def test_nanoseconds_are_kept(self):
        times = sorted(self.random.randrange(10**18, 10**18 + 10**9) for _ in range(2000))
        pyarrow.parquet.write_table(
            pyarrow.table({"at": pyarrow.array(times, pyarrow.timestamp("ns", "UTC")),
                           "symbol": ["a"] * 2000, "price": [1] * 2000}),
            self.folder / "in.parquet")
        self.strid("--input", "in.parquet", "--output", "out.csv", "--key", "symbol", "--time",
                   "at", "--window", "tumbling:1us", "--aggregate", "count")
        starts = [row[1] for row in csv.reader(io.StringIO((self.folder / "out.csv").read_text()))]
        found = {text.rstrip("Z").split(".")[1].ljust(6, "0") for text in starts[1:]}
        self.assertEqual(found, {f"{time // 1000 % 10**6:06}" for time in times})


class Faults(ParquetCase):
    def fault(self, source: str) -> str:
        text = self.window(source, "out.csv", status=1)
        self.assertEqual(text.count("\n"), 1, text)
        return text

    def test_of_files_are_one_sentence_that_names_the_file(self):
        ticks = Ticks(5_000)
        whole = (self.folder / self.write(ticks, "whole.parquet")).read_bytes()
        (self.folder / "text.parquet").write_text("this is no Parquet, but a text " * 100)
        (self.folder / "empty.parquet").write_bytes(b"")
        (self.folder / "cut.parquet").write_bytes(whole[:len(whole) // 2])
        (self.folder / "tail.parquet").write_bytes(whole[len(whole) // 2:])
        (self.folder / "text.arrow").write_text("this is no Arrow " * 100)
        for name in ("text.parquet", "empty.parquet", "cut.parquet", "tail.parquet",
                     "none.parquet", "text.arrow"):
            with self.subTest(name):
                self.assertIn(name, self.fault(name))
        (self.folder / "folder").mkdir()
        self.assertIn("no files that end in .parquet", self.fault("parquet:folder"))

    def test_of_damaged_pages(self):
        """Bytes in the middle are changed: a sentence, or other values, and no crash."""
        ticks = Ticks(5_000)
        whole = bytearray((self.folder / self.write(ticks, "whole.parquet")).read_bytes())
        rng = random.Random(SEED)
        refused = 0
        for number in range(40):
            damaged = bytearray(whole)
            for _ in range(rng.choice((1, 20))):
                damaged[rng.randrange(4, len(whole) - 8)] ^= 1 << rng.randrange(8)
            (self.folder / "bad.parquet").write_bytes(damaged)
            done = subprocess.run(self.arguments("bad.parquet", "out.csv"), cwd=self.folder,
                                  capture_output=True, timeout=TIMEOUT_S)
            self.assertIn(done.returncode, (0, 1), f"{number}: {done.stderr}")
            refused += done.returncode
        self.assertGreater(refused, 0)

    def test_of_arrays_that_reach_beyond_their_memory(self):
        """Arrow IPC has places of texts, and numbers of values, that nothing else checks."""
        path = self.folder / "bad.arrow"

        def write(symbol) -> bytes:
            numbers = list(range(100, 100 + len(symbol)))
            table = pyarrow.table({"at": numbers, "symbol": symbol, "price": numbers})
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
            return path.read_bytes()

        def check(whole: bytes, right: tuple, wrong: tuple) -> None:
            pack = struct.Struct(f"<{len(right)}i").pack
            self.assertEqual(whole.count(pack(*right)), 1)
            path.write_bytes(whole.replace(pack(*right), pack(*wrong)))
            self.assertIn("bad.arrow: ", self.fault("bad.arrow"))

        texts = write(["abc", "def", "ghi"])
        for wrong in ((0, 10, 2_000_000_000, 2_000_000_000), (0, 3, 2000, 2100), (-5, 3, 6, 9),
                      (0, 6, 3, 9)):
            check(texts, (0, 3, 6, 9), wrong)
        category = write(pyarrow.array(["a", "b", "c", "a", "b"]).dictionary_encode())
        check(category, (0, 1, 2, 0, 1), (0, 1, 100_000_000, 0, 1))

    def test_of_links_and_pipes(self):
        folder = self.folder / "folder"
        (folder / "more").mkdir(parents=True)
        self.write(Ticks(100), "folder/more/ticks.parquet")
        (folder / "link").symlink_to("..")
        self.assertIn("would be read twice: a link leads to it", self.fault("parquet:folder"))
        (folder / "link").unlink()
        (folder / "other").symlink_to("more")
        self.assertIn("would be read twice", self.fault("parquet:folder"))
        (folder / "other").unlink()
        os.mkfifo(folder / "pipe.parquet")
        self.assertIn("pipe.parquet: not a plain file", self.fault("parquet:folder"))
        self.assertIn("not a plain file", self.fault("folder/pipe.parquet"))

    def test_options_of_text_are_refused(self):
        self.write(Ticks(100), "ticks.parquet")
        for option in (["--comment", "#"], ["--escape", "\\"], ["--quote", "none"],
                       ["--decimal-comma"], ["--delimiter", ";"], ["--skip", "1"], ["--ragged"]):
            run = subprocess.run(self.arguments("ticks.parquet", "out.csv", *option),
                                 cwd=self.folder, capture_output=True, text=True,
                                 timeout=TIMEOUT_S)
            self.assertEqual(run.returncode, 2)
            self.assertIn("ticks.parquet: --delimiter, ", run.stderr)

    def test_of_columns(self):
        ticks = Ticks(100)
        self.write(ticks, "ticks.parquet")
        for source, reason in (
            ("parquet:ticks.parquet?columns=at,symbol,price,nested",
             "the column 'nested' is list<element: int64>"),
            ("parquet:ticks.parquet?columns=at,cymbol", "no column 'cymbol'; the file has at, sym"),
            ("parquet:ticks.parquet?columns=at,symbol", "no column 'price' in the header"),
            ("parquet:ticks.parquet?threads=0", "threads"),
            ("parquet:ticks.parquet?column=at", "there is no option 'column'"),
            ("parquet://host/ticks.parquet", "parquet:///PATH"),
            ("parquet:", "parquet:PATH"),
        ):
            with self.subTest(source):
                self.assertIn(reason, self.fault(source))

    def test_of_a_program_without_its_module(self):
        shutil.copy(STRID, self.folder / "alone")
        arguments = self.arguments("ticks.parquet", "out.csv")
        arguments[0] = "./alone"
        done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("files of Parquet need Apache Arrow, as in the Python package pyarrow",
                      done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_of_a_folder_whose_files_differ(self):
        table = self.table(Ticks(100)).drop_columns(["nested", "note"])
        for place, other, reason in (
            ("type", table.set_column(0, "at", table.column("at").cast(pyarrow.string())),
             "two.parquet: the column 'at' is string, and in one.parquet it is int64"),
            ("lacks", table.drop_columns(["price"]), "two.parquet: there is no column 'price'"),
        ):
            folder = self.folder / place
            folder.mkdir()
            pyarrow.parquet.write_table(table, folder / "one.parquet")
            pyarrow.parquet.write_table(other, folder / "two.parquet")
            text = self.fault(f"parquet:{place}").replace(f"{place}/", "")
            self.assertIn(reason, text)


if __name__ == "__main__":
    main()

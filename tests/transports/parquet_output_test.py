#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders and files of Parquet as outputs of `strid window`; the oracle is pyarrow, which reads
them.

    parquet_output_test.py STRID [CLASS...]
"""

import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

from parquet_case import ParquetCase, pyarrow
from transport_case import STRID, TIMEOUT_S, Ticks, main, until


class Outputs(ParquetCase):
    def setUp(self):
        super().setUp()
        self.ticks = Ticks(20_000)
        self.write(self.ticks, "ticks.parquet")

    def kinds(self, path) -> dict[str, str]:
        schema = pyarrow.parquet.read_schema(path)
        return {field.name: str(field.type) for field in schema}

    def test_a_file(self):
        self.window("ticks.parquet", "bars.parquet")
        path = self.folder / "bars.parquet"
        self.assertEqual(self.rows_of(path), self.ticks.expected())
        self.assertEqual(self.kinds(path),
                         {"symbol": "string", "window_start": "int64", "window_end": "int64",
                          "n": "int64", "total": "double"})
        column = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(4)
        self.assertEqual(column.compression, "ZSTD")
        before = path.read_bytes()
        self.assertIn("is not written over", self.window("ticks.parquet", "bars.parquet",
                                                         status=1))
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bars.parquet", "ticks.parquet"])

    def test_a_folder(self):
        """A second run adds its parts, and nothing else is left or changed."""
        for run in (1, 2):
            self.window("ticks.parquet", "parquet:bars?rows=50&types=total:int64")
            self.assertEqual(self.bars("bars"), sorted(self.ticks.expected() * run))
        sizes = [pyarrow.parquet.ParquetFile(path).metadata.num_rows
                 for path in self.parts("bars")]
        full, last = divmod(len(self.ticks.expected()), 50)
        self.assertEqual(sizes, ([50] * full + [last] * (last != 0)) * 2)
        self.assertEqual(self.kinds(self.parts("bars")[0])["total"], "int64")
        self.assertEqual([path.suffix for path in (self.folder / "bars").iterdir()],
                         [".parquet"] * len(sizes))

    def test_parts_by_size(self):
        ticks = Ticks(150_000)
        self.write(ticks, "more.parquet")
        self.window("more.parquet", "parquet:bars?size=16K&compression=none")
        self.assertEqual(self.bars("bars"), ticks.expected())
        sizes = [path.stat().st_size for path in self.parts("bars")]
        self.assertGreater(len(sizes), 1)
        self.assertLess(max(sizes), 100_000)

    def test_folders_by_values(self):
        self.write_odd("odd.parquet")
        self.window("odd.parquet", "parquet:bars?partition=symbol")
        found = pyarrow.parquet.read_table(
            self.folder / "bars", partitioning=pyarrow.dataset.partitioning(
                pyarrow.schema([("symbol", pyarrow.string())]), flavor="hive")).to_pylist()
        self.assertEqual({row["symbol"]: row["n"] for row in found},
                         {"a/b=c": 1, "ü ": 2, "x%20": 1, None: 1})
        self.strid("--input", "parquet:bars", "--output", "out.csv", "--key", "symbol", "--time",
                   "window_start", "--window", "tumbling:1s", "--disorder", "end",
                   "--aggregate", "sum(n) as n")
        found = [line.split(",") for line in (self.folder / "out.csv").read_text().splitlines()]
        self.assertEqual({row[0]: row[3] for row in found[1:]},
                         {"a/b=c": "1", "ü ": "2", "x%20": "1", "": "1"})

    def write_odd(self, name: str) -> None:
        symbols = ["a/b=c", "ü ", "ü ", "x%20", None]
        pyarrow.parquet.write_table(
            pyarrow.table({"at": list(range(5)), "symbol": symbols, "price": [1] * 5}),
            self.folder / name)

    def test_folders_by_hours(self):
        self.window("ticks.parquet", "parquet:bars?partition=date(window_start),"
                    "hour(window_start)&types=window_start:timestamp[ms]")
        self.assertEqual([path.parent.relative_to(self.folder) for path in self.parts("bars")],
                         [Path("bars/date=1970-01-01/hour=00")])
        self.assertEqual(self.kinds(self.parts("bars")[0])["window_start"],
                         "timestamp[ms, tz=UTC]")

    def test_values_of_all_types(self):
        names = ["i8", "u64", "f32", "yes", "word", "raw", "day", "ms", "local", "money"]
        kinds = ["int8", "uint64", "float", "bool", "string", "binary", "date", "timestamp[us]",
                 "datetime[s]", "decimal(10,2)"]
        table = pyarrow.table({
            "i8": pyarrow.array([-128, 127, None], pyarrow.int8()),
            "u64": pyarrow.array([2**64 - 1, 0, None], pyarrow.uint64()),
            "f32": pyarrow.array([0.1, -1e30, None], pyarrow.float32()),
            "yes": pyarrow.array([True, False, None]),
            "word": pyarrow.array(['a,"b"', "two\nlines", None]),
            "raw": pyarrow.array(["00ff", "x", None]).cast(pyarrow.binary()).cast(pyarrow.string()),
            "day": pyarrow.array([-1, 20_000, None], pyarrow.date32()),
            "ms": pyarrow.array([-1, 10**15 + 1, None], pyarrow.timestamp("us", "UTC")),
            "local": pyarrow.array([-1000, 10**12, None], pyarrow.timestamp("ms")),
            "money": pyarrow.array([None, None, None], pyarrow.decimal128(10, 2)),
        })
        pyarrow.parquet.write_table(table, self.folder / "in.parquet")
        types = ",".join(f'"{name}:{kind}"' for name, kind in zip(names, kinds))
        self.strid("--input", "in.parquet", "--window", "count:1", "--aggregate",
                   ", ".join(f"last({name}) as {name}" for name in names),
                   "--output", f"parquet:out.parquet?types={types}")
        found = pyarrow.parquet.read_table(self.folder / "out.parquet").select(names)
        expected = table.to_pylist()
        for row in expected:
            row["raw"] = row["raw"] and row["raw"].encode()
        self.assertEqual(found.to_pylist(), expected)

    def test_an_empty_result_is_a_file_without_rows(self):
        pyarrow.parquet.write_table(self.table(Ticks(1)).slice(1), self.folder / "none.parquet")
        self.window("none.parquet", "bars.parquet")
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "bars.parquet").num_rows, 0)
        self.window("none.parquet", "parquet:bars")
        self.assertEqual(self.parts("bars"), [])


class Faults(ParquetCase):
    def test_are_one_sentence_and_leave_nothing(self):
        ticks = Ticks(20_000)
        self.write(ticks, "ticks.parquet")
        (self.folder / "file").write_text("x")
        for target, status, reason in (
            ("parquet:bars?types=price:int64", 1, "there is no column 'price'"),
            ("parquet:bars?types=n:integer", 2, "there is no type 'integer'"),
            ("parquet:bars?types=n:int8,total:int8", 1, "the column 'total' is int8"),
            ("parquet:bars?types=total:bool", 1, "not a boolean"),
            ("parquet:bars?partition=none", 2, "there is no column 'none'"),
            ("parquet:bars?partition=hour(n)", 2, "the column 'n' is int64"),
            ("parquet:bars?compression=zip", 2, "'zip' is not zstd"),
            ("parquet:bars?size=0", 2, "size"),
            ("parquet:bars?tabel=x", 2, "there is no option 'tabel'"),
            ("parquet:bars.parquet?partition=n", 2, "whose name does not end in .parquet"),
            ("parquet:bars.arrow", 2, "read, and not written"),
            ("parquet:file", 1, "it is no folder"),
            ("parquet:file/bars", 1, "Not a directory"),
            ("parquet://host/bars", 2, "of this machine"),
            ("parquet:bars?partition=_n", 2, "would be hidden"),
            ("parquet:bars?partition=.n", 2, "would be hidden"),
            ("parquet:bars?partition=date(window_start),date(window_end)", 2,
             "two folders have the name 'date'"),
            ("parquet:bars?partition=symbol,symbol", 2, "two folders have the name 'symbol'"),
            ("parquet:bars.parquet?rows=5", 2, "rows: of a folder"),
            ("parquet:bars.parquet?size=1M", 2, "size: of a folder"),
            ("parquet:bars.parquet?every=1s", 2, "every: of a folder"),
            ("parquet:bars.parquet?sink=a", 2, "sink: of a folder"),
        ):
            with self.subTest(target):
                text = self.window("ticks.parquet", target, status=status)
                self.assertIn(reason, text)
                self.assertEqual(text.count("\n"), 1, text)
                shutil.rmtree(self.folder / "bars", ignore_errors=True)
                self.assertEqual(sorted(os.listdir(self.folder)), ["file", "ticks.parquet"])

    def test_a_run_that_fails_leaves_nothing(self):
        rows = [f"{i * 10},s{i % 7},1\n" for i in range(100_000)]
        (self.folder / "in.csv").write_text("at,symbol,price\n" + "".join(rows) + "oops,s,1\n")
        for target in ("parquet:bars?rows=1000", "bars.parquet"):
            self.window("in.csv", target, status=1)
        self.assertEqual(list((self.folder / "bars").iterdir()), [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["bars", "in.csv"])

    def test_a_full_disk(self):
        """By the limit of a process: a file of 8 KiB is as long as one may be."""
        self.write(Ticks(150_000), "ticks.parquet")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 13, 1 << 13))

        run = subprocess.run(self.arguments("ticks.parquet", "parquet:bars?compression=none"),
                             cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S,
                             preexec_fn=limit, restore_signals=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual(list((self.folder / "bars").iterdir()), [])


class LongNames(ParquetCase):
    """Values that are no names of folders."""

    def setUp(self):
        super().setUp()
        # Two bytes, which are six as a part of a path.
        self.write_keys("a", "b", "\u0001\u0002" * 50)

    def write_keys(self, *keys: str) -> None:
        rows = [f"{i},{key},1\n" for i, key in enumerate(keys)]
        (self.folder / "in.csv").write_text("at,symbol,price\n" + "".join(rows))

    def test_no_part_of_a_run_has_a_name(self):
        text = self.window("in.csv", "parquet:bars?partition=symbol", status=1)
        self.assertIn("too long for the name of a folder", text)
        self.assertEqual(list((self.folder / "bars").iterdir()), [])

    def test_no_epoch_is_recorded(self):
        for _ in range(2):
            text = self.window("in.csv", "parquet:bars?partition=symbol", "--snapshots", "state",
                               "--restart", status=1)
            self.assertIn("too long for the name of a folder", text)
            self.assertEqual(list((self.folder / "bars").rglob("epoch")), [])

    def test_a_path_is_too_long(self):
        names = [f"k{i}" for i in range(20)]
        rows = [[10**9, *[""] * len(names)]] * 2_000 + [[0, *"a" * len(names)],
                                                       [1, *["x" * 220] * len(names)]]
        (self.folder / "in.csv").write_text("\n".join(
            ",".join(map(str, row)) for row in [["at", *names], *rows, []]))
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", "in.csv", "--time", "at", "--unit", "ms",
             "--window", "tumbling:1s", "--aggregate", "count as n", "--snapshots", "state",
             "--output", "out.csv", "--late", "parquet:bars?partition=" + ",".join(names)],
            cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("File name too long", run.stderr)
        self.assertEqual(list((self.folder / "bars").rglob("epoch")), [])

    def test_names_that_were_given_are_taken_back(self):
        """One of the folders is of another file system, where no file can be renamed to."""
        self.write_keys("a", "b", "c")
        place = self.elsewhere()
        (self.folder / "bars").mkdir()
        (self.folder / "bars" / "symbol=b").symlink_to(place)
        self.assertIn("cannot name the file",
                      self.window("in.csv", "parquet:bars?partition=symbol", status=1))
        self.assertEqual(self.parts("bars"), [])
        self.assertFalse((self.folder / "bars" / "_strid").exists())


class Values(ParquetCase):
    """That a type does not hold."""

    def columns(self, target: str, status: int = 0, **columns: list[str]) -> str:
        """Writes rows as they are: those that are late, which all but the first are."""
        size = len(next(iter(columns.values())))
        lines = [",".join([str(at), *row]) for at, row in
                 zip([10**9] * 2_000 + list(range(size)),
                     [[""] * len(columns)] * 2_000 + list(zip(*columns.values())))]
        (self.folder / "in.csv").write_text(",".join(["at", *columns]) + "\n" +
                                            "\n".join(lines) + "\n")
        run = subprocess.run(
            [STRID, "window", "--quiet", "--input", "in.csv", "--time", "at", "--unit", "ms",
             "--window", "tumbling:1s", "--aggregate", "count as n", "--output", "out.csv",
             "--late", target], cwd=self.folder, capture_output=True, text=True,
            timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def test_a_guess_changes_nothing(self):
        columns = {"zip": ["01234", "9"], "big": ["18446744073709551615", "1"],
                   "plus": ["+1", "2"], "mixed": ["9007199254740993", "1.5"],
                   "long": ["0.12345678901234567891", "1"], "whole": ["-5", "7"],
                   "real": ["0.5", "-1e300"], "point": ["-0", "1"]}
        self.columns("late.parquet", **columns)
        table = pyarrow.parquet.read_table(self.folder / "late.parquet")
        numbers = {"whole": [-5, 7], "real": [0.5, -1e300], "point": [-0.0, 1.0]}
        for name, texts in columns.items():
            with self.subTest(name):
                self.assertEqual(table[name].to_pylist(), numbers.get(name, texts))
        self.assertEqual(str(table["whole"].type), "int64")
        self.assertEqual(str(table["point"].type), "double")

    def test_whole_numbers_that_a_type_lacks(self):
        for kind, lacks, has in (
            ("float", "16777217", "16777216"), ("float", "-16777217.0", "-1e30"),
            ("double", "9007199254740993", "9007199254740994"),
            ("double", "18446744073709551615", "18446744073709551616"),
        ):
            with self.subTest(lacks):
                target = f"parquet:late.parquet?types=a:{kind}"
                self.assertIn("no such whole number", self.columns(target, 1, a=[lacks]))
                self.columns(target, a=[has])
                path = self.folder / "late.parquet"
                [value] = pyarrow.parquet.read_table(path)["a"].to_pylist()
                [expected] = pyarrow.array([float(has)], pyarrow.type_for_alias(kind)).to_pylist()
                self.assertEqual(value, expected)
                path.unlink()

    def test_dates_that_nanoseconds_lack(self):
        moments = ["9999-12-31T23:30:00Z", "0001-01-01T00:00:00+01:00", "1969-12-31T23:59:59Z"]
        days = ["9999-12-31", "0001-01-01", "2400-02-29"]
        self.columns("parquet:late?types=day:date,t:timestamp[ms]&partition=date(t),hour(t)",
                     day=days, t=moments)
        found = {str(path.parent.relative_to(self.folder / "late")):
                 pyarrow.parquet.ParquetFile(path).read() for path in self.parts("late")}
        self.assertEqual(sorted(found), ["date=0000-12-31/hour=23", "date=1969-12-31/hour=23",
                                         "date=9999-12-31/hour=23"])
        table = pyarrow.concat_tables(found[name] for name in sorted(found, reverse=True))
        self.assertEqual([str(day) for day in table["day"].to_pylist()],
                         [days[0], days[2], days[1]])
        self.assertEqual(table["t"].cast(pyarrow.int64()).to_pylist(),
                         [253402299000000, -1000, -62135600400000])
        self.assertIn("1677 to 2262", self.columns("parquet:late?types=t:timestamp[ns]", 1,
                                                   t=moments))
        self.assertIn("no time of the years 0 to 9999", self.columns(
            "parquet:late?types=t:timestamp[s]&partition=date(t)", 1, t=["9999999999999"]))


class Live(ParquetCase):
    def test_parts_come_while_rows_do(self):
        ticks = Ticks(30_000)
        run = self.fed(ticks, 4, "parquet:bars?every=100ms", "--write", "live")
        until(lambda: len(self.parts("bars")) >= 3)
        self.assertIsNone(run.poll())
        self.ended(run)
        self.assertEqual(self.bars("bars"), ticks.expected())

    def piped(self, target: str) -> subprocess.Popen:
        """A run whose rows are written by feed()."""
        run = subprocess.Popen(self.arguments("-", target, "--write", "live"), cwd=self.folder,
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.feed(run, "at,symbol,price")
        return run

    @staticmethod
    def feed(run: subprocess.Popen, *rows: str) -> None:
        run.stdin.write("".join(row + "\n" for row in rows))
        run.stdin.flush()

    def test_a_row_that_does_not_suit_takes_none_with_it(self):
        run = self.piped("parquet:bars?every=1h&types=total:int8")
        self.feed(run, "0,a,1", "2000,a,2")
        until(lambda: self.parts("bars"))
        self.feed(run, "4000,a,1000")
        until(lambda: list((self.folder / "bars").rglob("*.strid-partial")))
        self.feed(run, "6000,a,4")  # all before it were answered
        run.stdin.close()
        self.assertIn("types=total:TYPE", self.ended(run, 1))
        self.assertEqual(self.bars("bars"), [("a", 0, 1000, 1, 1), ("a", 2000, 3000, 1, 2)])
        self.assertFalse((self.folder / "bars" / "_strid").exists())

    def test_a_part_without_a_name_takes_none_with_it(self):
        place = self.elsewhere()
        (self.folder / "bars").mkdir()
        (self.folder / "bars" / "symbol=b").symlink_to(place)
        run = self.piped("parquet:bars?every=1h&partition=symbol")
        self.feed(run, "0,a,1", "2000,a,2")
        until(lambda: self.parts("bars"))
        self.feed(run, "4000,b,3")
        until(lambda: list((self.folder / "bars").rglob("*.strid-partial")))
        self.feed(run, "6000,a,4")
        run.stdin.close()
        self.assertIn("cannot name the file", self.ended(run, 1))
        found = [row["window_start"] for path in self.parts("bars")
                 for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]
        self.assertEqual(sorted(found), [0, 2000, 6000])

    def test_a_file_of_somebody_else_is_left(self):
        run = self.piped("bars.parquet")
        self.feed(run, "0,a,1", "2000,a,2")
        path = self.folder / "bars.parquet"
        until(path.exists)
        (self.folder / "other").write_text("other")
        (self.folder / "other").rename(path)
        self.feed(run, "4000,a,3", "6000,a,4")
        self.assertIn("is written whole", self.ended(run, 1))
        run.stdin.close()
        self.assertEqual(path.read_text(), "other")

    def test_a_signal_ends_the_last_part(self):
        run = self.fed(Ticks(100_000), 60, "parquet:bars?every=1h", "--write", "live")
        until(lambda: self.parts("bars"))
        before = len(self.parts("bars"))
        run.send_signal(signal.SIGTERM)
        self.ended(run, 128 + signal.SIGTERM)
        self.assertGreaterEqual(len(self.parts("bars")), before)
        self.assertEqual([path.suffix for path in (self.folder / "bars").iterdir()],
                         [".parquet"] * len(self.parts("bars")))


if __name__ == "__main__":
    main()

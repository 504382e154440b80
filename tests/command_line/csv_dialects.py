#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How CSV is written, and several inputs, in `strid window`. The tables are written here in one
dialect or the other and computed from the values that went in.

    csv_dialects.py CLASS...
"""
import csv
import gzip
import os
import random
import resource
import subprocess
import threading
import unittest
from collections import defaultdict
from time import sleep

from command_line import Case
from csv_rows import skipped
from windows import STRID, strid

SUMS = ("--time", "ts", "--window", "tumbling:1s", "--aggregate")


class Dialects(Case):
    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, newline="")
        return str(path)

    def results(self, *options, given=""):
        return strid("--quiet", *options, given=given).stdout.splitlines()[1:]

    def test_random_tables(self):
        """One table in all dialects; integers and quarters, so that sums are exact."""
        rng = random.Random(12)
        for trial in range(24):
            delimiter = rng.choice([",", ";", "\t", "|", ":", " "])
            comma = delimiter != "," and rng.random() < 0.5
            comment = rng.choice(["", "", "#", "%", "!"])
            nulls = rng.choice([[], [], ["NA"], ["N/A", "null", "-", "\\N"]])
            skip = rng.choice([0, 0, 1, 3])
            end = rng.choice(["\n", "\r\n"])
            header = delimiter.join(["k", "ts", "x", "tag"])
            lines = [f'line "{i}' for i in range(skip)]
            lines += [comment + " about, the; table\t"] * (comment != "") + [header]
            sums = defaultdict(float)
            counts = defaultdict(int)
            for i in range(300):
                x = rng.choice([None, rng.randrange(-4000, 4000) / 4])
                text = "" if x is None else f"{x:g}" if rng.random() < 0.7 else f"{x:.3f}"
                if x is None and nulls:
                    text = rng.choice(nulls + [""])
                if comma:
                    text = text.replace(".", ",")
                if rng.random() < 0.2:
                    text = f'"{text}"'
                elif delimiter != " " and rng.random() < 0.2:
                    text = f" {text} "
                key = rng.choice(["NA", "b"])
                lines.append(delimiter.join([key, str(100 * i), text, rng.choice(["", "t"])]))
                if rng.random() < 0.1:
                    lines.append(rng.choice(["", header, comment + lines[-1] if comment else ""]))
                window = key, i // 10 * 1000
                sums[window] += x or 0
                counts[window] += x is not None
            options = ["--delimiter", {"\t": rng.choice(["tab", "\\t", "\t"])}.get(delimiter,
                                                                                   delimiter)]
            options += ["--decimal-comma"] * comma + ["--skip", str(skip)] * (skip > 0)
            options += ["--comment", comment] * (comment != "")
            options += ["--null", ",".join(nulls)] * bool(nulls)
            for aggregates in ("sum(x),count(x)", "sum(x),count(x),median(x)"):
                got = {}
                for line in self.results("--key", "k", *SUMS, aggregates, *options,
                                         given=end.join(lines) + end):
                    key, start, _, total, count, *_ = line.split(",")
                    got[key, int(start)] = float(total or 0), int(count)
                self.assertEqual(got, {w: (sums[w], counts[w]) for w in counts}, options)

    def test_names_of_files(self):
        text = "id\trate\n1\t.1\n2\t.3\n"
        for name in ("a.tsv", "a.tab"):
            got = self.results("--input", self.file(name, text), "--window", "count:2",
                               "--aggregate", "mean(rate)")
            self.assertEqual(got, ["0,2,0.2"])
        packed = self.folder / "a.tsv.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        count = ("--window", "count:2", "--aggregate", "max(rate)")
        self.assertEqual(self.results("--input", str(packed), *count), ["0,2,0.3"])
        other = self.file("b.tsv", text.replace("\t", ","))
        self.assertEqual(self.results("--input", other, "--delimiter", ",", *count), ["0,2,0.3"])
        done = strid("--input", str(packed), self.file("c.csv", text), *count, code=2)
        self.assertIn("--delimiter says which", done.stderr)

    def test_decimal_commas_imply_semicolons(self):
        self.assertEqual(self.results(*SUMS, "sum(x)", "--decimal-comma", given="ts;x\n1000;1,5\n"),
                         ["1000,2000,1.5"])
        done = strid(*SUMS, "sum(x)", "--decimal-comma", given="ts;x\n1000;1.5\n", code=1)
        self.assertIn("not a number: \"1.5\"", done.stderr)

    def test_decimal_commas_in_times(self):
        given = "ts;x\n1000,25;1,5\n1000,5;1\n1001;1\n"
        seconds = ("--time", "ts", "--unit", "s", "--window", "tumbling:500ms", "--decimal-comma")
        self.assertEqual(self.results(*seconds, "--aggregate", "sum(x)", given=given),
                         ["1000,1000.5,1.5", "1000.5,1001,1", "1001,1001.5,1"])
        done = strid(*seconds, "--aggregate", "sum(x)", given="ts;x\n1000.25;1\n", code=1)
        self.assertIn("1000.25", done.stderr)

    def test_words_for_no_value(self):
        for word in ("NA", "N/A", "NaN", "nan", "null", "NULL", "\\N", "-", "inf"):
            given = f"ts,x\n1000,1\n1001,{word}\n"
            aggregates = "sum(x),count(x),count"
            self.assertEqual(self.results(*SUMS, aggregates, "--null", word, given=given),
                             ["1000,2000,1,1,2"])
            done = strid(*SUMS, aggregates, given=given, code=1)
            self.assertIn("standard input:3: field 2 'x': not a ", done.stderr)

    def test_separators_of_thousands(self):
        rng = random.Random(59)
        for option, written, comma in (
                (",", ",", False), ("'", "'", False), ("'", "\u2019", False), ("space", " ", False),
                (" ", "\u00a0", True), ("space", "\u202f", True), (".", ".", True),
                ("_", "_", False)):
            values = [rng.randrange(-10**rng.randint(1, 15), 10**rng.randint(1, 15)) / 4
                      for _ in range(50)]
            texts = []
            for value in values:
                text = f"{value:,.2f}" if rng.random() < 0.7 else f"{value:.2f}"
                whole, part = text.split(".")
                whole = whole.replace(",", written)
                texts.append(f"{whole}{',' if comma else '.'}{part}" if part != "00" else whole)
            options = ["--thousands", option] + ["--decimal-comma"] * comma
            delimiter = ";" if comma else ","
            given = f"ts{delimiter}x\n" + "".join(f'{i}{delimiter}"{text}"\n'
                                                  for i, text in enumerate(texts))
            got = self.results(*SUMS, "sum(x),count(x)", *options, given=given)
            total, count = got[0].split(",")[2:]
            self.assertEqual((float(total), int(count)), (sum(values), len(values)), texts)
        for text, value in (("12,34,567", 1234567), ("-1,000.5", -1000.5), ("+1,000e3", 1000000)):
            got = self.results(*SUMS, "sum(x)", "--thousands", ",", given=f'ts,x\n1,"{text}"\n')
            self.assertEqual(float(got[0].split(",")[2]), value)
        for text in ("1,23", ",123", "1234,567", "1,2,345", "1,234.5,678", "1,,234", "1,234,"):
            strid(*SUMS, "sum(x)", "--thousands", ",", given=f'ts,x\n1,"{text}"\n', code=1)
        for options in (["--thousands", "."], ["--thousands", ",", "--decimal-comma"],
                        ["--thousands", "1"], ["--thousands", "ab"]):
            strid(*SUMS, "count", *options, given="ts,x\n1,2\n", code=2)

    def test_what_is_no_character(self):
        for options in (["--delimiter", "ab"], ["--comment", "//"], ["--delimiter", ""],
                        ["--skip", "-1"], ["--skip", "x"], ["--quoted-lines", "many"],
                        ["--delimiter", "1"], ["--delimiter", ";", "--comment", ";"]):
            strid(*SUMS, "count", *options, given="ts,x\n1,2\n", code=2)

    def test_errors_suggest_the_option(self):
        for given, said in (
                ("ts;x\n1;2\n", "--delimiter ';'"), ("ts\tx\n1\t2\n", "--delimiter '\\t'"),
                ("# of today\nts,x\n1,2\n", "--comment '#'"), ("today\nts,x\n1,2\n", "--skip 1"),
                ("ts,x\r1,2\r", "tr '\\r' '\\n'"),
                ("ts,x,x\n1,2,3\n", "columns 2 and 3 are both 'x'"),
                ("ts,x\n1,2,\n", "--ragged"), ("ts,x\n1,NA\n", "--null 'NA'"),
                ("ts,x\n1,NaN\n", "--null 'NaN'")):
            done = strid(*SUMS, "sum(x)", given=given, code=1)
            self.assertIn(said, done.stderr)
        done = strid("--no-header", "--time", "1", "--window", "tumbling:1s", "--aggregate",
                     "sum(2)", given="ts,x\n1,2\n", code=1)
        self.assertIn("line 1 looks like a header", done.stderr)

    def test_terminals_are_sent_no_control_characters(self):
        for bad in ("\x1b[2J", "\u009b2J", "\u202e"):
            for given in (f"ts,x\n1,{bad}\n", f"ts,{bad}\n1,2\n"):
                done = strid(*SUMS, "sum(x)", given=given, code=1)
                self.assertNotIn(bad[0], done.stderr)


class Quotes(Case):
    """Fields with quotes and delimiters in them, as other programs write them."""

    def rows(self, name, content, *options):
        """The rows of a table with the columns t, text and x, as (text, x)."""
        path = self.folder / name
        path.write_text(content, newline="")
        found = {}
        for way in (["--parallelism", "1"], ["--late", str(self.folder / "late.csv")]):
            done = strid("--quiet", "--input", str(path), "--key", "text", "--time", "t",
                         "--window", "tumbling:1s", "--aggregate", "sum(x)", "--disorder", "end",
                         *options, *way)
            rows = {row[0]: row[-1] for row in csv.reader(done.stdout.splitlines()[1:])}
            self.assertEqual(rows, found or rows)
            found = rows
        return found

    TEXTS = ['36" wide', '"loose end', 'says "hi"', '"quoted"', 'oh"', "C:\\", "a, b", "plain",
             'tail ", and', "\\", 'x\\"']

    def test_quotes_that_are_characters(self):
        content = "t\ttext\tx\n" + "".join(f"{i}\t{text}\t{2**i}\n"
                                           for i, text in enumerate(self.TEXTS))
        self.assertEqual(self.rows("a.tsv", content, "--quote", "none"),
                         {text: str(2**i) for i, text in enumerate(self.TEXTS)})

    def test_escapes_against_the_module_csv(self):
        for number, quoting in enumerate((csv.QUOTE_ALL, csv.QUOTE_NONE, csv.QUOTE_NONNUMERIC)):
            path = self.folder / "written.csv"
            with open(path, "w", newline="") as file:
                writer = csv.writer(file, quoting=quoting, escapechar="\\", doublequote=False,
                                    lineterminator="\n")
                file.write("t,text,x\n")
                for i, text in enumerate(self.TEXTS):
                    writer.writerow([i, text, 2**i])
            self.assertEqual(self.rows(f"{number}.csv", path.read_text(), "--escape", "\\"),
                             {text: str(2**i) for i, text in enumerate(self.TEXTS)}, quoting)

    def test_no_value_of_databases(self):
        done = strid("--quiet", "--window", "count:3", "--aggregate", "count(x),sum(x),first(y)",
                     "--escape", "\\", "--null", "\\N", given="x,y\n1,a\\,b\n\\N,c\n4,d\n")
        self.assertEqual(done.stdout.splitlines()[1:], ['0,3,2,5,"a,b"'])

    def test_what_makes_no_sense(self):
        for options in (["--escape", '"'], ["--escape", ","], ["--escape", "ab"],
                        ["--quote", "single"]):
            strid("--window", "count:1", "--aggregate", "count", *options, given="x\n", code=2)
        done = strid("--window", "count:1", "--aggregate", "count", "--format", "json", "--quote",
                     "none", given="", code=2)
        self.assertIn("are for CSV", done.stderr)


class Inputs(Case):
    def table(self, rng, times):
        """A file with its columns in an order of its own."""
        names = ["ts", "k", "x", "other"]
        rng.shuffle(names)
        end = rng.choice(["\n", "\r\n"])
        rows = [{"ts": t, "k": rng.choice("ab"), "x": rng.randrange(100), "other": '"a,\nb"'}
                for t in times]
        text = end.join([",".join(names)] + [",".join(str(row[n]) for n in names) for row in rows])
        return text + rng.choice([end, ""]), rows

    def files(self, rng, parts):
        paths, rows = [], []
        for i, times in enumerate(parts):
            text, more = self.table(rng, times)
            path = self.folder / f"part{i}.csv"
            path.write_text(text, newline="")
            paths.append(str(path))
            rows += more
        return paths, rows

    @staticmethod
    def sums(rows):
        sums = defaultdict(int)
        for row in rows:
            sums[row["k"], row["ts"] // 1000 * 1000] += row["x"]
        return sums

    def run_windows(self, *options):
        done = strid("--key", "k", *SUMS, "sum(x)", *options)
        self.assertNotIn(" late ", done.stderr)
        rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
        return {(key, int(start)): int(total) for key, start, _, total in rows}

    def test_one_behind_the_other(self):
        rng = random.Random(1)
        times = sorted(rng.randrange(60_000) for _ in range(900))
        paths, rows = self.files(rng, [times[:300], times[300:300], times[300:700], times[700:]])
        self.assertEqual(self.run_windows("--input", *paths), self.sums(rows))
        repeated = [word for path in paths for word in ("--input", path)]
        self.assertEqual(self.run_windows(*repeated), self.sums(rows))

    def test_merged_by_time(self):
        """No row is late although no disorder is allowed."""
        rng = random.Random(2)
        for parts in (1, 2, 5, 40):
            all_times = [sorted(rng.randrange(60_000) for _ in range(rng.choice([0, 1, 500])))
                         for _ in range(parts)]
            paths, rows = self.files(rng, all_times)
            self.assertEqual(self.run_windows("--merge-inputs", "--input", *paths),
                             self.sums(rows))

    def test_more_inputs_than_files_may_be_open(self):
        """The soft limit is raised; a hard one that is too low is named."""
        paths = []
        for n in range(100):
            paths.append(self.folder / f"many{n}")
            paths[-1].write_text(f"ts,x\n{n},1\n")
        command = [STRID, "window", *SUMS, "count,sum(x)", "--quiet", "--input", *paths,
                   "--merge-inputs"]
        for limits, code in (((90, 300), 0), ((90, 90), 2)):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=120, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits))
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                self.assertEqual(done.stdout.splitlines()[1:], ["0,1000,100,100"])
            else:
                self.assertIn("may have 90 open files here (ulimit -Hn)", done.stderr)

    def test_equal_times_come_in_the_order_of_the_inputs(self):
        """The rows in a stable sort by time, the files one behind the other."""
        rng = random.Random(3)
        tables = [[(time, f"{part}-{n}") for n, time in
                   enumerate(sorted(1000 * rng.randrange(6) for _ in range(40)))]
                  for part in range(3)]
        paths = []
        for part, rows in enumerate(tables):
            paths.append(self.folder / f"ties{part}")
            paths[-1].write_text("ts,x\n" + "".join(f"{time},{x}\n" for time, x in rows))
        expected = {}
        for time, x in sorted(sum(tables, []), key=lambda row: row[0]):
            expected.setdefault(time, []).append(x)
        done = strid("--quiet", *SUMS, "first(x),last(x)", "--merge-inputs", "--input", *paths)
        self.assertEqual(done.stdout.splitlines()[1:],
                         [f"{time},{time + 1000},{xs[0]},{xs[-1]}"
                          for time, xs in sorted(expected.items())])

    def merge_pipes(self, write_headers):
        """Two live streams: a window is written once both are past its end."""
        ends = [self.folder / "p0", self.folder / "p1"]
        for end in ends:
            os.mkfifo(end)
        with subprocess.Popen([STRID, "window", *SUMS, "sum(x)", "--merge-inputs", "--quiet",
                               "--input", *map(str, ends)], stdout=subprocess.PIPE) as process:
            watchdog = threading.Timer(100, process.kill)
            watchdog.start()
            streams = [open(end, "w", buffering=1) for end in ends]
            write_headers(streams)
            for i in range(50):
                for j, stream in enumerate(streams):
                    stream.write(f"{1000 * i},{100 * j + i}\n")
                if i > 0:
                    expected = f"{1000 * i - 1000},{1000 * i},{100 + 2 * (i - 1)}\n"
                    if i == 1:
                        process.stdout.readline()  # the header
                    self.assertEqual(process.stdout.readline().decode(), expected)
            for stream in streams:
                stream.close()
            self.assertEqual(process.stdout.read().decode(), "49000,50000,198\n")
            process.wait(timeout=100)
            watchdog.cancel()
        self.assertEqual(process.returncode, 0)
        for end in ends:
            end.unlink()

    def test_merging_pipes(self):
        """Whichever is silent when the run begins, and for however long."""
        for order in ([0, 1], [1, 0]):
            for pause_s in (0, 0.1):
                def write_headers(streams, order=order, pause_s=pause_s):
                    for i in order:
                        sleep(pause_s)
                        streams[i].write("ts,x\n")
                    sleep(pause_s)
                self.merge_pipes(write_headers)

    def test_late_rows_of_several(self):
        (self.folder / "a").write_text("ts,x\n5000,1\n1,2\n")
        (self.folder / "b").write_text("ts,x\n2,3\n")
        (self.folder / "c").write_text("x,ts\n3,3\n")
        late = str(self.folder / "late")
        inputs = [str(self.folder / name) for name in "abc"]
        strid(*SUMS, "sum(x)", "--late", late, "--input", *inputs[:2])
        self.assertEqual((self.folder / "late").read_text(), "ts,x\n1,2\n2,3\n")
        done = strid(*SUMS, "sum(x)", "--late", late, "--input", *inputs, code=1)
        self.assertIn("its header is another", done.stderr)

    def test_dead_letters_of_several(self):
        """In one file, whether the inputs are merged or not."""
        inputs = []
        for name in "abc":
            (self.folder / name).write_text(f"ts,x\n1000,{name}\n2000,1\n3000,2,{name}\n")
            inputs.append(str(self.folder / name))
        for options in ([], ["--merge-inputs"]):
            dead = self.folder / "dead"
            done = strid(*SUMS, "sum(x)", "--disorder", "1h", "--dead-letter", str(dead),
                         *options, "--input", *inputs)
            self.assertEqual(done.stdout.splitlines()[1:], ["2000,3000,3"])
            with open(dead, newline="") as file:
                got = sorted((row[0], row[1], row[3]) for row in csv.reader(file))
            self.assertEqual(got, [(path, line, text) for path in inputs for line, text in
                                   (("2", f"1000,{path[-1]}"), ("4", f"3000,2,{path[-1]}"))])

    def test_mistakes(self):
        for options in (["--input", "-", "-"], ["--merge-inputs", "--window", "count:1"]):
            words = ["--window", "count:1"] if "--window" not in options else []
            strid("--aggregate", "count", *words, *options, code=2)
        path = self.folder / "a.csv"
        path.write_text("ts,x\n1,2\n")
        done = strid(*SUMS, "count", "--input", str(path), str(self.folder / "none.csv"), code=1)
        self.assertIn("none.csv: cannot open", done.stderr)
        other = self.folder / "b.csv"
        other.write_text("ts,x\n1,2\n3,y\n")
        done = strid(*SUMS, "sum(x)", "--input", str(path), str(other), code=1)
        self.assertIn("b.csv:3: field 2 'x'", done.stderr)


if __name__ == "__main__":
    unittest.main()

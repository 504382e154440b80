#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` and `strid run` over compressed files and UTF-16: what lzma, bz2, gzip
and codecs of Python wrote; the answer is that of the same text as it is.

    packed.py CLASS...
"""
import bz2
import contextlib
import gzip
import lzma
import random
import re
import shutil
import sqlite3
import subprocess
import unittest

from command_line import Case

ASK = ["--key", "key", "--time", "at", "--window", "tumbling:1s", "--aggregate", "count,sum(x)"]


class Packed(Case):
    def answer(self, source, *more):
        done = self.strid("window", "--quiet", "--input", source, *ASK, *more)
        return sorted(done.stdout.decode().splitlines())

    def test_tables(self):
        rng = random.Random(3)
        csv = "key,at,x\n" + "".join(f"k{rng.randrange(5)}é,{i},{rng.randrange(99)}\n"
                                     for i in range(20_000))
        json = "".join('{"key":"%s","at":%s,"x":%s}\n' % tuple(line.split(","))
                       for line in csv.splitlines()[1:])
        expected = self.answer(self.file("plain.csv", csv))
        self.assertGreater(len(expected), 90)
        for text, ending in ((csv, ".csv"), (json, ".jsonl"), (json, ".json")):
            raw = text.encode()
            half = len(raw) // 2
            for packing, packed in (
                    (".xz", lzma.compress(raw)), (".xz", lzma.compress(raw, preset=9)),
                    (".xz", lzma.compress(raw[:half]) + b"\0" * 4 + lzma.compress(raw[half:])),
                    (".bz2", bz2.compress(raw)), (".bz2", bz2.compress(raw, 1)),
                    (".bz2", bz2.compress(raw[:half]) + bz2.compress(raw[half:])),
                    ("", text.encode("utf-16")), ("", b"\xfe\xff" + text.encode("utf-16-be")),
                    (".gz", gzip.compress(text.encode("utf-16"))),
                    (".bz2", bz2.compress(text.encode("utf-16")))):
                source = self.file("packed" + ending + packing, packed)
                self.assertEqual(self.answer(source), expected, source)
                piped = subprocess.run(["cat", source], capture_output=True, check=True).stdout
                done = self.strid("window", "--quiet", *ASK, input=piped)
                self.assertEqual(sorted(done.stdout.decode().splitlines()), expected)

    @unittest.skipUnless(shutil.which("zstd"), "no zstd here")
    def test_zstd_of_long_windows_and_with_dictionaries(self):
        text = self.file("plain.csv", "key,at,x\n" + "".join(
            f"k{i % 5},{i},{i % 7}\n" for i in range(5000)))
        dictionary = self.file("words", text.read_bytes()[:600])
        expected = self.answer(text)
        packed = self.folder / "packed.csv.zst"
        for options in (["--long=27"], ["--long=28"], ["--long=31"], ["-D", dictionary]):
            # Of a stream, so that the window is asked for whole.
            with open(text, "rb") as stream:
                packed.write_bytes(subprocess.run(["zstd", "-q", "-c", *options], stdin=stream,
                                                  capture_output=True, check=True).stdout)
            more = ["--zstd-dictionary", dictionary] * ("-D" in options)
            self.assertEqual(self.answer(packed, *more), expected, options)
        self.assertIn("zstd_dictionary",
                      self.fails("window", "--quiet", "--input", packed, *ASK, code=1))

    def test_what_is_wrong_is_said(self):
        raw = b"key,at,x\n" + b"a,1,2\n" * 5000
        xz = lzma.compress(raw)
        database = self.folder / "base"
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("create table t (x)")
            connection.commit()
        for packed, says in ((xz[:-20], "truncated xz stream"),
                             (xz + b"garbage behind it", "damaged xz stream, or other bytes"),
                             (bz2.compress(raw)[:-5], "truncated bzip2 stream"),
                             (bz2.compress(raw) + b"garbage", "other bytes follow the bzip2"),
                             (raw.decode().encode("utf-16")[:-1], "truncated text in UTF-16"),
                             (xz[:40] + b"\x55" + xz[41:], "damaged xz stream"),
                             (b"\x04\x22\x4d\x18" + raw, "a file of lz4"),
                             (b"PAR1" + raw, "a Parquet file"),
                             (database.read_bytes(), "an SQLite database"),
                             (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + raw, "an old Excel file")):
            source = self.file("bad", packed)
            self.assertIn(f"{source}: {says}",
                          self.fails("window", "--quiet", "--input", source, *ASK, code=1))

    def test_the_encoding_of_a_text_is_named(self):
        raw = "key,at,x\na,1,2\n"
        for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-32"):
            source = self.file("wide", gzip.compress(raw.encode(encoding)))
            error = self.fails("window", "--quiet", "--input", source, *ASK, code=1)
            named = re.search(r"wide: text in (UTF-\d\d).*: iconv -f (\1\S*) -t UTF-8", error)
            self.assertIsNotNone(named, error)
            self.assertEqual(raw.encode(encoding).decode(named[2]), raw)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` and `strid run` over compressed files and UTF-16: what lzma, bz2, gzip
and codecs of Python wrote; the answer is that of the same text as it is.

    packed.py CLASS...
"""
import bz2
import gzip
import lzma
import random
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

    def test_what_is_wrong_is_said(self):
        raw = b"key,at,x\n" + b"a,1,2\n" * 5000
        xz = lzma.compress(raw)
        for packed, says in ((xz[:-20], "truncated xz stream"),
                             (xz + b"garbage behind it", "damaged xz stream, or other bytes"),
                             (bz2.compress(raw)[:-5], "truncated bzip2 stream"),
                             (bz2.compress(raw) + b"garbage", "other bytes follow the bzip2"),
                             (raw.decode().encode("utf-16")[:-1], "truncated text in UTF-16"),
                             (xz[:40] + b"\x55" + xz[41:], "damaged xz stream")):
            source = self.file("bad", packed)
            self.assertIn(f"{source}: {says}",
                          self.fails("window", "--quiet", "--input", source, *ASK, code=1))


if __name__ == "__main__":
    unittest.main()

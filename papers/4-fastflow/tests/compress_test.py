# SPDX-License-Identifier: Apache-2.0
"""strid compress and strid decompress. The oracles are Python's bz2, the program bzip2 and, where
it is installed, pbzip2; blocks that contain the numbers that blocks begin with are made by hand."""

import bz2
import random
import subprocess
import sys
import unittest

from compress_cases import (
    BLOCK_MAGIC,
    DECOMPRESS,
    END_MAGIC,
    HAS_BZIP2,
    HAS_PBZIP2,
    CompressCase,
    bzip2,
    stream_of,
    text_of,
)
from compress_files import CommandLine, Files  # noqa: F401, tests of this program, too
from program import PROGRAM, TIMEOUT_S


class Coding(CompressCase):
    DATA = {
        "empty": b"",
        "one byte": b"x",
        "text": text_of(450_000, 1),
        "runs": b"".join(bytes([i % 256]) * (i % 700) for i in range(3000)),
        "runs of four": b"".join(bytes([i % 251]) * 4 for i in range(60_000)),
        "one byte over and over": b"\0" * 3_000_000,
        "random": random.Random(2).randbytes(350_000),
        "one block": text_of(99_980, 3),
        "one byte more": text_of(99_981, 4),
        "one byte less": text_of(99_979, 5),
    }

    def test_python_reads_what_is_written(self):
        for name, data in self.DATA.items():
            for level in (1, 9):
                with self.subTest(name, level=level):
                    packed = self.compress(data, f"-{level}")
                    self.assertEqual(packed[:4], b"BZh%d" % level)
                    self.assertEqual(bz2.decompress(packed), data)

    def test_every_bit_is_that_of_libbz2(self):
        generator = random.Random(9)
        data = list(self.DATA.values())
        data += [b"abcabd" * 20_000, b"ab" * 30_000 + b"a", bytes(99_980), b"\xff" * 1_019,
                 bytes(generator.choices(b"ab", k=70_000))]
        one, other = b"a", b"ab"
        while len(other) < 90_000:  # of Fibonacci: most equal parts without a period
            one, other = other, other + one
        data.append(other)
        data += [bytes(generator.choices(range(generator.choice((1, 2, 3, 256))), k=size))
                 for size in (1, 2, 3, 4, 5, 49, 50, 51, 199, 201, 599, 1199, 2399, 2401, 5000)]
        for i, text in enumerate(data):
            for level in (1, 9):
                with self.subTest(i, level=level):
                    size = level * 100_000 - 20  # of the input of a stream
                    expected = b"".join(bz2.compress(text[at:at + size], level)
                                        for at in range(0, max(len(text), 1), size))
                    self.assertEqual(self.compress(text, f"-{level}"), expected)

    def test_python_writes_what_is_read(self):
        for name, data in self.DATA.items():
            for level in (1, 5, 9):
                with self.subTest(name, level=level):
                    self.assertEqual(self.decompress(bz2.compress(data, level)), data)

    def test_the_number_of_workers_changes_no_byte(self):
        data = self.DATA["text"] * 3
        expected = self.compress(data, "-1", workers=1)
        stream = bz2.compress(data, 1)
        for workers in (2, 3, 7):
            self.assertEqual(self.compress(data, "-1", workers=workers), expected)
            self.assertEqual(self.decompress(expected, workers=workers), data)
            self.assertEqual(self.decompress(stream, workers=workers), data)

    def test_each_block_is_a_stream(self):
        data = self.DATA["text"]
        rest, sizes = self.compress(data, "-1"), []
        while rest:
            stream = bz2.BZ2Decompressor()
            sizes.append(len(stream.decompress(rest)))
            rest = stream.unused_data
        self.assertEqual(sizes, [99_980] * 4 + [450_000 - 4 * 99_980])

    def test_streams_of_all_levels_in_one_file(self):
        data = self.DATA["text"]
        packed = b"".join(
            bz2.compress(data[:150_000 + level], level) + bz2.compress(b"")
            for level in range(1, 10)
        )
        expected = b"".join(data[:150_000 + level] for level in range(1, 10))
        for workers in (1, 2):
            self.assertEqual(self.decompress(packed, workers=workers), expected)

    def test_thousands_of_short_streams(self):
        packed = b"".join(bz2.compress(b"%d\n" % i) for i in range(3000))
        expected = b"".join(b"%d\n" % i for i in range(3000))
        self.assertEqual(self.decompress(packed), expected)

    @unittest.skipUnless(HAS_BZIP2, "bzip2 is not installed")
    def test_bzip2(self):
        data = self.DATA["text"] * 4
        self.assertEqual(self.decompress(bzip2("-3", data=data).stdout), data)
        self.assertEqual(bzip2("-d", data=self.compress(data, "-2")).stdout, data)

    @unittest.skipUnless(HAS_PBZIP2, "pbzip2 is not installed")
    def test_pbzip2(self):
        data = self.DATA["text"] * 4
        packed = subprocess.run(["pbzip2", "-1", "-p2", "-c"], input=data, capture_output=True,
                                check=True, timeout=TIMEOUT_S).stdout
        self.assertEqual(self.decompress(packed), data)
        file = self.write("a.bz2", self.compress(data, "-1"))
        unpacked = subprocess.run(["pbzip2", "-dc", "-p2", file], capture_output=True, check=True,
                                  timeout=TIMEOUT_S).stdout
        self.assertEqual(unpacked, data)

    def test_memory_is_bounded(self):
        # 46 MB of zeros are one block of bzip2, 900 kB one of ours.
        size = 200_000_000
        zeros = f"head -c {size} /dev/zero"
        largest = "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss"
        for pack, most_kb in (("bzip2", 500_000), (f"{PROGRAM} --workers 2", 100_000)):
            if pack == "bzip2" and not HAS_BZIP2:
                continue
            command = f"{zeros} | {pack} | {DECOMPRESS} --workers 2 | wc -c"
            script = (f"import resource, subprocess; subprocess.run({command!r}, shell=True); "
                      f"print({largest})")
            result = subprocess.run([sys.executable, "-c", script], capture_output=True,
                                    check=True, timeout=TIMEOUT_S).stdout.split()
            self.assertEqual(int(result[0]), size)
            self.assertLess(int(result[1]), most_kb)


class FalseMarks(CompressCase):
    """Blocks in whose bits the numbers stand that tell where blocks begin and streams end."""

    BLOCK = BLOCK_MAGIC.to_bytes(6, "big")
    END = END_MAGIC.to_bytes(6, "big")

    def symbols(self, seed, *insertions):
        generator = random.Random(seed)
        text = bytes(generator.randint(2, 254) for _ in range(3000))
        for at, inserted in insertions:
            text = text[:at] + inserted + text[at:]
        return text

    def check(self, packed, expected):
        self.assertEqual(bz2.decompress(packed), expected, "the test makes a wrong file")
        for workers in (1, 2, 4):
            self.assertEqual(self.decompress(packed, workers=workers), expected)

    def test_none(self):
        self.check(*stream_of([(self.symbols(1), 0), (self.symbols(2), 3)]))

    def test_blocks_of_bzip2_before_0_9_5(self):
        blocks = [(self.symbols(seed) * (1 + 9 * seed), 0, True) for seed in range(1, 4)]
        self.check(*stream_of([*blocks, (self.symbols(5), 0)]))

    def test_begin_of_a_block_at_each_bit(self):
        for shift in range(8):
            with self.subTest(shift=shift):
                blocks = [(self.symbols(3, (700, self.BLOCK)), shift), (self.symbols(4), 0)]
                self.check(*stream_of(blocks))

    def test_many(self):
        end = bytes(max(byte, 2) for byte in self.END)
        marks = [(0, self.BLOCK), (100, self.BLOCK * 20), (900, end), (2999, self.BLOCK)]
        self.check(*stream_of([(self.symbols(seed, *marks), seed) for seed in range(9)]))

    def test_header_of_another_level_inside(self):
        # The level that it seems to say is too small for what follows.
        data = text_of(250_000, 6)
        first, first_output = stream_of([(self.symbols(7, (50, b"BZh1" + self.BLOCK)), shift)
                                         for shift in range(8)])
        self.check(first + bz2.compress(data), first_output + data)

    def test_corrupt_all_the_same(self):
        packed, _ = stream_of([(self.symbols(3, (700, self.BLOCK)), 0), (self.symbols(4), 0)])
        damaged = packed[:1500] + bytes([packed[1500] ^ 1]) + packed[1501:]
        self.assertIn("byte 4: the block that begins here is corrupt",
                      self.fails("-d", code=2, input=damaged))


class Damage(CompressCase):
    DATA = text_of(350_000, 7)

    def setUp(self):
        super().setUp()
        self.packed = bz2.compress(self.DATA[:150_000], 1) + bz2.compress(self.DATA[150_000:], 1)

    def test_truncated_anywhere(self):
        first = len(bz2.compress(self.DATA[:150_000], 1))
        size = len(self.packed)
        cuts = [1, 2, 3, 4, 7, 10, 13, 14, 1000, first - 11, first - 10, first - 1, first + 1,
                first + 3, first + 4, first + 8, size // 2, size - 60, *range(size - 14, size)]
        for cut in cuts:
            with self.subTest(cut=cut):
                path = self.write("a.bz2", self.packed[:cut])
                for workers in (1, 2):
                    line = self.fails("-d", "--workers", workers, path, code=2)
                    self.assertIn(f"a.bz2: byte {cut}: the file ends inside a stream", line)
                self.assertEqual(self.names(), ["a.bz2"])
        self.write("a.bz2", self.packed[:first])
        self.run_program("-d", self.folder / "a.bz2")

    def test_whole_blocks_before_a_cut_are_written(self):
        # libbz2 gives the bytes of a block when it has read it to its end.
        def whole_blocks(packed):
            result = b""
            while len(packed) >= 4:
                stream = bz2.BZ2Decompressor()
                result += stream.decompress(packed)
                if not stream.eof:
                    break
                packed = stream.unused_data
            return result

        first, size = len(bz2.compress(self.DATA[:150_000], 1)), len(self.packed)
        cuts = {*range(4, size, 5000), *range(first - 18, first + 6), *range(size - 18, size)}
        written = {cut: whole_blocks(self.packed[:cut]) for cut in cuts}
        for workers in (1, 2):
            for cut, expected in written.items():
                result = self.run_program("-dc", "--workers", workers, input=self.packed[:cut],
                                          code=0 if cut == first else 2)
                self.assertEqual(result.stdout, expected, cut)

    def test_empty_is_no_file_of_bzip2(self):
        self.assertIn("byte 0", self.fails("-d", self.write("a.bz2", b""), code=2))
        self.fails("-d", input=b"", code=2)

    def test_flipped_bits(self):
        generator = random.Random(8)
        for _ in range(40):
            at = generator.randrange(len(self.packed) * 8)
            damaged = bytearray(self.packed)
            damaged[at // 8] ^= 128 >> at % 8
            with self.subTest(bit=at):
                path = self.write("a.bz2", damaged)
                if HAS_BZIP2 and bzip2("-t", path).returncode == 0:
                    continue  # a bit of the padding, or the first of what is garbage then
                line = self.fails("-d", path, code=2)
                self.assertRegex(line, r"a\.bz2: (byte \d+: .*|is not a file of bzip2)$")
                self.fails("-t", path, code=2)
                self.assertEqual(self.names(), ["a.bz2"])

    def test_the_error_names_the_block(self):
        streams = bz2.compress(self.DATA[:99_000], 1)
        damaged = bytearray(streams * 3)
        damaged[len(streams) + 5000] ^= 4
        line = self.fails("-d", self.write("a.bz2", damaged), code=2)
        self.assertIn(f"byte {len(streams) + 4}: the block that begins here is corrupt", line)

    def test_a_wrong_crc_of_the_stream(self):
        damaged = bytearray(bz2.compress(b"some text"))
        damaged[-3] ^= 16
        line = self.fails("-d", self.write("a.bz2", damaged), code=2)
        self.assertIn("the CRC of the stream that ends here is wrong", line)

    def test_garbage_behind_is_ignored_with_a_warning(self):
        for garbage in (b"x", b"BZ!", b"BZh0", b"\0" * 100_000, b"\xff" * 40_000_000):
            with self.subTest(garbage=garbage[:5]):
                result = self.run_program("-d", input=self.packed + garbage)
                self.assertEqual(result.stdout, self.DATA)
                warning = f"trailing garbage from byte {len(self.packed)} on is ignored"
                self.assertEqual(result.stderr.decode(), f"strid: (stdin): {warning}\n")
                self.assertEqual(self.run_program("-dq", input=self.packed + garbage).stderr, b"")

    def test_a_header_without_a_block_is_no_garbage(self):
        for behind in (b"B", b"BZ", b"BZh", b"BZh9", b"BZh9garbage"):
            with self.subTest(behind=behind):
                self.fails("-d", input=self.packed + behind, code=2)
                if HAS_BZIP2:
                    self.assertEqual(bzip2("-d", data=self.packed + behind).returncode, 2)

    def test_no_file_of_bzip2(self):
        path = self.write("a.bz2", b"some text")
        self.assertIn("a.bz2: is not a file of bzip2", self.fails("-d", path, code=2))
        self.assertIn("(stdin): is not a file of bzip2", self.fails("-t", input=b"text", code=2))
        self.assertEqual(self.run_program("-dcf", path).stdout, b"some text")
        long = self.DATA * 5
        self.assertEqual(self.run_program("-df", input=long).stdout, long)
        self.fails("-tf", path, code=2)

    def test_one_of_many_files(self):
        for i in range(20):
            self.write(f"{i}.bz2", bz2.compress(b"text %d" % i))
        self.write("7.bz2", b"damaged")
        self.fails("-d", "--workers", 2, *sorted(self.folder.iterdir()), code=2)
        self.assertEqual(self.names(), sorted([f"{i}" for i in range(20) if i != 7] + ["7.bz2"]))


if __name__ == "__main__":
    unittest.main()

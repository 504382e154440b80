# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of strid compress: its runs, and blocks of bzip2 made by hand."""

import pathlib
import random
import re
import shutil
import subprocess

from program import PROGRAM, SOURCE, TIMEOUT_S, Case

DECOMPRESS = str(pathlib.Path(PROGRAM).parent / "strid-decompress")
BLOCK_MAGIC = 0x314159265359
END_MAGIC = 0x177245385090
HAS_BZIP2 = shutil.which("bzip2") is not None
HAS_PBZIP2 = shutil.which("pbzip2") is not None


def text_of(size, seed):
    """Words, so that it can be compressed."""
    generator = random.Random(seed)
    words = [generator.randbytes(generator.randint(1, 5)).hex().encode() for _ in range(3000)]
    text = b" ".join(generator.choices(words, k=size // 5 + 1))
    return text[:size]


def bzip2(*arguments, data=None):
    return subprocess.run(["bzip2", *map(str, arguments)], input=data, capture_output=True,
                          timeout=TIMEOUT_S)


class Bits:
    """Bits, the highest of a byte first."""

    def __init__(self):
        self.text = []

    def put(self, value, count):
        self.text.append(format(value, f"0{count}b"))

    def length(self):
        return sum(map(len, self.text))

    def bytes(self):
        text = "".join(self.text)
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")


def crc_of(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def random_steps():
    """The numbers of the program, which Python's bz2 confirms where a test uses them."""
    text = (SOURCE / "papers/4-fastflow/compress/random_steps.hpp").read_text()
    return [int(number) for number in re.findall(r"\d+", text[text.index("= {"):])]


def output_of(symbols, randomised=False):
    """The decoded bytes of a block of these bytes as symbols (2 to 254, no runs)."""
    order = list(range(254))
    last_column = []
    for symbol in symbols:
        byte = order.pop(symbol - 1)
        order.insert(0, byte)
        last_column.append(byte)
    # The inverse of the transform: rows in the order of their first byte.
    rows = sorted(range(len(last_column)), key=lambda row: (last_column[row], row))
    row = rows[0]
    runs = []
    for _ in last_column:
        runs.append(last_column[row])
        row = rows[row]
    if randomised:
        steps = random_steps()
        at, step = steps[0] - 2, 0
        while at < len(runs):
            runs[at] ^= 1
            step += 1
            at += steps[step % len(steps)]
    # Four equal bytes are followed by how many more there are.
    output, equal = bytearray(), 0
    for byte in runs:
        if equal == 4:
            output += output[-1:] * byte
            equal = 0
            continue
        equal = equal + 1 if output and equal and output[-1] == byte else 1
        output.append(byte)
    return bytes(output)


def put_block(bits, symbols, shift=0, randomised=False):
    """A block whose coded symbols are the bytes `symbols` themselves, as all codes have 8 bits;
    `shift`: they begin so many bits later. Returns what it is decoded to, and its CRC."""
    output = output_of(symbols, randomised)
    crc = crc_of(output)
    bits.put(BLOCK_MAGIC, 48)
    bits.put(crc, 32)
    bits.put(int(randomised), 1)
    bits.put(0, 24)
    used = [1] * 254 + [0, 0]
    bits.put(0xFFFF, 16)
    for group in range(16):
        bits.put(int("".join(map(str, used[group * 16:group * 16 + 16])), 2), 16)
    bits.put(2, 3)
    selectors = (len(symbols) + 1 + 49) // 50 + shift
    bits.put(selectors, 15)
    bits.put(0, selectors)
    for _ in range(2):
        bits.put(8, 5)
        bits.put(0, 256)
    for symbol in symbols:
        bits.put(symbol, 8)
    bits.put(255, 8)
    return output, crc


def stream_of(blocks, level=9):
    """A stream of blocks given as arguments of put_block(), and what it is decoded to."""
    bits, output, combined = Bits(), b"", 0
    for byte in b"BZh%d" % level:
        bits.put(byte, 8)
    for block in blocks:
        decoded, crc = put_block(bits, *block)
        output += decoded
        combined = ((combined << 1 | combined >> 31) & 0xFFFFFFFF) ^ crc
    bits.put(END_MAGIC, 48)
    bits.put(combined, 32)
    return bits.bytes(), output


class CompressCase(Case):
    def compress(self, data, *options, workers=2):
        return self.run_program("--workers", workers, *options, input=data).stdout

    def decompress(self, data, *options, workers=2, code=0):
        return self.run_program("-d", "--workers", workers, *options, input=data, code=code).stdout

    def write(self, name, data, mode=None):
        path = self.folder / name
        path.write_bytes(data)
        if mode is not None:
            path.chmod(mode)
        return path

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

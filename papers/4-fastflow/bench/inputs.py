# SPDX-License-Identifier: Apache-2.0
"""Inputs of the applications, made up by a seeded generator: the same everywhere, whatever order
they are made in. `scale` is a part of the full size."""

from __future__ import annotations

import bz2
import functools
import math
import random
import struct
import zlib
from pathlib import Path

# Parts per thousand of the amino acids in proteins.
RESIDUES = {"A": 83, "R": 55, "N": 41, "D": 55, "C": 14, "Q": 39, "E": 67, "G": 71, "H": 23,
            "I": 59, "L": 97, "K": 58, "M": 24, "F": 39, "P": 47, "S": 66, "T": 53, "W": 11,
            "Y": 29, "V": 69}


def residue_of_byte() -> bytes:
    """A residue for each byte, as often as it is in proteins."""
    letters = list(RESIDUES)
    ends = [sum(list(RESIDUES.values())[:count + 1]) * 256 / sum(RESIDUES.values())
            for count in range(len(letters))]
    return "".join(next(letter for letter, end in zip(letters, ends) if byte < end - 1e-9)
                   for byte in range(256)).encode()


RESIDUE_OF_BYTE = residue_of_byte()


def protein(random_numbers: random.Random, length: int) -> str:
    return random_numbers.randbytes(length).translate(RESIDUE_OF_BYTE).decode()


def proteins(folder: Path, scale: float, query: int) -> dict:
    """A database of 16 million residues at full scale, and one query of so many."""
    database, queries = folder / "database.fasta", folder / f"query_{query}.fasta"
    random_numbers = random.Random(1)
    wanted, residues = int(16e6 * scale), 0
    with database.open("w") as file:
        for number in range(1 << 30):
            if residues >= wanted:
                break
            length = max(30, int(random_numbers.lognormvariate(5.7, 0.6)))
            residues += length
            file.write(f">made_up_{number}\n{protein(random_numbers, length)}\n")
    queries.write_text(f">query_{query}\n{protein(random.Random(query), query)}\n")
    return {"database": database, "queries": queries, "cells": residues * query}


@functools.cache
def text_pool() -> bytes:
    """Two megabytes of words, a few of which are most of the text."""
    random_numbers = random.Random(5)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(random_numbers.choices(letters, range(26, 0, -1),
                                            k=random_numbers.randint(2, 10)))
             for _ in range(20_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    return " ".join(random_numbers.choices(words, weights, k=300_000)).encode()


def write_text(file: Path, pool: bytes, random_numbers: random.Random, size: int) -> None:
    """Pieces of the pool: none comes twice within a block of the compressor but by chance."""
    with file.open("wb") as out:
        while size > 0:
            begin = random_numbers.randrange(len(pool) - 65_536)
            piece = pool[begin:begin + min(size, 65_536)]
            out.write(piece)
            size -= len(piece)


def one_text(folder: Path, scale: float) -> dict:
    random_numbers = random.Random(2)
    file = folder / "large.txt"
    write_text(file, text_pool(), random_numbers, max(100_000, int(20e6 * scale)))
    return {"files": [file], "bytes": file.stat().st_size}


def many_texts(folder: Path, scale: float) -> dict:
    """The paper's mixture, a tenth of its sizes: of 100 files 86 % small (to 1 MB there), 9 %
    medium (1 to 10), 4 % large (10 to 50), 1 % very large (50 to 100)."""
    random_numbers = random.Random(3)
    pool = text_pool()
    files = []
    for count, least, most in [(86, 0, 1), (9, 1, 10), (4, 10, 50), (1, 50, 100)]:
        for _ in range(count):
            file = folder / f"text_{len(files)}.txt"
            write_text(file, pool, random_numbers,
                       int(random_numbers.uniform(least, most) * 1e5 * scale) + 1)
            files.append(file)
    random_numbers.shuffle(files)
    return {"files": files, "bytes": sum(file.stat().st_size for file in files)}


def many_compressed_texts(folder: Path, scale: float) -> dict:
    """The same by the compressor of the standard library."""
    values = many_texts(folder, scale)
    files = []
    for file in values["files"]:
        files.append(file.with_name(file.name + ".bz2"))
        files[-1].write_bytes(bz2.compress(file.read_bytes()))
        file.unlink()
    return {**values, "files": files}


def in_group_a(age: float, salary: float, loan: float) -> bool:
    """Function 5 of the QUEST generator, as in the paper's SyD10M9A."""
    bounds, high, low = {0: ((50, 100), (100, 300), (200, 400)),
                         1: ((75, 125), (200, 400), (300, 500)),
                         2: ((25, 75), (300, 500), (100, 300))}[0 if age < 40 else
                                                               1 if age < 60 else 2]
    wanted = high if bounds[0] <= salary / 1e3 <= bounds[1] else low
    return wanted[0] <= loan / 1e3 <= wanted[1]


def customers(folder: Path, scale: float) -> dict:
    """600,000 rows at full scale of nine attributes and a class; 5 % of the classes are wrong."""
    random_numbers = random.Random(4)
    file = folder / "customers.csv"
    rows = max(500, int(600_000 * scale))
    with file.open("w") as out:
        out.write("salary,commission,age,elevel,car,zipcode,hvalue,hyears,loan,class\n")
        for _ in range(rows):
            salary = random_numbers.uniform(20_000, 150_000)
            commission = 0 if salary >= 75_000 else random_numbers.uniform(10_000, 75_000)
            age = random_numbers.randint(20, 80)
            zipcode = random_numbers.randrange(9)
            hvalue = random_numbers.uniform(0.5, 1.5) * (zipcode + 1) * 100_000
            loan = random_numbers.uniform(0, 500_000)
            is_a = in_group_a(age, salary, loan) != (random_numbers.random() < 0.05)
            out.write(f"{salary:.0f},{commission:.0f},{age},e{random_numbers.randrange(5)},"
                      f"c{random_numbers.randint(1, 20)},z{zipcode},{hvalue:.0f},"
                      f"{random_numbers.randint(1, 30)},{loan:.0f},{'A' if is_a else 'B'}\n")
    return {"table": file}


def reactions(folder: Path, scale: float, runs: int) -> dict:
    """Michaelis and Menten's enzyme, with a substrate that is made and a product that decays."""
    file = folder / "enzyme.txt"
    file.write_text("parameter k0 = 20, k1 = 0.00166, k2 = 1e-4, k3 = 0.1, k4 = 0.05\n"
                    "species S = 301, E = 120, SE = 0, P = 0\n"
                    "0 -> S @ k0\n"
                    "S + E <-> SE @ k1, k2\n"
                    "SE -> P + E @ k3\n"
                    "P -> 0 @ k4\n")
    return {"model": file, "runs": max(20, int(runs * scale))}


def write_png(file: Path, width: int, rows: list[bytes]) -> None:
    """Grey, 8 bits."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return (struct.pack(">I", len(content)) + kind + content
                + struct.pack(">I", zlib.crc32(kind + content)))

    head = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels)
                     + chunk(b"IEND", b""))


def noisy_picture(folder: Path, scale: float, percent: int) -> dict:
    """Waves with edges, 2,048 by 2,048 at full scale; so many of its pixels are black or white."""
    random_numbers = random.Random(percent)
    side = max(64, int(2_048 * math.sqrt(scale)))
    waves = [60 * math.sin(x / 37) for x in range(side)]
    below = percent * 256 // 100
    rows = []
    for y in range(side):
        wave = math.cos(y / 29)
        clean = (int(127 + wave * waves[x] + (50 if (x // 64 + y // 64) % 2 else 0))
                 for x in range(side))
        dice = random_numbers.randbytes(2 * side)
        rows.append(bytes((dice[2 * x + 1] & 1) * 255 if dice[2 * x] < below else pixel
                          for x, pixel in enumerate(clean)))
    file = folder / f"noisy_{percent}.png"
    write_png(file, side, rows)
    return {"picture": file}

# SPDX-License-Identifier: Apache-2.0
"""The oracle of strid-align, the recurrence of Smith and Waterman and of Gotoh written down in
Python, and what its tests share."""

import functools
import math
import re

from program import SANITIZED, Case

# Henikoff and Henikoff 1992, as NCBI distributes it.
BLOSUM50_LETTERS = "ARNDCQEGHILKMFPSTWYVBZX*"
BLOSUM50_ROWS = """
 5 -2 -1 -2 -1 -1 -1  0 -2 -1 -2 -1 -1 -3 -1  1  0 -3 -2  0 -2 -1 -1 -5
-2  7 -1 -2 -4  1  0 -3  0 -4 -3  3 -2 -3 -3 -1 -1 -3 -1 -3 -1  0 -1 -5
-1 -1  7  2 -2  0  0  0  1 -3 -4  0 -2 -4 -2  1  0 -4 -2 -3  4  0 -1 -5
-2 -2  2  8 -4  0  2 -1 -1 -4 -4 -1 -4 -5 -1  0 -1 -5 -3 -4  5  1 -1 -5
-1 -4 -2 -4 13 -3 -3 -3 -3 -2 -2 -3 -2 -2 -4 -1 -1 -5 -3 -1 -3 -3 -2 -5
-1  1  0  0 -3  7  2 -2  1 -3 -2  2  0 -4 -1  0 -1 -1 -1 -3  0  4 -1 -5
-1  0  0  2 -3  2  6 -3  0 -4 -3  1 -2 -3 -1 -1 -1 -3 -2 -3  1  5 -1 -5
 0 -3  0 -1 -3 -2 -3  8 -2 -4 -4 -2 -3 -4 -2  0 -2 -3 -3 -4 -1 -2 -2 -5
-2  0  1 -1 -3  1  0 -2 10 -4 -3  0 -1 -1 -2 -1 -2 -3  2 -4  0  0 -1 -5
-1 -4 -3 -4 -2 -3 -4 -4 -4  5  2 -3  2  0 -3 -3 -1 -3 -1  4 -4 -3 -1 -5
-2 -3 -4 -4 -2 -2 -3 -4 -3  2  5 -3  3  1 -4 -3 -1 -2 -1  1 -4 -3 -1 -5
-1  3  0 -1 -3  2  1 -2  0 -3 -3  6 -2 -4 -1  0 -1 -3 -2 -3  0  1 -1 -5
-1 -2 -2 -4 -2  0 -2 -3 -1  2  3 -2  7  0 -3 -2 -1 -1  0  1 -3 -1 -1 -5
-3 -3 -4 -5 -2 -4 -3 -4 -1  0  1 -4  0  8 -4 -3 -2  1  4 -1 -4 -4 -2 -5
-1 -3 -2 -1 -4 -1 -1 -2 -2 -3 -4 -1 -3 -4 10 -1 -1 -4 -3 -3 -2 -1 -2 -5
 1 -1  1  0 -1  0 -1  0 -1 -3 -3  0 -2 -3 -1  5  2 -4 -2 -2  0  0 -1 -5
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  2  5 -3 -2  0  0 -1  0 -5
-3 -3 -4 -5 -5 -1 -3 -3 -3 -3 -2 -3 -1  1 -4 -4 -3 15  2 -3 -5 -2 -3 -5
-2 -1 -2 -3 -3 -1 -2 -3  2 -1 -1 -2  0  4 -3 -2 -2  2  8 -1 -3 -2 -1 -5
 0 -3 -3 -4 -1 -3 -3 -4 -4  4  1 -3  1 -1 -3 -2  0 -3 -1  5 -4 -3 -1 -5
-2 -1  4  5 -3  0  1 -1  0 -4 -4  0 -3 -4 -2  0  0 -5 -3 -4  5  2 -1 -5
-1  0  0  1 -3  4  5 -2  0 -3 -3  1 -1 -4 -1  0 -1 -2 -2 -3  2  5 -1 -5
-1 -1 -1 -1 -2 -1 -1 -2 -1 -1 -1 -1 -1 -2 -2 -1  0 -3 -1 -1 -1 -1 -1 -5
-5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5 -5  1
"""
PROTEIN = "ARNDCQEGHILKMFPSTWYV"


@functools.cache
def blosum50():
    rows = [list(map(int, row.split())) for row in BLOSUM50_ROWS.split("\n") if row]
    return {
        (a, b): rows[i][j]
        for i, a in enumerate(BLOSUM50_LETTERS)
        for j, b in enumerate(BLOSUM50_LETTERS)
    }


def dna_scores(match, mismatch):
    return {(a, b): match if a == b != "N" else -mismatch for a in "ACGTN" for b in "ACGTN"}


BASES = {"A": "A", "C": "C", "G": "G", "T": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT",
         "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"}  # fmt: skip


def iupac_scores(match, mismatch):
    """The mean over all bases that two codes stand for, a half rounded away from 0; of N none."""
    scores = {(a, b): -mismatch for a in [*BASES, "N"] for b in [*BASES, "N"]}
    for a, some in BASES.items():
        for b, others in BASES.items():
            total = sum(match if x == y else -mismatch for x in some for y in others)
            mean = abs(total) / (len(some) * len(others))
            scores[a, b] = int(math.copysign(math.floor(mean + 0.5), total))
    return scores


def gotoh(query, target, scores, gap_open, gap_extend, mode):
    """The score of the best alignment: local, global (both whole) or semi-global (the query)."""
    first = gap_open + gap_extend
    least = 0 if mode == "local" else -10**9
    edge = [0 if mode != "global" or j == 0 else -gap_open - j * gap_extend
            for j in range(len(target) + 1)]  # fmt: skip
    h = edge[:]
    f = [-10**9] * (len(target) + 1)
    best = 0
    for i, a in enumerate(query, 1):
        diagonal, e = h[0], -10**9
        h[0] = left = 0 if mode == "local" else -gap_open - i * gap_extend
        for j, b in enumerate(target, 1):
            e = max(left - first, e - gap_extend)
            f[j] = max(h[j] - first, f[j] - gap_extend)
            left, diagonal = max(least, diagonal + scores[a, b], e, f[j]), h[j]
            h[j] = left
            best = max(best, left)
    return {"local": best, "global": h[-1], "semi-global": max(h)}[mode]


def read_as_x(sequence):
    return re.sub("[UOJ]", "X", sequence.upper())


def drawn(rng, length, letters=PROTEIN):
    return "".join(rng.choices(letters, k=length))


def mutated(rng, sequence, letters=PROTEIN, rate=0.2):
    """A relative: residues changed, left out and put in."""
    made = []
    for residue in sequence:
        draw = rng.random()
        if draw < rate:
            made.append(rng.choice(letters))
        elif draw < rate * 1.2:
            made.extend(rng.choices(letters, k=rng.randint(1, 8)))
        elif draw >= rate * 1.4:
            made.append(residue)
    return "".join(made) or sequence[:1]


def fasta(sequences, width=60, end="\n"):
    lines = []
    for name, residues in sequences:
        lines.append(f">{name}")
        lines.extend(residues[i : i + width] for i in range(0, len(residues), width))
    return end.join(lines) + end


def rows(text):
    """Of the tabular format: query, target, the numbers."""
    return [line.split("\t") for line in text.decode().splitlines()]


class Aligned:
    """A hit of --format alignments."""

    def __init__(self, rank, header):
        self.rank, self.header = int(rank), header
        self.score = self.identical = self.columns = self.gaps = 0
        self.query, self.target = "", ""
        self.places = {"query": [], "target": []}


def alignments(text):
    """For each query its hits."""
    queries, hit = [], None
    lines = text.decode().splitlines()
    for before, line in zip(["", *lines], lines):
        if line.startswith("Query "):
            queries.append([])
        elif not before and (at := re.match(r"^ *(\d+)  (\S.*)$", line)):
            hit = Aligned(*at.groups())
            queries[-1].append(hit)
        elif at := re.match(
            r"^      score (-?\d+), .* bits, .*, (\d+) of (\d+) identical, (\d+) gaps", line
        ):
            hit.score, hit.identical, hit.columns, hit.gaps = map(int, at.groups())
        elif at := re.match(r"^(query|target) +(\d+) (\S+) (\d+)$", line):
            kind, first, part, last = at.groups()
            setattr(hit, kind, getattr(hit, kind) + part)
            hit.places[kind].append((int(first), int(last)))
    return queries


class AlignCase(Case):
    def write(self, name, sequences, **options):
        path = self.folder / name
        path.write_text(fasta(sequences, **options))
        return path

    def check_alignment(self, hit, query, target, scores, gap_open, gap_extend, unknown="X"):
        """Its columns are worth its score, and are those residues of the pair."""
        self.assertEqual(len(hit.query), len(hit.target))
        self.assertEqual(len(hit.query), hit.columns)
        worth, before, gaps = 0, None, 0
        for a, b in zip(hit.query, hit.target):
            self.assertFalse(a == b == "-")
            kind = "query" if a == "-" else "target" if b == "-" else None
            if kind is None:
                worth += scores[a, b]
            else:
                worth -= gap_extend + (gap_open if kind != before else 0)
                gaps += kind != before
            before = kind
        self.assertEqual(worth, hit.score)
        self.assertEqual(gaps, hit.gaps)
        known = [(a, b) for a, b in zip(hit.query, hit.target) if a not in unknown]
        self.assertEqual(sum(a == b for a, b in known), hit.identical)
        for kind, whole in (("query", query), ("target", target)):
            first, last = hit.places[kind][0][0], hit.places[kind][-1][1]
            part = getattr(hit, kind).replace("-", "")
            self.assertEqual(part, whole[first - 1 : last] if part else "")

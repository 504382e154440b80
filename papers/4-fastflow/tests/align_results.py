# SPDX-License-Identifier: Apache-2.0
"""strid-align: which hits are reported, and what of them."""

import bz2
import gzip
import lzma
import math
import random
import shutil
import subprocess

from align_case import (
    PROTEIN,
    AlignCase,
    alignments,
    drawn,
    mutated,
    rows,
)


class Results(AlignCase):
    def setUp(self):
        super().setUp()
        rng = random.Random(21)
        self.rng = rng
        self.queries = [(f"q{i} of the test", drawn(rng, 40 + 90 * i)) for i in range(4)]
        self.database = [
            (f"d{i}", mutated(rng, rng.choice(self.queries)[1], rate=0.1 * (i % 9)))
            for i in range(150)
        ]
        # One sequence as long as all others, and some that are equal.
        self.database[70] = ("giant", drawn(rng, 35_000) + self.queries[2][1])
        for i in range(60, 140, 7):
            self.database[i] = (f"twin{i}", self.queries[1][1])
        self.query_path = self.write("q.fa", self.queries)
        self.database_path = self.write("db.fa", self.database)

    def files(self):
        return self.query_path, self.database_path

    def test_are_the_same_for_any_number_of_workers(self):
        for form in ("table", "alignments", "blast"):
            expected = self.run_program(*self.files(), "--format", form, "--workers", 1).stdout
            for workers in (2, 3, 8):
                result = self.run_program(*self.files(), "--format", form, "--workers", workers)
                self.assertEqual(result.stdout, expected)
                self.assertIn(f"{workers} workers", result.stderr.decode())

    def test_are_the_best_and_equal_ones_in_the_order_of_the_database(self):
        all_hits = rows(
            self.run_program(*self.files(), "--format", "blast", "--top", 1000).stdout
        )
        for top in (1, 5, 20):
            some = rows(self.run_program(*self.files(), "--format", "blast", "--top", top).stdout)
            for query, _ in self.queries:
                of_query = [row for row in all_hits if row[0] == query.split()[0]]
                self.assertEqual(
                    [row for row in some if row[0] == query.split()[0]], of_query[:top]
                )
        twins = [row[1] for row in all_hits if row[0] == "q1" and row[1].startswith("twin")]
        self.assertEqual(twins, [f"twin{i}" for i in range(60, 140, 7)])

    def test_have_the_columns_of_blast(self):
        text = self.run_program(*self.files(), "--format", "alignments", "--top", 30).stdout
        table = self.run_program(*self.files(), "--format", "blast", "--top", 30).stdout
        hits = [
            (query[0].split()[0], hit)
            for query, found in zip(self.queries, alignments(text))
            for hit in found
        ]
        self.assertEqual(len(hits), len(rows(table)))
        for (query, hit), row in zip(hits, rows(table)):
            self.assertEqual(len(row), 12)
            self.assertEqual(row[:2], [query, hit.header.split()[0]])
            self.assertEqual(row[2], f"{100 * hit.identical / hit.columns:.3f}")
            self.assertEqual(int(row[3]), hit.columns)
            pairs = sum(a != "-" != b for a, b in zip(hit.query, hit.target))
            self.assertEqual(int(row[4]), pairs - hit.identical)
            self.assertEqual(int(row[5]), hit.gaps)
            for kind, at in (("query", 6), ("target", 8)):
                places = hit.places[kind]
                self.assertEqual([int(row[at]), int(row[at + 1])], [places[0][0], places[-1][1]])

    def test_have_e_values_by_karlin_and_altschul(self):
        residues = sum(len(s) for _, s in self.database)
        count = len(self.database)
        for options, name, (lam, k, alpha, beta) in [
            ([], "10-2k", (0.158, 0.019, 0.158 / 0.10, 0)),  # Altschul and Gish 1996
            (["--gap-open", 13], "13-2k", (0.193, 0.035, 1.6, -32)),  # BLAST
            (
                "--matrix blosum62 --gap-open 11 --gap-extend 1".split(),
                "BLOSUM62 11-1k",  # BLAST
                (0.267, 0.041, 1.9, -30),
            ),
        ]:
            text = self.run_program(*self.files(), "--format", "alignments", *options).stdout
            table = rows(self.run_program(*self.files(), "--format", "blast", *options).stdout)
            hits = [
                (len(query[1]), hit)
                for query, found in zip(self.queries, alignments(text))
                for hit in found
            ]
            for (length, hit), row in zip(hits, table):
                shorter = 0
                for n in range(length):
                    space = (length - n) * (residues - count * n)
                    if k * space <= max(length, residues) or residues <= count * n:
                        break
                    if n <= alpha / lam * math.log(k * space) + beta:
                        shorter = n
                space = (length - shorter) * (residues - count * shorter)
                expected = k * space * math.exp(-lam * hit.score)
                bits = (lam * hit.score - math.log(k)) / math.log(2)
                if expected < 1e-180:
                    self.assertEqual(row[10], "0.0")
                else:
                    self.assertLess(
                        abs(float(row[10]) / expected - 1), 0.06 if expected > 1e-99 else 0.5, name
                    )
                self.assertLess(abs(float(row[11]) - bits), 1 if bits > 99.9 else 0.06, name)

    def test_of_random_sequences_are_as_many_as_expected(self):
        # Robinson and Robinson 1991, in the order of PROTEIN.
        frequencies = [
            *(78.05, 51.29, 44.87, 53.64, 19.25, 42.64, 62.95, 73.77, 21.99, 51.42),
            *(90.19, 57.44, 22.43, 38.56, 52.03, 71.20, 58.41, 13.30, 32.16, 64.41),
        ]
        rng = random.Random(22)

        def common(length):
            return "".join(rng.choices(PROTEIN, frequencies, k=length))

        files = (
            self.write("q.fa", [(f"q{i}", common(250)) for i in range(40)]),
            self.write("db.fa", [(f"d{i}", common(350)) for i in range(400)]),
        )
        for options in ([], ["--gap-open", 13]):
            result = self.run_program(
                *files, "--evalue", 1, "--top", 50, "--format", "blast", *options
            )
            found = len(rows(result.stdout))
            self.assertLess(15, found)
            self.assertLess(found, 90)

    def test_below_a_threshold(self):
        whole = rows(self.run_program(*self.files(), "--format", "blast", "--top", 100).stdout)
        some = rows(
            self.run_program(
                *self.files(), "--format", "blast", "--top", 100, "--evalue", "1e-10"
            ).stdout
        )
        self.assertEqual(some, [row for row in whole if float(row[10]) <= 1e-10])
        self.assertLess(0, len(some))
        self.assertLess(len(some), len(whole))

    def test_without_published_parameters_have_no_e_values(self):
        options = ["--gap-open", 1, "--gap-extend", 1, "--format", "blast"]
        result = self.run_program(*self.files(), *options)
        self.assertIn(
            "no Karlin-Altschul parameters are published for BLOSUM50 with gaps of 1 + 1 k",
            result.stderr.decode(),
        )
        self.assertEqual({tuple(row[10:]) for row in rows(result.stdout)}, {("N/A", "N/A")})
        line = self.fails(*self.files(), *options, "--evalue", 1, code=2)
        self.assertIn("--evalue", line)
        self.assertEqual(self.run_program(*self.files(), *options, "--quiet").stderr, b"")

    def test_go_to_a_file_or_a_pipe(self):
        expected = self.run_program(*self.files()).stdout
        out = self.folder / "hits.txt"
        self.assertEqual(self.run_program(*self.files(), "--output", out, "--quiet").stdout, b"")
        self.assertEqual(out.read_bytes(), expected)
        for paths, given in (("-", self.database_path), 0), ((self.query_path, "-"), 1):
            text = self.files()[given].read_bytes()
            self.assertEqual(self.run_program(*paths, input=text).stdout, expected)

    def test_of_compressed_files(self):
        expected = self.run_program(*self.files()).stdout
        plain = self.database_path.read_bytes()
        packed = {
            "gz": gzip.compress(plain),
            "xz": lzma.compress(plain),
            "bz2": bz2.compress(plain),
        }
        if shutil.which("zstd"):
            packed["zst"] = subprocess.run(
                ["zstd", "-c"], input=plain, capture_output=True, check=True
            ).stdout
        for end, data in packed.items():
            path = self.folder / f"db.fa.{end}"
            path.write_bytes(data)
            self.assertEqual(self.run_program(self.query_path, path).stdout, expected, end)
            path.write_bytes(data[: len(data) * 2 // 3])
            self.assertIn(str(path), self.fails(self.query_path, path, "--quiet"))

    def test_say_how_fast_they_were_found(self):
        summary = self.run_program(*self.files()).stderr.decode()
        residues = sum(len(s) for _, s in self.database)
        self.assertRegex(
            summary,
            r"^strid: 4 queries of 700 residues against 150 sequences of "
            rf"{residues:,} residues: .*cells in \d+\.\d\d s, \d+\.\d\d GCUPS",
        )

    def test_of_nothing_in_common(self):
        files = self.write("q.fa", [("q", "WWWW")]), self.write("db.fa", [("d", "PPPPPPP")])
        self.assertIn(b"no hits", self.run_program(*files).stdout)
        self.assertEqual(self.run_program(*files, "--format", "blast").stdout, b"")

# SPDX-License-Identifier: Apache-2.0
"""strid-align: the scores, and the alignments that have them, against oracles: that of
align_case, and on real proteins parasail_sw of the library, which uses no vectors, and SSEARCH."""

import ctypes
import ctypes.util
import gzip
import pathlib
import random
import shutil
import subprocess
import unittest

from align_case import (
    BLOSUM50_LETTERS,
    BLOSUM50_ROWS,
    PROTEIN,
    AlignCase,
    alignments,
    blosum50,
    dna_scores,
    drawn,
    gotoh,
    iupac_scores,
    mutated,
    read_as_x,
    rows,
)
from program import PROGRAM, TIMEOUT_S

EXAMPLES = pathlib.Path("/usr/share/doc/mmseqs2/example-data")  # Debian's mmseqs2-examples
PARASAIL = ctypes.util.find_library("parasail")


class Scores(AlignCase):
    def check(
        self, queries, database, options=(), scores=None, gap_open=10, gap_extend=2, mode="local"
    ):
        scores = scores or blosum50()
        arguments = [
            self.write("q.fa", queries),
            self.write("db.fa", database),
            *("--top", len(database), "--format", "alignments", "--quiet", "--mode", mode),
            *options,
        ]
        found = alignments(self.run_program(*arguments).stdout)
        self.assertEqual(len(found), len(queries))
        for (name, query), hits in zip(queries, found):
            query = read_as_x(query)
            expected = []
            for place, (target_name, target) in enumerate(database):
                residues = read_as_x(target)
                score = gotoh(query, residues, scores, gap_open, gap_extend, mode)
                if score > 0 or mode != "local":
                    expected.append((-score, place, target_name))
            expected.sort()
            self.assertEqual(
                [(hit.score, hit.header) for hit in hits], [(-s, n) for s, _, n in expected], name
            )
            for hit, (_, place, _) in zip(hits, expected):
                target = read_as_x(database[place][1])
                unknown = "NRYSWKMBDHV" if "--dna" in options else "X"
                self.check_alignment(hit, query, target, scores, gap_open, gap_extend, unknown)
                if mode != "local":
                    self.assertEqual(hit.query.replace("-", ""), query)
                if mode == "global":
                    self.assertEqual(hit.target.replace("-", ""), target)

    def family(self, seed, query_lengths, letters=PROTEIN):
        rng = random.Random(seed)
        queries = [(f"q{n}", drawn(rng, n, letters)) for n in query_lengths]
        database = []
        for i in range(16):
            relative = mutated(rng, rng.choice(queries)[1], letters)
            database.append((f"d{i} relative", drawn(rng, i, letters) + relative))
            database.append((f"r{i} drawn", drawn(rng, rng.randint(1, 90), letters)))
        return queries, database

    def test_are_those_of_the_recurrence(self):
        # Lengths on both sides of what a vector holds, and of the choice of vectors.
        self.check(*self.family(1, [1, 2, 15, 16, 17, 31, 33, 64, 112, 113, 150]))

    def test_of_whole_sequences(self):
        # Some with gaps so dear that scores need 16 and 32 bits, and lengths that have no pair.
        for mode in ("global", "semi-global"):
            for seed, (gap_open, gap_extend) in enumerate(
                [(10, 2), (0, 1), (0, 0), (3, 0), (125, 2), (0, 130), (9000, 9000)], 51
            ):
                with self.subTest(mode=mode, gap_open=gap_open, gap_extend=gap_extend):
                    self.check(
                        *self.family(seed, [1, 17, 33, 70]),
                        options=["--gap-open", gap_open, "--gap-extend", gap_extend],
                        gap_open=gap_open,
                        gap_extend=gap_extend,
                        mode=mode,
                    )

    def test_with_other_costs_of_gaps(self):
        for seed, (gap_open, gap_extend) in enumerate(
            [(0, 1), (0, 0), (3, 0), (1, 1), (125, 2), (126, 2), (0, 130), (9000, 9000)], 2
        ):
            with self.subTest(gap_open=gap_open, gap_extend=gap_extend):
                self.check(
                    *self.family(seed, [5, 40, 100]),
                    options=["--gap-open", gap_open, "--gap-extend", gap_extend],
                    gap_open=gap_open,
                    gap_extend=gap_extend,
                )

    def test_of_letters_that_are_no_common_residue(self):
        letters = PROTEIN + "BZX*" + "UOJ" + PROTEIN.lower()
        queries, database = self.family(11, [20, 70], letters)
        self.check(queries, database)
        result = self.run_program(self.write("q.fa", queries), self.write("db.fa", database))
        replaced = sum(letter in "UOJ" for _, s in queries + database for letter in s)
        self.assertIn(f"{replaced} letters were read as any residue", result.stderr.decode())

    def test_of_any_residue_are_never_identical(self):
        for options, query, target, row in [
            ((), "MKVLUAAGKW", "MKVLOAAGKW", ["90.000", "10", "1"]),
            ((), "MKVLUAAGKW", "MKVLUAAGKW", ["90.000", "10", "1"]),
            ((), "MKVLXAAGKW", "MKVLXAAGKW", ["90.000", "10", "1"]),
            (("--dna", "--strand", "plus"), "ACGTACGTACGTRACGTACGTACGT",
             "ACGTACGTACGTYACGTACGTACGT", ["96.000", "25", "1"]),
            (("--dna", "--strand", "plus"), "ACGTACGTACGTNACGTACGTACGT",
             "ACGTACGTACGTNACGTACGTACGT", ["96.000", "25", "1"]),
        ]:  # fmt: skip
            files = self.write("q.fa", [("q", query)]), self.write("db.fa", [("t", target)])
            text = self.run_program(*files, "--format", "blast", "--quiet", *options).stdout
            self.assertEqual(rows(text)[0][2:5], row, (query, target))

    def test_do_not_depend_on_the_vectors(self):
        queries, database = self.family(12, [3, 30, 90, 200])
        database.append(("long", drawn(random.Random(13), 3000)))
        files = self.write("q.fa", queries), self.write("db.fa", database)
        expected = self.run_program(*files, "--format", "alignments").stdout
        used = 0
        for kind in ("avx2", "sse41", "sse2", "neon", "altivec"):
            result = subprocess.run(
                [PROGRAM, *files, "--format", "alignments", "--vectors", kind],
                capture_output=True,
                timeout=TIMEOUT_S,
            )
            if result.returncode == 2:
                self.assertIn(b"--vectors: this machine has", result.stderr)
                continue
            used += 1
            self.assertEqual(result.stdout, expected, kind)
            self.assertIn(kind.encode(), result.stderr)
        self.assertGreater(used, 0)

    def test_that_need_16_and_32_bits(self):
        queries = [("q", "W" * 3000)]
        database = [(f"d{n}", "W" * n) for n in (7, 8, 9, 2183, 2184, 2185, 3000)]
        found = alignments(
            self.run_program(
                self.write("q.fa", queries),
                self.write("db.fa", database),
                *("--format", "alignments"),
            ).stdout
        )[0]
        self.assertEqual(
            [(hit.header, hit.score) for hit in found],
            [(name, 15 * len(residues)) for name, residues in reversed(database)],
        )

    def test_of_nucleic_acids(self):
        rng = random.Random(14)
        letters = "ACGTN"
        queries = [("q", drawn(rng, 60, letters)), ("p", drawn(rng, 130, "ACGT"))]
        database = [
            (f"d{i}", drawn(rng, 20, letters) + mutated(rng, rng.choice(queries)[1], "ACGT", 0.05))
            for i in range(10)
        ]
        self.check(
            queries,
            database,
            options=["--dna", "--strand", "plus"],
            scores=dna_scores(2, 3),
            gap_open=5,
            gap_extend=2,
        )
        self.check(
            queries,
            database,
            options=["--dna", "--strand", "plus", *"--match 1 --mismatch 4".split()]
            + "--gap-open 3 --gap-extend 1".split(),
            scores=dna_scores(1, 4),
            gap_open=3,
            gap_extend=1,
        )

        self.check(
            queries,
            database,
            options=["--dna", "--strand", "plus", *"--match 100 --mismatch 100".split()],
            scores=dna_scores(100, 100),
            gap_open=5,
        )

    def test_of_codes_for_some_bases(self):
        letters = "ACGTACGTRYSWKMBDHVN"
        queries, database = self.family(16, [20, 70], letters)
        for match, mismatch in ((2, 3), (5, 4), (7, 1)):
            self.check(
                queries,
                database,
                options=["--dna", "--strand", "plus", "--match", match, "--mismatch", mismatch],
                scores=iupac_scores(match, mismatch),
                gap_open=5,
            )
        query = "ACGTTRYSWKMBDHVNACC"
        turned = query[::-1].translate(str.maketrans("ACGTRYKMBVDH", "TGCAYRMKVBHD"))
        files = self.write("q.fa", [("q", query)]), self.write("db.fa", [("d", turned)])
        found = alignments(
            self.run_program(*files, "--dna", "--format", "alignments", "--mode", "global").stdout
        )[0][0]
        self.assertEqual((found.query, found.target), (turned, turned))

    def test_by_a_matrix_of_a_file(self):
        queries, database = self.family(17, [20, 70])
        path = self.folder / "own.mat"
        path.write_text(f"# as NCBI has it\n\n   {' '.join(BLOSUM50_LETTERS)}\n" + "".join(
            f"{letter} {row}\n"
            for letter, row in zip(BLOSUM50_LETTERS, BLOSUM50_ROWS.strip("\n").split("\n"))))
        self.check(queries, database, options=["--matrix", path])
        # Scores beyond 8 bits, columns in another order than rows, letters in lower case.
        rng = random.Random(18)
        scores = {}
        for i, a in enumerate(PROTEIN):
            for b in PROTEIN[: i + 1]:
                scores[a, b] = scores[b, a] = rng.randint(-300, 100 if a != b else 900)
        columns = PROTEIN[::-1]
        path.write_text(
            " ".join(columns) + "\r\n" + "".join(
                f"{a.lower()}\t" + "\t".join(f"{scores[a, b]:+}" for b in columns) + "\r\n"
                for a in PROTEIN))
        for mode in ("local", "global", "semi-global"):
            self.check(queries, database, ["--matrix", path], scores, mode=mode)
        line = self.fails(self.write("q.fa", [("q", "ARX")]), self.write("d.fa", database),
                          "--matrix", path, "--quiet")
        self.assertIn("q.fa:2: 'X' is no residue of a protein that the matrix has a row", line)
        path.write_text("A C G T\nA 9 -7 -1 -7\nC -7 9 -7 -1\nG -1 -7 9 -7\nT -7 -1 -7 9\n")
        bases = {(a, b): 9 if a == b else -1 if {a, b} in ({*"AG"}, {*"CT"}) else -7
                 for a in "ACGT" for b in "ACGT"}  # fmt: skip
        self.check(*self.family(19, [20, 70], "ACGT"), gap_open=5, scores=bases,
                   options=["--dna", "--strand", "plus", "--matrix", path])

    def test_by_a_matrix_that_is_none_is_an_error_with_its_line(self):
        good = self.write("good.fa", [("a", "ACGT" * 9)])
        path = self.folder / "bad.mat"
        for text, options, where, what in [
            ("", (), 0, "no line that names the columns"),
            ("# A\nA C\nA 1 2\n", (), 3, "there is no row for C"),
            ("A C\nA 1 2\nC 2 x\n", (), 3, "'x' is no whole number from -10000 to 10000"),
            ("A C\nA 1 2\nC 2 10001\n", (), 3, "'10001' is no whole number"),
            ("A C\nA 1 2\nC 3 1\n", (), 3, "C and A are worth 3 here and 2 in line 2"),
            ("A C\nA 1 2 3\n", (), 2, "3 scores for 2 columns"),
            ("A C\nA 1 2\nA 1 2\n", (), 3, "the row for A is in line 2"),
            ("A C\nD 1 2\n", (), 2, "there is no column for D"),
            ("A A\n", (), 1, "two columns are for A"),
            ("AC\n", (), 1, "'AC' is no letter of a protein"),
            ("A C E\n", ("--dna",), 1, "'E' is no letter of a nucleic acid"),
            ("A C\nA 1 2\nC 2 1\n", ("--dna",), 3, "there is no row for G"),
        ]:
            path.write_text(text)
            line = self.fails(good, good, "--matrix", path, *options)
            self.assertIn(f"{path}:{where}: ", line)
            self.assertIn(what, line)
        self.assertIn("none.mat", self.fails(good, good, "--matrix", self.folder / "none.mat"))
        before = path.read_bytes()
        self.fails(good, good, "--matrix", path, "--output", path, code=2)
        self.assertEqual(path.read_bytes(), before)

    def test_of_both_strands(self):
        rng = random.Random(15)
        query = drawn(rng, 90, "ACGT")
        turned = query[::-1].translate(str.maketrans("ACGT", "TGCA"))
        database = [("plus", "ACN" + query), ("minus", "GN" + turned[10:70].lower() + "N")]
        files = self.write("q.fa", [("q", query)]), self.write("db.fa", database)
        result = self.run_program(*files, "--dna", "--format", "blast", "--evalue", "0.001")
        self.assertEqual(
            [row[:10] for row in rows(result.stdout)],
            [
                ["q", "plus", "100.000", "90", "0", "0", "1", "90", "4", "93"],
                ["q", "minus", "100.000", "60", "0", "0", "21", "80", "62", "3"],
            ],
        )
        plus = self.run_program(*files, "--dna", "--strand", "plus", "--format", "blast")
        self.assertEqual(rows(plus.stdout)[0][1], "plus")
        self.assertTrue(all(int(r[8]) < int(r[9]) for r in rows(plus.stdout) if r[8] != r[9]))
        text = self.run_program(*files, "--dna", "--format", "alignments", "--top", 2).stdout
        minus = alignments(text)[0][1]
        self.assertEqual(minus.query, turned[10:70].upper())
        self.assertEqual(minus.places["query"], [(80, 21)])
        self.assertEqual(minus.places["target"], [(3, 62)])


@unittest.skipUnless(PARASAIL and (EXAMPLES / "DB.fasta.gz").exists(), "no mmseqs2-examples")
class RealProteins(AlignCase):
    """All pairs of some queries and some of UniProt, by the library's function without vectors."""

    class Result(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int) for name in ("score", "end_query", "end_ref", "flag")]

    def scalar(self):
        library = ctypes.CDLL(PARASAIL)
        library.parasail_matrix_lookup.restype = ctypes.c_void_p
        library.parasail_sw.restype = ctypes.POINTER(self.Result)
        library.parasail_sw.argtypes = [
            *(ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_void_p),
        ]
        library.parasail_result_free.argtypes = [ctypes.POINTER(self.Result)]
        return library

    @staticmethod
    def sequences(path, count):
        found = []
        with gzip.open(path, "rt") as lines:
            for line in lines:
                if line.startswith(">"):
                    if len(found) == count:
                        break
                    found.append((line[1:].strip(), []))
                else:
                    found[-1][1].append(line.strip())
        return [(name, "".join(parts)) for name, parts in found]

    def test_have_the_scores_of_the_scalar_library(self):
        library = self.scalar()
        database = self.sequences(EXAMPLES / "DB.fasta.gz", 400)
        queries = self.sequences(EXAMPLES / "QUERY.fasta.gz", 40)[::13]
        files = self.write("q.fa", queries), self.write("db.fa", database)
        for options, matrix, first, extend in (
            ([], b"blosum50", 12, 2),
            ("--matrix BLOSUM62 --gap-open 11 --gap-extend 1".split(), b"blosum62", 12, 1),
        ):
            pointer = library.parasail_matrix_lookup(matrix)
            text = self.run_program(
                *files, "--top", len(database), "--format", "alignments", *options
            ).stdout
            for (_, query), hits in zip(queries, alignments(text)):
                expected = []
                for place, (name, target) in enumerate(database):
                    result = library.parasail_sw(
                        *(query.encode(), len(query), target.encode(), len(target)),
                        *(first, extend, pointer),
                    )
                    score = result.contents.score
                    library.parasail_result_free(result)
                    if score > 0:
                        expected.append((-score, place, name))
                expected.sort()
                self.assertEqual(
                    [(hit.score, hit.header) for hit in hits], [(-s, n) for s, _, n in expected]
                )
                if matrix == b"blosum50":
                    for hit, (_, place, _) in zip(hits, expected):
                        self.check_alignment(
                            *(hit, read_as_x(query), read_as_x(database[place][1])),
                            *(blosum50(), 10, 2),
                        )

    @unittest.skipUnless(shutil.which("ssearch36"), "no ssearch36 (Debian's fasta3)")
    def test_have_the_scores_of_ssearch(self):
        database = self.sequences(EXAMPLES / "DB.fasta.gz", 300)
        query = self.sequences(EXAMPLES / "QUERY.fasta.gz", 3)[2:]
        files = self.write("q.fa", query), self.write("db.fa", database)
        scores = self.folder / "scores.txt"
        subprocess.run(
            ["ssearch36", "-q", "-p", "-s", "BL50", "-f", "-10", "-g", "-2", "-R", scores, *files],
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        # Of each sequence in turn: its name, its length, ..., the sixth is the score.
        fields = [line.split() for line in scores.read_text().splitlines()]
        expected = [int(f[5]) for f in fields if len(f) == 17 and f[2] == "0"]
        self.assertEqual(len(expected), len(database))
        text = self.run_program(*files, "--top", 300, "--format", "alignments").stdout
        found = {hit.header: hit.score for hit in alignments(text)[0]}
        self.assertEqual([found.get(name, 0) for name, _ in database], expected)

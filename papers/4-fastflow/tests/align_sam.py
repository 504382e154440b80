# SPDX-License-Identifier: Apache-2.0
"""strid-align: reads in FASTQ, and hits in SAM: each record against the recurrence, by replaying
its CIGAR, and all of them by pysam (htslib), where that is there."""

import gzip
import random
import re
import unittest

from align_case import AlignCase, drawn, fasta, gotoh, iupac_scores, mutated, rows

try:
    import pysam
except ImportError:
    pysam = None

TURNED = str.maketrans("ACGTRYKMBVDH", "TGCAYRMKVBHD")
OPEN, EXTEND = 5, 2


def fastq(reads, end="\n"):
    return "".join(f"@{name}{end}{residues}{end}+{end}{qualities}{end}"
                   for name, residues, qualities in reads)  # fmt: skip


class Reads(AlignCase):
    def setUp(self):
        super().setUp()
        self.rng = rng = random.Random(61)
        genes = [drawn(rng, length, "ACGT") for length in (300, 150, 90, 400)]
        genes[2] = genes[2][:40] + "NNRYSW" + genes[2][40:]
        self.genes = [(f"gene{i}|x=1", gene) for i, gene in enumerate(genes)]
        self.reads = []
        for i in range(24):
            gene = genes[i % 4]
            begin = rng.randrange(len(gene) - 60)
            read = mutated(rng, gene[begin : begin + rng.randint(30, 60)], "ACGT", 0.06)
            read = drawn(rng, rng.choice([0, 0, 9]), "ACGT") + read
            if i % 3 == 1:
                read = read[::-1].translate(TURNED)
            self.reads.append((f"read{i} of {i % 4}", read, self.quality(len(read))))
        self.reads.append(("strange", "TTTT", "@+>!"))
        self.genes_path = self.write("genes.fa", self.genes)
        self.reads_path = self.folder / "reads.fq"
        self.reads_path.write_text(fastq(self.reads))

    def quality(self, length):
        return "".join(chr(self.rng.randint(33, 126)) for _ in range(length))

    def sam(self, *options):
        text = self.run_program(
            *(self.reads_path, self.genes_path, "--dna", "--format", "sam", "--quiet"), *options
        ).stdout.decode()
        lines = text.splitlines()
        return ([line for line in lines if line.startswith("@")],
                [line.split("\t") for line in lines if not line.startswith("@")])  # fmt: skip


class Fastq(Reads):
    def test_may_be_written_in_many_ways(self):
        plain = self.write("reads.fa", [(name, residues) for name, residues, _ in self.reads])
        files = self.genes_path, "--dna", "--format", "blast"
        expected = self.run_program(plain, *files).stdout
        text = fastq(self.reads)
        wrapped = "".join(
            f"@{name}\n{residues[:20]}\n{residues[20:]}\n+{name}\n{qualities[:7]}\n"
            f"{qualities[7:]}\n\n" for name, residues, qualities in self.reads)  # fmt: skip
        path = self.folder / "other.fq"
        for data in (text.encode(), text.rstrip("\n").encode(), b"\n\n" + text.encode(),
                     fastq(self.reads, "\r\n").encode(), wrapped.encode(),
                     b"\xef\xbb\xbf" + text.lower().encode(), gzip.compress(text.encode())):
            path.write_bytes(data)
            self.assertEqual(self.run_program(path, *files).stdout, expected)
        self.assertEqual(self.run_program("-", *files, input=text.encode()).stdout, expected)
        # As a database, too.
        files = "--dna", "--format", "blast", "--quiet"
        self.assertEqual(self.run_program(self.genes_path, self.reads_path, *files).stdout,
                         self.run_program(self.genes_path, plain, *files).stdout)

    def test_at_the_edges_of_the_buffers(self):
        reads = [(f"r{i}", read, self.quality(len(read))) for i in range(90)
                 for read in [drawn(self.rng, self.rng.randint(1, 9000), "ACGT")]]
        path = self.folder / "long.fq"
        path.write_text(fastq(reads))
        query = self.write("q.fa", [("q", reads[57][1][-40:])])
        found = rows(self.run_program(query, path, "--dna", "--format", "blast", "--top", 1).stdout)
        self.assertEqual(found[0][1:3], ["r57", "100.000"])

    def test_that_is_none_is_an_error_with_its_line(self):
        path = self.folder / "bad.fq"
        for text, where, what in [
            ("@a\nACGT\n+\nIII\n", 1, "3 qualities for 4 residues, where the file ends"),
            ("@a\nACGT\n+\nIIIII\n", 4, "more qualities than the 4 residues of the sequence in "
                                        "line 1"),
            ("@a\nACGT\n+\nIII\n@b\nACGT\n+\nIIII\n", 5, "more qualities than the 4"),
            ("@a\nACGT\n", 1, "the file ends before the line of '+'"),
            ("@a", 1, "the file ends before the line of '+'"),
            ("@a\nACGT\n+\nII\x01I\n", 4, "the byte 0x01 is no quality"),
            ("@a\nAC-T\n+\nIIII\n", 2, "'-' is no residue of a nucleic acid"),
            ("@a\nACGT\n+\nIIII\nACGT\n", 5, "no FASTQ: a sequence begins with a line of '@'"),
            ("@a\nACGT\n+\nIIII\n>b\nACGT\n", 5, "no FASTQ"),
            ("@a\n\n+\n\n", 1, "there is no sequence with residues"),
        ]:
            path.write_text(text)
            line = self.fails(path, self.genes_path, "--dna", "--quiet")
            self.assertIn(f"{path}:{where}: ", line)
            self.assertIn(what, line)
        line = self.fails(self.reads_path, self.genes_path, "--quiet")
        self.assertIn(f"{self.reads_path}:1: FASTQ", line)
        self.assertIn("--dna", line)
        path.write_text("@a\n\n+\n\n" + fastq(self.reads))
        result = self.run_program(path, self.genes_path, "--dna", "--format", "blast")
        self.assertIn(b"1 sequence was of the query without residues", result.stderr)


class Sam(Reads):
    def test_has_a_header(self):
        header, _ = self.sam("--top", "1")
        self.assertEqual(header[0].split("\t")[:2], ["@HD", "VN:1.6"])
        self.assertEqual(header[1:-1], [f"@SQ\tSN:{name}\tLN:{len(gene)}"
                                        for name, gene in self.genes])  # fmt: skip
        program = header[-1].split("\t")
        self.assertEqual(program[:3], ["@PG", "ID:strid-align", "PN:strid-align"])
        self.assertRegex(program[4], "^CL:strid align .* --dna --format sam --quiet --top 1$")

    def replay(self, record, read, gene):
        """The score of the alignment that a record describes, and its differences."""
        at, place = 0, int(record[3]) - 1
        scores = iupac_scores(2, 3)
        worth, different = 0, 0
        operations = re.findall(r"(\d+)([MIDS])", record[5])
        self.assertEqual("".join(n + kind for n, kind in operations), record[5])
        for i, (count, kind) in enumerate((int(n), kind) for n, kind in operations):
            if kind == "S":
                self.assertIn(i, (0, len(operations) - 1))
                at += count
            elif kind == "M":
                pairs = list(zip(read[at : at + count], gene[place : place + count]))
                self.assertEqual(len(pairs), count)
                worth += sum(scores[pair] for pair in pairs)
                different += sum(a != b or a not in "ACGT" for a, b in pairs)
                at, place = at + count, place + count
            else:
                worth -= OPEN + count * EXTEND
                different += count
                at += count if kind == "I" else 0
                place += count if kind == "D" else 0
        self.assertEqual(at, len(read))
        self.assertLessEqual(place, len(gene))
        return worth, different

    def test_has_the_alignments(self):
        genes = dict(self.genes)
        for mode in ("local", "global", "semi-global"):
            _, records = self.sam("--mode", mode)
            of_read = {}
            for record in records:
                of_read.setdefault(record[0], []).append(record)
            self.assertEqual([*of_read], [name.split()[0] for name, _, _ in self.reads])
            for name, read, qualities in self.reads:
                found = of_read[name.split()[0]]
                turned = read[::-1].translate(TURNED)
                expected = {
                    (gene, flag): gotoh(one, residues, iupac_scores(2, 3), OPEN, EXTEND, mode)
                    for gene, residues in self.genes for flag, one in ((0, read), (16, turned))}
                if mode == "local":
                    expected = {key: score for key, score in expected.items() if score > 0}
                best = sorted(expected.values(), reverse=True)
                self.assertEqual(len(found), len(best))
                for i, record in enumerate(found):
                    flag = int(record[1])
                    self.assertEqual(flag & ~16, 0 if i == 0 else 256)
                    reversed_ = flag & 16
                    tags = dict((t[:4], t[5:]) for t in record[11:])
                    score = int(tags["AS:i"])
                    self.assertEqual(score, best[i])
                    self.assertEqual(score, expected[record[2], reversed_])
                    one = turned if reversed_ else read
                    self.assertEqual((score, int(tags["NM:i"])),
                                     self.replay(record, one, genes[record[2]]))
                    if mode != "local":
                        self.assertNotIn("S", record[5])
                    sequence = (one, qualities[::-1] if reversed_ else qualities)
                    self.assertEqual(tuple(record[9:11]), sequence if i == 0 else ("*", "*"))
                    self.assertEqual(record[4:5] + record[6:9], ["255", "*", "0", "0"])

    def test_of_reads_that_are_not_aligned(self):
        self.reads_path.write_text("@r x\nTTTT\n+\nIJKL\n")
        self.write("genes.fa", [("g", "AGCAGC")])
        _, records = self.sam("--strand", "plus")
        self.assertEqual(records, ["r\t4\t*\t0\t0\t*\t*\t0\t0\tTTTT\tIJKL".split("\t")])
        self.reads_path.write_text(fasta([("r", "AGC")]))
        _, records = self.sam("--strand", "plus")
        self.assertEqual(records[0][1:6] + records[0][9:11], "0 g 1 255 3M AGC *".split())
        # A query whose residues have no pair lies beside the target.
        self.reads_path.write_text(fasta([("r", "TTTT")]))
        _, records = self.sam(*"--strand plus --mode semi-global --mismatch 100".split())
        self.assertEqual((records[0][1], records[0][5], records[0][11]), ("0", "4I", "AS:i:-13"))

    def test_refuses_names_that_it_does_not_allow(self):
        options = "--dna", "--format", "sam", "--quiet"
        for genes, what in [
            ([("g x", "ACGT"), ("h", "ACGT"), ("g y", "ACGT")], "sequences 1 and 3 are both g"),
            ([("g(1)", "ACGT")], "does not allow the name g(1) of sequence 1"),
            ([("*g", "ACGT")], "does not allow the name *g"),
        ]:
            path = self.write("named.fa", genes)
            line = self.fails(self.reads_path, path, *options)
            self.assertIn(str(path), line)
            self.assertIn(what, line)
        path = self.write("reads.fa", [("r", "ACGT"), ("a@b", "ACGT")])
        self.assertIn(f"{path}: SAM does not allow the name a@b of sequence 2",
                      self.fails(path, self.genes_path, *options))
        protein = self.write("p.fa", [("p", "ARND")])
        self.assertIn("--format sam is for --dna",
                      self.fails(protein, protein, "--format", "sam", code=2))

    @unittest.skipUnless(pysam, "no pysam (scripts/install-dependencies --ci)")
    def test_is_read_by_htslib(self):
        genes = dict(self.genes)
        for mode in ("local", "global", "semi-global"):
            out = self.folder / "out.sam"
            self.sam("--mode", mode, "--output", out)
            with pysam.AlignmentFile(out, "r", check_sq=True) as file:
                self.assertEqual(dict(zip(file.references, file.lengths)),
                                 {name: len(gene) for name, gene in self.genes})
                count = 0
                for record in file:
                    count += 1
                    if record.is_unmapped:
                        continue
                    place = record.reference_start
                    part = genes[record.reference_name][place : record.reference_end]
                    if record.query_sequence is None:
                        self.assertTrue(record.is_secondary)
                        self.assertEqual(record.reference_length, len(part))
                        continue
                    # Of the read, its CIGAR and MD alone.
                    self.assertEqual(record.get_reference_sequence().upper(), part)
                    self.assertEqual(record.infer_query_length(), len(record.query_sequence))
                self.assertGreater(count, len(self.reads))
            pysam.sort("-o", str(self.folder / "out.bam"), str(out))
            pysam.index(str(self.folder / "out.bam"))
            with pysam.AlignmentFile(self.folder / "out.bam") as file:
                self.assertEqual(sum(1 for _ in file.fetch("gene1|x=1")),
                                 sum(r.reference_name == "gene1|x=1"
                                     for r in pysam.AlignmentFile(out)))

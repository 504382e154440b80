# SPDX-License-Identifier: Apache-2.0
"""strid-align: inputs in all conditions, and runs that fail or are ended."""

import os
import random
import signal
import subprocess
import time

from align_case import (
    SANITIZED,
    AlignCase,
    alignments,
    blosum50,
    drawn,
    fasta,
    mutated,
    rows,
)
from program import PROGRAM, TIMEOUT_S


class Input(AlignCase):
    def check_same(self, text, sequences):
        """The file of this text is read as these sequences."""
        path = self.folder / "text.fa"
        path.write_bytes(text)
        plain = self.write("plain.fa", sequences)
        expected = self.run_program(plain, plain, "--format", "alignments").stdout
        self.assertEqual(self.run_program(path, path, "--format", "alignments").stdout, expected)

    def test_may_be_written_in_many_ways(self):
        sequences = [("a one", "ARNDCQEGHILKMFPSTWYV"), ("b", "WWYYHH"), ("b", "WWYYHHK")]
        self.check_same(fasta(sequences, end="\r\n").encode(), sequences)
        self.check_same(fasta(sequences, width=1).encode(), sequences)
        self.check_same(fasta(sequences).rstrip("\n").encode(), sequences)
        self.check_same(("\n \n\n" + fasta(sequences, end="\n\n")).encode(), sequences)
        self.check_same(fasta([(n, s.lower()) for n, s in sequences]).encode(), sequences)
        self.check_same(b"\xef\xbb\xbf" + fasta(sequences).encode(), sequences)
        spaced = fasta([(n, " ".join(s)) for n, s in sequences], width=7)
        self.check_same(spaced.encode(), sequences)

    def test_of_names_that_are_empty_or_odd(self):
        path = self.folder / "odd.fa"
        path.write_bytes(b">\nWWWW\n>\tx y\nHHHH\n>" + b"\xff\xc3\xa4" * 40 + b" n\nKKKK\n")
        found = rows(self.run_program(path, path, "--format", "blast", "--top", 1).stdout.replace(
            b"\xff", b"?"))
        self.assertEqual([row[:2] for row in found[:2]], [["Query_1", "Subject_1"]] +
                         [["Query_2", "Subject_2"]])
        self.run_program(path, path)

    def test_that_is_no_fasta_is_an_error_with_its_line(self):
        good = self.write("good.fa", [("a", "ARND" * 9)])
        bad = self.folder / "bad.fa"
        for text, where, what in [
            (b"", 1, "there is no sequence"),
            (b"\n\n \n", 1, "there is no sequence"),
            (b"ARND\n", 1, "no FASTA"),
            (b"\n\x00\x01\x02", 2, "no FASTA"),
            (b"\n; comment\n>a\nAR\n", 2, "no FASTA"),
            (b">a\nARND\nAR?D\n", 3, "'?' is no residue of a protein; --unknown any"),
            (b">a\nARND\n>b\nAR\n\nN-D\n", 6, "'-' is no residue"),
            (b">a\nAR\xc3\xa4\n", 2, "the byte 0xc3 is no residue"),
            (b">a\nAR>ND\n", 2, "'>' is no residue"),
            (b"\n>a\n\n>b", 2, "there is no sequence with residues"),
        ]:
            bad.write_bytes(text)
            for files in ((bad, good), (good, bad)):
                line = self.fails(*files, "--quiet")
                self.assertIn(f"{bad}:{where}: ", line)
                self.assertIn(what, line)
        line = self.fails(good, "-", "--quiet", input=b"ARND\n")
        self.assertIn("standard input:1: ", line)
        self.assertIn(str(self.folder / "none"), self.fails(self.folder / "none", good))
        self.assertIn(str(self.folder), self.fails(good, self.folder, "--quiet"))

    def test_passes_over_a_sequence_without_residues(self):
        good = self.write("good.fa", [("a", "ARND" * 9), ("c", "NDAR" * 9)])
        gaps = self.folder / "gaps.fa"
        want = self.run_program(good, good, "--format", "blast", "--quiet").stdout
        first, second = b">a\n" + b"ARND" * 9 + b"\n", b">c\n" + b"NDAR" * 9 + b"\n"
        for text, line, count in [
            (first + b">b two\n" + second, 3, "1 sequence was"),
            (b">\n" + first + b">b\n\n\n" + second + b">d", 1, "3 sequences were"),
        ]:
            gaps.write_bytes(text)
            for files, kind in (((gaps, good), "query"), ((good, gaps), "database")):
                found = self.run_program(*files, "--format", "blast")
                self.assertEqual(found.stdout, want)
                self.assertIn(f"{count} of the {kind} without residues passed over, the first in "
                              f"line {line}", found.stderr.decode())

    def test_of_unknown_letters_is_read_as_any_where_asked(self):
        path = self.folder / "unknown.fa"
        path.write_bytes(b">a\nWW?W-W1HH\n")
        plain = self.write("plain.fa", [("a", "WWXWXWXHH")])
        result = self.run_program(path, path, "--unknown", "any", "--format", "alignments")
        self.assertEqual(
            result.stdout, self.run_program(plain, plain, "--format", "alignments").stdout
        )
        self.assertIn(b"6 letters were read as any residue", result.stderr)

    def test_at_the_edges_of_the_buffers(self):
        rng = random.Random(31)
        whole = [(f"s{i} " + "h" * rng.randint(0, 3000), drawn(rng, rng.randint(1, 9000)))
                 for i in range(120)]
        path = self.write("whole.fa", whole, width=61)
        query = self.write("q.fa", [("q", whole[77][1][:50])])
        expected = self.run_program(query, path, "--format", "blast").stdout
        self.assertEqual(rows(expected)[0][:3], ["q", "s77", "100.000"])
        process = subprocess.Popen(
            [PROGRAM, query, "-", "--format", "blast", "--quiet"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        data = path.read_bytes()
        at = 0
        while at < len(data):
            step = rng.choice([1, 7, 4096, 70_000])
            process.stdin.write(data[at : at + step])
            process.stdin.flush()
            at += step
        out, _ = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, out), (0, expected))

    def test_larger_than_what_is_kept(self):
        """A database of 64 MB takes no memory that grows with it."""
        rng = random.Random(32)
        block = fasta([(f"s{i}", drawn(rng, 400)) for i in range(2500)]).encode()
        query = self.write("q.fa", [("q", drawn(rng, 12))])
        process = subprocess.Popen(
            [PROGRAM, query, "-", "--quiet", "--workers", "2"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        )
        for _ in range(62):
            process.stdin.write(block)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss, 48 * 1024)

    def test_of_two_long_sequences_needs_little_memory(self):
        rng = random.Random(33)
        long = drawn(rng, 12_000)
        files = self.write("q.fa", [("q", long)]), self.write(
            "db.fa", [("d", mutated(rng, long, rate=0.3))]
        )
        process = subprocess.Popen([PROGRAM, *files, "--quiet", "--format", "alignments"],
                                   stdout=subprocess.PIPE)
        text = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        if not SANITIZED:  # the steps of all places would be 144 MB
            self.assertLess(usage.ru_maxrss, 64 * 1024)
        hit = alignments(text)[0][0]
        target = "".join((self.folder / "db.fa").read_text().split("\n")[1:])
        self.check_alignment(hit, long, target, blosum50(), 10, 2)


class Endings(AlignCase):
    def setUp(self):
        super().setUp()
        rng = random.Random(41)
        self.query = self.write("q.fa", [(f"q{i}", drawn(rng, 300)) for i in range(8)])
        self.database = self.write("db.fa", [(f"d{i}", drawn(rng, 400)) for i in range(400)])

    def test_on_a_full_disk(self):
        line = self.fails(self.query, self.database, "--output", "/dev/full", "--quiet")
        self.assertIn("/dev/full", line)

    def test_on_a_closed_pipe(self):
        process = subprocess.Popen(
            [PROGRAM, self.query, self.database, "--format", "alignments", "--top", "200"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(TIMEOUT_S), 141)

    def test_of_a_database_that_breaks_off(self):
        """The workers are busy with what came before."""
        broken = self.folder / "broken.fa"
        broken.write_bytes(self.database.read_bytes() + b">last\nAR:ND\n")
        out = self.folder / "out.txt"
        for workers in (1, 3):
            line = self.fails(
                self.query, broken, "--output", out, "--workers", workers, "--quiet"
            )
            self.assertRegex(line, rf"{broken}:\d+: ':' is no residue")
            self.assertFalse(out.exists())
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_by_a_signal_while_a_pipe_is_waited_for(self):
        out = self.folder / "out.txt"
        process = subprocess.Popen(
            [PROGRAM, self.query, "-", "--output", out, "--quiet"], stdin=subprocess.PIPE
        )
        process.stdin.write(self.database.read_bytes())
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(TIMEOUT_S), 130)
        process.stdin.close()
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["db.fa", "q.fa"])

    def test_by_a_signal_at_work(self):
        out = self.folder / "out.txt"
        rng = random.Random(42)
        block = "".join(drawn(rng, 10_000) for _ in range(4))
        long = self.write("long.fa", [("l", block * 10)], width=10**7)
        process = subprocess.Popen(
            [PROGRAM, long, long, "--output", out, "--quiet"], stderr=subprocess.PIPE
        )
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        # A pair of such giants takes its time; the second signal does not wait for it.
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertIn(process.wait(TIMEOUT_S), (143, -signal.SIGTERM))
        process.stderr.close()
        self.assertFalse(out.exists())

    def test_never_destroy_an_input(self):
        before = self.database.read_bytes()
        line = self.fails(self.query, self.database, "--output", self.database, code=2)
        self.assertIn("--output", line)
        link = self.folder / "link.fa"
        link.symlink_to(self.query)
        self.fails(self.query, self.database, "--output", link, code=2)
        self.assertEqual(self.database.read_bytes(), before)

    def test_by_options_that_make_no_sense(self):
        files = self.query, self.database
        for options in (
            ["--matrix", "BLOSUM51"],
            ["--matrix", "BLOSUM62", "--dna"],
            ["--match", 2],
            ["--strand", "both"],
            ["--top", 0],
            ["--workers", 0],
            ["--workers", 1025],
            ["--gap-open", -1],
            ["--gap-extend", 10001],
            ["--evalue", 0],
            ["--evalue", "nan"],
            ["--evalue", "x"],
            ["--format", "xml"],
            ["--vectors", "avx9"],
            ["--output", ""],
        ):
            with self.subTest(options=options):
                result = self.run_program(*files, *options, code=2)
                self.assertTrue(result.stderr)
                self.assertEqual(result.stdout, b"")
        self.assertIn("BLOSUM50", self.fails(*files, "--matrix", "BLOSUM5O", code=2))
        self.fails("-", "-", code=2)
        self.run_program(code=2)
        self.assertIn(b"Examples:", self.run_program("--help").stdout)

# SPDX-License-Identifier: Apache-2.0
"""Files that strid compress replaces, and its command line."""

import bz2
import os
import pty
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import time
import unittest
from functools import partial

from compress_cases import DECOMPRESS, HAS_BZIP2, CompressCase, bzip2, text_of
from program import PROGRAM, SANITIZED, TIMEOUT_S


class Files(CompressCase):
    DATA = text_of(20_000, 9)

    def test_a_file_is_replaced(self):
        path = self.write("a", self.DATA, 0o640)
        os.utime(path, ns=(1_500_000_000_123_456_789, 1_400_000_000_987_654_321))
        self.run_program(path)
        self.assertEqual(self.names(), ["a.bz2"])
        packed = self.folder / "a.bz2"
        self.assertEqual(bz2.decompress(packed.read_bytes()), self.DATA)
        for result in (packed, path):
            status = result.stat()
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o640)
            self.assertEqual(status.st_mtime_ns, 1_400_000_000_987_654_321)
            if result == packed:
                self.run_program("-d", packed)
        self.assertEqual(path.read_bytes(), self.DATA)
        self.assertEqual(self.names(), ["a"])

    def test_large_and_small_files(self):
        files = {f"small{i}": text_of(i * 997, i) for i in range(30)}
        files |= {f"large{i}": text_of(1_500_000 + i, i) for i in range(2)}
        for workers in (1, 2):
            for name, data in files.items():
                self.write(name, data)
            paths = [self.folder / name for name in files]
            self.run_program("--workers", workers, *paths)
            self.assertEqual(self.names(), sorted(f"{name}.bz2" for name in files))
            for name, data in files.items():
                self.assertEqual(bz2.decompress((self.folder / f"{name}.bz2").read_bytes()), data)
            packed = [self.folder / f"{name}.bz2" for name in files]
            self.run_program("-t", "--workers", workers, *packed)
            self.run_program("-d", "--workers", workers, *packed)
            for name, data in files.items():
                self.assertEqual((self.folder / name).read_bytes(), data)

    def test_results_on_standard_output_are_in_order(self):
        names = []
        for i in range(40):
            size = 1_200_000 if i % 9 == 4 else i * 700
            names.append(self.write(f"{i:02}", text_of(size, i)))
        expected = b"".join(path.read_bytes() for path in names)
        packed = self.run_program("-c1", "--workers", 2, *names).stdout
        self.assertEqual(bz2.decompress(packed), expected)
        self.assertEqual(self.names(), [path.name for path in names])
        self.run_program("--workers", 2, *names)
        unpacked = self.run_program("-dc", "--workers", 2, *sorted(self.folder.iterdir())).stdout
        self.assertEqual(unpacked, expected)

    def test_a_small_file_with_a_large_result_on_standard_output(self):
        zeros = bz2.compress(b"\0" * 40_000_000)
        paths = [self.write("0.bz2", bz2.compress(b"first")), self.write("1.bz2", zeros),
                 self.write("2.bz2", bz2.compress(b"last"))]
        result = self.run_program("-dc", "--workers", 2, *paths).stdout
        self.assertTrue(result.startswith(b"first\0") and result.endswith(b"\0last"))
        self.assertEqual(len(result), 40_000_009)

    def test_suffixes(self):
        names = {"a.bz2": "a", "b.bz": "b", "c.tbz2": "c.tar", "d.tbz": "d.tar", "e": "e.out"}
        for name in names:
            self.write(name, bz2.compress(name.encode()))
        result = self.run_program("-d", *[self.folder / name for name in names])
        self.assertEqual(self.names(), sorted(names.values()))
        for name, becomes in names.items():
            self.assertEqual((self.folder / becomes).read_bytes(), name.encode())
        self.assertIn(b"/e: has no suffix like .bz2; it becomes", result.stderr)
        for suffix in ("bz2", "bz", "tbz2", "tbz"):
            path = self.write(f"x.{suffix}", b"text")
            self.assertIn("has the suffix", self.fails(path))
            self.assertEqual(self.run_program("-q", path, code=1).stderr, b"")

    def test_what_is_there_is_not_overwritten(self):
        path, there = self.write("a", self.DATA), self.write("a.bz2", b"there", 0o644)
        self.assertIn("exists", self.fails(path))
        self.assertEqual(there.read_bytes(), b"there")
        path.chmod(0o600)
        self.run_program("-f", path)
        self.assertEqual(self.names(), ["a.bz2"])
        self.assertEqual(bz2.decompress(there.read_bytes()), self.DATA)
        self.assertEqual(stat.S_IMODE(there.stat().st_mode), 0o600)

    def test_an_output_that_is_a_link(self):
        path, other = self.write("a", self.DATA), self.write("other", b"other")
        (self.folder / "a.bz2").symlink_to(other)
        self.fails(path)
        self.run_program("-f", path)
        self.assertEqual(other.read_bytes(), b"other")
        self.assertFalse((self.folder / "a.bz2").is_symlink())

    def test_two_inputs_with_one_output(self):
        paths = [self.write("a.tbz", bz2.compress(b"1")), self.write("a.tbz2", bz2.compress(b"2"))]
        self.fails("-d", *paths)
        self.assertEqual(self.names(), ["a.tar", "a.tbz2"])
        path = self.write("b", self.DATA)
        self.fails(path, path)
        self.assertEqual(self.names(), ["a.tar", "a.tbz2", "b.bz2"])
        # An output that is another input.
        paths = [self.write("c.bz2", bz2.compress(b"c")), self.write("c", bz2.compress(b"d"))]
        self.run_program("-dfk", *paths, code=1)
        self.assertEqual(paths[1].read_bytes(), bz2.compress(b"d"))

    def test_files_that_are_left_out(self):
        (self.folder / "folder").mkdir()
        path = self.write("a", self.DATA)
        (self.folder / "link").symlink_to(path)
        os.mkfifo(self.folder / "pipe")
        self.assertIn("is a directory", self.fails(self.folder / "folder"))
        self.assertIn("is a directory", self.fails("-c", self.folder / "folder"))
        self.assertIn("is a symbolic link", self.fails(self.folder / "link"))
        self.assertIn("is not a regular file", self.fails(self.folder / "pipe"))
        self.assertIn("is not a regular file", self.fails("-f", self.folder / "pipe"))
        line = self.fails(self.folder / "none", path)
        self.assertIn("none: cannot open: No such file or directory", line)
        self.assertEqual(self.names(), ["a.bz2", "folder", "link", "pipe"])

    def test_links(self):
        path = self.write("a", self.DATA)
        os.link(path, self.folder / "b")
        self.assertIn("has 1 other hard link", self.fails(path))
        self.run_program("-f", path)
        self.assertEqual(self.names(), ["a.bz2", "b"])
        (self.folder / "c").symlink_to("b")
        packed = self.run_program("-c", self.folder / "c").stdout
        self.assertEqual(bz2.decompress(packed), self.DATA)
        self.run_program("-f", self.folder / "c")
        self.assertEqual(self.names(), ["a.bz2", "b", "c.bz2"])
        self.assertFalse((self.folder / "c.bz2").is_symlink())

    def test_keep(self):
        path = self.write("a", self.DATA)
        self.run_program("-k", path)
        self.assertEqual(self.names(), ["a", "a.bz2"])
        self.run_program("-dkf", self.folder / "a.bz2")
        self.assertEqual(self.names(), ["a", "a.bz2"])
        self.run_program("-t", self.folder / "a.bz2")
        self.assertEqual(self.names(), ["a", "a.bz2"])

    @unittest.skipUnless(HAS_BZIP2, "bzip2 is not installed")
    def test_verbose_as_bzip2(self):
        self.write("text", self.DATA)
        self.write("a-long-name", self.DATA[:777] * 3)
        self.write("empty", b"")
        names = ["text", "a-long-name", "empty"]
        packed = [f"{name}.bz2" for name in names]
        for options, files in (("-kv", names), ("-tv", packed), ("-dkvf", packed)):
            with self.subTest(options):
                ours = self.run_program(options, *files, cwd=self.folder).stderr
                if options == "-kv":
                    for file in packed:
                        (self.folder / file).unlink()
                theirs = subprocess.run(["bzip2", options, *files], cwd=self.folder,
                                        capture_output=True, timeout=TIMEOUT_S, check=True).stderr
                self.assertEqual(ours, theirs)
        ours = self.run_program("-v", input=self.DATA).stderr
        self.assertEqual(ours, bzip2("-v", data=self.DATA).stderr)


class CommandLine(CompressCase):
    DATA = text_of(30_000, 10)

    def test_the_name_decides(self):
        packed = bz2.compress(self.DATA)
        for command, data, expected in (
            ([DECOMPRESS], packed, self.DATA),
            ([DECOMPRESS, "-z"], self.DATA, packed),
            ([PROGRAM, "-d"], packed, self.DATA),
            ([PROGRAM, "-t", "-d"], packed, self.DATA),
            ([PROGRAM, "-d", "-t"], packed, b""),
            ([PROGRAM, "--decompress", "-"], packed, self.DATA),
        ):
            result = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT_S)
            self.assertEqual((result.returncode, result.stderr), (0, b""), command)
            self.assertEqual(result.stdout, expected, command)

    def test_levels(self):
        for options in (["-9", "-1"], ["--best", "--fast"], ["-c91"], ["-1", "-1"]):
            self.assertEqual(self.compress(self.DATA, *options)[:4], b"BZh1")
        self.assertEqual(self.compress(self.DATA)[:4], b"BZh9")

    def test_less_memory(self):
        for options, level in ((["-s"], b"2"), (["-s9"], b"2"), (["--small", "-1"], b"1")):
            self.assertEqual(self.compress(self.DATA, *options)[:4], b"BZh" + level)
        self.assertEqual(self.decompress(bz2.compress(self.DATA), "-s"), self.DATA)

    def test_version_and_license(self):
        for option in ("-V", "--version", "-L", "--license"):
            text = self.run_program(option).stdout.decode()
            self.assertRegex(text, r"^strid \d+\.\d+\.\d+, .*bzip2 1\..*Apache License")

    def test_the_environment_has_words_of_its_own(self):
        for variables, options, level in (({"BZIP2": " -3\t-k "}, [], b"3"),
                                          ({"BZIP": "-4"}, [], b"4"),
                                          ({"BZIP2": "-3", "BZIP": "-4"}, [], b"4"),
                                          ({"BZIP2": "-3", "BZIP": "-4"}, ["-5"], b"5")):
            packed = self.run_program(*options, input=self.DATA, env={**os.environ, **variables})
            self.assertEqual(packed.stdout[:4], b"BZh" + level, variables)
        error = self.fails(input=b"", env={**os.environ, "BZIP2": "--no-such"})
        self.assertIn("--no-such", error)

    def test_wrong_options(self):
        for options in (["--no-such"], ["-x"], ["--workers", "0"], ["--workers", "1025"], ["-0"]):
            self.fails(*options, input=b"")
        help_text = self.run_program("--help").stdout.decode()
        self.assertIn("2 where\ncompressed data is corrupt", help_text)

    def test_terminals(self):
        for options, stream in (([], "stdout"), (["-d"], "stdin")):
            controller, terminal = pty.openpty()
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, stream: terminal}
            result = subprocess.run([PROGRAM, *options], stderr=subprocess.PIPE,
                                    timeout=TIMEOUT_S, **streams)
            os.close(controller)
            os.close(terminal)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"terminal", result.stderr)

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            for options, data in ((["-c"], self.DATA), (["-d"], bz2.compress(self.DATA))):
                result = subprocess.run([PROGRAM, *options], input=data, stdout=full,
                                        stderr=subprocess.PIPE, timeout=TIMEOUT_S)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"No space left on device", result.stderr)
                self.assertEqual(result.stderr.count(b"\n"), 1)

    def test_closed_pipe(self):
        path = self.write("a.bz2", bz2.compress(self.DATA * 100))
        for workers in (1, 2):
            command = f"{DECOMPRESS} --workers {workers} -c {path} | head -c 10"
            command += "; echo ${PIPESTATUS[0]}"
            result = subprocess.run(["bash", "-c", command], capture_output=True, timeout=TIMEOUT_S)
            self.assertEqual(result.stdout, self.DATA[:10] + b"141\n")
            self.assertEqual(result.stderr, b"")
        command = f"cat {path} {path} | {PROGRAM} -1 --workers 2 | true; echo ${{PIPESTATUS[1]}}"
        result = subprocess.run(["bash", "-c", command], capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual((result.stdout, result.stderr), (b"141\n", b""))

    def test_an_output_that_is_the_input(self):
        path = self.write("a", self.DATA)
        with open(path, "ab") as output:
            result = subprocess.run([PROGRAM, "-c", path], stdout=output, stderr=subprocess.PIPE,
                                    timeout=TIMEOUT_S)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(path.read_bytes(), self.DATA)

    def test_a_signal_leaves_no_part(self):
        data = random.Random(11).randbytes(3_000_000)
        for options, content in (([], data * 10), (["-d"], bz2.compress(data) * 10)):
            for small in (False, True):
                if small:
                    paths = [self.write(f"{i}.x", content[:900_000]) for i in range(60)]
                else:
                    paths = [self.write("a.x", content)]
                before = self.names()
                process = subprocess.Popen([PROGRAM, *options, "--workers", "2", *paths],
                                           stderr=subprocess.PIPE)
                deadline = time.monotonic() + 20
                while self.names() == before and time.monotonic() < deadline:
                    time.sleep(0.01)
                process.send_signal(signal.SIGINT)
                _, error = process.communicate(timeout=TIMEOUT_S)
                if small and options:
                    continue  # cut, and so corrupt
                self.assertEqual(process.returncode, 130, error)
                # Each file is there, or what it has become.
                ending = ".out" if options else ".bz2"
                for path in paths:
                    result = path.with_name(path.name + ending)
                    self.assertNotEqual(path.exists(), result.exists())
                self.assertEqual(len(self.names()), len(before))
                for path in self.folder.iterdir():
                    path.unlink()

    def test_a_file_that_is_changed_meanwhile(self):
        data = random.Random(13).randbytes(9_000_000)
        path = self.write("a", data)
        with subprocess.Popen([PROGRAM, "--workers", "2", path], stderr=subprocess.PIPE) as process:
            while self.names() == ["a"] and process.poll() is None:
                time.sleep(0.001)
            with open(path, "ab") as file:
                file.write(b"more")
            _, error = process.communicate(timeout=TIMEOUT_S)
            self.assertEqual(process.returncode, 1)
        self.assertIn(b"a: was changed while it was read", error)
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(path.read_bytes(), data + b"more")

    @unittest.skipIf(SANITIZED, "takes several times the memory")
    def test_too_little_memory(self):
        script = ("import os, resource, sys; resource.setrlimit(resource.RLIMIT_DATA, "
                  "(int(sys.argv[1]),) * 2); os.execv(sys.argv[2], sys.argv[2:])")
        path = self.write("a", text_of(3_000_000, 12))
        # Enough for the threads, too little for a block.
        result = subprocess.run(
            [sys.executable, "-c", script, str(36 << 20), PROGRAM, "--workers", "2", path],
            capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
        self.assertEqual(self.names(), ["a"])

    @unittest.skipIf(SANITIZED, "takes several times the memory")
    def test_every_want_of_memory_is_one_line(self):
        # While it is loaded, options are read, the machine is looked at, and threads begin.
        path = self.write("a", text_of(10_000, 14))
        lines = set()
        for kib in range(6_000, 34_000, 250):
            limit = partial(resource.setrlimit, resource.RLIMIT_AS, (kib << 10,) * 2)
            result = subprocess.run([PROGRAM, "-c", "--workers", "2", path], preexec_fn=limit,
                                    capture_output=True, timeout=TIMEOUT_S)
            if result.returncode == 127:  # the system's loader found no memory
                continue
            self.assertIn(result.returncode, (0, 1), (kib, result.stderr))
            self.assertEqual(result.stderr.count(b"\n"), result.returncode, (kib, result.stderr))
            lines.add(re.sub(rb"\d+", b"N", result.stderr))
        self.assertIn(b"strid: error: no thread could be made: there is no memory for a stack of "
                      b"N KiB (ulimit -v is N)\n", lines)

    @unittest.skipIf(SANITIZED or os.geteuid() != 0, "another user is needed")
    def test_a_limit_of_threads_is_named(self):
        def limit():
            os.setgroups([])
            os.setgid(54321)
            os.setuid(54321)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        try:
            result = subprocess.run([PROGRAM], preexec_fn=limit, input=b"", capture_output=True,
                                    timeout=TIMEOUT_S)
        except PermissionError:
            self.skipTest("the program cannot be read by others")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rb"^strid: error: no thread could be made: a limit of "
                                        rb"threads is reached \(ulimit -u is 1[,)][^\n]*\n$")

    def test_a_slow_writer(self):
        # Data that has been read is written, though the next block is not there.
        with subprocess.Popen([DECOMPRESS, "--workers", "2"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdin.write(bz2.compress(b"first\n") + bz2.compress(b"second\n"))
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), b"first\n")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), b"second\n")
            self.assertEqual(process.wait(timeout=TIMEOUT_S), 0)

# SPDX-License-Identifier: Apache-2.0
"""The behaviour of strid denoise with bad input, bad command lines, full disks and signals."""

import signal
import struct
import subprocess
import time
import zlib

from denoise_pictures import DenoiseCase, chunk, picture, pixels, png, with_noise
from program import PROGRAM, TIMEOUT_S

try:
    import numpy

    import denoise_oracle as oracle
except ImportError:
    numpy = None


class BadInput(DenoiseCase):
    def out(self):
        return self.folder / "out.png"

    def refuses(self, data, what, *arguments, code=1):
        line = self.fails(*arguments, "--output", self.out(), input=data, code=code)
        self.assertIn(what, line)
        self.assertEqual(list(self.folder.glob("*partial*")), [])
        self.assertFalse(self.out().exists())

    def test_no_image(self):
        self.refuses(b"", "standard input: it is empty")
        self.refuses(b"x", "standard input: no picture in a form that is read")
        self.refuses(b"a text, called .png\n" * 99, "no picture in a form")
        self.refuses(b"\x89PNG\r\n\x1a\n", "cut off")
        self.refuses(b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b""), "without a header")
        self.refuses(b"\x89PNG\r\n\x1a\n" + bytes(40), "without a header")
        path = self.write("none.png", b"")
        self.refuses(b"", "none.png: it is empty", path)
        self.refuses(b"", "missing.png: ", self.folder / "missing.png")
        self.refuses(b"", "no file has a name like this", self.folder / "missing-%d.png")
        self.refuses(b"", "", self.folder)

    def test_every_cut(self):
        data = png(with_noise(picture(12, 12), 0.4))
        for size in range(1, len(data), 23):
            self.refuses(data[:size], "cut off")
        self.refuses(data + b"garbage", "image 2: no PNG image")

    def test_every_damage(self):
        """A changed byte is an error or a whole picture, never a crash."""
        data = png(with_noise(picture(12, 12), 0.4))
        for at in range(8, len(data), 11):
            damaged = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
            result = subprocess.run([PROGRAM], input=damaged, capture_output=True,
                                    timeout=TIMEOUT_S)
            self.assertIn(result.returncode, (0, 1))
            if result.returncode == 0:
                self.assertEqual(pixels(result.stdout).shape, (12, 12))
            else:
                self.assertEqual(result.stderr.count(b"\n"), 1)
                self.assertEqual(result.stdout, b"")

    def test_image_data_that_is_wrong_behind_a_right_check_sum(self):
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
        for data in (b"", b"\x78\x9c", bytes(30), zlib.compress(bytes(9)),
                     zlib.compress(bytes(72))[:-6], zlib.compress(b"\7" * 72)):
            whole = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")
            self.refuses(whole, "a damaged PNG image")

    def test_bombs(self):
        for size in ((100_000, 100_000), (2**31 - 1, 2**31 - 1), (0, 5)):
            header = struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
            start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            self.refuses(start + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""),
                         "pixels")
        self.refuses(png(picture(20, 20)), "20x20 pixels, more than 399 (--pixels-max)",
                     "--pixels-max", 399)
        self.refuses(b"YUV4MPEG2 W99999 H99999\n", "more than")
        # A text that has no end: refused before it is read.
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
        text = struct.pack(">I", 2**31 - 1) + b"tEXt" + bytes(20)
        self.refuses(b"\x89PNG\r\n\x1a\n" + header + text, "much longer than its pixels")
        self.refuses(b"", "--pixels-max", "--raw", "99999x99999", code=2)

    def test_y4m(self):
        for header, what in (
            (b"YUV4MPEG2 H2", "has no end"), (b"YUV4MPEG2 H2\n", "it says no width"),
            (b"YUV4MPEG2 W2\n", "it says no height"), (b"YUV4MPEG2 W0 H2\n", "its width is '0'"),
            (b"YUV4MPEG2 W-1 H2\n", "its width is '-1'"), (b"YUV4MPEG2 W2 H2x\n", "is '2x'"),
            (b"YUV4MPEG2 W2 H2 C999\n", "its colour space is '999'"),
            (b"YUV4MPEG2 W2 H2 C420p11\n", "its colour space"),
            (b"YUV4MPEG2 " + b"X" * 9000, "has no end"),
            (b"YUV4MPEG2 W2 H2 Cmono\nFRAMEabcdXRAME", "frame 1 does not begin"),
            (b"YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcdXRAME\n", "frame 2 does not begin"),
            (b"YUV4MPEG2 W2 H2 Cmono\nFRAME\nab", "frame 1 is cut off: 2 of its 4 bytes"),
            (b"YUV4MPEG2 W1 H1 Cmono10\nFRAME\n\xff\xff", "a sample of 65535, more than 1023"),
        ):
            with self.subTest(header=header[:40]):
                self.refuses(header, what)

    def test_frames_before_a_failure_are_written(self):
        noisy = [with_noise(picture(20, 20, s), 0.4, s).tobytes() for s in range(4)]
        expected = b"".join(
            oracle.denoise(numpy.frombuffer(f, numpy.uint8).reshape(20, 20)).tobytes()
            for f in noisy[:3])
        for workers in (1, 4):
            result = self.run_program("--raw", "20x20", "--workers", workers, code=1,
                                      input=b"".join(noisy)[:-1])
            self.assertEqual(result.stdout, expected)
            self.assertEqual(result.stderr,
                             b"strid: error: standard input: frame 4 is cut off: 399 of its 400 "
                             b"bytes are there\n")
        # As a plain file it is whole or not there.
        self.refuses(b"".join(noisy)[:-1], "frame 4 is cut off", "--raw", "20x20")
        self.refuses(b"", "standard input: it is empty", "--raw", "20x20")

    def test_one_bad_file_of_many(self):
        good = png(with_noise(picture(20, 20), 0.4))
        bad = good[:60] + b"????" + good[64:]
        paths = [self.write(f"{i}.png", bad if i == 3 else good) for i in range(6)]
        for workers in (1, 3):
            line = self.fails(*paths, "--workers", workers, "--output", f"{self.folder}/out/")
            self.assertIn("3.png: a damaged PNG image", line)
            self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()),
                             ["0.png", "1.png", "2.png"])

    def test_outputs_that_would_destroy(self):
        one = self.write("one.png", png(picture(5, 5)))
        two = self.write("two.png", png(picture(5, 5)))
        before = one.read_bytes()
        (self.folder / "link.png").symlink_to(one)
        for arguments in (
            (one, "--output", one), (one, "--output", self.folder / "link.png"),
            (one, "--output", self.folder), (one, two, "--output", self.folder / "x.png"),
            (one, one, "--output", f"{self.folder}/out/"),
            (one, "--output", two, "--reference", two), ("-", "--output", f"{self.folder}/out/"),
        ):
            with self.subTest(arguments=arguments):
                self.fails(*arguments, code=2, input=b"")
        self.assertEqual(one.read_bytes(), before)
        several = self.write("0.png", png(picture(5, 5)) * 3)
        line = self.fails(several, "--output", f"{self.folder}/out/")
        self.assertIn("more than one image", line)
        # The second image of 0.png would become an input.
        self.write("n-2.png", before)
        self.fails(several, self.folder / "n-2.png", "--output", self.folder / "n-%d.png", code=2)
        self.assertEqual((self.folder / "n-2.png").read_bytes(), before)

    def test_usage(self):
        for arguments in (
            ("--raw", "640"), ("--raw", "0x5"), ("--raw", "5x-1"), ("--pixel", "gray"),
            ("--window", 4), ("--window", 1), ("--window", 257), ("--workers", 0),
            ("--workers", 1025), ("--add-noise", 1.1), ("--seed", 3), ("--edge", 0),
            ("--relaxation", 2), ("--edge", "nan"),
            ("--add-noise", "nan"), ("--tolerance", 0), ("--iterations", 3, "--tolerance", 1),
            ("--compression", 10), ("a", "b", "--raw", "4x4"), ("--nothing",),
        ):
            with self.subTest(arguments=arguments):
                self.fails(*arguments, code=2, input=b"")
        self.assertIn(b"Examples:", self.run_program("--help").stdout)

    def test_full_disk_and_closed_pipe(self):
        data = png(with_noise(picture(300, 300), 0.5))
        self.assertIn("No space left", self.fails("--output", "/dev/full", input=data))
        self.assertIn("No space left", self.fails("--output", "/dev/full", input=data * 4))
        frames = self.write("in.raw", bytes(400) * 20_000)
        process = subprocess.run(f"'{PROGRAM}' --raw 20x20 '{frames}' | head -c 1; "
                                 "exit ${PIPESTATUS[0]}", shell=True, executable="/bin/bash",
                                 capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 141)
        self.assertEqual(process.stderr, b"")

    def test_interruption(self):
        frame = with_noise(picture(20, 20), 0.4).tobytes()
        for data, arguments in (
            (b"", ()), (frame * 3, ("--raw", "20x20")),
            (b"YUV4MPEG2 W20", ()), (png(picture(9, 9))[:40], ()),
        ):
            process = subprocess.Popen([PROGRAM, *arguments, "--output", str(self.out())],
                                       stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdin.write(data)
            process.stdin.flush()
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(TIMEOUT_S), 130)
            self.assertEqual(process.stderr.read(), b"")
            process.stdin.close()
            process.stderr.close()
            self.assertFalse(self.out().exists())
            self.assertEqual(list(self.folder.glob("*partial*")), [])

    def test_interruption_of_one_large_picture(self):
        # No end of iterations: one that is not interrupted would take minutes.
        path = self.write("large.png", png(with_noise(picture(800, 800), 0.9)))
        for workers in (1, 2):
            process = subprocess.Popen([PROGRAM, path, "--iterations", "1000000", "--workers",
                                        str(workers), "--output", str(self.out())])
            time.sleep(0.7)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20), 143)
            self.assertFalse(self.out().exists())

# SPDX-License-Identifier: Apache-2.0
"""The forms of input and output of strid denoise: kinds of PNG, sequences, video."""

import gzip
import io
import os
import struct
import subprocess
import zlib

from denoise_pictures import (DenoiseCase, SEED, chunks_of, interlaced_png, picture, pixels,
                              plain_png, png, with_noise)
from program import PROGRAM, TIMEOUT_S

try:
    import numpy
    from PIL import Image, PngImagePlugin

    import denoise_oracle as oracle
except ImportError:
    numpy = None


class PngForms(DenoiseCase):
    def test_alpha_is_kept(self):
        for channels in (2, 4):
            image = numpy.stack([with_noise(picture(20, 25, s), 0.5, s) for s in range(channels)],
                                axis=2)
            out = self.denoise(png(image, "LA" if channels == 2 else "RGBA"))
            self.assertEqual(Image.open(io.BytesIO(out)).mode, "LA" if channels == 2 else "RGBA")
            found = pixels(out)
            numpy.testing.assert_array_equal(found[..., -1], image[..., -1])
            for i in range(channels - 1):
                numpy.testing.assert_array_equal(found[..., i], oracle.denoise(image[..., i]))

    def test_interlaced(self):
        for shape in ((21, 19), (1, 1), (3, 2)):
            noisy = with_noise(picture(*shape), 0.3)
            found = pixels(self.denoise(interlaced_png(noisy)))
            numpy.testing.assert_array_equal(found, oracle.denoise(noisy))

    def test_palettes_become_rgb(self):
        noisy = with_noise(picture(20, 20), 0.3)
        image = Image.fromarray(noisy)
        image = image.convert("RGB").quantize(16)
        rgb = numpy.array(image.convert("RGB"))
        found = Image.open(io.BytesIO(self.denoise(png(image))))
        self.assertEqual(found.mode, "RGB")
        for i in range(3):
            numpy.testing.assert_array_equal(numpy.array(found)[..., i],
                                             oracle.denoise(rgb[..., i]))
        found = Image.open(io.BytesIO(self.denoise(png(image, transparency=3))))
        self.assertEqual(found.mode, "RGBA")

    def test_few_bits_become_eight(self):
        for depth in (1, 2, 4):
            random = numpy.random.default_rng(SEED)
            values = random.integers(0, 2**depth, (16, 16))
            bits = "".join(f"{value:0{depth}b}" for value in values.reshape(-1))
            data = int(bits, 2).to_bytes(len(bits) // 8, "big")
            step = len(data) // 16
            rows = [data[i : i + step] for i in range(0, len(data), step)]
            out = self.denoise(plain_png(16, 16, depth, 0, rows), "--force")
            grey = (values * 255 // (2**depth - 1)).astype(numpy.uint8)
            numpy.testing.assert_array_equal(pixels(out), oracle.denoise(grey))

    def test_16_bit_colours_with_alpha(self):
        image = numpy.random.default_rng(SEED).integers(0, 65536, (9, 9, 4)).astype(numpy.uint16)
        rows = [row.astype(">u2").tobytes() for row in image]
        out = self.denoise(plain_png(9, 9, 16, 6, rows), "--compression", 0)
        kinds = dict(chunks_of(out))
        self.assertEqual(kinds[b"IHDR"], struct.pack(">IIBBBBB", 9, 9, 16, 6, 0, 0, 0))

    def test_what_the_samples_mean_is_kept(self):
        info = PngImagePlugin.PngInfo()
        info.add_text("Title", "a test")
        noisy = with_noise(picture(20, 20), 0.3)
        data = png(noisy, pnginfo=info, dpi=(300, 300), icc_profile=b"a profile")
        damaged = data.replace(b"a test", b"a tEst")  # its check sum is wrong now
        kept = dict(chunks_of(self.denoise(data)))
        for kind in (b"tEXt", b"pHYs", b"iCCP"):
            self.assertEqual(kept[kind], dict(chunks_of(data))[kind])
        self.assertNotIn(b"tEXt", dict(chunks_of(self.denoise(damaged))))

    def test_exif_and_coding_are_kept(self):
        def chunk(kind, content):
            return (struct.pack(">I", len(content)) + kind + content
                    + struct.pack(">I", zlib.crc32(kind + content)))

        data = png(with_noise(picture(20, 20), 0.3))
        header = 8 + 25  # the signature and IHDR
        exif = chunk(b"eXIf", b"MM\0\x2a\0\0\0\x08\0\0")
        coding = chunk(b"cICP", bytes([9, 16, 0, 1]))
        whole = data[:header] + coding + data[header:-12] + exif + data[-12:]
        out = self.denoise(whole)
        kept = dict(chunks_of(out))
        self.assertEqual(kept[b"eXIf"], dict(chunks_of(whole))[b"eXIf"])
        self.assertEqual(kept[b"cICP"], dict(chunks_of(whole))[b"cICP"])
        kinds = [kind for kind, _ in chunks_of(out)]
        self.assertLess(kinds.index(b"cICP"), kinds.index(b"IDAT"))

    def test_every_filter_and_level(self):
        random = numpy.random.default_rng(SEED)
        for image in (
            random.integers(1, 255, (70, 90)), numpy.indices((70, 90)).sum(0) + 1,
            numpy.indices((70, 90))[0] * 2 + 1, numpy.indices((70, 90))[1] * 2 + 1,
            numpy.indices((70, 90))[0] * numpy.indices((70, 90))[1] % 253 + 1,
        ):
            image = image.astype(numpy.uint8)
            for level in (0, 1, 9):
                out = self.denoise(png(image), "--compression", level)
                numpy.testing.assert_array_equal(pixels(out), oracle.denoise(image))

    def test_image_data_in_many_parts(self):
        image = picture(700, 900)  # five parts of 128 KiB
        out = self.denoise(png(image))
        self.assertGreaterEqual([kind for kind, _ in chunks_of(out)].count(b"IDAT"), 5)
        numpy.testing.assert_array_equal(pixels(out), image)
        if os.path.exists("/usr/bin/pngfix"):
            path = self.write("out.png", out)
            subprocess.run(["/usr/bin/pngfix", "-q", path], check=True, timeout=TIMEOUT_S)


def y4m(frames, header, marks=None):
    marks = marks or [b"FRAME\n"] * len(frames)
    return header + b"".join(mark + frame for mark, frame in zip(marks, frames))


class Sequences(DenoiseCase):
    def setUp(self):
        super().setUp()
        self.noisy = [with_noise(picture(24, 30, s), 0.4, s) for s in range(7)]
        self.restored = [oracle.denoise(image) for image in self.noisy]

    def check(self, name, number):
        found = pixels((self.folder / name).read_bytes())
        numpy.testing.assert_array_equal(found, self.restored[number])

    def test_pattern_keeps_its_numbers(self):
        for i, number in enumerate((3, 4, 9, 10, 11, 100, 12345)):
            self.write(f"in/f-{number:04}.png", png(self.noisy[i]))
        self.write("in/f-5.png", b"another form of number")
        for workers in (1, 2, 5):
            self.run_program(self.folder / "in/f-%04d.png", "--workers", workers,
                             "--output", self.folder / f"out-{workers}-%d.png")
            for i, number in enumerate((3, 4, 9, 10, 11, 100, 12345)):
                self.check(f"out-{workers}-{number}.png", i)
        self.assertEqual(len(list(self.folder.glob("out-2-*"))), 7)

    def test_files_into_a_folder(self):
        paths = [self.write(f"{i}.png", png(self.noisy[i])) for i in range(7)]
        self.run_program(*paths, "--output", f"{self.folder}/new/folder/")
        for i in range(7):
            self.check(f"new/folder/{i}.png", i)

    def test_images_on_a_pipe(self):
        data = b"".join(map(png, self.noisy))
        out = self.denoise(data, "--workers", 3)
        alone = [self.denoise(png(image), "--workers", 2) for image in self.noisy]
        self.assertEqual(out, b"".join(alone))
        self.run_program("--output", self.folder / "o-%03d.png", input=data)
        for i in range(7):
            self.check(f"o-{i + 1:03}.png", i)

    def test_y4m(self):
        gray = numpy.stack(self.noisy)
        params = b"W30 H24 F25:1 Ip A1:1 "
        for colour, planes, step in (
            (b"Cmono", [(24, 30)], 1), (b"C420jpeg", [(24, 30), (12, 15), (12, 15)], 1),
            (b"C422", [(24, 30), (24, 15), (24, 15)], 1),
            (b"C411", [(24, 30), (24, 8), (24, 8)], 1),
            (b"C444", [(24, 30)] * 3, 1), (b"C444alpha", [(24, 30)] * 4, 1),
            (b"C420p10 XYSCSS=420P10", [(24, 30), (12, 15), (12, 15)], 2),
        ):
            largest = 1023 if step == 2 else 255
            random = numpy.random.default_rng(SEED)
            frames = [
                [with_noise(random.integers(100, 130, shape).astype("<u2" if step == 2 else "u1"),
                            0.4, s, largest) for shape in planes]
                for s in range(3)
            ]
            kept = 1 if colour == b"C444alpha" else 0
            expected = [
                [p if i >= len(planes) - kept else oracle.denoise(p.astype(int), largest)
                 .astype(p.dtype) for i, p in enumerate(frame)]
                for frame in frames
            ]
            header = b"YUV4MPEG2 " + params + colour + b"\n"
            marks = [b"FRAME\n", b"FRAME Ip\n", b"FRAME\n"]
            join = lambda frame: b"".join(p.tobytes() for p in frame)
            with self.subTest(colour=colour):
                out = self.denoise(y4m(map(join, frames), header, marks), "--workers", 2)
                self.assertEqual(out, y4m(map(join, expected), header, marks))
        self.assertEqual(self.denoise(b"YUV4MPEG2 W30 H24\n"), b"YUV4MPEG2 W30 H24\n")
        self.assertEqual(gray.shape, (7, 24, 30))

    def test_y4m_that_is_compressed(self):
        header = b"YUV4MPEG2 W30 H24 Cmono\n"
        data = y4m([image.tobytes() for image in self.noisy], header)
        path = self.write("clip.y4m.gz", gzip.compress(data))
        self.assertEqual(self.run_program(path).stdout,
                         y4m([image.tobytes() for image in self.restored], header))

    def test_raw(self):
        data = b"".join(image.tobytes() for image in self.noisy)
        expected = b"".join(image.tobytes() for image in self.restored)
        self.assertEqual(self.denoise(data, "--raw", "30x24"), expected)
        # Samples that look like a byte order mark or a compressed file are samples.
        for begin in (b"\xff\xfe", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh9"):
            frame = bytearray(self.noisy[0].tobytes())
            frame[: len(begin)] = begin
            image = numpy.frombuffer(frame, numpy.uint8).reshape(24, 30)
            path = self.write("f.raw", frame)
            self.assertEqual(self.run_program(path, "--raw", "30x24").stdout,
                             oracle.denoise(image).tobytes())

    def test_raw_colours(self):
        rgb = numpy.stack(self.noisy[:3], axis=2)
        expected = numpy.stack(self.restored[:3], axis=2)
        self.assertEqual(self.denoise(rgb.tobytes(), "--raw", "30x24", "--pixel", "rgb24"),
                         expected.tobytes())
        odd = [with_noise(numpy.full(shape, 99, numpy.uint8), 0.3) for shape in
               ((5, 7), (3, 4), (3, 4))]
        self.assertEqual(
            self.denoise(b"".join(p.tobytes() for p in odd), "--raw", "7x5", "--pixel", "yuv420p"),
            b"".join(oracle.denoise(p).tobytes() for p in odd))

    def test_a_live_pipe_gets_frames_before_its_end(self):
        with subprocess.Popen([PROGRAM, "--raw", "30x24"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            for i in range(3):
                process.stdin.write(self.noisy[i].tobytes())
                process.stdin.flush()
                self.assertEqual(process.stdout.read(720), self.restored[i].tobytes())
            process.stdin.close()
            self.assertEqual(process.wait(TIMEOUT_S), 0)

    def test_memory_does_not_grow_with_the_stream(self):
        frame = with_noise(picture(240, 320), 0.02).tobytes()
        # The address sanitizer keeps what is freed for a while.
        options = os.environ.get("ASAN_OPTIONS", "")
        slim = os.environ | {"ASAN_OPTIONS": f"{options}:quarantine_size_mb=1"}

        def peak(frames):
            with open(self.write("in.raw", frame * frames)) as source:
                process = subprocess.Popen([PROGRAM, "--raw", "320x240", "--workers", "2"],
                                           stdin=source, stdout=subprocess.DEVNULL, env=slim)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = status
            self.assertEqual(status, 0)
            return usage.ru_maxrss

        self.assertLess(peak(400), peak(40) + 10_000)  # 29 MB more of input


class WorkersAndSame(DenoiseCase):
    def test_same_bytes_with_any_number_of_workers(self):
        image = numpy.stack([with_noise(picture(300, 400, s), 0.6, s) for s in range(3)], axis=2)
        data = png(image)
        first = self.denoise(data, "--workers", 1)
        for workers in (2, 3, 8):
            self.assertEqual(self.denoise(data, "--workers", workers), first)
        many = data * 5
        for workers in (1, 2, 7):
            self.assertEqual(self.denoise(many, "--workers", workers), first * 5)

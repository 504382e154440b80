# SPDX-License-Identifier: Apache-2.0
"""PGM, PPM and JPEG in strid denoise, and the form of results. The oracles are Pillow, which
brings a libjpeg of its own, and files made by hand."""

import io
import subprocess
import unittest

from denoise_pictures import SEED, DenoiseCase, chunks_of, picture, pixels, png, with_noise
from program import PROGRAM, TIMEOUT_S

try:
    import numpy
    from PIL import Image

    import denoise_oracle as oracle
except ImportError:
    numpy = None

BUILT = subprocess.run([PROGRAM], input=b"\xff\xd8\xff", capture_output=True).stderr
HAS_JPEG = b"without libjpeg" not in BUILT
BUILT = subprocess.run([PROGRAM], input=b"II*\0", capture_output=True).stderr
HAS_TIFF = b"without libtiff" not in BUILT
EXIF = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"  # turned by 90 degrees


def encoded(image, form, **options):
    out = io.BytesIO()
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    image.save(out, form, **options)
    return out.getvalue()


def colours(height=24, width=30, channels=3, share=0.3):
    return numpy.stack([with_noise(picture(height, width, s), share, s) for s in range(channels)],
                       axis=2)


def denoised(image, largest=255):
    if image.ndim == 2:
        return oracle.denoise(image, largest)
    return numpy.stack([oracle.denoise(image[..., i], largest) for i in range(image.shape[2])],
                       axis=2)


def netpbm(image, largest, plain=False, comment=b""):
    """By hand: Pillow writes no maximum but 255 and 65535."""
    height, width = image.shape[:2]
    kind = (3 if image.ndim == 3 else 2) if plain else (6 if image.ndim == 3 else 5)
    head = b"P%d\n%s%d %d\n%d\n" % (kind, comment, width, height, largest)
    if plain:
        rows = (" ".join(map(str, row.reshape(-1))) for row in image.astype(int))
        return head + "\n".join(rows).encode() + b"\n"
    return head + image.astype(">u2" if largest > 255 else "u1").tobytes()


def samples_of(data, largest):
    """Of a raw picture with the header that the program writes."""
    kind, size, most, raster = data.split(b"\n", 3)
    width, height = map(int, size.split())
    assert int(most) == largest, most
    shape = (height, width) + ((3,) if kind == b"P6" else ())
    return numpy.frombuffer(raster, ">u2" if largest > 255 else "u1").reshape(shape)


class Netpbm(DenoiseCase):
    def test_raw_and_plain_of_every_maximum(self):
        for largest in (1, 7, 100, 255, 256, 1023, 65535):
            grey = numpy.random.default_rng(SEED).integers(0, largest + 1, (12, 14))
            grey = with_noise(grey, 0.2, SEED, largest)
            for image in (grey, numpy.stack([grey, grey.T.reshape(12, 14), grey[::-1]], axis=2)):
                for plain in (False, True):
                    with self.subTest(largest=largest, shape=image.shape, plain=plain):
                        out = self.denoise(netpbm(image, largest, plain), "--force")
                        numpy.testing.assert_array_equal(samples_of(out, largest),
                                                         denoised(image, largest))

    def test_pillow_reads_and_writes_the_same(self):
        for image in (with_noise(picture(20, 31), 0.4), colours()):
            out = self.denoise(encoded(image, "ppm"))
            numpy.testing.assert_array_equal(pixels(out), denoised(image))

    def test_comments_and_spaces(self):
        noisy = with_noise(picture(9, 8), 0.3)
        raster = noisy.tobytes()
        expected = oracle.denoise(noisy)
        for head in (b"P5#one\n8\t9 255\n", b"P5 # a\n# 99 99\n\n 8#w\n9#h\r\n255#last\n",
                     b"P5\r8\v9\f255\n"):
            with self.subTest(head=head):
                out = self.denoise(head + raster)
                numpy.testing.assert_array_equal(samples_of(out, 255), expected)
        plain = b"P2#\n8 9 #\n255\n" + b"#x 1\n".join(b"%d\n" % v for v in noisy.reshape(-1))
        numpy.testing.assert_array_equal(samples_of(self.denoise(plain), 255), expected)

    def test_several_on_a_pipe_and_into_png(self):
        images = [with_noise(picture(9, 8 + s, s), 0.3, s) for s in range(3)]
        data = b"".join(netpbm(image, 255) for image in images)
        self.assertEqual(self.denoise(data, "--workers", 2),
                         b"".join(netpbm(oracle.denoise(image), 255) for image in images))
        self.run_program("--output", self.folder / "%d.png", input=data)
        for i, image in enumerate(images):
            numpy.testing.assert_array_equal(pixels((self.folder / f"{i + 1}.png").read_bytes()),
                                             oracle.denoise(image))
        # A maximum that PNG does not have: the samples are stretched.
        wide = netpbm(images[0].astype(int) * 4, 1020)
        self.run_program("--output", self.folder / "wide.png", input=wide)
        wide = pixels((self.folder / "wide.png").read_bytes())
        expected = oracle.denoise(images[0].astype(int) * 4, 1020)
        numpy.testing.assert_array_equal(wide, (expected * 65535 + 510) // 1020)

    def test_refused(self):
        good = netpbm(with_noise(picture(9, 8), 0.3), 255)
        plain = netpbm(picture(3, 3), 255, plain=True)
        for data, what in (
            (b"P5", "cut off"), (b"P5\n8 9\n255", "cut off"), (good[:-1], "cut off"),
            (good + b"x", "image 2: no netpbm image"), (b"P5x", "without a header"),
            (b"P5\n8 -9\n255\n", "no number from 1"), (b"P5\n0 9\n255\n", "no number from 1"),
            (b"P5\n8 9\n65536\n", "from 1 to 65535"), (b"P5\n8 9\n0\n", "from 1 to 65535"),
            (b"P5\n99999999999999999999 9\n255\n", "from 1 to 2147483647"),
            (b"P5\n2147483647 2147483647\n255\n", "pixels, more than"),
            (b"P5\n#" + b"x" * 70_000, "header has no end"),
            (b"P5\n1 1\n7\n\x08", "a sample of 8, more than 7"),
            (b"P2\n1 1\n7\n8\n", "sample 1 is more than 7"), (b"P2\n1 1\n7\nx", "is no number"),
            (b"P2\n2 1\n7\n1", "cut off"), (plain + b"1", "more samples than its size"),
            (b"P2\n1 1\n7\n1 garbage", "more samples"), (b"P2\n10000 10000\n7\n1", "cut off"),
            (b"P1\n1 1\n1\n", "no picture in a form"), (b"P4\n1 1\n1", "no picture in a form"),
        ):
            with self.subTest(data=data[:40]):
                path = self.write("bad.pgm", data)
                line = self.fails(path, "--output", self.folder / "out.pgm")
                self.assertIn("bad.pgm: ", line)
                self.assertIn(what, line)
                self.assertFalse((self.folder / "out.pgm").exists())
        for size in range(1, len(good) - 1):
            self.assertIn("cut off", self.fails(input=good[:size]))


FORMAT_OF = {"a.png": "PNG", "a.PNM": "PPM", "a.tif": "TIFF", "a.TIFF": "TIFF"}


class Targets(DenoiseCase):
    """The extension of the output's name says its form."""

    def becomes(self, name, data):
        path = self.folder / name
        path.unlink(missing_ok=True)
        self.run_program("--output", path, input=data)
        return Image.open(io.BytesIO(path.read_bytes()))

    def test_every_form_from_every_form(self):
        forms = ["png", "ppm", "tiff"] if HAS_TIFF else ["png", "ppm"]
        for image in (with_noise(picture(20, 31), 0.4), colours()):
            for form in forms:
                for name in FORMAT_OF if HAS_TIFF else ("a.png", "a.PNM"):
                    out = self.becomes(name, encoded(image, form))
                    self.assertEqual(out.format, FORMAT_OF[name])
                    numpy.testing.assert_array_equal(numpy.array(out), denoised(image))

    def test_colours_and_alpha_that_a_form_lacks(self):
        for image, name, what in (
            (picture(5, 5), "a.ppm", "it is grey"), (colours(5, 5), "a.pgm", "it has colours"),
            (colours(5, 5, 4), "a.ppm", "no alpha"),
            *([(colours(5, 5, 4), "a.jpg", "no alpha")] if HAS_JPEG else []),
        ):
            line = self.fails("--output", self.folder / name, input=png(image))
            self.assertIn(what, line)
            self.assertFalse((self.folder / name).exists())

    def test_files_of_several_forms_into_a_folder(self):
        image = with_noise(picture(20, 31), 0.4)
        names = {"a.png": "png", "b.pgm": "ppm"}
        if HAS_TIFF:
            names["c.tif"] = "tiff"
        paths = [self.write(name, encoded(image, form)) for name, form in names.items()]
        expected = dict.fromkeys(names, denoised(image))
        if HAS_JPEG:
            data = encoded(image, "jpeg")
            paths.append(self.write("d.jpg", data))
            expected["d.png"] = denoised(pixels(data))
        self.run_program(*paths, "--workers", 2, "--output", f"{self.folder}/out/")
        written = {path.name: path for path in (self.folder / "out").iterdir()}
        self.assertEqual(sorted(written), sorted(expected))
        for name, path in written.items():
            numpy.testing.assert_array_equal(pixels(path.read_bytes()), expected[name])
        if HAS_JPEG:  # both would become d.png
            paths.append(self.write("d.png", png(image)))
            line = self.fails(*paths, "--output", f"{self.folder}/two/", code=2)
            self.assertIn("two inputs would become", line)

    def test_a_reference_of_another_form(self):
        clean = picture(20, 31)
        noisy, reference = self.write("n.png", png(with_noise(clean, 0.3))), \
            self.write("r.pgm", encoded(clean, "ppm"))
        result = self.run_program(noisy, "--reference", reference, "--output", "/dev/null")
        self.assertIn(b"PSNR", result.stderr)


@unittest.skipUnless(HAS_JPEG, "built without libjpeg")
class Jpeg(DenoiseCase):
    def test_decoded_as_pillow_does_and_written_as_png(self):
        for image in (with_noise(picture(40, 53), 0.1), colours(40, 53, 3, 0.1)):
            for options in ({}, {"quality": 30, "progressive": True}, {"subsampling": 0}):
                data = encoded(image, "jpeg", **options)
                out = self.denoise(data)
                self.assertEqual(Image.open(io.BytesIO(out)).format, "PNG")
                expected = denoised(pixels(data))
                # Pillow brings a libjpeg of its own: colours may be rounded in another way.
                difference = abs(pixels(out).astype(int) - expected)
                self.assertLessEqual((difference > 1).mean(), 0.002)

    def test_exif_profile_and_resolution_are_kept(self):
        profile = bytes(range(256)) * 300  # in two segments
        data = encoded(picture(20, 20), "jpeg", exif=b"Exif\0\0" + EXIF, icc_profile=profile,
                       dpi=(300, 150))
        out = self.denoise(data)
        self.assertEqual(dict(chunks_of(out))[b"eXIf"], EXIF)
        found = Image.open(io.BytesIO(out))
        self.assertEqual(found.info["icc_profile"], profile)
        self.assertEqual([round(v) for v in found.info["dpi"]], [300, 150])
        # And back, from PNG into JPEG.
        path = self.folder / "back.jpg"
        self.run_program("--output", path, input=out)
        back = Image.open(io.BytesIO(path.read_bytes()))
        self.assertEqual(back.info["exif"], b"Exif\0\0" + EXIF)
        self.assertEqual(back.info["icc_profile"], profile)
        self.assertEqual([round(v) for v in back.info["dpi"]], [300, 150])

    def test_written_where_the_name_says_so(self):
        image = with_noise(picture(40, 53), 0.3)
        errors = []
        for quality in (95, 30):
            path = self.folder / f"{quality}.jpg"
            self.run_program("--quality", quality, "--output", path, input=png(image))
            found = Image.open(io.BytesIO(path.read_bytes()))
            self.assertEqual((found.format, found.mode, found.size), ("JPEG", "L", (53, 40)))
            errors.append(abs(numpy.array(found).astype(float) - denoised(image)).mean())
        self.assertLess(errors[0], 2)
        self.assertLess(errors[0], errors[1])
        self.run_program("--output", self.folder / "c.jpeg", input=png(colours()))
        with Image.open(self.folder / "c.jpeg") as found:
            self.assertEqual(found.mode, "RGB")

    def test_refused(self):
        data = encoded(colours(30, 30), "jpeg")
        cmyk = encoded(Image.new("CMYK", (8, 8)), "jpeg")
        wide = numpy.full((5, 5), 1000, numpy.uint16)
        for name, given, arguments, what in (
            ("a.jpg", data[:-2], (), "a damaged JPEG image"),
            ("a.jpg", data[:len(data) // 2], (), "a damaged JPEG image"),
            ("a.jpg", b"\xff\xd8\xff", (), "JPEG image"), ("a.jpg", b"\xff", (), "JPEG image"),
            ("a.jpg", data, ("--pixels-max", 899), "30x30 pixels, more than 899"),
            ("a.jpg", cmyk, (), "neither grey nor"),
            ("a.pgm", netpbm(wide, 65535), (), "16 bits and those of JPEG 8"),
            ("a.png", png(picture(5, 5)) * 2, (), "room for one image"),
        ):
            path = self.write(name, given)
            line = self.fails(path, *arguments, "--output", self.folder / "out.jpg")
            self.assertIn(f"{name}: ", line)
            self.assertIn(what, line)
            self.assertFalse((self.folder / "out.jpg").exists())
        for arguments in (("--quality", 0), ("--quality", 101)):
            self.fails(*arguments, code=2, input=b"")

    def test_a_bomb_of_scans(self):
        data = encoded(picture(16, 16), "jpeg", progressive=True)
        start = data.rindex(b"\xff\xda")
        # The last scan again and again: each would be decoded over all of the image.
        line = self.fails(input=data[:-2] + data[start:-2] * 5000 + data[-2:])
        self.assertIn("JPEG image", line)


class DamagedImages(DenoiseCase):
    def test_every_damage(self):
        """A changed byte is an error or a whole picture, never a crash."""
        image = with_noise(picture(12, 12), 0.4)
        forms = ["ppm", *(["jpeg"] if HAS_JPEG else []), *(["tiff"] if HAS_TIFF else [])]
        for form in forms:
            data = encoded(image, form)
            for at in range(0, len(data), 7):
                damaged = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]
                result = subprocess.run([PROGRAM], input=damaged, capture_output=True,
                                        timeout=TIMEOUT_S)
                self.assertIn(result.returncode, (0, 1), (form, at))
                if result.returncode == 1:
                    self.assertEqual(result.stderr.count(b"\n"), 1, (form, at))
                    self.assertEqual(result.stdout, b"")
                else:
                    pixels(result.stdout)

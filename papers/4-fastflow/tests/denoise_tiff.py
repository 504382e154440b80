# SPDX-License-Identifier: Apache-2.0
"""TIFF in strid denoise: files made by hand of strips and tiles, planes and byte orders, and those
of Pillow."""

import io
import struct
import unittest

from denoise_images import HAS_TIFF, colours, denoised, encoded, samples_of
from denoise_pictures import SEED, DenoiseCase, picture, pixels, png, with_noise

try:
    import numpy
    from PIL import Image, features

    HAS_TIFF_CODECS = features.check("libtiff")
except ImportError:
    numpy = None
    HAS_TIFF_CODECS = False


@unittest.skipUnless(HAS_TIFF, "built without libtiff")
class Tiff(DenoiseCase):
    def plain(self, image, photometric=1, order="<", tiles=None, planar=1, extra=None, fields=()):
        """Uncompressed, by hand: strips of four rows, or tiles of 16x16."""
        height, width = image.shape[:2]
        channels = image.shape[2] if image.ndim == 3 else 1
        image = image.reshape(height, width, channels)
        wide = image.dtype.itemsize == 2
        image = image.astype(f"{order}u2" if wide else "u1")
        groups = [image] if planar == 1 else [image[..., i:i + 1] for i in range(channels)]
        parts = []
        for group in groups:
            if tiles:
                padded = numpy.pad(group, ((0, -height % 16), (0, -width % 16), (0, 0)))
                parts += [padded[y:y + 16, x:x + 16].tobytes()
                          for y in range(0, height, 16) for x in range(0, width, 16)]
            else:
                parts += [group[y:y + 4].tobytes() for y in range(0, height, 4)]
        body, offsets = b"", []
        for part in parts:
            offsets.append(8 + len(body))
            body += part + b"\0" * (len(part) % 2)
        entries = [(256, 4, [width]), (257, 4, [height]),
                   (258, 3, [16 if wide else 8] * channels), (259, 3, [1]), (262, 3, [photometric]),
                   (277, 3, [channels]), (284, 3, [planar]), *fields]
        entries += [(322, 4, [16]), (323, 4, [16]), (324, 4, offsets),
                    (325, 4, list(map(len, parts)))] if tiles else \
            [(273, 4, offsets), (278, 4, [4]), (279, 4, list(map(len, parts)))]
        if extra is not None:
            entries.append((338, 3, [extra]))
        directory, values = b"", b""
        end = 8 + len(body) + 2 + 12 * len(entries) + 4
        for tag, kind, numbers in sorted(entries):
            data = struct.pack(f"{order}{len(numbers)}{'H' if kind == 3 else 'I'}", *numbers)
            field = data.ljust(4, b"\0")
            if len(data) > 4:
                field = struct.pack(f"{order}I", end + len(values))
                values += data
            directory += struct.pack(f"{order}HHI", tag, kind, len(numbers)) + field
        head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", 8 + len(body))
        return (head + body + struct.pack(f"{order}H", len(entries)) + directory + bytes(4)
                + values)

    def test_strips_tiles_planes_and_orders(self):
        grey = with_noise(picture(37, 41), 0.3)
        wide = with_noise(picture(37, 41).astype(numpy.uint16) * 250, 0.3, SEED, 65535)
        for image in (grey, wide, colours(37, 41), numpy.stack([wide, wide.T.reshape(37, 41)[::-1],
                                                                wide[::-1]], axis=2)):
            largest = 255 if image.dtype == numpy.uint8 else 65535
            expected = denoised(image, largest)
            for order in "<>":
                for tiles in (False, True):
                    for planar in (1, 2):
                        data = self.plain(image, 2 if image.ndim == 3 else 1, order, tiles, planar)
                        if largest == 255:
                            numpy.testing.assert_array_equal(pixels(self.denoise(data)), expected)
                        path = self.folder / "a.pnm"
                        self.run_program("--output", path, input=data)
                        numpy.testing.assert_array_equal(samples_of(path.read_bytes(), largest),
                                                         expected)

    def test_every_compression_of_pillow(self):
        if not HAS_TIFF_CODECS:
            self.skipTest("Pillow without libtiff")
        for image in (with_noise(picture(37, 41), 0.3), colours(37, 41)):
            for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
                with self.subTest(compression=compression, shape=image.shape):
                    data = encoded(image, "tiff", compression=compression)
                    difference = pixels(self.denoise(data)).astype(int) - denoised(pixels(data))
                    # Two libraries may round colours of JPEG in two ways.
                    self.assertLessEqual((abs(difference) > (compression == "jpeg")).mean(),
                                         0.002 if compression == "jpeg" else 0)

    def test_white_is_zero_and_palettes(self):
        grey = with_noise(picture(20, 20), 0.3)
        numpy.testing.assert_array_equal(pixels(self.denoise(self.plain(255 - grey, 0))),
                                         denoised(grey))
        image = Image.fromarray(colours()).quantize(16)
        out = Image.open(io.BytesIO(self.denoise(encoded(image, "tiff"))))
        self.assertEqual(out.mode, "RGB")
        numpy.testing.assert_array_equal(numpy.array(out),
                                         denoised(numpy.array(image.convert("RGB"))))

    def test_alpha(self):
        image = colours(20, 20, 4)
        expected = numpy.dstack([denoised(image[..., :3]), image[..., 3]])
        out = self.denoise(self.plain(image, 2, extra=2))
        numpy.testing.assert_array_equal(pixels(out), expected)
        self.assertEqual(Image.open(io.BytesIO(out)).mode, "RGBA")
        multiplied = self.plain(image, 2, extra=1)
        self.assertEqual(Image.open(io.BytesIO(self.denoise(multiplied))).tag_v2[338], (1,))
        line = self.fails("--output", self.folder / "a.png", input=multiplied)
        self.assertIn("multiplied by its alpha", line)

    def test_metadata(self):
        profile = bytes(range(200))
        data = encoded(picture(20, 20), "tiff", dpi=(300, 150), icc_profile=profile,
                       tiffinfo={274: 8})
        for name in ("a.tif", "a.png"):
            self.run_program("--output", self.folder / name, input=data)
            found = Image.open(io.BytesIO((self.folder / name).read_bytes()))
            self.assertEqual(found.info["icc_profile"], profile)
            self.assertEqual([round(float(v)) for v in found.info["dpi"]], [300, 150])
            self.assertEqual(found.getexif()[274], 8, name)

    def test_same_bytes_with_any_number_of_workers(self):
        data = encoded(colours(150, 170), "tiff")
        first = self.denoise(data, "--workers", 1)
        self.assertEqual(self.denoise(data, "--workers", 3), first)

    def test_refused(self):
        data = encoded(picture(30, 30), "tiff")
        out = io.BytesIO()
        Image.new("L", (5, 5)).save(out, "tiff", save_all=True,
                                    append_images=[Image.new("L", (5, 5))] * 2)
        bomb = bytearray(self.plain(picture(30, 30), tiles=True))
        for tag in (322, 323):  # the tiles of a small picture as large as can be
            at = bomb.index(struct.pack("<HHI", tag, 4, 1))
            bomb[at + 8:at + 12] = struct.pack("<I", 1 << 30)
        for given, arguments, what in (
            (b"II*\0", (), "a damaged TIFF image"), (b"II", (), "TIFF image"),
            (data[:100], (), "a damaged TIFF image"), (data[:-1], (), "a damaged TIFF image"),
            (self.plain(picture(30, 30))[:200], (), "a damaged TIFF image"),
            (data, ("--pixels-max", 899), "30x30 pixels, more than 899"),
            (encoded(Image.new("1", (8, 8)), "tiff"), (), "1 bits a sample: 8 and 16 are read"),
            (encoded(Image.new("F", (8, 8)), "tiff"), (), "32 bits a sample"),
            (encoded(Image.new("CMYK", (8, 8)), "tiff"), (), "photometric interpretation 5"),
            (out.getvalue(), (), "3 pages"), (bytes(bomb), (), "more pixels than"),
        ):
            with self.subTest(what=what, size=len(given)):
                path = self.write("a.tif", given)
                line = self.fails(path, *arguments, "--output", self.folder / "out.tif")
                self.assertIn("a.tif: ", line)
                self.assertIn(what, line)
                self.assertFalse((self.folder / "out.tif").exists())
        line = self.fails("--output", self.folder / "out.tif", input=png(picture(5, 5)) * 2)
        self.assertIn("room for one image", line)

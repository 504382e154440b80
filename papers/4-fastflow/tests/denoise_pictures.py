# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of strid denoise: pictures, noise and PNG files by Pillow or by
hand."""

import io
import os
import struct
import unittest
import zlib

from program import Case

try:
    import numpy
    from PIL import Image
except ImportError:
    numpy = None

HAS_PEERS = unittest.skipUnless(numpy, "no numpy or no Pillow")
SEED = int(os.environ.get("STRID_SEED", "1"))


def picture(height, width, seed=SEED):
    """Areas with edges, a slope and a circle, without extreme values."""
    rows, columns = numpy.indices((height, width))
    result = 60 + 80 * columns / width
    result[rows > height * 0.6] = 190
    result[(rows - height * 0.3) ** 2 + (columns - width * 0.6) ** 2 < (height / 5) ** 2] = 30
    result[:, width // 8 : width // 6] = 225
    result += numpy.random.default_rng(seed).normal(0, 2, result.shape)
    return numpy.clip(numpy.rint(result), 1, 254).astype(numpy.uint8)


def with_noise(image, share, seed=SEED, largest=255):
    draw = numpy.random.default_rng(seed).random(image.shape)
    result = image.copy()
    result[draw < share / 2] = 0
    result[(draw >= share / 2) & (draw < share)] = largest
    return result


def mse(one, other):
    return ((one.astype(float) - other.astype(float)) ** 2).mean()


def psnr(one, other, largest=255):
    return 10 * numpy.log10(largest**2 / mse(one, other))


def median_filtered(image):
    padded = numpy.pad(image, 1, mode="edge")
    height, width = image.shape
    windows = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return numpy.median(windows, axis=0)


def png(image, mode=None, **options):
    out = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image, mode)).save(
        out, "png", **options
    )
    return out.getvalue()


def pixels(data):
    return numpy.array(Image.open(io.BytesIO(data)))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def plain_png(width, height, depth, colour, rows, interlace=0, chunks=b""):
    """A PNG of rows as they are, without a filter."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )


def interlaced_png(image):
    rows = []
    for y, x, down, across in (
        (0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
        (1, 0, 2, 1),
    ):
        part = image[y::down, x::across]
        rows += [row.tobytes() for row in part if row.size]
    return plain_png(image.shape[1], image.shape[0], 8, 0, rows, interlace=1)


def chunks_of(data):
    at, found = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def wide_png(image):
    rows = [row.astype(">u2").tobytes() for row in image]
    return plain_png(image.shape[1], image.shape[0], 16, 0, rows)


@HAS_PEERS
class DenoiseCase(Case):
    def denoise(self, data, *arguments, **options):
        return self.run_program(*arguments, input=data, **options).stdout

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

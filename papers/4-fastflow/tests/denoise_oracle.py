# SPDX-License-Identifier: Apache-2.0
"""Both phases of strid denoise once more, slowly and from their definitions: medians are sorted
windows, and the restoration is one sweep after the other in single precision."""

import numpy

GREY_MAX = numpy.float32(255)
CHANGE_UNITS = numpy.float32(65536)


def detect(image, largest, window):
    """The adaptive median filter (Hwang and Haddad 1995) as phase 1 of Chan, Ho, Nikolova."""
    height, width = image.shape
    noisy = numpy.zeros(image.shape, bool)
    for y, x in zip(*numpy.nonzero((image == 0) | (image == largest))):
        value = image[y, x]
        for radius in range(1, window // 2 + 1):
            around = numpy.sort(
                image[max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1],
                axis=None,
            )
            median = around[len(around) // 2]
            if around[0] < median < around[-1]:
                noisy[y, x] = not around[0] < value < around[-1]
                break
        else:
            noisy[y, x] = value != median
    return leave_spots(image, noisy, largest, window)


def leave_spots(image, noisy, largest, window):
    """Without those that do not stand out, where fewer than 1 % of all samples do."""
    if 10 * noisy.sum() > image.size:
        return noisy
    out = numpy.zeros(image.shape, bool)
    for y, x in zip(*numpy.nonzero(noisy)):
        near = image[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3]
        out[y, x] = 4 * (near == image[y, x]).sum() <= near.size
        if not out[y, x]:
            continue
        for radius in range(1, window // 2 + 1):
            around = image[
                max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1
            ].astype(numpy.int64)
            good = around[(around != 0) & (around != largest)]
            if good.size:
                far = abs(good - int(image[y, x])).sum()
                out[y, x] = 255 * int(far) > 16 * int(largest) * good.size
                break
    return out if 100 * out.sum() < image.size else noisy


def start(image, noisy, largest):
    """Grey levels; noise begins as the mean of what is good in the smallest window with any."""
    scale = GREY_MAX / numpy.float32(largest)
    values = image.astype(numpy.float32) * scale
    for y, x in zip(*numpy.nonzero(noisy)):
        values[y, x] = GREY_MAX / 2
        for radius in range(1, 128):
            rows = slice(max(y - radius, 0), y + radius + 1)
            columns = slice(max(x - radius, 0), x + radius + 1)
            good = image[rows, columns][~noisy[rows, columns]]
            if good.size:
                mean = float(good.astype(numpy.int64).sum()) / good.size
                values[y, x] = numpy.float32(mean) * scale
                break
    return values


def inner_step(values, at, pull, edge):
    """The quotient of the functional's slope and curvature for samples with four neighbours."""
    y, x = at
    t = [values[y - 1, x], values[y, x - 1], values[y, x + 1], values[y + 1, x]]
    t = [neighbour - values[y, x] for neighbour in t]
    s = [numpy.sqrt(d * d + edge) for d in t]
    left, right = s[0] * s[1], s[2] * s[3]
    above = (t[0] * s[1] + t[1] * s[0]) * right + (t[2] * s[3] + t[3] * s[2]) * left
    above = above + pull * (left * right)
    return above, (s[0] + s[1]) * right + (s[2] + s[3]) * left


def border_step(values, y, x, pull, edge):
    above = below = numpy.float32(0)
    for row, column in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)):
        if 0 <= row < values.shape[0] and 0 <= column < values.shape[1]:
            t = values[row, column] - values[y, x]
            s = numpy.sqrt(t * t + edge)
            above = above + t / s
            below = below + numpy.float32(1) / s
    return above + pull, below


def functional(values, image, noisy, edge, fidelity):
    """F of Chan, Ho and Nikolova 2005, in double precision: each pair of neighbours once."""
    u = values.astype(float)
    total = fidelity * numpy.abs(u - numpy.where(image == 0, 0, 255.0))[noisy].sum()
    for one, other in (
        ((slice(1, None), slice(None)), (slice(None, -1), slice(None))),
        ((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
    ):
        pairs = noisy[one] | noisy[other]
        total += numpy.sqrt((u[one] - u[other]) ** 2 + edge)[pairs].sum()
    return total


class Restoration:
    """`image` restored; `functionals` has F before each iteration and at the end."""

    def __init__(self, image, noisy, largest, *, edge=100, fidelity=0, relaxation=1.5,
                 tolerance=0.01, iterations=1000):
        self.image, self.noisy = image, noisy
        self.edge, self.fidelity = numpy.float32(edge), numpy.float32(fidelity)
        self.relaxation = numpy.float32(relaxation)
        self.values = start(image, noisy, largest)
        self.functionals = [functional(self.values, image, noisy, edge, fidelity)]
        self.iterations = 0
        while noisy.any() and self.iterations < iterations:
            change = self.sweep(0) + self.sweep(1)
            self.iterations += 1
            self.functionals.append(functional(self.values, image, noisy, edge, fidelity))
            if change / 65536 / noisy.sum() < tolerance:
                break
        scale = GREY_MAX / numpy.float32(largest)
        restored = numpy.rint(self.values / scale)
        self.restored = numpy.where(noisy, restored, image).astype(image.dtype)

    def sweep(self, colour):
        height, width = self.image.shape
        rows, columns = numpy.indices(self.image.shape)
        chosen = self.noisy & ((rows + columns) % 2 == colour)
        inside = (rows > 0) & (rows < height - 1) & (columns > 0) & (columns < width - 1)
        pull = numpy.where(self.image == 0, -self.fidelity, self.fidelity)
        change = 0
        at = numpy.nonzero(chosen & inside)
        if len(at[0]):
            above, below = inner_step(self.values, at, pull[at], self.edge)
            change += self.move(at, above, below)
        for y, x in zip(*numpy.nonzero(chosen & ~inside)):
            above, below = border_step(self.values, y, x, pull[y, x], self.edge)
            if below != 0:
                change += self.move((y, x), above, below)
        return change

    def move(self, at, above, below):
        before = self.values[at]
        after = before + self.relaxation * above / below
        after = numpy.minimum(numpy.maximum(after, numpy.float32(0)), GREY_MAX)
        assert after.dtype == numpy.float32
        self.values[at] = after
        return int(numpy.floor(numpy.abs(after - before) * CHANGE_UNITS).astype(numpy.int64).sum())


def denoise(image, largest=255, window=39, **options):
    noisy = detect(image, largest, window)
    return Restoration(image, noisy, largest, **options).restored


def mixed(bits):
    """The finalizer of SplitMix64, of numbers below 2^64."""
    mask = (1 << 64) - 1
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & mask
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & mask
    return bits ^ bits >> 31


def add_noise(image, share, seed, frame=0, plane=0, largest=255):
    """A plane with the noise that --add-noise documents."""
    golden, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    stream = mixed(mixed(mixed(seed + golden & mask) + frame & mask) + plane & mask)
    noisy = round(share * 2**32)
    result = image.copy()
    flat = result.reshape(-1)
    for i in range(flat.size):
        draw = mixed(stream + golden * (i + 1) & mask) >> 32
        if draw < noisy:
            flat[i] = largest if draw < noisy // 2 else 0
    return result

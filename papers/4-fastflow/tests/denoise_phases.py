# SPDX-License-Identifier: Apache-2.0
"""Both phases of strid denoise, the added noise and the quality against numpy."""

import itertools

from denoise_pictures import (DenoiseCase, SEED, median_filtered, mse, picture, pixels, png, psnr,
                              wide_png, with_noise)

try:
    import numpy

    import denoise_oracle as oracle
except ImportError:
    numpy = None


class Detection(DenoiseCase):
    def check(self, image, largest=255, window=39):
        data = png(image) if largest == 255 else wide_png(image)
        found = pixels(self.denoise(data, "--detect-only", "--force", "--window", window))
        expected = oracle.detect(image.astype(int), largest, window)
        numpy.testing.assert_array_equal(found == largest, expected)
        self.assertTrue(((found == 0) | (found == largest)).all())

    def test_noise_in_a_picture(self):
        for share, window in ((0.1, 39), (0.5, 39), (0.9, 39), (0.5, 3), (0.8, 5)):
            with self.subTest(share=share, window=window):
                self.check(with_noise(picture(40, 52), share), window=window)

    def test_pictures_with_black_white_and_flat_areas(self):
        random = numpy.random.default_rng(SEED)
        dark = picture(44, 40)
        dark[:, :20] = 0
        dark[30:, :] = 255
        self.check(dark)
        self.check(with_noise(dark, 0.4))
        for levels in ((0, 255), (0, 128), (128, 255), (0, 128, 255), (0, 1, 254, 255)):
            for _ in range(3):
                with self.subTest(levels=levels):
                    self.check(random.choice(numpy.array(levels, numpy.uint8), (20, 23)))
        flat = numpy.full((60, 60), 128, numpy.uint8)
        flat[:, 31:] = 0
        flat[10, 10] = 0
        flat[20, 45] = 255
        self.check(flat)

    def test_a_clean_photograph_is_left(self):
        """Shadows and lights are cut off, as a camera does: spots of 0 and the largest value."""
        random = numpy.random.default_rng(SEED)
        for largest in (255, 65535):
            scale = largest // 255
            image = picture(120, 120).astype(float)
            image[:50, :50] = random.normal(3, 3, (50, 50))
            image[70:, 70:] = random.normal(252, 3, (50, 50))
            clean = (numpy.clip(numpy.rint(image), 0, 255) * scale).astype(
                numpy.uint8 if largest == 255 else numpy.uint16)
            self.check(clean, largest)
            spots = numpy.count_nonzero((clean == 0) | (clean == largest))
            self.assertGreater(spots, 0.03 * clean.size)
            data = png(clean) if largest == 255 else wide_png(clean)
            kept = pixels(self.denoise(data))
            self.assertLess(numpy.count_nonzero(kept != clean), 0.005 * clean.size)
            # A few impulses that stand out are found, and with noise all candidates are.
            for place in ((55, 60), (100, 20), (10, 100)):
                clean[place] = 0 if place[0] != 10 else largest
            self.check(clean, largest)
            data = png(clean) if largest == 255 else wide_png(clean)
            found = pixels(self.denoise(data, "--detect-only"))
            for place in ((55, 60), (100, 20), (10, 100)):
                self.assertEqual(found[place], largest)
            self.check(with_noise(clean, 0.02, largest=largest), largest)

    def test_a_clean_page_of_text_is_left(self):
        """Letters of smooth edges on white: the white in them and between them looks as noise."""
        random = numpy.random.default_rng(SEED)
        fine = numpy.full((480, 1600), 255.0)  # four by four of these make a pixel
        rows, columns = numpy.mgrid[0:480, 0:1600]
        for top in range(24, 430, 80):
            for left in range(20, 1540, 44):
                tall, wide = random.integers(24, 52), random.integers(20, 36)
                from_middle = ((rows - top - tall / 2) / (tall / 2)) ** 2 + (
                    (columns - left - wide / 2) / (wide / 2)) ** 2
                fine[(from_middle < 1) & (from_middle > 0.35)] = 15
        page = numpy.rint(fine.reshape(120, 4, 400, 4).mean(axis=(1, 3))).astype(numpy.uint8)
        self.check(page)
        kept = pixels(self.denoise(png(page)))
        self.assertLess(numpy.count_nonzero(kept != page), 0.005 * page.size)
        # Dirt on the page is found.
        for place in ((60, 200), (5, 5), (110, 390)):
            page[place] = 0
        found = pixels(self.denoise(png(page), "--detect-only"))
        for place in ((60, 200), (5, 5), (110, 390)):
            self.assertEqual(found[place], 255)

    def test_small_and_narrow_pictures(self):
        random = numpy.random.default_rng(SEED)
        for shape in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (1, 40), (40, 1), (5, 2), (3, 50)):
            for levels in ((0, 255), (0, 90, 170, 255)):
                with self.subTest(shape=shape, levels=levels):
                    self.check(random.choice(numpy.array(levels, numpy.uint8), shape))

    def test_16_bits(self):
        image = picture(30, 34).astype(numpy.uint16) * 200 + 7
        image[5, 5] = 255  # no extreme value here
        self.check(with_noise(image, 0.5, largest=65535), largest=65535)


class RestorationOfNoise(DenoiseCase):
    def check(self, image, *arguments, window=39, **options):
        found = pixels(self.denoise(png(image), "--force", "--window", window, *arguments))
        expected = oracle.denoise(image, window=window, **options)
        numpy.testing.assert_array_equal(found, expected)

    def test_is_that_of_the_oracle_to_the_last_bit(self):
        for share in (0.02, 0.3, 0.5, 0.7, 0.9):
            with self.subTest(share=share):
                self.check(with_noise(picture(45, 61), share))

    def test_options_of_the_model(self):
        noisy = with_noise(picture(33, 29), 0.6)
        self.check(noisy, "--iterations", 1, iterations=1, tolerance=0)
        self.check(noisy, "--iterations", 25, iterations=25, tolerance=0)
        self.check(noisy, "--iterations-max", 3, iterations=3)
        self.check(noisy, "--tolerance", 0.5, tolerance=0.5)
        self.check(noisy, "--edge", 1, edge=1)
        self.check(noisy, "--edge", 2500, "--relaxation", 1, edge=2500, relaxation=1)
        self.check(noisy, "--fidelity", 0.5, fidelity=0.5)
        self.check(noisy, "--fidelity", 3, window=7, fidelity=3)

    def test_noise_at_the_border_and_in_small_pictures(self):
        random = numpy.random.default_rng(SEED)
        border = picture(20, 20)
        border[0, :] = border[:, -1] = 255
        border[-1, ::2] = border[::2, 0] = 0
        self.check(border)
        for shape in ((1, 1), (1, 9), (9, 1), (2, 2), (2, 7), (3, 3), (4, 5)):
            for levels in ((0, 255), (0, 70, 90, 255)):
                with self.subTest(shape=shape):
                    self.check(random.choice(numpy.array(levels, numpy.uint8), shape))

    def test_a_drawing_in_black_and_white_is_left_as_it_is(self):
        drawing = numpy.full((40, 60), 255, numpy.uint8)
        drawing[5:35, 20:22] = 0
        done = self.run_program("--output", "-", input=png(drawing))
        numpy.testing.assert_array_equal(pixels(done.stdout), drawing)
        self.assertIn(b"plane 1: black and white", done.stderr)
        self.assertFalse((pixels(self.denoise(png(drawing), "--force")) == drawing).all())
        self.assertFalse(pixels(self.denoise(png(drawing), "--detect-only")).any())
        # One grey value, or a plane of one value: no drawing in black and white.
        drawing[0, 0] = 128
        for image in (drawing, numpy.full((9, 9), 255, numpy.uint8)):
            self.assertEqual(self.run_program("--output", "-", input=png(image)).stderr, b"")
        self.check(drawing)

    def test_a_picture_of_noise_alone(self):
        self.check(with_noise(picture(30, 30), 1.0))
        stripes = numpy.zeros((40, 40), numpy.uint8)
        stripes[::2] = 255
        self.check(stripes)

    def test_16_bits_and_planes(self):
        wide = with_noise(picture(24, 30).astype(numpy.uint16) * 250 + 3, 0.5, largest=65535)
        found = pixels(self.denoise(wide_png(wide)))
        numpy.testing.assert_array_equal(found, oracle.denoise(wide.astype(int), 65535))
        colours = numpy.stack([with_noise(picture(24, 30, s), 0.5, s) for s in (1, 2, 3)], axis=2)
        found = pixels(self.denoise(png(colours)))
        for i in range(3):
            numpy.testing.assert_array_equal(found[..., i], oracle.denoise(colours[..., i]))

    def test_the_functional_never_grows(self):
        noisy = with_noise(picture(30, 30), 0.7)
        map_of_noise = oracle.detect(noisy, 255, 39)
        for relaxation, fidelity in ((1, 0), (1.5, 0), (1.95, 0), (1.5, 0.7)):
            done = oracle.Restoration(noisy, map_of_noise, 255, relaxation=relaxation,
                                      fidelity=fidelity, tolerance=0, iterations=40)
            for before, after in itertools.pairwise(done.functionals):
                self.assertLess(after, before * (1 + 1e-6))

    def test_is_better_than_a_median_filter(self):
        clean = picture(160, 200)
        for share in (0.3, 0.5, 0.7, 0.9):
            noisy = with_noise(clean, share)
            restored = pixels(self.denoise(png(noisy)))
            with self.subTest(share=share):
                self.assertGreater(psnr(restored, clean), psnr(median_filtered(noisy), clean) + 3)

    def test_a_clean_picture_stays_as_it_is(self):
        clean = picture(50, 50)
        numpy.testing.assert_array_equal(pixels(self.denoise(png(clean))), clean)


class Quality(DenoiseCase):
    def test_psnr_and_mse_are_those_of_numpy(self):
        clean = picture(70, 81)
        noisy = with_noise(clean, 0.5)
        reference = self.write("clean.png", png(clean))
        out = self.folder / "out.png"
        told = self.run_program("-", "--reference", reference, "--output", out, input=png(noisy))
        restored = pixels(out.read_bytes())
        expected = (
            f"standard input: PSNR {psnr(restored, clean):.4f} dB, MSE {mse(restored, clean):.4f} "
            f"(before: PSNR {psnr(noisy, clean):.4f} dB, MSE {mse(noisy, clean):.4f})\n"
        )
        self.assertEqual(told.stderr.decode(), expected)

    def test_equal_pictures(self):
        clean = self.write("clean.png", png(picture(9, 9)))
        told = self.run_program(clean, "--reference", clean, "--output", self.folder / "o.png")
        self.assertIn(b"PSNR inf dB, MSE 0.0000", told.stderr)

    def test_a_sequence(self):
        clean = [picture(20, 24, s) for s in range(3)]
        noisy = [with_noise(image, 0.4) for image in clean]
        for i in range(3):
            self.write(f"clean/{i}.png", png(clean[i]))
            self.write(f"noisy/{i}.png", png(noisy[i]))
        told = self.run_program(self.folder / "noisy/%d.png", "--reference", self.folder / "clean",
                                "--output", f"{self.folder}/out/")
        lines = told.stderr.decode().splitlines()
        self.assertEqual(len(lines), 4)
        mean = numpy.mean([
            mse(pixels((self.folder / f"out/{i}.png").read_bytes()), clean[i]) for i in range(3)
        ])
        self.assertIn(f"all 3 frames: PSNR {10 * numpy.log10(255**2 / mean):.4f} dB", lines[3])

    def test_references_that_do_not_fit(self):
        one = self.write("one.png", png(picture(9, 9)))
        for data, what in (
            (png(picture(9, 8)), "it is 9x9 and the reference 8x9"),
            (png(numpy.zeros((9, 9, 3), numpy.uint8)), "1 colour planes and the reference 3"),
            (wide_png(picture(9, 9)), "up to 255 and those of the reference up to 65535"),
        ):
            other = self.write("other.png", data)
            line = self.fails(one, "--reference", other, "--output", self.folder / "o.png")
            self.assertIn(what, line)
        two = self.write("two.png", png(picture(9, 9)) * 2)
        out = self.folder / "o.png"
        for number, inputs in ((2, [one]), (1, [two])):
            many = self.write("many.png", png(picture(9, 9)) * number)
            told = self.run_program(*inputs, "--reference", many, "--output", out, code=1).stderr
            self.assertIn(b"--reference has", told.splitlines()[-1])
        self.assertFalse((self.folder / "o.png").exists())

    def test_verbose(self):
        noisy = with_noise(picture(40, 40), 0.5)
        found = oracle.detect(noisy, 255, 39)
        steps = oracle.Restoration(noisy, found, 255).iterations
        told = self.run_program("--verbose", input=png(noisy)).stderr.decode()
        self.assertIn(f"plane 1: {found.sum()} of 1600 samples are noise", told)
        self.assertIn(f", {steps} iterations, the last one changes 0.00", told)


class Noise(DenoiseCase):
    def test_is_what_the_seed_says(self):
        clean = picture(30, 31)
        found = pixels(self.denoise(png(clean), "--add-noise", 0.3, "--seed", 42))
        numpy.testing.assert_array_equal(found, oracle.add_noise(clean, 0.3, 42))
        for share in (0, 1):
            found = pixels(self.denoise(png(clean), "--add-noise", share))
            numpy.testing.assert_array_equal(found, oracle.add_noise(clean, share, 1))

    def test_share(self):
        clean = numpy.full((300, 300), 128, numpy.uint8)
        noisy = pixels(self.denoise(png(clean), "--add-noise", 0.4, "--seed", SEED))
        self.assertAlmostEqual((noisy == 0).mean(), 0.2, delta=0.01)
        self.assertAlmostEqual((noisy == 255).mean(), 0.2, delta=0.01)

    def test_frames_and_planes_have_noise_of_their_own(self):
        frames = numpy.full((4, 20, 20, 3), 100, numpy.uint8)
        out = self.denoise(frames.tobytes(), "--raw", "20x20", "--pixel", "rgb24", "--add-noise",
                           0.5, "--workers", 2)
        noisy = numpy.frombuffer(out, numpy.uint8).reshape(frames.shape)
        for frame, plane in itertools.product(range(4), range(3)):
            numpy.testing.assert_array_equal(
                noisy[frame, ..., plane],
                oracle.add_noise(frames[frame, ..., plane], 0.5, 1, frame, plane),
            )

// SPDX-License-Identifier: Apache-2.0
//
// Phase 1: which samples are noise, by the adaptive median filter (Hwang and Haddad 1995, as Chan,
// Ho and Nikolova 2005 use it). Only samples of the least or the largest value are candidates. A
// window around one grows, 3x3, 5x5, ..., until its median lies strictly between its minimum and
// its maximum; then the candidate is noise, for the filter would replace it. Where no window up to
// the largest one does, it is noise if it is not the median of the largest one.
//
// A clean photograph has dark and bright spots that look so, and so has the background between the
// letters of a page. Where at most 10 % of the samples are found, each is compared with the mean of
// those that are no candidates, in the smallest window with any: it stands out if it is more than
// 16 of 255 grey levels away, and no more than a quarter of the samples in its window of 5x5 have
// its value. Where fewer than 1 % of the plane's samples stand out, the others are left.
//
// Windows are cut off at the border of the plane. The median of n samples is the one at n / 2
// (rounded down, from 0) when they are sorted.
//
// No median is computed: it differs from the minimum where no more than n / 2 samples equal the
// minimum, and so for the maximum; the extreme values of the plane are counted by a summed-area
// table, in four reads a window of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array.hpp"
#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

/// Windows of up to 255 x 255, so that a count fits 16 bits.
inline constexpr unsigned window_max = 255;

struct NoiseMap {
    Array<std::uint8_t> noisy = {};            ///< One for each sample: 1 or 0.
    std::vector<std::size_t> row_counts = {};  ///< How many in each row.
    std::size_t count = 0;
};

/// `largest_window` is the side of the largest window, odd, 3 to `window_max`. Memory: 5 bytes a
/// sample.
[[nodiscard]] NoiseMap detect_noise(const Plane& plane, unsigned sample_max,
                                    unsigned largest_window, const Loop& loop);

}  // namespace strid::denoise

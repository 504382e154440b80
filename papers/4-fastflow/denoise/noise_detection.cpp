// SPDX-License-Identifier: Apache-2.0
#include "noise_detection.hpp"

#include <algorithm>
#include <numeric>

namespace strid::denoise {

namespace {

constexpr std::size_t rows_at_once = 16;
// Grey levels of 255: a sample that is no further from its surroundings does not stand out.
constexpr std::uint64_t near_levels = 16;
// A window of 5x5 of which more than a quarter have the sample's value is a part of an area.
constexpr std::size_t area_radius = 2;
constexpr std::size_t area_share = 4;
// Per cent of the samples: with fewer that are found, those that stand out are counted; with fewer
// of these, the plane has no noise worth its loss of detail, and the others are left.
constexpr std::size_t found_per_cent_max = 10;
constexpr std::size_t standing_out_per_cent_min = 1;
constexpr std::size_t columns_at_once = 512;

struct Window {
    std::size_t left, top, right, bottom;  // right and bottom are not in it
    [[nodiscard]] std::size_t size() const { return (right - left) * (bottom - top); }
};

/// Sums of two counts in one number: of least values, and 65,536 times that of largest ones. Sums
/// over the plane overflow, their differences over a window do not.
class ExtremeCounts {
  public:
    ExtremeCounts(const Plane& plane, unsigned sample_max, const Loop& loop)
        : pitch_(plane.width + 1), sums_(pitch_ * (plane.height + 1)) {
        std::fill_n(sums_.begin(), pitch_, 0U);
        for_parts(loop, plane.height, rows_at_once, [&](std::size_t begin, std::size_t end) {
            for (std::size_t y = begin; y < end; ++y) sum_row(plane, sample_max, y);
        });
        for_parts(loop, pitch_, columns_at_once, [&](std::size_t begin, std::size_t end) {
            for (std::size_t y = 1; y < plane.height; ++y) {
                const std::uint32_t* const above = &sums_[y * pitch_];
                std::uint32_t* const row = &sums_[(y + 1) * pitch_];
                for (std::size_t x = begin; x < end; ++x) row[x] += above[x];
            }
        });
    }

    [[nodiscard]] std::uint32_t in(const Window& window) const noexcept {
        const std::uint32_t* const upper = &sums_[window.top * pitch_];
        const std::uint32_t* const lower = &sums_[window.bottom * pitch_];
        return lower[window.right] - lower[window.left] - upper[window.right] + upper[window.left];
    }

  private:
    void sum_row(const Plane& plane, unsigned sample_max, std::size_t y) {
        const std::uint16_t* const samples = &plane.samples[y * plane.width];
        std::uint32_t* const row = &sums_[(y + 1) * pitch_];
        std::uint32_t sum = 0;
        row[0] = 0;
        for (std::size_t x = 0; x < plane.width; ++x) {
            sum += (samples[x] == 0 ? 1U : 0U) + (samples[x] == sample_max ? 0x10000U : 0U);
            row[x + 1] = sum;
        }
    }

    std::size_t pitch_;
    Array<std::uint32_t> sums_;
};

/// How many samples of the window equal its largest one, or its least one.
template <bool largest>
std::size_t count_extremum(const Plane& plane, const Window& window) {
    const auto for_rows = [&](auto&& take) {
        for (std::size_t y = window.top; y < window.bottom; ++y) {
            const std::uint16_t* const row = &plane.samples[y * plane.width];
            take(row + window.left, row + window.right);
        }
    };
    std::uint16_t extremum = plane.samples[window.top * plane.width + window.left];
    for_rows([&](const std::uint16_t* at, const std::uint16_t* end) {
        for (; at != end; ++at) {
            extremum = largest ? std::max(extremum, *at) : std::min(extremum, *at);
        }
    });
    std::size_t count = 0;
    for_rows([&](const std::uint16_t* at, const std::uint16_t* end) {
        std::uint16_t in_row = 0;
        for (; at != end; ++at) in_row = static_cast<std::uint16_t>(in_row + (*at == extremum));
        count += in_row;
    });
    return count;
}

class Detector {
  public:
    Detector(const Plane& plane, const ExtremeCounts& counts, unsigned sample_max,
             std::size_t radius_max)
        : plane_(plane), counts_(counts), sample_max_(sample_max), radius_max_(radius_max) {}

    /// Of a sample of the least value, or of the largest one.
    [[nodiscard]] bool is_noise(std::size_t x, std::size_t y, bool is_least) const {
        return is_noise_at_once(x, y) || is_noise_in_windows(x, y, is_least);
    }

    /// Whether the sample lies in no area of its value, and is far from the mean of those that are
    /// no candidates, in the smallest window that has any.
    [[nodiscard]] bool stands_out(std::size_t x, std::size_t y, bool is_least) const {
        const Window around = window_at(x, y, area_radius);
        const std::uint32_t least_and_largest = counts_.in(around);
        const std::size_t equal = is_least ? least_and_largest & 0xFFFF : least_and_largest >> 16;
        if (area_share * equal > around.size()) return false;
        for (std::size_t radius = 1; radius <= radius_max_; ++radius) {
            const Window window = window_at(x, y, radius);
            const std::uint32_t both = counts_.in(window);
            const std::uint64_t good = window.size() - (both & 0xFFFF) - (both >> 16);
            if (good == 0) continue;
            return distance(window, is_least) * 255 > good * sample_max_ * near_levels;
        }
        return true;
    }

  private:
    /// By a window of 3x3 that has both values, as most have where there is much noise.
    [[nodiscard]] bool is_noise_at_once(std::size_t x, std::size_t y) const {
        if (x == 0 || y == 0 || x + 1 >= plane_.width || y + 1 >= plane_.height) return false;
        const std::uint32_t both = counts_.in({x - 1, y - 1, x + 2, y + 2});
        // One to four of each: no carry from the lower half, and no bit but those of 0 to 3.
        return ((both - 0x10001U) & 0xFFFCFFFCU) == 0;
    }

    /// From the value to those of the window's samples that are no candidates: the sum.
    [[nodiscard]] std::uint64_t distance(const Window& window, bool is_least) const {
        std::uint64_t sum = 0;
        for (std::size_t y = window.top; y < window.bottom; ++y) {
            const std::uint16_t* const samples = &plane_.samples[y * plane_.width];
            for (std::size_t x = window.left; x < window.right; ++x) {
                const unsigned sample = samples[x];
                if (sample == 0 || sample == sample_max_) continue;
                sum += is_least ? sample : sample_max_ - sample;
            }
        }
        return sum;
    }

    [[nodiscard]] Window window_at(std::size_t x, std::size_t y, std::size_t radius) const {
        return {x - std::min(x, radius), y - std::min(y, radius),
                std::min(x + radius + 1, plane_.width), std::min(y + radius + 1, plane_.height)};
    }

    [[nodiscard]] bool is_noise_in_windows(std::size_t x, std::size_t y, bool is_least) const {
        for (std::size_t radius = 1;;) {
            const Window window = window_at(x, y, radius);
            const std::size_t n = window.size();
            const std::uint32_t both = counts_.in(window);
            const std::size_t least = both & 0xFFFF;
            const std::size_t largest = both >> 16;
            const bool is_last = radius == radius_max_ || n == plane_.width * plane_.height;
            const bool is_median = is_least ? 2 * least > n : 2 * (n - largest) <= n;
            // One of the two values is there: the sample itself. Where the other is not, what
            // counts is the extremum of the window, which takes longer.
            if (2 * least <= n && 2 * largest < n) {
                const std::size_t minima =
                    least > 0 ? least : count_extremum<false>(plane_, window);
                const std::size_t maxima =
                    largest > 0 ? largest : count_extremum<true>(plane_, window);
                if (2 * minima <= n && 2 * maxima < n) return true;
            }
            if (is_last) return !is_median;
            radius = next_radius(radius, std::max(2 * least, 2 * largest + 1));
        }
    }

    /// The extreme values of the plane that are in a window are in larger ones, too: those with
    /// fewer than `n` samples are in vain. Dark areas are passed over in a few steps.
    [[nodiscard]] std::size_t next_radius(std::size_t radius, std::size_t n) const {
        do {
            ++radius;
        } while (radius < radius_max_ && (2 * radius + 1) * (2 * radius + 1) < n);
        return radius;
    }

    const Plane& plane_;
    const ExtremeCounts& counts_;
    unsigned sample_max_;
    std::size_t radius_max_;
};

/// Leaves those that do not stand out, where those that do are few: dark and bright spots of a
/// clean picture look as noise does. With noise all that were found are taken, because their
/// surroundings are in doubt, too.
void leave_spots(NoiseMap& map, const Plane& plane, const Detector& detector, const Loop& loop) {
    constexpr std::uint8_t spot = 2;
    std::vector<std::size_t> spots(plane.height);
    const auto for_rows = [&](auto&& take) {
        for_parts(loop, plane.height, rows_at_once, [&](std::size_t begin, std::size_t end) {
            for (std::size_t y = begin; y < end; ++y) {
                if (map.row_counts[y] != 0) take(y, &map.noisy[y * plane.width]);
            }
        });
    };
    for_rows([&](std::size_t y, std::uint8_t* noisy) {
        for (std::size_t x = 0; x < plane.width; ++x) {
            if (noisy[x] == 0) continue;
            const bool is_least = plane.samples[y * plane.width + x] == 0;
            if (detector.stands_out(x, y, is_least)) continue;
            noisy[x] = spot;
            ++spots[y];
        }
    });
    const std::size_t left = std::accumulate(spots.begin(), spots.end(), std::size_t{0});
    const bool is_clean =
        (map.count - left) * 100 < plane.samples.size() * standing_out_per_cent_min;
    for_rows([&](std::size_t y, std::uint8_t* noisy) {
        std::replace(noisy, noisy + plane.width, spot, static_cast<std::uint8_t>(is_clean ? 0 : 1));
        if (is_clean) map.row_counts[y] -= spots[y];
    });
    if (is_clean) map.count -= left;
}

}  // namespace

NoiseMap detect_noise(const Plane& plane, unsigned sample_max, unsigned largest_window,
                      const Loop& loop) {
    const ExtremeCounts counts(plane, sample_max, loop);
    const Detector detector(plane, counts, sample_max, largest_window / 2);
    NoiseMap map{Array<std::uint8_t>(plane.samples.size()), std::vector<std::size_t>(plane.height)};
    for_parts(loop, plane.height, rows_at_once, [&](std::size_t begin, std::size_t end) {
        for (std::size_t y = begin; y < end; ++y) {
            std::size_t count = 0;
            for (std::size_t x = 0; x < plane.width; ++x) {
                const std::size_t at = y * plane.width + x;
                const unsigned sample = plane.samples[at];
                const bool is_extreme = sample == 0 || sample == sample_max;
                const bool is_noise = is_extreme && detector.is_noise(x, y, sample == 0);
                map.noisy[at] = is_noise ? 1 : 0;
                count += is_noise ? 1 : 0;
            }
            map.row_counts[y] = count;
        }
    });
    map.count = std::accumulate(map.row_counts.begin(), map.row_counts.end(), std::size_t{0});
    if (map.count * 100 <= plane.samples.size() * found_per_cent_max) {
        leave_spots(map, plane, detector, loop);
    }
    return map;
}

}  // namespace strid::denoise

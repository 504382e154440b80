// SPDX-License-Identifier: Apache-2.0
#include "noise_detection.hpp"

#include <algorithm>
#include <numeric>

namespace strid::denoise {

namespace {

constexpr std::size_t rows_at_once = 16;
constexpr std::size_t columns_at_once = 512;

/// Sums of two counts in one number: of least values, and 65,536 times that of largest ones. Sums
/// over the plane overflow, their differences over a window do not.
class ExtremeCounts {
  public:
    ExtremeCounts(const Plane& plane, unsigned sample_max, const Loop& loop)
        : pitch_(plane.width + 1), sums_(pitch_ * (plane.height + 1)) {
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

    /// Of [left, right) x [top, bottom).
    [[nodiscard]] std::uint32_t in(std::size_t left, std::size_t top, std::size_t right,
                                   std::size_t bottom) const noexcept {
        const std::uint32_t* const upper = &sums_[top * pitch_];
        const std::uint32_t* const lower = &sums_[bottom * pitch_];
        return lower[right] - lower[left] - upper[right] + upper[left];
    }

  private:
    void sum_row(const Plane& plane, unsigned sample_max, std::size_t y) {
        const std::uint16_t* const samples = &plane.samples[y * plane.width];
        std::uint32_t* const row = &sums_[(y + 1) * pitch_];
        std::uint32_t sum = 0;
        for (std::size_t x = 0; x < plane.width; ++x) {
            sum += (samples[x] == 0 ? 1U : 0U) + (samples[x] == sample_max ? 0x10000U : 0U);
            row[x + 1] = sum;
        }
    }

    std::size_t pitch_;
    std::vector<std::uint32_t> sums_;
};

/// The largest (or the least) sample of a growing window and how often it is there.
class Extremum {
  public:
    Extremum(const Plane& plane, std::size_t x, std::size_t y, bool largest)
        : plane_(plane), x_(x), y_(y), largest_(largest) {
        add(x, y);
    }

    /// How often, in the window of this radius, no less than before.
    std::size_t count_within(std::size_t radius) {
        while (radius_ < radius) add_ring(++radius_);
        return count_;
    }

  private:
    void add_ring(std::size_t radius) {
        const std::size_t left = x_ - std::min(x_, radius);
        const std::size_t right = std::min(x_ + radius, plane_.width - 1);
        if (y_ >= radius) add_row(y_ - radius, left, right);
        if (y_ + radius < plane_.height) add_row(y_ + radius, left, right);
        const std::size_t top = y_ - std::min(y_, radius - 1);
        const std::size_t bottom = std::min(y_ + radius - 1, plane_.height - 1);
        for (std::size_t y = top; y <= bottom; ++y) {
            if (x_ >= radius) add(x_ - radius, y);
            if (x_ + radius < plane_.width) add(x_ + radius, y);
        }
    }
    void add_row(std::size_t y, std::size_t left, std::size_t right) {
        for (std::size_t x = left; x <= right; ++x) add(x, y);
    }
    void add(std::size_t x, std::size_t y) {
        const unsigned sample = plane_.samples[y * plane_.width + x];
        if (count_ == 0 || (largest_ ? sample > value_ : sample < value_)) {
            value_ = sample;
            count_ = 1;
        } else if (sample == value_) {
            ++count_;
        }
    }

    const Plane& plane_;
    std::size_t x_, y_;
    bool largest_;
    std::size_t radius_ = 0;
    unsigned value_ = 0;
    std::size_t count_ = 0;
};

struct Detector {
    const Plane& plane;
    const ExtremeCounts& counts;
    std::size_t radius_max;

    /// Of a sample of the least value, or of the largest one.
    [[nodiscard]] bool is_noise(std::size_t x, std::size_t y, bool is_least) const {
        Extremum other(plane, x, y, is_least);
        for (std::size_t radius = 1;; ++radius) {
            const std::size_t left = x - std::min(x, radius);
            const std::size_t top = y - std::min(y, radius);
            const std::size_t right = std::min(x + radius + 1, plane.width);
            const std::size_t bottom = std::min(y + radius + 1, plane.height);
            const std::size_t n = (right - left) * (bottom - top);
            const std::uint32_t both = counts.in(left, top, right, bottom);
            const std::size_t least = both & 0xFFFF;
            const std::size_t largest = both >> 16;
            const std::size_t below_median = n / 2;
            const std::size_t above_median = n - below_median - 1;
            // One of the two is there: the sample itself. The other one need not be; then what
            // counts is the extremum of the window, which takes longer.
            if (least <= below_median && largest <= above_median) {
                const bool other_is_there = (is_least ? largest : least) > 0;
                if (other_is_there ||
                    other.count_within(radius) <= (is_least ? above_median : below_median)) {
                    return true;
                }
            }
            const bool whole = n == plane.width * plane.height;
            if (radius == radius_max || whole) {
                return is_least ? least <= below_median : n - largest > below_median;
            }
        }
    }
};

}  // namespace

NoiseMap detect_noise(const Plane& plane, unsigned sample_max, unsigned largest_window,
                      const Loop& loop) {
    const ExtremeCounts counts(plane, sample_max, loop);
    const Detector detector{plane, counts, largest_window / 2};
    NoiseMap map{std::vector<std::uint8_t>(plane.samples.size()),
                 std::vector<std::size_t>(plane.height)};
    for_parts(loop, plane.height, rows_at_once, [&](std::size_t begin, std::size_t end) {
        for (std::size_t y = begin; y < end; ++y) {
            std::size_t count = 0;
            for (std::size_t x = 0; x < plane.width; ++x) {
                const std::size_t at = y * plane.width + x;
                const unsigned sample = plane.samples[at];
                if (sample != 0 && sample != sample_max) continue;
                if (!detector.is_noise(x, y, sample == 0)) continue;
                map.noisy[at] = 1;
                ++count;
            }
            map.row_counts[y] = count;
        }
    });
    map.count = std::accumulate(map.row_counts.begin(), map.row_counts.end(), std::size_t{0});
    return map;
}

}  // namespace strid::denoise

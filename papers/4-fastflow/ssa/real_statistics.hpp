// SPDX-License-Identifier: Apache-2.0
//
// Sums and quantiles of numbers that are not whole, which depend on the set of the numbers alone:
// the order in which they are added and merged does not show, to the last bit.
//
// One thread at a time. Numbers are at most `real_max` in size.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace strid::ssa {

/// So that squares of so many are finite.
inline constexpr double real_max = 1e150;

/// A sum without rounding: the parts, which do not overlap, have it as their sum (Shewchuk 1997).
/// There are few, unless numbers differ by many powers of ten. O(parts) for each number.
class ExactSum {
  public:
    void add(double number) {
        std::size_t kept = 0;
        for (double part : parts_) {
            if (std::fabs(number) < std::fabs(part)) std::swap(number, part);
            const double high = number + part;
            const double low = part - (high - number);
            if (low != 0) parts_[kept++] = low;
            number = high;
        }
        parts_.resize(kept);
        if (number != 0) parts_.push_back(number);
    }
    /// The square, without rounding where it is above 1e-290.
    void add_square(double number) {
        const double high = number * number;
        add(high);
        add(std::fma(number, number, -high));
    }
    void merge(const ExactSum& other) {
        for (const double part : other.parts_) add(part);
    }
    [[nodiscard]] const std::vector<double>& parts() const noexcept { return parts_; }

  private:
    std::vector<double> parts_;
};

/// How many numbers stand in each bucket: 256 in each power of two. A bucket with one number only
/// has this number.
class RealHistogram {
  public:
    void add(double number) { add(number, number, 1); }
    void merge(const RealHistogram& other) {
        for (const auto& [key, bucket] : other.buckets_) {
            add(bucket.least, bucket.greatest, bucket.count);
        }
    }
    /// The number that `rank` numbers (from 1) are at or below, off by 1/512 of itself at most.
    [[nodiscard]] double at_rank(std::uint64_t rank) const {
        std::uint64_t below = 0;
        for (const auto& [key, bucket] : buckets_) {
            below += bucket.count;
            if (below >= rank) return bucket.least + (bucket.greatest - bucket.least) / 2;
        }
        return 0;
    }

  private:
    struct Bucket {
        double least;
        double greatest;
        std::uint32_t count;
    };

    /// In the order of the numbers: the sign, the exponent and the first 8 bits behind it.
    static std::int64_t key_of(double number) noexcept {
        const auto bits = std::bit_cast<std::int64_t>(std::fabs(number)) >> 44;
        return number < 0 ? -bits - 1 : bits;
    }
    void add(double least, double greatest, std::uint32_t count) {
        const auto [at, is_new] =
            buckets_.try_emplace(key_of(least), Bucket{least, greatest, count});
        if (is_new) return;
        Bucket& bucket = at->second;
        bucket.least = std::min(bucket.least, least);
        bucket.greatest = std::max(bucket.greatest, greatest);
        bucket.count += count;
    }

    std::map<std::int64_t, Bucket> buckets_;
};

}  // namespace strid::ssa

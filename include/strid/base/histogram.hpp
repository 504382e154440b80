// SPDX-License-Identifier: Apache-2.0
//
// A histogram of latencies (or any numbers from 0 up) with a bounded relative error, in the manner
// of HdrHistogram: every power of two is cut into 32 equal buckets.
//
// One thread writes (record, merge, clear); any thread may read at the same time.
//
// Invariant: a bucket's representative differs from every value in it by at most 1 part in 64 (1.6
// %); values below 64 are exact. A reader beside the writer sees each bucket at some recent moment,
// so its sum of buckets may differ from count() by the values that are being recorded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace strid {

/// Counts of numbers from 0 up, with a relative error of at most 1/64. Memory does not grow with
/// the count. One thread records; any thread reads at the same time.
class Histogram {
  public:
    Histogram() = default;
    Histogram(const Histogram&) = delete;
    Histogram& operator=(const Histogram&) = delete;

    /// Counts `weight` occurrences of `value`; a negative value counts as 0. Writer only; about
    /// 2 ns, no read-modify-write.
    void record(std::int64_t value, std::uint64_t weight = 1) noexcept {
        if (weight == 0) return;
        const std::uint64_t magnitude = value > 0 ? static_cast<std::uint64_t>(value) : 0;
        add(buckets_[bucket_of(magnitude)], weight);
        add(count_, weight);
        add(sum_, magnitude * weight);
        if (magnitude < min_.load(relaxed)) min_.store(magnitude, relaxed);
        if (magnitude > max_.load(relaxed)) max_.store(magnitude, relaxed);
    }

    /// Adds everything that `other` holds. Writer of this histogram; `other` may be written
    /// meanwhile.
    void merge(const Histogram& other) noexcept {
        std::uint64_t merged = 0;
        for (std::size_t i = 0; i < bucket_count; ++i) {
            const std::uint64_t occurrences = other.buckets_[i].load(relaxed);
            if (occurrences == 0) continue;
            add(buckets_[i], occurrences);
            merged += occurrences;
        }
        add(count_, merged);
        add(sum_, other.sum_.load(relaxed));
        min_.store(std::min(min_.load(relaxed), other.min_.load(relaxed)), relaxed);
        max_.store(std::max(max_.load(relaxed), other.max_.load(relaxed)), relaxed);
    }

    /// Writer only.
    void clear() noexcept {
        for (auto& bucket : buckets_) bucket.store(0, relaxed);
        count_.store(0, relaxed);
        sum_.store(0, relaxed);
        min_.store(none, relaxed);
        max_.store(0, relaxed);
    }

    /// How many numbers were recorded since the last clear().
    [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(relaxed); }
    /// Exact; 0 while the histogram is empty.
    [[nodiscard]] std::int64_t min() const noexcept {
        const std::uint64_t lowest = min_.load(relaxed);
        return lowest == none ? 0 : static_cast<std::int64_t>(lowest);
    }
    /// Exact; 0 while the histogram is empty.
    [[nodiscard]] std::int64_t max() const noexcept {
        return static_cast<std::int64_t>(max_.load(relaxed));
    }
    /// Exact while the sum stays below 2^64; 0 while the histogram is empty.
    [[nodiscard]] double mean() const noexcept {
        const std::uint64_t values = count();
        if (values == 0) return 0;
        return static_cast<double>(sum_.load(relaxed)) / static_cast<double>(values);
    }

    /// The smallest recorded value that at least `percent` of 100 do not exceed (nearest rank),
    /// within the relative error; 0 while the histogram is empty. Linear in the number of buckets.
    [[nodiscard]] std::int64_t percentile(double percent) const noexcept {
        std::uint64_t total = 0;
        for (const auto& bucket : buckets_) total += bucket.load(relaxed);
        if (total == 0) return 0;
        const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
        const double exact = share * static_cast<double>(total);
        const auto whole = static_cast<std::uint64_t>(exact);
        const std::uint64_t rounded_up = static_cast<double>(whole) < exact ? whole + 1 : whole;
        const auto rank = std::clamp<std::uint64_t>(rounded_up, 1, total);
        std::uint64_t passed = 0;
        for (std::size_t i = 0; i < bucket_count; ++i) {
            passed += buckets_[i].load(relaxed);
            if (passed >= rank) {
                const auto value = static_cast<std::int64_t>(representative(i));
                return std::max(min(), std::min(value, max()));
            }
        }
        return max();
    }

    /// Calls `visit(largest, occurrences)` for each bucket that is not empty, in rising order of
    /// the largest value that it takes. Linear in the number of buckets.
    template <class Visit>
    void for_each_bucket(Visit&& visit) const {
        for (std::size_t i = 0; i < bucket_count; ++i) {
            const std::uint64_t occurrences = buckets_[i].load(relaxed);
            if (occurrences != 0)
                visit(static_cast<std::int64_t>(lowest_of(i + 1) - 1), occurrences);
        }
    }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    static constexpr int sub_bucket_bits = 5;
    static constexpr std::size_t sub_buckets = std::size_t{1} << sub_bucket_bits;
    // Values of 63 bits: the first two octaves of buckets are exact, each further bit has its own.
    static constexpr std::size_t bucket_count = (63 - sub_bucket_bits + 1) * sub_buckets;

    static void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
        counter.store(counter.load(relaxed) + amount, relaxed);  // one writer
    }

    static std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < 2 * sub_buckets) return static_cast<std::size_t>(value);
        const int shift = static_cast<int>(std::bit_width(value)) - (sub_bucket_bits + 1);
        return static_cast<std::size_t>(shift) * sub_buckets +
               static_cast<std::size_t>(value >> shift);
    }

    static std::size_t shift_of(std::size_t bucket) noexcept {
        return bucket < 2 * sub_buckets ? 0 : bucket / sub_buckets - 1;
    }
    static std::uint64_t lowest_of(std::size_t bucket) noexcept {
        const std::size_t shift = shift_of(bucket);
        return static_cast<std::uint64_t>(bucket - shift * sub_buckets) << shift;
    }
    static std::uint64_t representative(std::size_t bucket) noexcept {
        return lowest_of(bucket) + ((std::uint64_t{1} << shift_of(bucket)) >> 1);
    }

    std::array<std::atomic<std::uint64_t>, bucket_count> buckets_{};
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::uint64_t> sum_{0};
    std::atomic<std::uint64_t> min_{none};
    std::atomic<std::uint64_t> max_{0};
};

}  // namespace strid

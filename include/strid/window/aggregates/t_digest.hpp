// SPDX-License-Identifier: Apache-2.0
//
// A sketch of a distribution of numbers, for its quantiles: the merging t-digest (Dunning and Ertl:
// "Computing extremely accurate quantiles using t-digests", 2019). Values are gathered into
// centroids that are small near both ends and larger in the middle, so that extreme quantiles stay
// exact. No packaged C++ library has one.
//
// As long as at most `exact_max` values came in all, every quantile is exact, interpolated
// between neighbours as numpy's default does. Above that the error of rank is about
// 4 q (1 - q) / compression. Amortised O(log) per value; 16 bytes for each of the first values (32
// of a long double, whose 64 bits keep integers exact that a double does not), a few kilobytes at
// most, in memory that is used again (memory/recycling.hpp).
//
// Threads: one. Invariant: centroids rise by mean and their weights sum to count().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <strid/memory/recycling.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

/// A sketch of a distribution of numbers, doubles or long doubles, for its quantiles. Threads: one
/// at a time.
template <std::floating_point Number>
class BasicTDigest {
  public:
    static constexpr std::size_t exact_max = 512;  ///< Up to so many values quantiles are exact.
    /// The bound on the number of centroids: larger is more exact.
    static constexpr double compression = 200;

    BasicTDigest() = default;
    /// Takes over a sketch of shorter numbers. O(centroids).
    template <std::floating_point Shorter>
        requires(sizeof(Shorter) < sizeof(Number))
    explicit BasicTDigest(const BasicTDigest<Shorter>& other)
        : merged_(other.merged_), count_(other.count_) {
        for (const auto& [mean, weight] : other.centroids_) centroids_.push_back({mean, weight});
    }

    /// Adds a number; NaN is passed over. O(1) amortised, a sort once the buffer is full.
    void add(Number value) {
        if (std::isnan(value)) return;
        add({value, 1});
    }
    /// Takes over the values of `other`. O(centroids).
    void merge(const BasicTDigest& other) {
        for (const Centroid& centroid : other.centroids_) add(centroid);
    }
    /// How many values were added.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    /// The value below which the share q of the values lies, 0 <= q <= 1; not a number where there
    /// are none.
    [[nodiscard]] Number quantile(double q) const {
        return quantiles(std::array<double, 1>{q}).front();
    }
    /// Several. O(n log n) in the centroids, of which there are about `exact_max` at most.
    template <std::size_t n>
    [[nodiscard]] std::array<Number, n> quantiles(const std::array<double, n>& shares) const {
        Centroids sorted = centroids_;
        std::sort(sorted.begin(), sorted.end(), by_mean);
        std::array<Number, n> values;
        for (std::size_t i = 0; i != n; ++i) values[i] = quantile_of(sorted, shares[i]);
        return values;
    }

    /// As strid/state/codec.hpp says.
    void save(StateWriter& writer) const {
        state::save(writer, centroids_);
        writer.length(merged_);
        writer.number(count_);
    }
    /// Throws StateError.
    void load(StateReader& reader) {
        state::load(reader, centroids_);
        merged_ = reader.length(0);
        count_ = reader.number();
        if (merged_ > centroids_.size() ||
            !std::is_sorted(centroids_.begin(), centroids_.begin() + offset(merged_), by_mean)) {
            reader.refuse("is no sketch of quantiles");
        }
    }

  private:
    template <std::floating_point>
    friend class BasicTDigest;

    struct Centroid {
        Number mean;
        double weight;
    };
    static std::ptrdiff_t offset(std::size_t index) noexcept {
        return static_cast<std::ptrdiff_t>(index);
    }
    static bool by_mean(const Centroid& a, const Centroid& b) noexcept { return a.mean < b.mean; }

    using Centroids = std::vector<Centroid, memory::RecyclingAllocator<Centroid>>;

    [[nodiscard]] Number quantile_of(const Centroids& sorted, double q) const {
        if (sorted.empty()) return std::numeric_limits<Number>::quiet_NaN();
        // Each centroid's mean stands for the middle of its ranks, from 0 to count - 1.
        const double rank = q * static_cast<double>(count_ - 1);
        double before = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const double middle = before + (sorted[i].weight - 1) / 2;
            if (middle >= rank) {
                if (i == 0) return sorted[i].mean;
                const double last = before - (sorted[i - 1].weight + 1) / 2;
                if (middle == rank) return sorted[i].mean;
                const Number share = (rank - last) / (middle - last);
                return std::lerp(sorted[i - 1].mean, sorted[i].mean, share);
            }
            before += sorted[i].weight;
        }
        return sorted.back().mean;
    }

    void add(const Centroid& centroid) {
        if (centroids_.size() == std::max(exact_max, 2 * merged_)) compress();
        count_ += static_cast<std::uint64_t>(centroid.weight);
        centroids_.push_back(centroid);
    }

    /// Joins neighbours while none grows above its share, which is least near the ends.
    void compress() {
        std::sort(centroids_.begin(), centroids_.end(), by_mean);
        const auto count = static_cast<double>(count_);
        std::size_t last = 0;
        double before = 0;  // weight of what precedes centroids_[last]
        for (std::size_t i = 1; i < centroids_.size(); ++i) {
            Centroid& open = centroids_[last];
            const Centroid next = centroids_[i];
            const double weight = open.weight + next.weight;
            const double q = (before + weight / 2) / count;
            if (weight <= 4 * count * q * (1 - q) / compression) {
                open.mean = std::lerp(open.mean, next.mean, Number{next.weight / weight});
                open.weight = weight;
            } else {
                before += open.weight;
                centroids_[++last] = next;
            }
        }
        centroids_.resize(last + 1);
        merged_ = centroids_.size();
    }

    Centroids centroids_;  // the first `merged_` rise by mean
    std::size_t merged_ = 0;
    std::uint64_t count_ = 0;
};

/// That of doubles, which aggregates have.
using TDigest = BasicTDigest<double>;

}  // namespace strid::window

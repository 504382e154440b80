// SPDX-License-Identifier: Apache-2.0
//
// The distribution of numbers, for its quantiles. As long as at most `exact_max` values came in
// all, `merged_exact_max` of several that were merged, it has the values, and every quantile is
// exact, interpolated between neighbours as numpy's default does. Above that, and where the values
// of all digests of the process together would take more than their memory
// (engine/window/aggregates/exact_memory.hpp), it is a sketch: the merging t-digest (Dunning and
// Ertl: "Computing extremely accurate quantiles using t-digests", 2019). Values are gathered into
// centroids that are small near both ends and larger in the middle, so that extreme quantiles stay
// exact. No packaged C++ library has one. The error of rank is about 4 q (1 - q) / compression.
//
// A value costs an addition to a list, and in a sketch its share of a sort of the list when that is
// full. A quantile of exact values is found by selection, O(n). A double takes 8 bytes, 16 while
// the list grows; a sketch some 20 KB.
//
// Threads: one. Invariant: centroids rise by mean; they are empty as long as `values_` has all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <strid/engine/window/aggregates/exact_memory.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

/// The distribution of numbers, doubles or long doubles, for its quantiles. Threads: one at a time.
template <std::floating_point Number>
class BasicTDigest {
  public:
    /// Up to so many values quantiles are exact, while there is memory for them.
    static constexpr std::size_t exact_max = std::size_t{1} << 16;
    /// The same of two that were merged: windows that slide merge their panes again and again.
    static constexpr std::size_t merged_exact_max = std::size_t{1} << 14;
    /// The bound on the number of centroids: larger is more exact.
    static constexpr double compression = 200;

    BasicTDigest() = default;
    /// A sketch, where there is no memory for the values once more.
    BasicTDigest(const BasicTDigest& other)
        : centroids_(other.centroids_), in_centroids_(other.in_centroids_) {
        take(other.values_);
    }
    BasicTDigest(BasicTDigest&& other) noexcept = default;
    /// As the copy constructor.
    BasicTDigest& operator=(const BasicTDigest& other) { return *this = BasicTDigest(other); }
    BasicTDigest& operator=(BasicTDigest&& other) noexcept = default;
    ~BasicTDigest() = default;
    /// The same of shorter numbers.
    template <std::floating_point Shorter>
        requires(sizeof(Shorter) < sizeof(Number))
    explicit BasicTDigest(const BasicTDigest<Shorter>& other) : in_centroids_(other.in_centroids_) {
        for (const auto& [mean, weight] : other.centroids_) centroids_.push_back({mean, weight});
        take(other.values_);
    }

    /// Adds a number; NaN is passed over. O(1) amortised, in a sketch O(log `gathered_max`).
    void add(Number value) {
        if (std::isnan(value)) return;
        if (values_.size() == values_.capacity()) [[unlikely]]
            make_room(1);
        values_.push_back(value);
    }
    /// Takes over the values of `other`. O(values and centroids).
    void merge(const BasicTDigest& other) {
        if (other.count() == 0) return;
        const std::uint64_t both = count() + other.count();
        if (other.centroids_.empty() && (count() == 0 || both <= merged_exact_max)) {
            make_room(other.values_.size());
            if (other.values_.size() <= values_.capacity() - values_.size()) {
                values_.insert(values_.end(), other.values_.begin(), other.values_.end());
                return;
            }
        }
        sketch(sorted(sorted(), other.sorted()), both);
    }
    /// How many values were added.
    [[nodiscard]] std::uint64_t count() const noexcept { return in_centroids_ + values_.size(); }

    /// The value below which the share q of the values lies, 0 <= q <= 1; not a number where there
    /// are none. O(values and centroids).
    [[nodiscard]] Number quantile(double q) const {
        return quantiles(std::array<double, 1>{q}).front();
    }
    /// Several.
    template <std::size_t n>
    [[nodiscard]] std::array<Number, n> quantiles(const std::array<double, n>& shares) const {
        std::array<Number, n> found;
        if (centroids_.empty()) {
            Values values = values_;
            for (std::size_t i = 0; i != n; ++i) found[i] = selected(values, shares[i]);
        } else {
            const Centroids all = sorted();
            for (std::size_t i = 0; i != n; ++i) found[i] = quantile_of(all, shares[i]);
        }
        return found;
    }

    /// As strid/state/codec.hpp says: values are centroids of weight 1, behind those in order.
    void save(StateWriter& writer) const {
        Centroids all = centroids_;
        for (const Number value : values_) all.push_back({value, 1});
        state::save(writer, all);
        writer.length(centroids_.size());
        writer.number(count());
    }
    /// Throws StateError.
    void load(StateReader& reader) {
        Centroids all;
        state::load(reader, all);
        const std::size_t in_order = reader.length(0);
        const std::uint64_t count = reader.number();
        const auto behind = all.begin() + offset(std::min(in_order, all.size()));
        const bool is_whole =
            in_order <= all.size() && std::is_sorted(all.begin(), behind, by_mean) &&
            std::all_of(all.begin(), all.end(), is_centroid) && weight_of(all) == count;
        if (!is_whole) reader.refuse("is no sketch of quantiles");
        Values().swap(values_);
        if (std::all_of(behind, all.end(), [](const Centroid& c) { return c.weight == 1; })) {
            centroids_.assign(all.begin(), behind);
            in_centroids_ = weight_of(centroids_);
            for (auto value = behind; value != all.end(); ++value) add(value->mean);
        } else {
            // Of an earlier version, with the centroids of others in the order in which they came.
            std::sort(all.begin(), all.end(), by_mean);
            centroids_ = std::move(all);
            in_centroids_ = count;
        }
    }

  private:
    template <std::floating_point>
    friend class BasicTDigest;

    struct Centroid {
        Number mean;
        double weight;
    };
    using Values = std::vector<Number, ExactValueAllocator<Number>>;
    using Centroids = std::vector<Centroid, memory::RecyclingAllocator<Centroid>>;

    /// A sketch gathers so many values before it sorts them.
    static constexpr std::size_t gathered_max = 1024;

    static std::ptrdiff_t offset(std::size_t index) noexcept {
        return static_cast<std::ptrdiff_t>(index);
    }
    static bool by_mean(const Centroid& a, const Centroid& b) noexcept { return a.mean < b.mean; }
    static bool is_centroid(const Centroid& c) noexcept {
        return !std::isnan(c.mean) && c.weight >= 1 && c.weight <= weight_max;
    }
    /// Of a valid centroid; beyond it weights are not whole numbers.
    static constexpr double weight_max = 0x1p53;
    /// Of valid ones.
    [[nodiscard]] static std::uint64_t weight_of(const Centroids& centroids) noexcept {
        std::uint64_t sum = 0;
        for (const Centroid& c : centroids) sum += static_cast<std::uint64_t>(c.weight);
        return sum;
    }

    [[nodiscard]] std::size_t values_max() const noexcept {
        return centroids_.empty() ? exact_max : gathered_max;
    }

    /// For so many more values, or makes a sketch of those that there are.
    [[gnu::noinline]] void make_room(std::size_t more) {
        const std::size_t needed = values_.size() + more;
        if (needed <= values_.capacity()) return;
        if (needed <= values_max()) {
            constexpr std::size_t first = 8;
            const std::size_t doubled = std::min(2 * values_.capacity(), values_max());
            const std::size_t capacity = std::max({needed, doubled, first});
            if (!centroids_.empty() || has_exact_memory(capacity * sizeof(Number))) {
                values_.reserve(capacity);
                return;
            }
        }
        if (values_.empty()) return;
        sketch(sorted(), count());
        values_.reserve(gathered_max);
    }
    /// Of a digest without values.
    template <class OtherValues>
    void take(const OtherValues& values) {
        if (!centroids_.empty() || has_exact_memory(values.size() * sizeof(Number))) {
            values_.assign(values.begin(), values.end());
        } else {
            sketch(rising(values), values.size());
        }
    }
    /// Of all that there is, rising by mean.
    void sketch(Centroids all, std::uint64_t count) {
        centroids_ = joined(std::move(all), count);
        in_centroids_ = count;
        Values().swap(values_);
    }

    /// The quantile of values, whose order changes.
    [[nodiscard]] static Number selected(Values& values, double q) {
        if (values.empty()) return std::numeric_limits<Number>::quiet_NaN();
        const double rank = q * static_cast<double>(values.size() - 1);
        const double whole = std::floor(rank);
        const auto below = values.begin() + static_cast<std::ptrdiff_t>(whole);
        std::nth_element(values.begin(), below, values.end());
        if (rank == whole) return *below;
        const Number above = *std::min_element(below + 1, values.end());
        return std::lerp(*below, above, static_cast<Number>(rank - whole));
    }
    [[nodiscard]] Number quantile_of(const Centroids& sorted, double q) const {
        // Each centroid's mean stands for the middle of its ranks, from 0 to count - 1.
        const double rank = q * static_cast<double>(count() - 1);
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

    /// All values and centroids, rising by mean.
    [[nodiscard]] Centroids sorted() const { return sorted(centroids_, rising(values_)); }
    template <class OtherValues>
    [[nodiscard]] static Centroids rising(const OtherValues& given) {
        Values values(given.begin(), given.end());
        std::sort(values.begin(), values.end());
        Centroids ones;
        ones.reserve(values.size());
        for (const Number value : values) ones.push_back({value, 1});
        return ones;
    }
    [[nodiscard]] static Centroids sorted(const Centroids& one, const Centroids& other) {
        Centroids both(one.size() + other.size());
        std::merge(one.begin(), one.end(), other.begin(), other.end(), both.begin(), by_mean);
        return both;
    }
    /// Joins neighbours while none grows above its share, which is least near the ends. `count` is
    /// the weight of all.
    [[nodiscard]] static Centroids joined(Centroids rising, std::uint64_t count_of_all) {
        const auto count = static_cast<double>(count_of_all);
        std::size_t last = 0;
        double before = 0;  // weight of what precedes rising[last]
        for (std::size_t i = 1; i < rising.size(); ++i) {
            Centroid& open = rising[last];
            const Centroid next = rising[i];
            const double weight = open.weight + next.weight;
            const double q = (before + weight / 2) / count;
            if (weight <= 4 * count * q * (1 - q) / compression) {
                open.mean = std::lerp(open.mean, next.mean, Number{next.weight / weight});
                open.weight = weight;
            } else {
                before += open.weight;
                rising[++last] = next;
            }
        }
        return Centroids(rising.begin(), rising.begin() + offset(last + 1));
    }

    Values values_;        // all, or of a sketch the newest
    Centroids centroids_;  // rise by mean
    std::uint64_t in_centroids_ = 0;
};

/// That of doubles, which aggregates have.
using TDigest = BasicTDigest<double>;

}  // namespace strid::window

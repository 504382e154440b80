// SPDX-License-Identifier: Apache-2.0
//
// Statistics of many trajectories at each sample time, without keeping the trajectories: mean,
// variance and quantiles of the count of each species (the selective memory of StochKit-FF).
//
// Counts are whole numbers, so that all that is kept is whole numbers, too: sums, sums of squares
// of 128 bits, and numbers of counts in buckets. Quantities that are not whole, which some models
// have, are summed without rounding (real_statistics.hpp).
// Invariant: what is kept depends on the set of trajectories alone, not on the order in which they
// were added and merged, to the last bit.
//
// Memory: samples x species cells. A cell keeps all its counts up to `exact_max` trajectories, so
// that quantiles are exact; beyond, a histogram whose buckets are 1 wide below 512 and 1/256 of the
// power of two below the count above: a quantile is off by 1/512 of itself (0.2 %) at most.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "real_statistics.hpp"

namespace strid::ssa {

/// How many counts stand in each bucket; buckets between the least and the greatest.
class Histogram {
  public:
    void add(std::uint64_t count) { ++bucket(bucket_of(count)); }
    void merge(const Histogram& other);
    /// The count that `rank` counts (from 1) are at or below: the middle of its bucket.
    [[nodiscard]] std::uint64_t at_rank(std::uint64_t rank) const;

    [[nodiscard]] static std::size_t bucket_of(std::uint64_t count) noexcept;
    [[nodiscard]] static std::uint64_t middle_of(std::size_t bucket) noexcept;

  private:
    std::uint32_t& bucket(std::size_t number);

    std::size_t first_ = 0;  // number of the first bucket kept
    std::vector<std::uint32_t> counts_;
};

class Statistics {
  public:
    /// Up to so many trajectories, quantiles are exact.
    static constexpr std::uint64_t exact_max = 256;
    /// So that sums stay exact.
    static constexpr std::uint64_t runs_max = std::uint64_t{1} << 27U;
    static constexpr std::size_t cells_max = 10'000'000;

    /// Of `runs` trajectories in all, in this and those that are merged into it. `reals`: which
    /// species have any number up to `real_max`; the others have counts.
    Statistics(std::size_t samples, std::vector<bool> reals, std::uint64_t runs, bool quantiles);

    void add(std::size_t sample, const double* counts);
    void merge(const Statistics& other);

    [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
    [[nodiscard]] double mean(std::size_t sample, std::size_t species) const;
    /// Of the sample, that is, divided by one less than the number of trajectories. NaN for one.
    [[nodiscard]] double variance(std::size_t sample, std::size_t species) const;
    /// The least count that a part `quantile` of the trajectories is at or below, 0 <= quantile <=
    /// 1.
    [[nodiscard]] double quantile(std::size_t sample, std::size_t species, double quantile) const;

  private:
    __extension__ using Wide = unsigned __int128;
    struct Moments {
        Wide sum = 0;
        Wide sum_of_squares = 0;
    };

    /// Of a species with any number.
    struct RealCell {
        ExactSum sum;
        ExactSum sum_of_squares;
        RealHistogram histogram;
        std::vector<double> exact;
    };

    [[nodiscard]] std::size_t cell(std::size_t sample, std::size_t species) const noexcept {
        return sample * species_ + species;
    }
    [[nodiscard]] RealCell& real(std::size_t sample, std::size_t species) {
        return real_cells_[sample * real_count_ + real_index_[species]];
    }
    [[nodiscard]] const RealCell& real(std::size_t sample, std::size_t species) const {
        return real_cells_[sample * real_count_ + real_index_[species]];
    }
    void add_real(RealCell& cell, double number) const;
    void merge_reals(const Statistics& other);
    [[nodiscard]] double real_variance(const RealCell& cell) const;

    std::vector<bool> reals_;
    std::vector<std::size_t> real_index_;  // by species
    std::size_t real_count_ = 0;
    bool quantiles_;
    std::size_t species_;
    std::uint64_t runs_;
    std::vector<Moments> moments_;
    std::vector<Histogram> histograms_;              // empty, or one a cell
    std::vector<std::vector<std::uint64_t>> exact_;  // empty, or one a cell
    std::vector<RealCell> real_cells_;
};

}  // namespace strid::ssa

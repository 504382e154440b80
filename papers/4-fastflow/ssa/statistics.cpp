// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <boost/multiprecision/cpp_int.hpp>

namespace strid::ssa {

namespace {

// Buckets in each power of two, and the first count whose bucket is wider than 1.
constexpr unsigned part_bits = 8;
constexpr std::uint64_t parts = std::uint64_t{1} << part_bits;
constexpr std::uint64_t single_below = 2 * parts;

}  // namespace

std::size_t Histogram::bucket_of(std::uint64_t count) noexcept {
    if (count < single_below) return count;
    const auto shift = static_cast<unsigned>(std::bit_width(count)) - 1 - part_bits;  // from 1
    const std::uint64_t part = count >> shift;  // from 256 to 511
    return single_below + std::uint64_t{shift - 1} * parts + (part - parts);
}

std::uint64_t Histogram::middle_of(std::size_t bucket) noexcept {
    if (bucket < single_below) return bucket;
    const std::uint64_t shift = (bucket - single_below) / parts + 1;
    const std::uint64_t part = (bucket - single_below) % parts + parts;
    return (part << shift) + (std::uint64_t{1} << (shift - 1));
}

std::uint32_t& Histogram::bucket(std::size_t number) {
    if (counts_.empty()) first_ = number;
    if (number < first_) {
        // More than is wanted now, so that a falling count does not move all each time.
        const std::size_t more = std::min(first_, first_ - number + counts_.size() / 2);
        counts_.insert(counts_.begin(), more, 0);
        first_ -= more;
    } else if (number - first_ >= counts_.size()) {
        counts_.resize(number - first_ + 1);
    }
    return counts_[number - first_];
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
        if (other.counts_[i] != 0) bucket(other.first_ + i) += other.counts_[i];
    }
}

std::uint64_t Histogram::at_rank(std::uint64_t rank) const {
    std::uint64_t below = 0;
    std::size_t i = 0;
    for (; i + 1 < counts_.size(); ++i) {
        below += counts_[i];
        if (below >= rank) break;
    }
    return middle_of(first_ + i);
}

Statistics::Statistics(std::size_t samples, std::size_t species, std::uint64_t runs, bool quantiles)
    : species_(species), runs_(runs), moments_(samples * species) {
    if (!quantiles) return;
    if (runs <= exact_max) {
        exact_.resize(moments_.size());
    } else {
        histograms_.resize(moments_.size());
    }
}

void Statistics::add(std::size_t sample, const double* counts) {
    const std::size_t begin = cell(sample, 0);
    for (std::size_t i = 0; i < species_; ++i) {
        const auto count = static_cast<std::uint64_t>(counts[i]);
        moments_[begin + i].sum += count;
        moments_[begin + i].sum_of_squares += Wide{count} * count;
        if (!histograms_.empty()) histograms_[begin + i].add(count);
        if (!exact_.empty()) exact_[begin + i].push_back(count);
    }
}

void Statistics::merge(const Statistics& other) {
    for (std::size_t i = 0; i < moments_.size(); ++i) {
        moments_[i].sum += other.moments_[i].sum;
        moments_[i].sum_of_squares += other.moments_[i].sum_of_squares;
    }
    for (std::size_t i = 0; i < histograms_.size(); ++i) histograms_[i].merge(other.histograms_[i]);
    for (std::size_t i = 0; i < exact_.size(); ++i) {
        exact_[i].insert(exact_[i].end(), other.exact_[i].begin(), other.exact_[i].end());
    }
}

double Statistics::mean(std::size_t sample, std::size_t species) const {
    return static_cast<double>(moments_[cell(sample, species)].sum) / static_cast<double>(runs_);
}

double Statistics::variance(std::size_t sample, std::size_t species) const {
    if (runs_ < 2) return std::numeric_limits<double>::quiet_NaN();
    using Wider = boost::multiprecision::int512_t;
    const Moments& moments = moments_[cell(sample, species)];
    // Exact: no cancellation, however large the mean is.
    const Wider sum(moments.sum);
    const Wider difference = Wider(moments.sum_of_squares) * runs_ - sum * sum;
    const auto runs = static_cast<double>(runs_);
    return static_cast<double>(difference) / (runs * (runs - 1));
}

std::uint64_t Statistics::quantile(std::size_t sample, std::size_t species, double quantile) const {
    const auto rank = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(runs_))), 1, runs_);
    const std::size_t at = cell(sample, species);
    if (exact_.empty()) return histograms_[at].at_rank(rank);
    std::vector<std::uint64_t> counts = exact_[at];
    const auto place = counts.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(counts, place);
    return *place;
}

}  // namespace strid::ssa

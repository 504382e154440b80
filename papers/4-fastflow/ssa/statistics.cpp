// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

namespace strid::ssa {

namespace {

// Buckets in each power of two, and the first count whose bucket is wider than 1.
constexpr unsigned part_bits = 8;
constexpr std::uint64_t parts = std::uint64_t{1} << part_bits;
constexpr std::uint64_t single_below = 2 * parts;

using Whole = boost::multiprecision::cpp_int;

/// A sum as a whole number of 2^`exponent`, where no part has a smaller unit.
struct Scaled {
    Whole number;
    int exponent;
};

Scaled scaled(const ExactSum& sum) {
    constexpr int digits = std::numeric_limits<double>::digits;
    int least = 0;
    for (const double part : sum.parts()) least = std::min(least, std::ilogb(part) - digits);
    Scaled made{0, least};
    for (const double part : sum.parts()) {
        int exponent = 0;
        const auto number =
            static_cast<std::int64_t>(std::ldexp(std::frexp(part, &exponent), digits));
        made.number += Whole(number) << static_cast<unsigned>(exponent - digits - least);
    }
    return made;
}

double quotient(const Whole& number, int exponent, const Whole& by) {
    using Long = boost::multiprecision::cpp_bin_float_100;
    return static_cast<double>(ldexp(Long(number) / Long(by), exponent));
}

template <class Number>
Number at_rank(std::vector<Number> numbers, std::uint64_t rank) {
    const auto place = numbers.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(numbers, place);
    return *place;
}

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

Statistics::Statistics(std::size_t samples, std::vector<bool> reals, std::uint64_t runs,
                       bool quantiles)
    : reals_(std::move(reals)),
      quantiles_(quantiles),
      species_(reals_.size()),
      runs_(runs),
      moments_(samples * species_) {
    for (const bool real : reals_) {
        real_index_.push_back(real_count_);
        real_count_ += real ? 1 : 0;
    }
    real_cells_.resize(samples * real_count_);
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
        if (reals_[i]) {
            add_real(real(sample, i), counts[i]);
            continue;
        }
        const auto count = static_cast<std::uint64_t>(counts[i]);
        moments_[begin + i].sum += count;
        moments_[begin + i].sum_of_squares += Wide{count} * count;
        if (!histograms_.empty()) histograms_[begin + i].add(count);
        if (!exact_.empty()) exact_[begin + i].push_back(count);
    }
}

void Statistics::add_real(RealCell& cell, double number) const {
    cell.sum.add(number);
    cell.sum_of_squares.add_square(number);
    if (!quantiles_) return;
    if (runs_ <= exact_max) {
        cell.exact.push_back(number);
    } else {
        cell.histogram.add(number);
    }
}

void Statistics::merge_reals(const Statistics& other) {
    for (std::size_t i = 0; i < real_cells_.size(); ++i) {
        RealCell& own = real_cells_[i];
        const RealCell& one = other.real_cells_[i];
        own.sum.merge(one.sum);
        own.sum_of_squares.merge(one.sum_of_squares);
        own.histogram.merge(one.histogram);
        own.exact.insert(own.exact.end(), one.exact.begin(), one.exact.end());
    }
}

double Statistics::real_variance(const RealCell& cell) const {
    const Scaled sum = scaled(cell.sum);
    const Scaled squares = scaled(cell.sum_of_squares);
    const Whole square = sum.number * sum.number;
    const int least = std::min(squares.exponent, 2 * sum.exponent);
    const Whole difference =
        ((squares.number * runs_) << static_cast<unsigned>(squares.exponent - least)) -
        (square << static_cast<unsigned>(2 * sum.exponent - least));
    // Squares below 1e-290 are rounded.
    return std::max(quotient(difference, least, Whole(runs_) * (runs_ - 1)), 0.0);
}

void Statistics::merge(const Statistics& other) {
    merge_reals(other);
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
    if (reals_[species]) {
        const Scaled sum = scaled(real(sample, species).sum);
        return quotient(sum.number, sum.exponent, runs_);
    }
    return static_cast<double>(moments_[cell(sample, species)].sum) / static_cast<double>(runs_);
}

double Statistics::variance(std::size_t sample, std::size_t species) const {
    if (runs_ < 2) return std::numeric_limits<double>::quiet_NaN();
    if (reals_[species]) return real_variance(real(sample, species));
    using Wider = boost::multiprecision::int512_t;
    const Moments& moments = moments_[cell(sample, species)];
    // Exact: no cancellation, however large the mean is.
    const Wider sum(moments.sum);
    const Wider difference = Wider(moments.sum_of_squares) * runs_ - sum * sum;
    const auto runs = static_cast<double>(runs_);
    return static_cast<double>(difference) / (runs * (runs - 1));
}

double Statistics::quantile(std::size_t sample, std::size_t species, double quantile) const {
    const auto rank = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(runs_))), 1, runs_);
    if (reals_[species]) {
        const RealCell& one = real(sample, species);
        return one.exact.empty() ? one.histogram.at_rank(rank) : at_rank(one.exact, rank);
    }
    const std::size_t at = cell(sample, species);
    return static_cast<double>(exact_.empty() ? histograms_[at].at_rank(rank)
                                              : at_rank(exact_[at], rank));
}

}  // namespace strid::ssa

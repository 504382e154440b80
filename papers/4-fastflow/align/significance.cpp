// SPDX-License-Identifier: Apache-2.0
#include "significance.hpp"

#include <algorithm>
#include <cmath>

namespace strid::align {

std::optional<Significance> Significance::of(const Scoring& scoring) {
    if (scoring.mode() != Mode::local) return std::nullopt;
    for (const Parameters& parameters : published_parameters()) {
        if (parameters.matrix == scoring.name() && parameters.open == scoring.gaps().open &&
            parameters.extend == scoring.gaps().extend) {
            return Significance(parameters);
        }
    }
    return std::nullopt;
}

double Significance::bits(int score) const noexcept {
    return (parameters_.lambda * counted(score) - std::log(parameters_.k)) / std::log(2.0);
}

/// A hit that begins near the end of a sequence has no room: the lengths of query and sequences are
/// shortened by that of a hit by chance, the largest whole number that is no longer than the length
/// which follows from the lengths so shortened (as BLAST does).
double Significance::length_by_chance(double query, const DatabaseSize& database) const {
    const auto residues = static_cast<double>(database.residues);
    const auto sequences = static_cast<double>(database.sequences);
    const auto fits = [&](double length) {
        const double rest = (query - length) * (residues - sequences * length);
        if (length >= query || residues <= sequences * length) return false;
        if (parameters_.k * rest <= std::max(query, residues)) return false;
        return length <= parameters_.alpha / parameters_.lambda * std::log(parameters_.k * rest) +
                             parameters_.beta;
    };
    double fitting = 0;
    double beyond = query;
    while (beyond - fitting > 1) {
        const double middle = std::floor((fitting + beyond) / 2);
        (fits(middle) ? fitting : beyond) = middle;
    }
    return fitting;
}

double Significance::expected(int score, std::size_t query_length,
                              const DatabaseSize& database) const noexcept {
    const auto query = static_cast<double>(query_length);
    const double length = length_by_chance(query, database);
    const double space = (query - length) * (static_cast<double>(database.residues) -
                                             static_cast<double>(database.sequences) * length);
    return parameters_.k * space * std::exp(-parameters_.lambda * counted(score));
}

}  // namespace strid::align

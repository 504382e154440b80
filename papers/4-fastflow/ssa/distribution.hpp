// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of the distributions of SBML (package distrib, version 1), also truncated, by the
// inverse of the distribution function (boost.math). Functions without state; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strid::ssa {

enum class Distribution : std::uint8_t {
    bernoulli,
    binomial,
    cauchy,
    chisquare,
    exponential,
    gamma,
    laplace,
    lognormal,
    normal,
    poisson,
    rayleigh,
    uniform
};

/// Nothing: there is none.
[[nodiscard]] std::optional<Distribution> distribution_named(std::string_view name);
[[nodiscard]] std::string name_of(Distribution distribution);

/// The arguments as SBML has them: those of the distribution (cauchy and laplace without a location
/// are around 0), and the least and the greatest number of a truncated one. Throws GraphError for
/// another number of them.
void check_arguments(Distribution distribution, std::size_t count);

/// The number that a part `quantile`, above 0 and below 1, of the distribution is at or below. NaN
/// where an argument is out of its domain or no number is between the bounds.
[[nodiscard]] double number_at(Distribution distribution, const std::vector<double>& arguments,
                               double quantile);

}  // namespace strid::ssa

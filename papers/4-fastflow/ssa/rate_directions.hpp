// SPDX-License-Identifier: Apache-2.0
//
// The rates of the two directions of a reversible reaction, of its net rate. Functions without
// state; any thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "network.hpp"

namespace strid::ssa {

/// Of a reaction with a rate. The terms of the difference that the rate is, if the second one reads
/// a product that is no reactant; else the rate where it is above 0, and its opposite where it is
/// below. Nothing where the form of the rate shows that it is never below 0.
[[nodiscard]] std::optional<std::pair<Expression, Expression>> directions(
    const Reaction& reaction, const std::vector<Species>& species);

/// A sum of any number of terms, nested as little as possible.
[[nodiscard]] Expression sum_of(std::vector<Expression> terms);

}  // namespace strid::ssa

// SPDX-License-Identifier: Apache-2.0
//
// The variants of the trading operator that are compared, by name, and the loop that feeds one.
//
// Threads: run returns when all threads of the variant are gone.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <trading/farm.hpp>
#include <trading/price_model.hpp>

#include "answer.hpp"
#include "driver.hpp"
#include "feed.hpp"

namespace strid::bench {

/// The arguments of a variant. `feed`, `driver` and `answer` are used up by one run.
struct Run {
    const apps::trading::FarmOptions& options;
    const apps::trading::PriceModel& model;
    Feed& feed;
    Driver& driver;
    Answer& answer;
};

struct Variant {
    std::string_view name;
    std::string_view what;
    void (*run)(const Run&);
};

/// In the order in which tables show them: the paper's, then this engine's.
[[nodiscard]] const std::vector<Variant>& variants();

/// Throws std::invalid_argument where there is none of this name.
[[nodiscard]] const Variant& variant_named(std::string_view name);

}  // namespace strid::bench

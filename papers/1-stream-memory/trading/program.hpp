// SPDX-License-Identifier: Apache-2.0
//
// The trading operator as a program: quotes of a file come in, forecasts of each window go out. One
// thread builds the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "trading.hpp"

namespace strid::apps::trading {

enum class Format : std::uint8_t { by_content, csv, itch };

struct ProgramOptions {
    Format format = Format::by_content;
    /// Of the rows, in the order of QuoteRow.
    std::vector<CsvColumn> columns = {"symbol", "time", "bid", "ask", "bid_size", "ask_size"};
    std::int64_t time_unit_ns = 1'000'000;  ///< of times in numbers, in rows
    unsigned decimals = 4;                  ///< of prices in rows, at most decimals_max
    std::string quotes;                     ///< Where the quotes go; empty: nowhere.
    /// "engine", "engine-keys", or one of memory_names().
    std::string memory = "engine";
    Options windows = {};
};

/// Whether an input that is a file begins as one of ITCH does: with a message of less than 256
/// bytes. False for a pipe, and for a file that cannot be read.
[[nodiscard]] bool begins_like_itch(const std::string& path);

/// Throws GraphError for a replay.
void build(Graph& graph, const Endpoints& endpoints, const ProgramOptions& options);

}  // namespace strid::apps::trading

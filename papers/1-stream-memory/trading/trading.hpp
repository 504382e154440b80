// SPDX-License-Identifier: Apache-2.0
//
// The trading operator as a graph, twice (paper 1, section 3): windows of quotes of each symbol, a
// forecast from each window, in the order of the windows of a symbol.
//
//     key partitioning     each symbol's windows on the replica that owns the symbol
//     window farming       every n-th window of each symbol on each of n replicas
//
// Threads: one builds the graph.
#pragma once

#include <cstddef>
#include <cstdint>

#include <strid/stream/graph.hpp>

#include "price_model.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

struct Options {
    std::uint64_t length = 1'000;  ///< quotes of a symbol in a window
    std::uint64_t slide = 25;
    PriceModel model = {};
    std::size_t parallelism = 0;  ///< 0: the planner's choice
};

/// A window that the end of the stream cuts short gives no prediction.
[[nodiscard]] Stream<Prediction> predict_by_key(Stream<Quote> quotes, const Options& options);
[[nodiscard]] Stream<Prediction> predict_by_window(Stream<Quote> quotes, const Options& options);

}  // namespace strid::apps::trading

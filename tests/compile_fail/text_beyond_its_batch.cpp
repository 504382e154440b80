// SPDX-License-Identifier: Apache-2.0
//
// An operator that keeps records for longer than their batches takes none whose text goes with
// these.
// expect: map them to records that own it
#include <string>
#include <string_view>
#include <utility>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    using Text = std::string_view;
#else
    using Text = std::string;
#endif
    const auto time_of = [](const std::pair<int, Text>&) { return strid::EventTime::of_ns(0); };
    graph.source(Numbers{})
        .map([](int number) {
            return std::pair<int, Text>{number, Text{}};
        })
        .apply(strid::k_slack(time_of))
        .sink([](const auto&) {});
}

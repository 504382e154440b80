// SPDX-License-Identifier: Apache-2.0
//
// Linear Road: reports of cars and questions come in; out go tolls, alerts of accidents, and
// answers.
//
//   events ── time ──┬─ reports ── key by road ── roads ──┬─ tolls, alerts ──────────────┐
//                    │                                    └─ charges ─┐ key by car       ├─ write
//                    ├─ questions for balances ───────────────────────┴─ accounts ───────┤
//                    └─ questions for expenditures ── look-up in the history ────────────┘
#pragma once

#include <cstdint>
#include <string>

#include <strid/graph/graph.hpp>

#include "../endpoints.hpp"
#include "history.hpp"
#include "traffic.hpp"

namespace strid::apps::linear_road {

struct Options {
    std::int32_t expressways = 0;  ///< 0: of a file as many as there can be, of traffic one.
    double pace = 0;               ///< Seconds of the input a second; 0: as fast as it goes.
    bool makes_traffic = false;
    TrafficOptions traffic = {};
    bool writes_input = false;  ///< Events are the output.
};

/// Builds the graph. Throws GraphError for endpoints and options that do not go together.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           const CurrentTable<HistoryTable>& history);

}  // namespace strid::apps::linear_road

// SPDX-License-Identifier: Apache-2.0
//
// Linear Road: reports of cars and questions come in; out go tolls, alerts of accidents, and
// answers.
//
//   events ── time ── key ── roads ─┬─ tolls, alerts ────────────────── write
//                                   ├─ charges, questions ── accounts ─ write-balances
//                                   └─ questions ── history ─────────── write-expenditures
#pragma once

#include <cstdint>
#include <string>

#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "history.hpp"
#include "traffic.hpp"

namespace strid::apps::linear_road {

/// How the rules are laid out.
enum class Layout : std::uint8_t {
    fused,      ///< All rules of a road in one operator.
    operators,  ///< An operator for each rule (by_operator.hpp).
    paper       ///< The operators of paper 2 (papers_form.hpp).
};

struct Options {
    std::int32_t expressways = 0;  ///< 0: of a file as many as there can be, of traffic one.
    double pace = 0;               ///< Seconds of the input a second; 0: as fast as it goes.
    bool makes_traffic = false;
    TrafficOptions traffic = {};
    Layout layout = Layout::fused;
    bool writes_input = false;  ///< Events are the output.
};

/// Builds the graph. Throws GraphError for endpoints and options that do not go together.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           const CurrentTable<HistoryTable>& tolls);

}  // namespace strid::apps::linear_road

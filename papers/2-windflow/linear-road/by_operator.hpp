// SPDX-License-Identifier: Apache-2.0
//
// `--layout operators`: the graph of figure 11 of paper 2, with an operator for each rule.
//
//                 ┌─ speeds ──┬─ velocities ─┐
//   time ─┬───────┤           └─ counts ─────┤
//         │       ├─ accidents ──────────────┼─ tolls ─┬─ write, accounts, history
//         │       └──────────────────────────┘         │
//         └─ questions ────────────────────────────────┘
#pragma once

#include <strid/stream/graph.hpp>

#include "history.hpp"
#include "records.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

void answer_by_operators(StreamTimedBy<Event, TimeOf> events,
                         const CurrentTable<HistoryTable>& tolls, const AnswerWriter& writer);

}  // namespace strid::apps::linear_road

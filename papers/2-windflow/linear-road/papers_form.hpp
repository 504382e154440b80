// SPDX-License-Identifier: Apache-2.0
//
// `--form paper`: the graph whose blocks table 3 of paper 2 counts, of one replica each.
//
//                           ┌─ toll_position ───────────────────┐
//   events ── dispatcher ───┼─ speed ── last_speed ── toll_speed ┼── write
//                           └─ count ── toll_count ─────────────┘
//
// It has no operator behind the three ways that could charge a toll, so the sink does: `write`
// lets reports wait for the statistics of their minute, keeps the accounts, looks questions up and
// writes the answers, which are those of the other graphs.
#pragma once

#include <strid/stream/graph.hpp>

#include "history.hpp"
#include "records.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

/// Ends the stream of events.
void answer_in_papers_form(Stream<Event> events, const CurrentTable<HistoryTable>& tolls,
                           const AnswerWriter& writer);

}  // namespace strid::apps::linear_road

// SPDX-License-Identifier: Apache-2.0
//
// The text of explain() for a graph with windows of a stream of events.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <strid/connector/discard.hpp>

#include "../windows.hpp"

namespace strid::test {

template <class Build>
std::string explanation_of(const Build& build, const RunOptions& options = {.workers = 3}) {
    Graph graph{"why"};
    build(graph.source(replay(std::vector<Event>{})).event_time<&Event::time>(MonotonousTime{}))
        .sink(discard());
    return graph.explain(options) + graph.explain_algebra(options);
}

}  // namespace strid::test

// SPDX-License-Identifier: Apache-2.0
//
// The text of explain() for a graph with windows of a stream of events.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/connector/discard.hpp>
#include <strid/engine/plan/one_group.hpp>
#include <strid/engine/plan/window_table.hpp>

#include "../windows.hpp"

namespace strid::test {

template <class Build>
std::string explanation_of(const Build& build, const RunOptions& options = {.workers = 3}) {
    Graph graph{"why"};
    build(graph.source(replay(std::vector<Event>{})).event_time<&Event::time>(MonotonousTime{}))
        .sink(discard());
    return graph.explain(options) + graph.explain_algebra(options);
}

/// The way that is chosen for such windows of a whole stream, and the note of explain() on it, by
/// the table of ways (engine/plan/window_table.hpp): no graph is compiled.
template <class Windows, class A>
inline constexpr Share chosen_way =
    graph::chosen_share<Windows, std::remove_cv_t<A>, OneGroup, false>();
template <class Windows, class A>
inline constexpr std::string_view chosen_note =
    graph::why_chosen<Windows, std::remove_cv_t<A>, false>(chosen_way<Windows, A>);

}  // namespace strid::test

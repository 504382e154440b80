// SPDX-License-Identifier: Apache-2.0
//
// The function of a window of full content is called with a span, and the message says how.
// expect: the function of a window is called as f(content) or f(key, bounds, content)
#include <span>

#include <strid/window/aggregates/content.hpp>

#include "numbers.hpp"

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    const auto last = strid::window::content<int>([](int number) { return number; });
#else
    const auto last =
        strid::window::content<int>([](std::span<const int> all) { return all.back(); });
#endif
    graph.source(Numbers{})
        .key_by([](int number) { return number; })
        .window(strid::window::CountWindows::tumbling(10), last)
        .sink([](const auto&) {});
}

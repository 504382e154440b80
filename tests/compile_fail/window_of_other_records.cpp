// SPDX-License-Identifier: Apache-2.0
//
// A window's aggregate takes the records that arrive, and no others.
// expect: a window needs a function of the records T that arrive
#include <string>

#include <strid/window/aggregates.hpp>

#include "numbers.hpp"

void build(strid::Graph& graph) {
    const auto windows = strid::window::CountWindows::tumbling(10);
#ifdef STRID_MUST_NOT_COMPILE
    const auto sum = strid::window::sum<std::string>(&std::string::size);
#else
    const auto sum = strid::window::sum<int>([](int number) { return number; });
#endif
    graph.source(Numbers{})
        .key_by([](int number) { return number; })
        .window(windows, sum)
        .sink([](const auto&) {});
}

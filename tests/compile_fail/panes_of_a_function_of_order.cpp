// SPDX-License-Identifier: Apache-2.0
//
// Panes come from any replica, so a function that depends on the order of the records has none; the
// message says what to take instead.
// expect: the aggregate has to be commutative (see parallel_windows, any_order)
#include <span>

#include <strid/window/aggregates/content.hpp>

#include "numbers.hpp"

void build(strid::Graph& graph) {
    const auto windows = strid::window::TimeWindows::tumbling(strid::Duration{10});
    const auto time_of = [](int number) { return strid::EventTime::of_ns(number); };
    const auto last =
        strid::window::content<int>([](std::span<const int> all) { return all.back(); });
    auto stream = graph.source(Numbers{})
                      .event_time(time_of, strid::MonotonousTime{})
                      .group_by([](int number) { return number; });
#ifdef STRID_MUST_NOT_COMPILE
    std::move(stream).paned_windows(windows, time_of, last).sink([](const auto&) {});
#else
    std::move(stream).parallel_windows(windows, time_of, last).sink([](const auto&) {});
#endif
}

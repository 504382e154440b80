// SPDX-License-Identifier: Apache-2.0
//
// Folds, joins that are shared by window and what puts a stream in order, where they throw
// (throwing.hpp).
#include <utility>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "throwing.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// A time that breaks.
auto time_with(const Probe& probe) {
    return [probe](const Event& event) {
        probe();
        return event.time;
    };
}

auto fold_with(const Probe& probe) {
    return [probe](std::int64_t& total, const Event& event) {
        total += event.value;
        probe();
    };
}

const auto windows = sliding(100, 30);
const WindowOptions broken{.name = "broken"};

const Broken broken_folds[] = {
    {"a fold", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(windows, window::fold<Event>(std::int64_t{0}, fold_with(probe)), broken)
             .sink(ignore);
     }},
    {"a fold in the order of time", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(SessionWindows::with_gap(20ns),
                     window::fold<Event>(std::int64_t{0}, fold_with(probe), field<&Event::time>),
                     broken)
             .sink(ignore);
     }},
    {"a farmed fold", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(windows, window::fold<Event>(std::int64_t{0}, fold_with(probe)), share::farmed,
                     broken)
             .sink(ignore);
     }},
    {"a fold of counts", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(window::CountWindows::sliding(20, 5),
                     window::fold<Event>(std::int64_t{0}, fold_with(probe)), broken)
             .sink(ignore);
     }},
};

const Broken broken_others[] = {
    {"a farmed interval join", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .join(stream_of(graph, events), same_key, within(-50ns, 50ns), sum_with(probe),
                   share::farmed, {.name = "broken"})
             .sink(ignore);
     }},
    {"a farmed window join", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .join(stream_of(graph, events), same_key, TimeWindows::tumbling(100ns),
                   sum_with(probe), share::farmed, {.name = "broken"})
             .sink(ignore);
     }},
    {"a time to order by", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .timed_by(time_with(probe))
             .apply(in_order_of_time(), {.name = "broken"})
             .sink(ignore);
     }},
    {"what decides among equal times", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .apply(in_order_of_time(value_with(probe)), {.name = "broken"})
             .sink(ignore);
     }},
    {"a time of a K-slack", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         graph.source(replay(events))
             .apply(k_slack(time_with(probe)), {.name = "broken"})
             .sink(ignore);
     }},
};

TEST(WindowFaults, FoldsThatThrowEndTheRunToo) {
    end_the_run_and_name_the_operator(broken_folds);
}
TEST(WindowFaults, JoinsSharedByWindowAndOrdersOfTimeThatThrowEndTheRunToo) {
    end_the_run_and_name_the_operator(broken_others);
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// The operations of an algebra, folds, joins that are shared by window and what puts a stream in
// order, where they throw (throwing.hpp).
#include <span>
#include <utility>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "throwing.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// A sum that breaks in one of its operations, which a state that the user made may.
enum class Operation { lift, combine, lower };
struct BreakingSum {
    using State = std::int64_t;
    static constexpr bool commutative = true;
    Operation breaking;
    Probe probe;

    [[nodiscard]] State identity() const { return 0; }
    [[nodiscard]] State lift(const Event& event) const {
        if (breaking == Operation::lift) probe();
        return event.value;
    }
    [[nodiscard]] State combine(State older, State newer) const {
        if (breaking == Operation::combine) probe();
        return older + newer;
    }
    [[nodiscard]] std::int64_t lower(State state) const {
        if (breaking == Operation::lower) probe();
        return state;
    }
};

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

void sums_by_key(Graph& graph, const std::vector<Event>& events, BreakingSum sum) {
    stream_of(graph, events)
        .key_by<&Event::key>()
        .window(windows, std::move(sum), broken)
        .sink(ignore);
}
void farmed_sums(Graph& graph, const std::vector<Event>& events, BreakingSum sum) {
    stream_of(graph, events)
        .key_by<&Event::key>()
        .window(windows, std::move(sum), share::farmed, broken)
        .sink(ignore);
}
void combined_sums(Graph& graph, const std::vector<Event>& events, BreakingSum sum) {
    stream_of(graph, events)
        .key_by<&Event::key>()
        .window(windows, std::move(sum), share::combined, broken)
        .sink(ignore);
}
void sums_of_sessions(Graph& graph, const std::vector<Event>& events, BreakingSum sum) {
    stream_of(graph, events)
        .key_by<&Event::key>()
        .window(SessionWindows::with_gap(20ns), std::move(sum), broken)
        .sink(ignore);
}
void sums_of_counts(Graph& graph, const std::vector<Event>& events, BreakingSum sum) {
    stream_of(graph, events)
        .key_by<&Event::key>()
        .window(window::CountWindows::sliding(20, 5), std::move(sum), broken)
        .sink(ignore);
}

/// A function that builds one of these graphs, with an operation that breaks.
template <auto build, Operation breaking>
void breaks(Graph& graph, const std::vector<Event>& events, const Probe& probe) {
    build(graph, events, BreakingSum{breaking, probe});
}

const Broken broken_algebra[] = {
    {"lift", "broken", breaks<sums_by_key, Operation::lift>},
    {"combine", "broken", breaks<sums_by_key, Operation::combine>},
    {"lower", "broken", breaks<sums_by_key, Operation::lower>},
    {"farmed lift", "broken", breaks<farmed_sums, Operation::lift>},
    {"farmed combine", "broken", breaks<farmed_sums, Operation::combine>},
    {"farmed lower", "broken", breaks<farmed_sums, Operation::lower>},
    {"combined lift", "broken-parts", breaks<combined_sums, Operation::lift>},
    {"combined combine", testing::AnyOf("broken-parts", "broken"),
     breaks<combined_sums, Operation::combine>},
    {"combined lower", "broken", breaks<combined_sums, Operation::lower>},
    {"lift in sessions", "broken", breaks<sums_of_sessions, Operation::lift>},
    {"combine in sessions", "broken", breaks<sums_of_sessions, Operation::combine>},
    {"lower in sessions", "broken", breaks<sums_of_sessions, Operation::lower>},
    {"lift in counts", "broken", breaks<sums_of_counts, Operation::lift>},
    {"combine in counts", "broken", breaks<sums_of_counts, Operation::combine>},
    {"lower in counts", "broken", breaks<sums_of_counts, Operation::lower>},
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

TEST(WindowFaults, OperationsOfAnAlgebraAndFoldsThatThrowEndTheRunToo) {
    end_the_run_and_name_the_operator(broken_algebra);
}
TEST(WindowFaults, JoinsSharedByWindowAndOrdersOfTimeThatThrowEndTheRunToo) {
    end_the_run_and_name_the_operator(broken_others);
}

}  // namespace
}  // namespace strid

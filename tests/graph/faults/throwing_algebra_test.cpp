// SPDX-License-Identifier: Apache-2.0
//
// The operations of an algebra, where they throw (throwing.hpp).
#include <utility>

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
};

TEST(WindowFaults, OperationsOfAnAlgebraThatThrowEndTheRunToo) {
    end_the_run_and_name_the_operator(broken_algebra);
}
}  // namespace
}  // namespace strid

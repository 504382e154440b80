// SPDX-License-Identifier: Apache-2.0
//
// Joins that give their late records, compiled once for all tests of them.
#include "late_joins.hpp"

#include <cstdint>
#include <utility>

namespace strid::test {

Sides replayed(Graph& graph, const Inputs& inputs) {
    return {
        graph.source(replay(inputs.events)).event_time<&Event::time>(BoundedDisorder{Duration{50}}),
        graph.source(replay(inputs.orders))
            .event_time<&Order::time>(BoundedDisorder{Duration{50}})};
}

Sides dozing(Graph& graph, const Inputs& inputs, std::uint64_t seed) {
    return {graph.source(Dozing<Event>{inputs.events, seed}).event_time<&Event::time>(SourceTime{}),
            graph.source(Dozing<Order>{inputs.orders, seed + 1})
                .event_time<&Order::time>(SourceTime{})};
}

Outcome<Pair> interval_outcome(Graph& graph, Sides sides, Shared shared, const JoinOptions& options,
                               const Inputs& inputs, std::uint64_t seed) {
    const JoinInterval interval = within(Duration{-20}, Duration{30});
    return outcome_of<Pair>(
        graph,
        shared == Shared::by_key
            ? std::move(sides.events)
                  .join(std::move(sides.orders), keys, interval, make_pair, late_apart, options)
            : std::move(sides.events)
                  .join(std::move(sides.orders), keys, interval, make_pair,
                        share::farmed | late_apart, options),
        [](const Pair& pair) { return pair; }, inputs, seed);
}

Outcome<InWindow> window_outcome(Graph& graph, Sides sides, Shared shared,
                                 const TimeWindows& windows, const JoinOptions& options,
                                 const Inputs& inputs, std::uint64_t seed) {
    return outcome_of<InWindow>(
        graph,
        shared == Shared::by_key
            ? std::move(sides.events)
                  .join(std::move(sides.orders), keys, windows, make_pair, late_apart, options)
            : std::move(sides.events)
                  .join(std::move(sides.orders), keys, windows, make_pair,
                        share::farmed | late_apart, options),
        in_window, inputs, seed);
}

JoinKind kind_of(std::uint64_t round, Shared shared) {
    if (shared == Shared::by_window) return round % 2 == 0 ? JoinKind::inner : JoinKind::left;
    return JoinKind{static_cast<std::uint8_t>(round % 3)};
}

}  // namespace strid::test

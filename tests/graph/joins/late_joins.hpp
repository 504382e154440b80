// SPDX-License-Identifier: Apache-2.0
//
// Joins with late records, by key and shared by window, over random streams: what came out of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "joins.hpp"

namespace strid::test {

struct Sides {
    TimedStream<Event, &Event::time> events;
    TimedStream<Order, &Order::time> orders;
};

Sides replayed(Graph& graph, const Inputs& inputs);
Sides dozing(Graph& graph, const Inputs& inputs, std::uint64_t seed);

/// The results of a join and its late records, each sorted, and the records that did not come out
/// as late.
template <class P>
struct Outcome {
    std::vector<P> pairs;
    std::vector<std::int64_t> late_events;
    std::vector<std::int64_t> late_orders;
    Inputs taken;

    [[nodiscard]] std::size_t late() const { return late_events.size() + late_orders.size(); }
};

template <class Record, class Number>
std::vector<std::int64_t> sorted_numbers(const std::vector<Record>& records, const Number& number) {
    std::vector<std::int64_t> numbers;
    for (const Record& record : records) numbers.push_back(std::invoke(number, record));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

template <class Record, class Number>
void leave_out(std::vector<Record>& records, const std::vector<std::int64_t>& numbers,
               const Number& number) {
    std::erase_if(records, [&](const Record& record) {
        return std::binary_search(numbers.begin(), numbers.end(), std::invoke(number, record));
    });
}

template <class P, class Streams, class ToPair>
Outcome<P> outcome_of(Graph& graph, Streams streams, const ToPair& to_pair, const Inputs& inputs,
                      std::uint64_t seed) {
    auto pairs = std::make_shared<Collected<P>>();
    auto events = std::make_shared<Collected<Event>>();
    auto orders = std::make_shared<Collected<Order>>();
    std::move(streams.pairs).sink([pairs, to_pair](const auto& one) { pairs->add(to_pair(one)); });
    std::move(streams.late_left).sink(collect_into(events));
    std::move(streams.late_right).sink(collect_into(orders));
    const RunReport report = run(graph, run_options(seed));
    Outcome<P> outcome{pairs->records(), sorted_numbers(events->records(), &Event::value),
                       sorted_numbers(orders->records(), &Order::number), inputs};
    std::sort(outcome.pairs.begin(), outcome.pairs.end());
    EXPECT_EQ(late_in(report), outcome.late()) << "seed " << seed;
    leave_out(outcome.taken.events, outcome.late_events, &Event::value);
    leave_out(outcome.taken.orders, outcome.late_orders, &Order::number);
    return outcome;
}

inline constexpr auto keys = on<&Event::key, &Order::buyer>();

Outcome<Pair> interval_outcome(Graph& graph, Sides sides, Shared shared, const JoinOptions& options,
                               const Inputs& inputs, std::uint64_t seed);

Outcome<InWindow> window_outcome(Graph& graph, Sides sides, Shared shared,
                                 const TimeWindows& windows, const JoinOptions& options,
                                 const Inputs& inputs, std::uint64_t seed);

/// Of three kinds the one whose turn it is; no full join is shared by window.
JoinKind kind_of(std::uint64_t round, Shared shared);

inline constexpr Shared both_ways[] = {Shared::by_key, Shared::by_window};

/// The records that a stream does not take, by a number that identifies them.
template <class Record, class Number>
std::vector<std::int64_t> late_among(const std::vector<Record>& records, const Number& number,
                                     Duration lateness = Duration::zero()) {
    auto numbers = sorted_numbers(records, number);
    const auto taken = sorted_numbers(punctual(records, lateness), number);
    std::erase_if(numbers, [&taken](std::int64_t one) {
        return std::binary_search(taken.begin(), taken.end(), one);
    });
    return numbers;
}

}  // namespace strid::test

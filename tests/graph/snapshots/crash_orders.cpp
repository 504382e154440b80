// SPDX-License-Identifier: Apache-2.0
//
// Graphs that crash (crash_case.hpp): without windows, with states by key or in an order; and which
// graph a seed has.
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/operator/deduplicate.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/strid.hpp>
#include <strid/window/timers.hpp>

#include "crash_case.hpp"

namespace strid::test {
namespace {

/// A row when a key has been silent, with how many records it had before. Records come in the order
/// of time, and before the watermark that would fire a timer, or behind it.
struct Silence {
    static constexpr FunctionTraits traits{.hears = events<>};
    void operator()(const Number& one, Timers& timers, auto& emit) {
        if (last) timers.cancel(*last);
        if (last && *last <= one.time) {
            emit(std::pair{last->ns() * 100 + key, records});
            records = 0;
        }
        ++records;
        key = one.key;
        last = one.time + Duration{90};
        timers.at(*last);
    }
    void on_timer(EventTime time, Timers& timers, auto& emit) {
        emit(std::pair{time.ns() * 100 + key, records});
        timers.forget_key();
    }
    auto state() { return std::tie(records, key, last); }
    std::int64_t records = 0;
    std::int64_t key = 0;
    std::optional<EventTime> last;
};

}  // namespace

Graph CrashCase::stateless(Graph graph) {
    return finish(std::move(graph), timed(graph, 0)
                                        .map(Passing<Number>{world_})
                                        .map(Passing<Number>{world_}, {.parallelism = replicas()}));
}
Graph CrashCase::timers(Graph graph) {
    auto stream = timed(graph, 0)
                      .apply(in_order_of_time(number_of), {.name = "order"})
                      .template key_by<&Number::key>()
                      .template process<std::pair<std::int64_t, std::int64_t>>(
                          Silence{}, {.name = "silence", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::sums(Graph graph) {
    auto stream = numbers(graph, 0, 1)
                      .template key_by<&Number::key>()
                      .accumulate(std::int64_t{0},
                                  [](std::int64_t& sum, const Number& one) { sum += one.number; },
                                  Emit::every_update, {.name = "sums", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::ordered(Graph graph) {
    auto stream = numbers(graph, 0, 1)
                      .rebalance()
                      .map(Passing<Number>{world_}, {.parallelism = replicas()})
                      .ordered()
                      .map(Passing<Number>{world_});
    return finish(std::move(graph), std::move(stream));
}
/// Each replica of an ordered section stamps its records.
Graph CrashCase::stamped_in_order(Graph graph) {
    auto stream = numbers(graph, 0, 1)
                      .rebalance()
                      .map(Passing<Number>{world_}, {.parallelism = replicas()})
                      .template event_time<&Number::time>(BoundedDisorder{Duration{60 + 30}},
                                                          {.name = "time"})
                      .ordered()
                      .apply(in_order_of_time(number_of), {.name = "order"});
    return finish(std::move(graph), std::move(stream));
}
/// A section is ordered, or not, because it has one replica.
Graph CrashCase::timed_in_order(Graph graph) {
    auto stream = numbers(graph, 0, 1)
                      .template event_time<&Number::time>(BoundedDisorder{Duration{60 + 30}},
                                                          {.name = "time"})
                      .rebalance()
                      .map(Passing<Number>{world_}, {.parallelism = replicas()})
                      .ordered()
                      .apply(in_order_of_time(number_of), {.name = "order"});
    return finish(std::move(graph), std::move(stream));
}
/// A state that is not by key, and whose rows do not depend on the replica that got a record.
Graph CrashCase::partial_sums(Graph graph) {
    auto stream =
        numbers(graph, 0, 1)
            .rebalance()
            .apply(PartialSum{world_}, {.name = "partial-sums", .parallelism = replicas()})
            .key_by([](std::int64_t) { return std::uint32_t{7}; })
            .accumulate(std::int64_t{0}, [](std::int64_t& sum, std::int64_t part) { sum += part; },
                        Emit::at_end, {.name = "sum", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::deduplicated(Graph graph) {
    auto stream =
        timed(graph, 0)
            .apply(in_order_of_time(number_of), {.name = "order"})
            .template key_by<&Number::key>()
            .apply(deduplicate(Duration{55}), {.name = "deduplicate", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}

Graph CrashCase::graph() {
    Graph graph("crash");
    count_ = 20 + below(60);
    keys_ = 1 + static_cast<std::uint32_t>(below(8));
    switch (below(14)) {
        case 0:
            return stateless(std::move(graph));
        case 1:
            return tumbling(std::move(graph));
        case 2:
            return sliding(std::move(graph));
        case 3:
            return sessions(std::move(graph));
        case 4:
            return counts(std::move(graph));
        case 5:
            return timers(std::move(graph));
        case 6:
            return sums(std::move(graph));
        case 7:
            return join(std::move(graph));
        case 8:
            return together(std::move(graph));
        case 9:
            return ordered(std::move(graph));
        case 10:
            return stamped_in_order(std::move(graph));
        case 11:
            return timed_in_order(std::move(graph));
        case 12:
            return partial_sums(std::move(graph));
        default:
            return deduplicated(std::move(graph));
    }
}

}  // namespace strid::test

// SPDX-License-Identifier: Apache-2.0
//
// Graphs that crash (crash_case.hpp): windows and joins.
#include <chrono>
#include <cstdint>
#include <utility>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "crash_case.hpp"

namespace strid::test {

using namespace window;

template <class Windows>
Graph CrashCase::windows(Graph graph, Windows windows) {
    auto stream = timed_and_changed(graph, 0).key_by<&Number::key>().window(
        windows, sum(number_of), {.name = "windows", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}

Graph CrashCase::tumbling(Graph graph) {
    return windows(std::move(graph), TimeWindows::tumbling(Duration{70}));
}
Graph CrashCase::sliding(Graph graph) {
    return windows(std::move(graph), TimeWindows::sliding(Duration{120}, Duration{40}));
}
Graph CrashCase::sessions(Graph graph) {
    auto stream = timed_and_changed(graph, 0).key_by<&Number::key>().window(
        SessionWindows::with_gap(Duration{35}), maximum(number_of),
        {.name = "sessions", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::counts(Graph graph) {
    auto stream = numbers(graph, 0, 1)
                      .template key_by<&Number::key>()
                      .window(CountWindows::sliding(6, 2), sum(number_of),
                              {.name = "counts", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::join(Graph graph) {
    auto left = timed_and_changed(graph, 0);
    auto right = timed_and_changed(graph, 1);
    auto stream = std::move(left).join(std::move(right), on<&Number::key, &Number::key>(),
                                       within(Duration{-20}, Duration{20}),
                                       [](const Number& one, const Number& other) {
                                           return std::pair{one.number, other.number};
                                       },
                                       {.name = "pairs", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}
Graph CrashCase::together(Graph graph) {
    auto left = timed_and_changed(graph, 0);
    auto right = timed_and_changed(graph, 1);
    auto stream = std::move(left)
                      .merge(std::move(right))
                      .key_by<&Number::key>()
                      .window(TimeWindows::tumbling(Duration{70}), count(),
                              {.name = "windows", .parallelism = replicas()});
    return finish(std::move(graph), std::move(stream));
}

}  // namespace strid::test

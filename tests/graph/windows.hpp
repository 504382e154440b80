// SPDX-License-Identifier: Apache-2.0
//
// Running graphs with windows, as the tests compare them with the obvious computation
// (window_oracle.hpp): random streams with disorder, equal times, gaps and records that come too
// late, and what a graph says of them in every mode.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../support/perturbed.hpp"
#include "../support/seeds.hpp"
#include "window_oracle.hpp"

namespace strid::test {

struct Shape {
    std::uint32_t keys = 5;
    std::int64_t step = 10;       // time moves on by up to this much
    std::int64_t disorder = 50;   // and a record lies behind by up to this much
    std::int64_t too_late = 400;  // one in 16 by up to this much
    std::int64_t gap = 3'000;     // one in 100 times moves on by up to this much
};

std::vector<Event> random_events(std::uint64_t seed, const Shape& shape, std::size_t count);

/// The records that a run counted as late, in any operator.
std::uint64_t late_in(const RunReport& report);

struct Setting {
    Duration bound{50};
    WindowOptions options = {};
    RunOptions run = {};
};

/// The output of a graph as an answer: with lateness, the last result of each window.
Answer answer_of(const std::vector<Row>& rows, std::vector<Event> late,
                 const WindowOptions& options);

/// A sink of results that it keeps as rows. It has one type for all tests, so that what stands
/// before it is compiled once for each type of results.
struct ToRows {
    std::shared_ptr<Collected<Row>> rows;
    void operator()(const auto& result) const {
        rows->add({result.key, result.window.start.ns(), result.window.end.ns(),
                   static_cast<double>(result.value)});
    }
};
/// Of windows by key.
template <class Value>
using RowOf = WindowResult<std::uint32_t, Value, window::TimeBounds>;
/// One that keeps the results themselves.
template <class Result>
struct ToResults {
    std::shared_ptr<Collected<Result>> results;
    void operator()(const Result& result) const { results->add(result); }
};

/// The results of the graph; with lateness, the last result of each window.
template <class Windows, class A>
Answer computed(const std::vector<Event>& events, const Windows& windows, const A& aggregate,
                const Setting& setting, std::uint64_t* counted_late = nullptr) {
    Graph graph{"windows"};
    auto stream = graph.source(replay(events))
                      .event_time<&Event::time>(BoundedDisorder{setting.bound})
                      .template key_by<&Event::key>();
    auto [results, late] =
        std::move(stream).window(windows, aggregate, late_apart, setting.options);
    auto rows = std::make_shared<Collected<Row>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink(ToRows{rows});
    std::move(late).sink(collect_into(late_rows));
    const RunReport report = run(graph, setting.run);
    if (counted_late != nullptr) *counted_late = late_in(report);
    return answer_of(rows->records(), late_rows->records(), setting.options);
}

RunOptions run_options(std::uint64_t seed);

inline const std::size_t event_count = test::perturbed ? 600 : 3'000;

/// `value_of(records)` is what the aggregate has to say of a window.
template <class Windows, class A>
void agrees(const Windows& windows, const A& aggregate, const ValueOf& value_of, const Shape& shape,
            Duration bound = Duration{50}) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        Setting setting{.bound = bound, .run = run_options(seed)};
        std::uint64_t counted = 0;
        const Answer answer = computed(events, windows, aggregate, setting, &counted);
        const Answer oracle = expected(events, windows, bound, Duration::zero(), value_of);
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
        ASSERT_EQ(counted, oracle.late.size()) << "seed " << seed;
    }
}

inline const auto sum = window::sum<&Event::value>();
inline const auto mean = window::mean<&Event::value>();

inline TimeWindows sliding(std::int64_t length, std::int64_t slide, std::int64_t offset = 0) {
    return TimeWindows::sliding(Duration{length}, Duration{slide}, Duration{offset});
}

/// Of each window what it says last; sessions change their bounds and have a test of their own.
template <class A = decltype(sum)>
void agrees_with_lateness(const TimeWindows& windows, const A& aggregate = sum) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        const Duration lateness{static_cast<std::int64_t>(1 + 97 * (seed % 8))};
        const Setting setting{.options = {.lateness = lateness}, .run = run_options(seed)};
        const Answer answer = computed(events, windows, aggregate, setting);
        const Answer oracle = expected(events, windows, setting.bound, lateness, sum_of);
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
    }
}

/// Events that come in the order of their times.
inline auto stream_of(Graph& graph, const std::vector<Event>& ordered) {
    return graph.source(replay(ordered)).event_time<&Event::time>(MonotonousTime{});
}

/// The results of what `build` puts behind the events, in the order in which they came.
template <class Build>
auto whole_stream(const std::vector<Event>& events, const RunOptions& options, const Build& build) {
    Graph graph{"whole"};
    auto stream =
        graph.source(replay(events)).event_time<&Event::time>(BoundedDisorder{Duration{50}});
    auto results = build(std::move(stream));
    using Result = typename decltype(results)::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    std::move(results).sink(ToResults<Result>{rows});
    run(graph, options);
    return rows->records();
}

}  // namespace strid::test

#include "kernels.hpp"

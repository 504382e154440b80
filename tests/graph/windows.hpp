// SPDX-License-Identifier: Apache-2.0
//
// Running graphs with windows, as the tests compare them with the obvious computation
// (window_oracle.hpp): random streams with disorder, equal times, gaps and records that come too
// late, and what a graph says of them in every mode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
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

inline std::vector<Event> random_events(std::uint64_t seed, const Shape& shape, std::size_t count) {
    std::mt19937_64 random{seed};
    const auto up_to = [&random](std::int64_t limit) {
        return limit <= 0
                   ? 0
                   : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit + 1));
    };
    std::vector<Event> events;
    std::int64_t now = -2'000;
    for (std::size_t i = 0; i < count; ++i) {
        now += up_to(99) == 0 ? up_to(shape.gap) : up_to(shape.step);
        const std::int64_t behind = up_to(15) == 0 ? up_to(shape.too_late) : up_to(shape.disorder);
        events.push_back({static_cast<std::uint32_t>(random() % shape.keys), at(now - behind),
                          up_to(1'000) - 500});
    }
    return events;
}

/// The records that a run counted as late, in any operator.
inline std::uint64_t late_in(const RunReport& report) {
    std::uint64_t late = 0;
    for (const auto& segment : report.segments) {
        for (const auto& one : segment.operators) late += one.records_late;
    }
    return late;
}

struct Setting {
    Duration bound{50};
    WindowOptions options = {};
    RunOptions run = {};
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
    using Result = typename decltype(results)::record_type;
    auto rows = std::make_shared<Collected<Result>>();
    auto late_rows = std::make_shared<Collected<Event>>();
    std::move(results).sink(collect_into(rows));
    std::move(late).sink(collect_into(late_rows));
    const RunReport report = run(graph, setting.run);
    Answer answer;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;
    std::map<std::uint32_t, std::int64_t> ends;
    for (const Result& row : rows->records()) {
        const auto bounds = std::tuple{row.key, row.window.start.ns(), row.window.end.ns()};
        const auto [entry, is_new] = last.insert_or_assign(bounds, static_cast<double>(row.value));
        if (setting.options.lateness != Duration::zero()) continue;
        EXPECT_TRUE(is_new) << "a window fired twice";
        auto& end = ends.try_emplace(row.key, row.window.end.ns()).first->second;
        EXPECT_LE(end, row.window.end.ns()) << "windows of a key fire in the order of their ends";
        end = row.window.end.ns();
    }
    for (const auto& [bounds, value] : last) {
        const auto [key, start, end] = bounds;
        answer.rows.emplace_back(key, start, end, value);
    }
    answer.late = late_rows->records();
    sort(answer);
    if (counted_late != nullptr) *counted_late = late_in(report);
    return answer;
}

inline RunOptions run_options(std::uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    switch (seed % 4) {
        case 0:
            options.mode = RunOptions::Mode::simulation;
            break;
        case 1:
            options.mode = RunOptions::Mode::dedicated;
            break;
        default:
            options.workers = 2;
            break;
    }
    options.parallelism = 1 + seed % 3;
    constexpr Composition compositions[] = {Composition::combined, Composition::dedicated,
                                            Composition::centralised};
    options.composition = compositions[seed / 2 % 3];
    return options;
}

inline const std::size_t event_count = test::perturbed ? 600 : 3'000;

/// `value_of(records)` is what the aggregate has to say of a window.
template <class Windows, class A, class ValueOf>
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
    std::move(results).sink([rows](const Result& result) { rows->add(result); });
    run(graph, options);
    return rows->records();
}

}  // namespace strid::test

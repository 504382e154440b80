// SPDX-License-Identifier: Apache-2.0
//
// A key whose hash is constant: each window operator by itself, with keys that all hash alike,
// gives what a map of the keys gives.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/window/operators/keyed_count_windows.hpp>
#include <strid/engine/window/operators/keyed_global_windows.hpp>
#include <strid/engine/window/operators/keyed_sessions.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/test/harness.hpp>
#include <strid/window/aggregates.hpp>

#include "../support/seeds.hpp"
#include "keyed_events.hpp"

namespace strid::window {
namespace {

using test::KeyOf;
using test::TimeOf;
using test::ValueOf;
using test::ValueSum;
using Event = test::KeyedEvent;

constexpr std::uint32_t keys = 200;

/// Times rise by 1.
std::vector<Event> random_events(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<Event> events;
    for (std::int64_t i = 0; i < 4'000; ++i) {
        events.push_back({static_cast<std::uint32_t>(random() % keys), EventTime::of_ns(i),
                          static_cast<std::int64_t>(random() % 100)});
    }
    return events;
}

using Row = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;

Row row_of(const WindowResult<std::uint32_t, std::int64_t, TimeBounds>& result) {
    return {result.key, result.window.start.ns(), result.window.end.ns(), result.value};
}
Row row_of(const WindowResult<std::uint32_t, std::int64_t, CountBounds>& result) {
    return {result.key, static_cast<std::int64_t>(result.window.start),
            static_cast<std::int64_t>(result.window.end), result.value};
}

/// The results of the operator, time going on with each record.
template <class Operator>
std::vector<Row> rows_of(Operator one, const std::vector<Event>& events) {
    const auto one_hash = [](const Event&) { return 42; };
    test::Harness windows{std::move(one), test::arriving_by_key<Event>(one_hash)};
    for (const Event& event : events) {
        windows.record(event);
        EXPECT_TRUE(windows.watermark(event.time));
    }
    EXPECT_TRUE(windows.end());
    std::vector<Row> rows;
    for (const auto& result : windows.emitted()) rows.push_back(row_of(result));
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::map<std::uint32_t, std::vector<Event>> by_key(const std::vector<Event>& events) {
    std::map<std::uint32_t, std::vector<Event>> result;
    for (const Event& event : events) result[event.key].push_back(event);
    return result;
}

TEST(AConstantHash, GivesTheWindowsOfTimeOfEachKey) {
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        const auto windows = TimeWindows::sliding(Duration{500}, Duration{100});
        std::map<std::tuple<std::uint32_t, std::int64_t>, std::int64_t> sums;
        for (const Event& event : events) {
            for (std::int64_t k = -5; k <= 40; ++k) {
                const std::int64_t start = k * 100;
                if (event.time.ns() < start || event.time.ns() >= start + 500) continue;
                sums[{event.key, start}] += event.value;
            }
        }
        std::vector<Row> oracle;
        for (const auto& [where, sum] : sums) {
            const auto [key, start] = where;
            oracle.emplace_back(key, start, start + 500, sum);
        }
        using Windows = KeyedTimeWindows<Event, KeyOf, std::uint32_t, TimeOf, ValueSum>;
        EXPECT_EQ(rows_of(Windows{windows, {}, {}, {}, {}}, events), oracle) << "seed " << seed;
    }
}

TEST(AConstantHash, GivesTheSessionsOfEachKey) {
    constexpr std::int64_t gap = 150;
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::vector<Row> oracle;
        for (const auto& [key, all] : by_key(events)) {
            std::int64_t last = std::numeric_limits<std::int64_t>::min() / 2;
            for (const Event& event : all) {
                const std::int64_t time = event.time.ns();
                if (time - last > gap) oracle.emplace_back(key, time, 0, 0);
                std::get<2>(oracle.back()) = time + gap;
                std::get<3>(oracle.back()) += event.value;
                last = time;
            }
        }
        using Windows = KeyedSessions<Event, KeyOf, std::uint32_t, TimeOf, ValueSum>;
        const auto sessions = SessionWindows::with_gap(Duration{gap});
        EXPECT_EQ(rows_of(Windows{sessions, {}, {}, {}, {}}, events), oracle) << "seed " << seed;
    }
}

TEST(AConstantHash, GivesTheWindowsOfCountsOfEachKey) {
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::vector<Row> oracle;
        std::vector<Row> wholes;
        for (const auto& [key, all] : by_key(events)) {
            std::int64_t whole = 0;
            for (const Event& event : all) whole += event.value;
            wholes.emplace_back(key, 0, all.size(), whole);
            for (std::size_t start = 0; start < all.size(); start += 3) {
                const std::size_t end = std::min(start + 7, all.size());
                std::int64_t sum = 0;
                for (std::size_t i = start; i != end; ++i) sum += all[i].value;
                oracle.emplace_back(key, start, end, sum);
            }
        }
        using Windows = KeyedCountWindows<Event, KeyOf, std::uint32_t, ValueSum>;
        EXPECT_EQ(rows_of(Windows{CountWindows::sliding(7, 3), {}, {}, {}}, events), oracle)
            << "seed " << seed;
        auto never = [](const Event&) { return Trigger::wait; };
        using Whole = KeyedGlobalWindows<Event, KeyOf, std::uint32_t, decltype(never), ValueSum>;
        EXPECT_EQ(rows_of(Whole{global(never), {}, {}, {}}, events), wholes) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid::window

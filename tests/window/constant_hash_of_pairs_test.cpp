// SPDX-License-Identifier: Apache-2.0
//
// A key whose hash is constant (constant_hash_test.cpp): joins, functions with timers, functions of
// full content and windows that are combined before they are sent, with keys that all hash alike,
// give what a map of the keys gives.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/window/aggregates/partial.hpp>
#include <strid/engine/window/joins/keyed_interval_join.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/partial_panes.hpp>
#include <strid/operator/callable.hpp>
#include <strid/test/harness.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/content.hpp>

#include "../support/seeds.hpp"
#include "keyed_events.hpp"

namespace strid::window {
namespace {

using test::KeyOf;
using test::TimeOf;
using test::ValueOf;
using test::ValueSum;
using Event = test::KeyedEvent;

constexpr auto one_hash = [](const auto&) { return 42; };
constexpr std::uint32_t keys = 200;

/// Times rise by 1; the value is the place in the stream.
std::vector<Event> random_events(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<Event> events;
    for (std::int64_t i = 0; i < 4'000; ++i) {
        events.push_back({static_cast<std::uint32_t>(random() % keys), EventTime::of_ns(i), i});
    }
    return events;
}

/// Whether it is a left record of a join.
bool is_left(const Event& event) {
    return event.value % 3 != 0;
}

using Row = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;

std::vector<Row> sorted(std::vector<Row> rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Gives the operator the events as `made`, time going on with each.
template <class Operator, class Make, class Take>
void give(Operator one, const std::vector<Event>& events, const Make& made, const Take& take) {
    using Record = std::remove_cvref_t<decltype(made(events.front()))>;
    test::Harness harness{std::move(one), test::arriving_by_key<Record>(one_hash)};
    for (const Event& event : events) {
        harness.record(made(event));
        EXPECT_TRUE(harness.watermark(event.time));
    }
    EXPECT_TRUE(harness.end());
    for (const auto& result : harness.emitted()) take(result);
}

using Either = EitherSide<Event, Event>;
using EitherKeyOf = EitherKey<KeyOf, KeyOf>;
constexpr auto either = [](const Event& event) {
    return is_left(event) ? Either{std::in_place_index<0>, event}
                          : Either{std::in_place_index<1>, event};
};

struct PairOf {
    Row operator()(const Event* left, const Event* right) const {
        EXPECT_TRUE(left == nullptr || right == nullptr || left->key == right->key);
        return {(left != nullptr ? left : right)->key, left != nullptr ? left->value : -1,
                right != nullptr ? right->value : -1};
    }
};

/// The pairs of the records of which `meet` says so, and those without a partner.
template <class Meet>
void add_pairs(std::vector<Row>& rows, std::span<const Event> all, const Meet& meet) {
    for (const Event& one : all) {
        bool met = false;
        for (const Event& other : all) {
            if (one.key != other.key || is_left(one) == is_left(other)) continue;
            if (!(is_left(one) ? meet(one, other) : meet(other, one))) continue;
            met = true;
            if (is_left(one)) rows.push_back(PairOf{}(&one, &other));
        }
        if (!met) rows.push_back(is_left(one) ? PairOf{}(&one, nullptr) : PairOf{}(nullptr, &one));
    }
}

TEST(AConstantHash, GivesThePairsOfAnIntervalOfEachKey) {
    using IntervalJoin = KeyedIntervalJoin<Event, Event, EitherKeyOf, TimeOf, TimeOf, PairOf>;
    const JoinInterval interval{{Duration{-150}}, {Duration{300}}};
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::vector<Row> oracle;
        add_pairs(oracle, events, [](const Event& left, const Event& right) {
            const std::int64_t apart = (right.time - left.time).count();
            return apart >= -150 && apart <= 300;
        });
        std::vector<Row> rows;
        const JoinOptions options{.kind = JoinKind::full};
        give(IntervalJoin{interval, {}, {}, {}, {}, options}, events, either,
             [&rows](const Row& row) { rows.push_back(row); });
        EXPECT_EQ(sorted(rows), sorted(oracle)) << "seed " << seed;
    }
}

TEST(AConstantHash, GivesThePairsOfTheWindowsOfEachKey) {
    using Join = WindowJoin<Event, Event, PairOf>;
    using Windows =
        KeyedTimeWindows<Either, EitherKeyOf, std::uint32_t, EitherTime<TimeOf, TimeOf>, Join>;
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::vector<Row> oracle;
        for (std::size_t start = 0; start < events.size(); start += 500) {
            add_pairs(oracle, std::span{events}.subspan(start, 500),
                      [](const Event&, const Event&) { return true; });
        }
        std::vector<Row> rows;
        const auto windows = TimeWindows::tumbling(Duration{500});
        give(Windows{windows, {}, {}, Join{{}, JoinKind::full}, {}}, events, either,
             [&rows](const auto& row) { rows.push_back(row.value); });
        EXPECT_EQ(sorted(rows), sorted(oracle)) << "seed " << seed;
    }
}

/// Says how many of the key have come when none has for 100, and is forgotten.
struct Alarm {
    std::int64_t records = 0;
    EventTime last{};
    std::uint32_t key = 0;

    void operator()(const Event& event, Timers& timers, Emitter<Row>&) {
        if (records != 0) timers.cancel(last + Duration{100});
        ++records;
        key = event.key;
        last = event.time;
        timers.at(last + Duration{100});
    }
    void on_timer(EventTime time, Timers& timers, Emitter<Row>& emit) {
        emit({key, time.ns(), records});
        timers.forget_key();
    }
};

TEST(AConstantHash, GivesTheTimersOfEachKey) {
    using Process = KeyedProcess<Event, KeyOf, std::uint32_t, Alarm, Row>;
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::vector<Row> oracle;
        std::map<std::uint32_t, Row> open;
        for (const Event& event : events) {
            const std::int64_t alarm = event.time.ns() + 100;
            auto& row = open.try_emplace(event.key, event.key, alarm, 0).first->second;
            // The alarm of a record fires before another one of the same time comes.
            if (std::get<1>(row) < event.time.ns()) {
                oracle.push_back(row);
                row = {event.key, alarm, 0};
            }
            std::get<1>(row) = alarm;
            ++std::get<2>(row);
        }
        for (const auto& [key, row] : open) oracle.push_back(row);
        std::vector<Row> rows;
        give(Process{{}, {}}, events, std::identity{},
             [&rows](const Row& row) { rows.push_back(row); });
        EXPECT_EQ(sorted(rows), sorted(oracle)) << "seed " << seed;
    }
}

constexpr auto first_and_last = [](std::uint32_t key, const TimeBounds&, std::span<const Event> all,
                                   auto& emit) {
    emit(Row{key, all.front().value, 1});
    emit(Row{key, all.back().value, static_cast<std::int64_t>(all.size())});
};

TEST(AConstantHash, GivesTheContentOfTheWindowsOfEachKey) {
    const auto function = process<Event, Row>(first_and_last);
    using Windows = KeyedTimeWindows<Event, KeyOf, std::uint32_t, TimeOf,
                                     std::remove_const_t<decltype(function)>>;
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::map<std::tuple<std::int64_t, std::uint32_t>, std::vector<Event>> contents;
        for (const Event& event : events) {
            const std::int64_t last = event.time.ns() / 100;
            for (std::int64_t k = last - 4; k <= last; ++k) {
                contents[{k, event.key}].push_back(event);
            }
        }
        std::vector<Row> oracle;
        for (const auto& [where, all] : contents) {
            const auto emit = [&oracle](const Row& row) { oracle.push_back(row); };
            first_and_last(std::get<1>(where), {}, all, emit);
        }
        std::vector<Row> rows;
        const auto windows = TimeWindows::sliding(Duration{500}, Duration{100});
        give(Windows{windows, {}, {}, function, {}}, events, std::identity{},
             [&rows](const auto& row) { rows.push_back(row.value); });
        EXPECT_EQ(sorted(rows), sorted(oracle)) << "seed " << seed;
    }
}

/// Both levels of combined windows.
TEST(AConstantHash, GivesTheCombinedWindowsOfEachKey) {
    using First = PartialPanes<Event, KeyOf, std::uint32_t, TimeOf, ValueSum>;
    using Part = First::Part;
    using Second = KeyedTimeWindows<Part, KeyOf, std::uint32_t, TimeOf, Merged<ValueSum, Part>>;
    const auto windows = TimeWindows::sliding(Duration{500}, Duration{100});
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed);
        std::map<std::tuple<std::uint32_t, std::int64_t>, std::int64_t> sums;
        for (const Event& event : events) {
            const std::int64_t last = event.time.ns() / 100;
            for (std::int64_t k = last - 4; k <= last; ++k) sums[{event.key, k}] += event.value;
        }
        std::vector<Row> oracle;
        for (const auto& [where, sum] : sums) {
            oracle.emplace_back(std::get<0>(where), std::get<1>(where) * 100, sum);
        }
        test::Harness second{Second{windows, {}, {}, {}, {}},
                             test::arriving_by_key<Part>(one_hash)};
        test::Harness first{First{windows, {}, {}, {}}};
        for (const Event& event : events) {
            first.record(event);
            EXPECT_TRUE(first.watermark(event.time));
            second.batch(first.take_emitted());
            EXPECT_TRUE(second.watermark(event.time));
        }
        EXPECT_TRUE(first.end());
        second.batch(first.take_emitted());
        EXPECT_TRUE(second.end());
        std::vector<Row> rows;
        for (const auto& result : second.emitted()) {
            rows.emplace_back(result.key, result.window.start.ns(), result.value);
        }
        EXPECT_EQ(sorted(rows), sorted(oracle)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid::window

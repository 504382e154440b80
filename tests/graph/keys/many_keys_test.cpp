// SPDX-License-Identifier: Apache-2.0
//
// More keys than a core's caches hold, where lookups go ahead of the records
// (KeyedState::look_ahead): the answer is that of a map.
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../../support/perturbed.hpp"

namespace strid {
namespace {

struct Item {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
};

/// Most of them twice or more; times rise.
std::vector<Item> items() {
    std::mt19937_64 random{3};
    std::vector<Item> all;
    const std::uint32_t count = test::perturbed ? 2'000 : 220'000;
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back({static_cast<std::uint32_t>(random() % (count / 3)), EventTime::of_ns(i),
                       static_cast<std::int64_t>(random() % 1'000)});
    }
    return all;
}

std::map<std::uint32_t, std::int64_t> sums(const std::vector<Item>& all) {
    std::map<std::uint32_t, std::int64_t> result;
    for (const Item& item : all) result[item.key] += item.value;
    return result;
}

/// All keys with one replica.
RunOptions one_replica() {
    RunOptions options;
    options.workers = 2;
    options.parallelism = 1;
    return options;
}

using Rows = std::map<std::uint32_t, std::int64_t>;

TEST(ManyKeys, Accumulate) {
    const auto all = items();
    auto collected = std::make_shared<Collected<Keyed<std::uint32_t, std::int64_t>>>();
    Graph graph{"accumulate"};
    graph.source(replay(all))
        .key_by<&Item::key>()
        .accumulate(
            std::int64_t{0}, [](std::int64_t& sum, const Item& item) { sum += item.value; },
            Emit::at_end)
        .sink(collect_into(collected));
    run(graph, one_replica());
    Rows rows;
    for (const auto& [key, sum] : collected->records()) EXPECT_TRUE(rows.emplace(key, sum).second);
    EXPECT_EQ(rows, sums(all));
}

TEST(ManyKeys, AMapWithAStateForEach) {
    const auto all = items();
    auto collected = std::make_shared<Collected<std::pair<std::uint32_t, std::int64_t>>>();
    Graph graph{"map"};
    graph.source(replay(all))
        .key_by<&Item::key>()
        .map([sum = std::int64_t{0}](const Item& item) mutable {
            return std::pair{item.key, sum += item.value};
        })
        .sink(collect_into(collected));
    run(graph, one_replica());
    Rows rows;
    for (const auto& [key, sum] : collected->records()) rows[key] = sum;
    EXPECT_EQ(collected->size(), all.size());
    EXPECT_EQ(rows, sums(all));
}

TEST(ManyKeys, WindowsOfTimeAndSessions) {
    const auto all = items();
    const auto rows_of = [&](const auto& windows) {
        Graph graph{"windows"};
        auto stream = graph.source(replay(all))
                          .event_time<&Item::time>(MonotonousTime{})
                          .key_by<&Item::key>()
                          .window(windows, window::sum<&Item::value>());
        using Result = typename decltype(stream)::record_type;
        auto collected = std::make_shared<Collected<Result>>();
        std::move(stream).sink(collect_into(collected));
        run(graph, one_replica());
        Rows rows;
        for (const Result& result : collected->records()) rows[result.key] += result.value;
        return rows;
    };
    const auto span = Duration{static_cast<std::int64_t>(all.size() / 4)};
    EXPECT_EQ(rows_of(window::TimeWindows::tumbling(span)), sums(all));
    EXPECT_EQ(rows_of(window::SessionWindows::with_gap(span)), sums(all));
}

TEST(ManyKeys, WindowsOfCounts) {
    const auto all = items();
    auto collected = std::make_shared<
        Collected<WindowResult<std::uint32_t, std::int64_t, window::CountBounds>>>();
    Graph graph{"counts"};
    graph.source(replay(all))
        .key_by<&Item::key>()
        .window(window::CountWindows::tumbling(2), window::sum<&Item::value>())
        .sink(collect_into(collected));
    run(graph, one_replica());
    Rows rows;
    for (const auto& result : collected->records()) rows[result.key] += result.value;
    EXPECT_EQ(rows, sums(all));
}

TEST(ManyKeys, IntervalJoinWithItself) {
    const auto all = items();
    const auto reach = static_cast<std::int64_t>(all.size() / 4);
    std::map<std::uint32_t, std::vector<Item>> by_key;
    for (const Item& item : all) by_key[item.key].push_back(item);
    Rows expected;
    for (const auto& [key, some] : by_key) {
        for (const Item& left : some) {
            for (const Item& right : some) {
                const std::int64_t apart = (right.time - left.time).count();
                if (apart >= -reach && apart <= reach) expected[key] += left.value * right.value;
            }
        }
    }
    auto collected = std::make_shared<Collected<std::pair<std::uint32_t, std::int64_t>>>();
    Graph graph{"join"};
    const auto side = [&] {
        return graph.source(replay(all)).event_time<&Item::time>(MonotonousTime{});
    };
    side()
        .join(side(), on<&Item::key>(), within(Duration{-reach}, Duration{reach}),
              [](const Item& left, const Item& right) {
                  return std::pair{left.key, left.value * right.value};
              })
        .sink(collect_into(collected));
    run(graph, one_replica());
    Rows rows;
    for (const auto& [key, product] : collected->records()) rows[key] += product;
    EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace strid

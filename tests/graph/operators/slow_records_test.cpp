// SPDX-License-Identifier: Apache-2.0
//
// Slow calls behind `rebalance`: each replica gets its share of few records, which would fit into
// one batch.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/generator.hpp>
#include <strid/connector/replay.hpp>
#include <strid/operator/context.hpp>
#include <strid/stream/graph.hpp>

#include "../collected.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t replicas = 64;
constexpr std::size_t records = 640;

using Number = std::uint64_t;

std::vector<Number> numbers() {
    std::vector<Number> all(records);
    for (Number n = 0; n < records; ++n) all[n] = n;
    return all;
}

/// How many records each replica had.
using Shares = std::array<std::atomic<std::size_t>, replicas>;

auto slow_call(Shares& shares) {
    return [&shares](const Number& n, const Context& context) {
        shares[context.replica].fetch_add(1, std::memory_order_relaxed);
        std::this_thread::sleep_for(10ms);
        return n;
    };
}

/// 10 each would be the best; one batch for all would be 640, and as many sleeps in a row.
std::size_t largest(const Shares& shares) {
    return *std::max_element(shares.begin(), shares.end());
}

RunOptions a_thread_each() {
    return {.mode = RunOptions::Mode::dedicated};
}

template <class Source>
void expect_equal_shares(Source source) {
    Shares shares{};
    test::Collected<Number> taken;
    Graph graph{"slow calls"};
    graph.source(std::move(source))
        .rebalance()
        .map(slow_call(shares), {.parallelism = replicas})
        .sink(taken.sink());
    run(graph, a_thread_each());
    EXPECT_EQ(taken.sorted(), numbers());
    EXPECT_LE(largest(shares), 40U);
}

TEST(SlowRecords, OfASourceThatHasThemAllAtOnce) {
    expect_equal_shares(from_vector(numbers()));
}

TEST(SlowRecords, OfASourceWithAThreadOfItsOwn) {
    expect_equal_shares(from_generator(
        []() -> Generator<Number> {
            for (Number n = 0; n < records; ++n) co_yield n;
        },
        {.blocks = true}));
}

TEST(SlowRecords, OfOneRecord) {
    Shares shares{};
    test::Collected<Number> taken;
    Graph graph{"slow calls"};
    graph.source(from_vector(std::vector<Number>{records}))
        .flat_map<Number>([](const Number& count, auto& emit) {
            for (Number n = 0; n < count; ++n) emit(n);
        })
        .rebalance()
        .map(slow_call(shares), {.parallelism = replicas})
        .sink(taken.sink());
    run(graph, a_thread_each());
    EXPECT_EQ(taken.sorted(), numbers());
    EXPECT_LE(largest(shares), 40U);
}

TEST(SlowRecords, KeepTheirOrderBeforeOrdered) {
    Shares shares{};
    std::vector<Number> taken;
    Graph graph{"slow calls"};
    graph.source(from_vector(numbers()))
        .rebalance()
        .map(slow_call(shares), {.parallelism = replicas})
        .ordered()
        .sink([&taken](const Number& n) { taken.push_back(n); });
    run(graph, a_thread_each());
    EXPECT_EQ(taken, numbers());
    EXPECT_LE(largest(shares), 40U);
}

}  // namespace
}  // namespace strid

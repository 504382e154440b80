// SPDX-License-Identifier: Apache-2.0
//
// Functions of several records at once against functions of one, under every way to run a graph.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/operator/batches.hpp>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::Collected;
using test::Numbers;

const std::uint64_t count = test::perturbed ? 600 : 5000;

void square(std::span<const std::uint64_t> numbers, std::span<std::uint64_t> squares) {
    for (std::size_t i = 0; i != numbers.size(); ++i) squares[i] = numbers[i] * numbers[i];
}
void no_thirds(std::span<const std::uint64_t> numbers, std::span<bool> keep) {
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        // The others stay as they are: false.
        if (numbers[i] % 3 != 0) keep[i] = true;
    }
}

TEST(Batches, FunctionsOfSeveralRecordsAreThoseOfEach) {
    std::vector<std::uint64_t> expected;
    for (std::uint64_t n = 0; n != count; ++n) {
        if ((n + 1) * (n + 1) % 3 != 0) expected.push_back((n + 1) * (n + 1));
    }
    for (const auto& way : all_ways()) {
        for (const std::size_t parallelism : {1U, 3U}) {
            SCOPED_TRACE(way.name + ", " + std::to_string(parallelism) + " replicas");
            Collected<std::uint64_t> collected;
            Graph graph{"batches"};
            graph.source(Numbers{count})
                .map([](const std::uint64_t& n) { return n + 1; })
                .map_batch<std::uint64_t>(square, {.parallelism = parallelism})
                .filter_batch(no_thirds, {.parallelism = parallelism})
                .sink(collected.sink());
            const auto report = run(graph, way.options);
            EXPECT_EQ(collected.sorted(), expected);
            EXPECT_EQ(report.records_out(), expected.size());
        }
    }
}

/// The sum of all records so far. Not the same where it is called twice for a record.
struct RunningSum {
    static constexpr FunctionTraits traits{.hears = events<>};
    void operator()(std::span<const std::uint64_t> numbers, std::span<std::uint64_t> sums) {
        calls_of_more_than_one += numbers.size() > 1 ? 1 : 0;
        for (std::size_t i = 0; i != numbers.size(); ++i) sums[i] = sum += numbers[i];
    }
    auto state() { return std::tie(sum, calls_of_more_than_one); }

    std::uint64_t sum = 0;
    std::uint64_t calls_of_more_than_one = 0;
};

/// Each result becomes many records, so that the output has no room in the middle of a batch.
TEST(Batches, AFunctionIsCalledOnceForEachRecord) {
    std::vector<std::uint64_t> expected;
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n != count; ++n) {
        sum += n;
        for (std::uint64_t copy = 0; copy != 20; ++copy) expected.push_back(sum);
    }
    for (const auto& way : all_ways()) {
        SCOPED_TRACE(way.name);
        Collected<std::uint64_t> collected;
        Graph graph{"sums"};
        graph.source(Numbers{count})
            .map_batch<std::uint64_t>(RunningSum{}, {.parallelism = 1})
            .flat_map<std::uint64_t>(
                [](const std::uint64_t& n, auto& emit) {
                    for (int copy = 0; copy != 20; ++copy) emit(n);
                },
                {.parallelism = 1})
            .key_by([](const std::uint64_t&) { return 0; })
            .sink(collected.sink());
        run(graph, way.options);
        EXPECT_EQ(collected.sorted(), expected);
    }
}

/// Two consumers read the same batches.
TEST(Batches, RecordsOfOthersAreOnlyRead) {
    Collected<std::string> chosen;
    Collected<std::string> all;
    Graph graph{"two readers"};
    auto [left, right] = graph.source(Numbers{count})
                             .map([](const std::uint64_t& n) { return std::to_string(n); })
                             .tee<2>();
    std::move(left)
        .filter_batch([](std::span<const std::string> texts, std::span<bool> keep) {
            for (std::size_t i = 0; i != texts.size(); ++i) keep[i] = texts[i].ends_with('7');
        })
        .sink(chosen.sink());
    std::move(right).sink(all.sink());
    run(graph);
    EXPECT_EQ(chosen.sorted().size(), count / 10);
    EXPECT_THAT(chosen.sorted(), testing::Each(testing::EndsWith("7")));
    EXPECT_EQ(all.sorted().size(), count);
}

TEST(Batches, SeveralRecordsComeAtOnce) {
    std::size_t largest = 0;
    Graph graph{"large"};
    graph.source(Numbers{100'000})
        .map_batch<std::uint64_t>(
            [&largest](std::span<const std::uint64_t> numbers, std::span<std::uint64_t> squares) {
                largest = std::max(largest, numbers.size());
                square(numbers, squares);
            },
            {.parallelism = 1})
        .sink([](const std::uint64_t&) {});
    const std::string explained = graph.explain();
    run(graph);
    EXPECT_GE(largest, test::perturbed ? 1U : 64U);
    EXPECT_LE(largest, batch_function_max<std::uint64_t>);
    EXPECT_THAT(explained, testing::HasSubstr("takes up to 512 records at once"));
}

TEST(Batches, AnExceptionEndsTheRunAndNamesTheOperator) {
    Graph graph{"faulty"};
    graph.source(Numbers{1000})
        .filter_batch(
            [](std::span<const std::uint64_t> numbers, std::span<bool>) {
                if (numbers.back() > 900) throw Error("no more");
            },
            {.name = "choice"})
        .sink([](const std::uint64_t&) {});
    try {
        run(graph);
        FAIL() << "it did not end";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(testing::HasSubstr("choice"), testing::HasSubstr("no more")));
    }
}

}  // namespace
}  // namespace strid

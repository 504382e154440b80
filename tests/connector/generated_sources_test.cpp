// SPDX-License-Identifier: Apache-2.0
//
// Sources that need no file: generators, timetables, replays; and the sinks that keep or count.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <stop_token>

#include <gmock/gmock.h>

#include <strid/base/error.hpp>
#include <strid/connector/collect.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/discard.hpp>
#include <strid/connector/generate.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::drain;
using test::Emit;
using test::Folder;
using testing::ElementsAre;

struct Reading {
    std::uint64_t device;
    double value;
    bool operator==(const Reading&) const = default;
};

Reading make_reading(Random& random, std::uint64_t index) {
    return {index * 100 + random.below(100), random.uniform()};
}

TEST(Generate, IsTheSameAtAnyParallelism) {
    const auto source = generate(make_reading, {.count = 1001, .seed = 3});
    const auto alone = drain(source).records;
    ASSERT_EQ(alone.size(), 1001U);
    for (const std::size_t parallelism : {2U, 3U, 7U}) {
        std::vector<Reading> all(alone.size());
        for (std::size_t replica = 0; replica < parallelism; ++replica) {
            const auto part = drain(source, {"g", replica, parallelism}).records;
            for (std::size_t i = 0; i < part.size(); ++i) {
                all.at(i * parallelism + replica) = part[i];
            }
        }
        EXPECT_EQ(all, alone);
    }
    EXPECT_NE(drain(generate(make_reading, {.count = 1001, .seed = 4})).records, alone);
}

TEST(Generate, IsUniform) {
    constexpr std::uint64_t count = 200'000;
    constexpr std::size_t bins = 64;
    std::array<double, bins> low{};
    std::array<double, bins> unit{};
    for (std::uint64_t index = 0; index < count; ++index) {
        Random random(1, index);
        ++low[random.below(bins)];
        ++unit[static_cast<std::size_t>(random.uniform() * bins)];
    }
    for (const auto& counts : {low, unit}) {
        double chi_square = 0;
        for (const double seen : counts) {
            const double expected = static_cast<double>(count) / bins;
            chi_square += (seen - expected) * (seen - expected) / expected;
        }
        EXPECT_LT(chi_square, 117);  // 63 degrees of freedom, p = 0.00004
    }
}

TEST(Generate, RefusesARateThatIsNone) {
    EXPECT_THROW((void)generate(make_reading, {.rate_per_second = -1}), GraphError);
}

TEST(Generate, SharesTheRateAmongReplicas) {
    auto source = generate(make_reading, {.count = 8, .rate_per_second = 1000});
    const auto emit = drain(source, {"g", 1, 2});
    ASSERT_EQ(emit.records.size(), 4U);
    EXPECT_EQ(emit.ingress_ns[1] - emit.ingress_ns[0], 2'000'000);
}

TEST(Paced, AFileKeepsItsRateThoughOneReplicaReadsIt) {
    const Folder folder;
    const auto source = paced(csv_file<Reading>(folder.write("a", "1,1\n2,2\n3,3\n")), 1000);
    const auto emit = drain(source, {"p", 0, 4});
    ASSERT_EQ(emit.records.size(), 3U);
    EXPECT_EQ(emit.ingress_ns[2] - emit.ingress_ns[1], 1'000'000);
    EXPECT_EQ(drain(source, {"p", 1, 4}).records.size(), 0U);
}

TEST(Paced, OpensItsSourceWithTheTokenThatStopsIt) {
    // On the heap: of one on the stack GCC 12 warns in the address sanitizer's build.
    const auto stop = std::make_unique<std::stop_source>();
    stop->request_stop();
    for (const double rate : {0.0, 1000.0}) {
        auto source = paced(replay(from_vector(std::vector{1, 2})), rate);
        test::open(source, {}, stop->get_token());
        Emit<int> emit;
        EXPECT_EQ(source.poll(emit, 10), SourceStatus::finished);
        EXPECT_THAT(emit.records, ElementsAre());
    }
}

TEST(Replay, PassesOverAVector) {
    EXPECT_THAT(drain(replay(std::vector{1, 2, 3}, {.passes = 2}), {}, 2).records,
                ElementsAre(1, 2, 3, 1, 2, 3));
    EXPECT_THAT(drain(from_vector(std::vector{1, 2})).records, ElementsAre(1, 2));
    EXPECT_THAT(drain(replay(std::vector<int>{}, {.duration = 1h})).records, ElementsAre());
}

TEST(Replay, ReplicasShareEachPass) {
    std::vector<int> numbers(10);
    std::iota(numbers.begin(), numbers.end(), 0);
    for (const std::size_t parallelism : {1U, 3U, 4U, 20U}) {
        const auto source = replay(numbers, {.passes = 2});
        std::vector<int> all;
        for (std::size_t replica = 0; replica < parallelism; ++replica) {
            const auto part = drain(source, {"r", replica, parallelism}, 3).records;
            all.insert(all.end(), part.begin(), part.end());
        }
        std::sort(all.begin(), all.end());
        ASSERT_EQ(all.size(), 20U);
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i], static_cast<int>(i / 2));
        }
    }
}

TEST(Replay, KeepsTheTextOfAFileThatIsGone) {
    const Folder folder;
    std::string content;
    for (int i = 0; i < 1000; ++i) content += "line " + std::to_string(i) + "\n";
    const auto path = folder.write("a", content);
    Emit<Line> emit;
    {
        auto source =
            replay(text_lines(path, {.text = {.chunk_bytes = 100, .chunks = 4}}), {.passes = 2});
        test::open(source);
        EXPECT_EQ(source.size(), 1000U);
        std::filesystem::remove(path);
        while (source.poll(emit, 64) != SourceStatus::finished) {
        }
    }
    ASSERT_EQ(emit.records.size(), 2000U);
    for (std::size_t i = 0; i < 2000; ++i) {
        EXPECT_EQ(emit.records[i].text, "line " + std::to_string(i % 1000));
    }
}

TEST(Replay, LoadsOnceAndReportsOnceWhatWasMalformed) {
    const Folder folder;
    const auto path = folder.write("a", "1,1\nx\n2,2\n3,3\n");
    const auto source =
        replay(csv_file<Reading>(path, {.on_malformed = OnMalformed::skip}), {.passes = 3});
    const auto first = drain(source, {"r", 0, 2});
    std::filesystem::remove(path);
    const auto second = drain(source, {"r", 1, 2});
    EXPECT_EQ(first.records.size() + second.records.size(), 9U);
    EXPECT_EQ(first.malformed, 1U);
    EXPECT_EQ(second.malformed, 0U);
    auto missing = replay(csv_file<Reading>(path));
    EXPECT_THROW(test::open(missing), InputOutputError);
}

TEST(Replay, RunsForADurationAndAtARate) {
    const auto began_ns = now_ns();
    auto source = replay(std::vector{1, 2, 3}, {.duration = 20ms});
    test::open(source);
    struct {
        std::uint64_t count = 0;
        bool operator()(const int&) { return ++count > 0; }
        void keep_alive(const memory::TextReference&) {}
        void ingress_at(std::int64_t) {}
        void count_malformed(std::uint64_t) {}
    } emit;
    while (source.poll(emit, 100) != SourceStatus::finished) {
    }
    EXPECT_GE(now_ns() - began_ns, 20'000'000);
    EXPECT_GT(emit.count, 100U);
    const auto timed = drain(replay(std::vector{1, 2, 3}, {.passes = 4, .rate_per_second = 1000}));
    ASSERT_EQ(timed.records.size(), 12U);
    EXPECT_EQ(timed.ingress_ns[11] - timed.ingress_ns[0], 11'000'000);
}

TEST(Collect, OwnsItsText) {
    struct Word {
        std::string_view word;
        std::optional<std::string_view> more;
        int count;
    };
    const auto words = std::make_shared<Collected<Word>>();
    const auto pairs = std::make_shared<Collected<std::pair<std::string_view, int>>>();
    auto sink = collect_into(words);
    auto pair_sink = collect_into(pairs);
    {
        std::string text = "a text that is longer than a string keeps inside";
        sink(Word{text, text, 1});
        pair_sink({text, 2});
        text.assign(text.size(), '?');
    }
    EXPECT_EQ(words->records().at(0).word, "a text that is longer than a string keeps inside");
    EXPECT_EQ(words->records().at(0).more, "a text that is longer than a string keeps inside");
    EXPECT_EQ(pairs->records().at(0).first, "a text that is longer than a string keeps inside");
    EXPECT_EQ(pairs->size(), 1U);
}

TEST(Collect, TakesRecordsWithArraysFromManyThreads) {
    struct Wide {
        std::uint64_t values[8];
    };
    const auto wide = std::make_shared<Collected<Wide>>();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([sink = collect_into(wide)]() mutable {
            for (std::uint64_t n = 0; n < 1000; ++n) sink(Wide{{n}});
        });
    }
    for (auto& thread : threads) thread.join();
    std::uint64_t sum = 0;
    for (const Wide& record : wide->records()) sum += record.values[0];
    EXPECT_EQ(sum, 4 * 999 * 1000 / 2);
}

TEST(Discard, CountsOverReplicas) {
    const auto count = std::make_shared<DiscardCount>();
    auto first = discard(count);
    auto second = first;
    for (int i = 0; i < 3; ++i) first(i);
    second(std::string("x"));
    first.on(Flush{});
    EXPECT_EQ(count->load(), 3U);
    first.on(Closed{});
    second.on(Closed{});
    EXPECT_EQ(count->load(), 4U);
}

TEST(Discard, GoesOnInAnotherNumberOfReplicas) {
    static_assert(MergesState<Discard>);
    const auto count = std::make_shared<DiscardCount>();
    auto first = discard(count);
    auto second = first;
    first(1);
    second(2);
    second(3);
    first.merge_state(second);
    second = first;
    first.split_state({.replica = 0, .replicas = 2});
    second.split_state({.replica = 1, .replicas = 2});
    first.on(Closed{});
    second.on(Closed{});
    EXPECT_EQ(count->load(), 3U);
}

}  // namespace
}  // namespace strid

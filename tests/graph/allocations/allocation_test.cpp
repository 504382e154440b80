// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in the operators that handle each record by itself, in keyed ones, and
// at both ends of a graph (allocations.hpp).
#include <chrono>
#include <thread>
#include <tuple>

#include "../../support/counting_new.hpp"
#include "../endings.hpp"
#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;

struct Position {
    std::uint64_t seen = 0;
    std::uint64_t operator()(const std::uint64_t& n) { return n + seen++; }
};

TEST(Allocations, NoneForARecordInAFusedChain) {
    expect_none_per_record("chain", [](auto stream) {
        std::move(stream)
            .map([](std::uint64_t& n) { n *= 2; })
            .filter([](const std::uint64_t& n) { return n % 3 != 0; })
            .template flat_map<std::uint64_t>([](const std::uint64_t& n, auto& emit) {
                for (std::uint64_t i = 0; i < n % 4; ++i) emit(n + i);
            })
            .map([](const std::uint64_t& n) {
                return std::pair{n, 1.5};
            })
            .sink(Drop{});
    });
}

struct Odd {
    std::uint64_t seen = 0;
    bool operator()(const std::uint64_t&) { return seen++ % 2 == 1; }
};

struct Twice {
    std::uint64_t seen = 0;
    template <class Emit>
    void operator()(const std::uint64_t& n, Emit& emit) {
        emit(n + seen++);
        emit(n);
    }
};

TEST(Allocations, NoneForARecordInKeyedOperators) {
    expect_none_per_record("map per key", [](auto stream) {
        std::move(stream).key_by(by_remainder).map(Position{}).sink(Drop{});
    });
    expect_none_per_record("filter per key", [](auto stream) {
        std::move(stream).key_by(by_remainder).filter(Odd{}).sink(Drop{});
    });
    expect_none_per_record("flat_map per key", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .template flat_map<std::uint64_t>(Twice{})
            .sink(Drop{});
    });
    expect_none_per_record(
        "a sink by key", [](auto stream) { std::move(stream).key_by(by_remainder).sink(Drop{}); });
    expect_none_per_record("accumulate", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .accumulate(
                std::uint64_t{0}, [](std::uint64_t& sum, const auto& n) { sum += n; },
                Emit::every_update)
            .sink(Drop{});
    });
    expect_none_per_record("reduce", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .reduce([](const std::uint64_t& a, const std::uint64_t& b) { return a > b ? a : b; })
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordThatIsSpread) {
    expect_none_per_record("rebalance, ordered", [](auto stream) {
        std::move(stream).rebalance().map([](std::uint64_t& n) { ++n; }).ordered().sink(Drop{});
    });
    expect_none_per_record("broadcast", [](auto stream) {
        std::move(stream)
            .broadcast()
            .filter([](const std::uint64_t& n) { return n % 2 == 0; }, {.parallelism = 3})
            .sink(Drop{});
    });
    expect_none_per_record("split and merge", [](auto stream) {
        auto branches = std::move(stream).split(
            2, [](const std::uint64_t& n) { return static_cast<std::size_t>(n % 2); });
        branches.select(0)
            .map([](std::uint64_t& n) { ++n; })
            .merge(branches.select(1))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordThatGoesOutAndIn) {
    if (test::perturbed) GTEST_SKIP() << "perturbed";
    Graph graph{"both ends"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>();
    auto outlet = std::move(stream).map([](std::uint64_t& n) { ++n; }).outlet();
    auto running = start(graph, {.workers = 2});
    std::jthread producer([inlet = inlet]() mutable {
        for (std::uint64_t n = 0; n < records; ++n) ASSERT_TRUE(inlet.push(std::uint64_t{n}));
        inlet.close();
    });
    std::uint64_t taken = 0;
    std::uint64_t at_half = 0;
    while (const auto record = outlet.pop()) {
        if (taken == records / 2) at_half = test::allocations.load();
        EXPECT_EQ(*record, ++taken);
    }
    const std::uint64_t steady = test::allocations.load() - at_half;
    running.wait();
    EXPECT_EQ(taken, records);
    EXPECT_LE(static_cast<double>(steady), allocations_per_record_max * (records / 2));
}

/// Texts too long to lie in their strings.
struct OwnTexts {
    using record_type = std::string;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t count;
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != count; --budget) {
            if (!emit("a text that is kept on the heap, number " + std::to_string(next++))) break;
        }
        return next == count ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(count, next); }
};

// Allocations that a first run makes for good (the topology, a thread's caches) are made in the
// first tenth.
TEST(Allocations, AThousandRunsLeaveNoByte) {
    Graph graph{"short"};
    std::atomic<std::uint64_t> taken{0};
    graph.source(OwnTexts{100})
        .key_by([](const std::string& text) { return std::string_view{text}; })
        .accumulate(std::string{}, [](std::string& all, const std::string& text) { all += text; })
        .rebalance()
        .sink([&](const auto&) { taken.fetch_add(1, std::memory_order_relaxed); });
    const auto live_after = [&](int rounds) {
        for (int round = 0; round < rounds; ++round) {
            const RunOptions options{
                .mode = round % 8 < 6 ? RunOptions::Mode::cooperative : RunOptions::Mode::dedicated,
                .parallelism = 2};
            test::end_in_turn(start(graph, options), round);
        }
        return test::live_bytes.load();
    };
    const int rounds = test::perturbed ? 200 : 1000;
    const std::int64_t early = live_after(rounds / 10);
    EXPECT_EQ(live_after(rounds - rounds / 10), early);
    EXPECT_GT(taken.load(), 0U);
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record, in whole graphs: every operator, cooperative and dedicated. Counted
// from half of the stream to its end; what a pool or a key table still acquires on the way may
// stay below one allocation in a thousand records, far less than one per batch.
#include <atomic>
#include <span>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>
#include <strid/window/content.hpp>
#include <strid/window/fold.hpp>
#include <strid/window/panes.hpp>

#include "../support/counting_new.hpp"
#include "test_sources.hpp"

namespace strid {
namespace {

constexpr std::uint64_t records = 400'000;
constexpr double allocations_per_record_max = 0.001;

/// 0, 1, ... and what had been allocated when half of the numbers and when all of them were out.
struct Watched {
    using record_type = std::uint64_t;
    std::uint64_t* steady;
    std::uint64_t next = 0;
    std::uint64_t at_half = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != records; --budget) {
            if (next == records / 2) at_half = test::allocations.load();
            if (!emit(std::uint64_t{next++})) break;
        }
        if (next != records) return SourceStatus::more;
        *steady = test::allocations.load() - at_half;
        return SourceStatus::finished;
    }
};

/// Texts too long to lie in their strings.
struct OwnTexts {
    using record_type = std::string;
    std::uint64_t count;
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != count; --budget) {
            if (!emit("a text that is kept on the heap, number " + std::to_string(next++))) break;
        }
        return next == count ? SourceStatus::finished : SourceStatus::more;
    }
};

template <class Build>
void expect_none_per_record(const std::string& name, Build&& build) {
    using Mode = RunOptions::Mode;
    const std::vector<std::pair<std::string, RunOptions>> ways = {
        {"one worker", {.workers = 1}},
        {"two workers", {.workers = 2}},
        {"not fused", {.workers = 2, .fuse = false}},
        {"dedicated threads", {.mode = Mode::dedicated, .parallelism = 2}}};
    if (test::perturbed) GTEST_SKIP() << "perturbed";
    for (const auto& [way, options] : ways) {
        SCOPED_TRACE(name + ", " + way);
        std::uint64_t steady = ~std::uint64_t{0};
        Graph graph{"allocations"};
        build(graph.source(Watched{&steady}));
        const auto report = run(graph, options);
        EXPECT_EQ(report.records_in(), records);
        EXPECT_LE(static_cast<double>(steady), allocations_per_record_max * (records / 2));
    }
}

struct Drop {
    static constexpr bool parallel_by_default = true;
    template <class T>
    void operator()(const T&) const {}
};

struct Position {
    std::uint64_t seen = 0;
    std::uint64_t operator()(const std::uint64_t& n) { return n + seen++; }
};

const auto by_remainder = [](const std::uint64_t& n) { return n % 97; };

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

TEST(Allocations, NoneForARecordInKeyedOperators) {
    expect_none_per_record("map per key", [](auto stream) {
        std::move(stream).key_by(by_remainder).map(Position{}).sink(Drop{});
    });
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

const auto time_of = [](const std::uint64_t& n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n));
};
const auto last_digits = [](const std::uint64_t& n) { return n % 100; };

TEST(Allocations, NoneForARecordInAWindow) {
    using namespace std::chrono_literals;
    expect_none_per_record("windows of time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(10us, 1us), time_of,
                    window::sum<std::uint64_t>(last_digits))
            .sink(Drop{});
    });
    expect_none_per_record("windows of time, keys that come and go", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by([](const std::uint64_t& n) { return n / 200; })
            .window(window::TimeWindows::tumbling(1us), time_of, window::mean(last_digits))
            .sink(Drop{});
    });
    expect_none_per_record("sessions", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by([](const std::uint64_t& n) { return n / 200 * 7 + n % 7; })
            .window(window::SessionWindows::with_gap(50ns), time_of, window::count())
            .sink(Drop{});
    });
    expect_none_per_record("windows of a number of records", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10),
                    window::maximum<std::uint64_t>(last_digits))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInAWindowOfFullContent) {
    using namespace std::chrono_literals;
    const auto last = [](std::span<const std::uint64_t> all) { return all.back(); };
    expect_none_per_record("content of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), window::content<std::uint64_t>(last))
            .sink(Drop{});
    });
    // A window that lags behind for once has more panes than ever before, a list for each key.
    expect_none_per_record("content of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by([](const std::uint64_t& n) { return n % 7; })
            .window(window::TimeWindows::sliding(2us, 1us), time_of,
                    window::content<std::uint64_t>(last, time_of))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInAFoldOrATreeOfPanes) {
    using namespace std::chrono_literals;
    const auto fold = window::fold<std::uint64_t>(
        std::uint64_t{0},
        [](std::uint64_t& hash, const std::uint64_t& n) { hash = hash * 31 + n; });
    expect_none_per_record("folds of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(2us, 1us), time_of, fold)
            .sink(Drop{});
    });
    expect_none_per_record("folds of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), fold)
            .sink(Drop{});
    });
    expect_none_per_record("a tree of panes", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by([](const std::uint64_t& n) { return n % 7; })
            .window(window::TimeWindows::sliding(10us, 100ns), time_of,
                    window::kept_in<window::PaneTree>(window::maximum<std::uint64_t>(last_digits)))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInASharedWindow) {
    using namespace std::chrono_literals;
    const auto sum = window::sum<std::uint64_t>(last_digits);
    expect_none_per_record("farmed", [&](auto stream) {
        std::move(stream)
            .group_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), sum, {.parallelism = 3})
            .sink(Drop{});
    });
    expect_none_per_record("paned", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .window(window::TimeWindows::sliding(10us, 1us), time_of, sum, {.parallelism = 2})
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInAnIntervalJoin) {
    using namespace std::chrono_literals;
    expect_none_per_record("join", [](auto stream) {
        auto branches =
            std::move(stream)
                .event_time(time_of, MonotonousTime{})
                .split(2, [](const std::uint64_t& n) { return static_cast<std::size_t>(n % 2); });
        const auto side = on([](const std::uint64_t& n) { return n / 2 % 7; }, time_of);
        interval_join(
            branches.select(0), branches.select(1), side, side, {{0ns}, {20ns}},
            [](const std::uint64_t& left, const std::uint64_t& right) { return left + right; })
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

// What a first run makes for good (the topology, a thread's caches) is there after the tenth part.
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
            auto running = start(graph, options);
            switch (round % 4) {
                case 0:
                    running.stop();
                    break;
                case 1:
                    running.cancel();
                    break;
                case 2:
                    running.wait();
                    break;
                default:
                    break;  // dropped while it runs
            }
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

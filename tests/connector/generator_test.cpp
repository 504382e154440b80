// SPDX-License-Identifier: Apache-2.0
//
// Sources of a coroutine and of a function: what they give at any budget and in a run, how they
// wait, end and fail.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <strid/base/clock.hpp>
#include <strid/connector/callback.hpp>
#include <strid/connector/collect.hpp>
#include <strid/connector/generator.hpp>
#include <strid/stream/graph.hpp>

#include "../support/opened.hpp"
#include "../support/perturbed.hpp"
#include "../support/seeds.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::drain;
using test::Emit;

const int count = test::perturbed ? 300 : 5'000;

std::vector<int> numbers_below(int limit) {
    std::vector<int> numbers(static_cast<std::size_t>(limit));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// The numbers below a limit, as each of the two gives them.
auto yielded(int limit) {
    return from_generator([limit]() -> Generator<int> {
        for (int i = 0; i != limit; ++i) co_yield i;
    });
}
auto returned(int limit) {
    return from_callback([limit, next = 0]() mutable -> std::optional<int> {
        return next == limit ? std::nullopt : std::optional{next++};
    });
}

/// One that counts the objects of it, and how often one was copied.
struct Counted {
    static inline std::atomic<int> alive{0};
    static inline std::atomic<int> copies{0};
    explicit Counted(int number) : value(number), text(std::to_string(number)) { ++alive; }
    Counted(const Counted& other) : value(other.value), text(other.text) {
        ++alive;
        ++copies;
    }
    Counted(Counted&& other) noexcept : value(other.value), text(std::move(other.text)) { ++alive; }
    Counted& operator=(const Counted&) = default;
    Counted& operator=(Counted&&) = default;
    ~Counted() { --alive; }

    int value;
    std::string text;
};

template <class Source>
void gives_its_records(const Source& source) {
    for (const std::size_t budget : {1U, 7U, 10'000U}) {
        EXPECT_EQ(drain(source, {}, budget).records, numbers_below(count));
    }
    Source one = source;
    Emit<int> emit;
    emit.refuse_from = 10;
    test::open(one);
    while (emit.records.size() < 30) {
        const std::size_t before = emit.records.size();
        EXPECT_EQ(one.poll(emit, 10), SourceStatus::more);
        // Behind a refusal nothing more is given in a poll.
        EXPECT_EQ(emit.records.size(), before < 10 ? 10 : before + 1);
    }
    EXPECT_EQ(emit.records, numbers_below(30));
}

TEST(Generator, GivesItsRecordsAtAnyBudget) {
    gives_its_records(yielded(count));
    EXPECT_TRUE(drain(yielded(0)).records.empty());
}

TEST(Callback, GivesItsRecordsAtAnyBudget) {
    gives_its_records(returned(count));
    EXPECT_TRUE(drain(returned(0)).records.empty());
}

TEST(Generator, RecordsAreMovedWhereTheyAreTemporaries) {
    const auto texts = [](bool moves) {
        return from_generator([moves]() -> Generator<Counted> {
            for (int i = 0; i != 3; ++i) {
                co_yield Counted{i};
                Counted kept{10 + i};
                if (moves) {
                    co_yield std::move(kept);
                } else {
                    co_yield kept;
                }
            }
        });
    };
    for (const bool moves : {true, false}) {
        Counted::copies = 0;
        {
            Emit<Counted> emit;
            auto source = texts(moves);
            test::open(source);
            while (source.poll(emit, 2) != SourceStatus::finished) {
            }
            // The test keeps a copy of a constant.
            EXPECT_EQ(Counted::copies, moves ? 0 : 3);
            std::string text;
            for (const Counted& one : emit.records) text += one.text + " ";
            EXPECT_EQ(text, "0 10 1 11 2 12 ");
        }
        EXPECT_EQ(Counted::alive, 0);
    }
}

TEST(Generator, WaitsForAsLongAsItSays) {
    auto source = from_generator([]() -> Generator<int> {
        co_yield 1;
        co_yield idle_for(24h);
        co_yield 2;
        co_yield idle_for(0ms);
        co_yield 3;
    });
    const auto prompt = from_generator([]() -> Generator<int> {
        co_yield 1;
        co_yield idle_for(2ms);
        co_yield 2;
        co_yield idle_for(0ms);
        co_yield 3;
    });
    Emit<int> emit;
    test::open(source);
    const std::int64_t before = now_ns();
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle);
    EXPECT_GE(source.wake_at_ns(), before + Duration{24h}.count());
    EXPECT_EQ(source.poll(emit, 10), SourceStatus::idle) << "polled too early";
    EXPECT_THAT(emit.records, testing::ElementsAre(1));

    EXPECT_THAT(drain(prompt).records, testing::ElementsAre(1, 2, 3));
    EXPECT_GE(now_ns(), before + Duration{2ms}.count());
    Graph graph{"waits"};
    auto rows = std::make_shared<Collected<int>>();
    graph.source(prompt).sink(collect_into(rows));
    run(graph);
    EXPECT_THAT(rows->records(), testing::ElementsAre(1, 2, 3));
}

// ---- in a run ----------------------------------------------------------------------------------

RunOptions run_options(std::uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    constexpr RunOptions::Mode modes[] = {RunOptions::Mode::simulation, RunOptions::Mode::dedicated,
                                          RunOptions::Mode::cooperative};
    options.mode = modes[seed % 3];
    return options;
}

/// Every replica has a copy of the function, which gets the number of its replica.
template <class Source>
void replicas_share(const Source& source) {
    for (const std::uint64_t seed : test::seeds(9)) {
        Graph graph{"shared"};
        auto rows = std::make_shared<Collected<int>>();
        graph.source(source, {.name = "numbers", .parallelism = 1 + seed % 4})
            .sink(collect_into(rows));
        for (int pass = 1; pass <= 2; ++pass) {  // a graph can be run again
            run(graph, run_options(seed));
            auto answer = rows->records();
            std::sort(answer.begin(), answer.end());
            std::vector<int> expected;
            for (const int number : numbers_below(count))
                expected.insert(expected.end(), static_cast<std::size_t>(pass), number);
            ASSERT_EQ(answer, expected) << "seed " << seed;
        }
    }
}

TEST(Generator, EachReplicaMakesItsOwn) {
    replicas_share(from_generator([](const Context& context) -> Generator<int> {
        const int step = static_cast<int>(context.parallelism);
        for (int i = static_cast<int>(context.replica); i < count; i += step) co_yield i;
    }));
}

TEST(Callback, EachReplicaCallsItsOwn) {
    replicas_share(from_callback([next = 0](const Context& context) mutable -> std::optional<int> {
        const int step = static_cast<int>(context.parallelism);
        const int number = next++ * step + static_cast<int>(context.replica);
        return number < count ? std::optional{number} : std::nullopt;
    }));
}

template <class MakeSource>
void names_the_source(const MakeSource& make_source) {
    for (const int at : {0, 1, 100}) {
        for (const std::uint64_t seed : test::seeds(3)) {
            Graph graph{"broken"};
            graph.source(make_source(at), {.name = "the device"}).sink([](const auto&) {});
            try {
                run(graph, run_options(seed));
                ADD_FAILURE() << "nothing was thrown";
            } catch (const OperatorError& error) {
                EXPECT_EQ(error.operator_name(), "the device");
                EXPECT_THAT(error.what(), testing::HasSubstr("it broke"));
            }
        }
    }
    EXPECT_EQ(Counted::alive, 0);
}

TEST(Generator, AnExceptionEndsTheRunAndNamesTheSource) {
    names_the_source([](int at) {
        return from_generator([at, owned = Counted{1}]() -> Generator<Counted> {
            const Counted held{owned.value};
            for (int i = 0; i != at; ++i) co_yield held;
            throw std::runtime_error("it broke");
        });
    });
}

TEST(Callback, AnExceptionEndsTheRunAndNamesTheSource) {
    names_the_source([](int at) {
        return from_callback([at, next = 0]() mutable -> std::optional<Counted> {
            if (next++ == at) throw std::runtime_error("it broke");
            return Counted{next};
        });
    });
}

/// Ends without its end: what the coroutine holds goes with the run, whether it was stopped or
/// cancelled, and also where it never began.
TEST(Generator, WhatItHoldsGoesWithTheRun) {
    const auto endless = from_generator([owned = std::make_shared<Counted>(1)]() -> Generator<int> {
        const Counted held{owned->value};
        for (;;) co_yield held.value;
    });
    ASSERT_EQ(Counted::alive, 1);
    for (const bool cancels : {false, true}) {
        for (const std::size_t parallelism : {1U, 3U}) {
            {
                Graph graph{"endless"};
                auto outlet = graph.source(endless, {.parallelism = parallelism}).outlet();
                Running running = start(graph, {.workers = 2});
                for (int i = 0; i != 100; ++i) ASSERT_EQ(outlet.pop(), 1);
                if (cancels) {
                    running.cancel();
                } else {
                    running.stop();
                }
                while (outlet.pop()) {
                }
                running.wait();
            }
            EXPECT_EQ(Counted::alive, 1) << "of the prototype";
        }
    }
    auto opened = endless;
    test::open(opened);
    EXPECT_EQ(Counted::alive, 1);
}

/// The values of a device outside, and a function that waits for them.
struct Device {
    std::mutex mutex;
    std::condition_variable_any changed;
    int waiting = 0;  // guarded
    int next = 0;     // guarded

    void give(int records) {
        const std::lock_guard lock{mutex};
        waiting += records;
        changed.notify_all();
    }
    /// Empty when it was asked to stop.
    std::optional<int> take(const std::stop_token& stop) {
        std::unique_lock lock{mutex};
        if (!changed.wait(lock, stop, [this] { return waiting != 0; })) return std::nullopt;
        --waiting;
        return next++;
    }
};

template <class Source>
void ends_by_its_token(Device& device, const Source& source) {
    Graph graph{"device"};
    auto outlet = graph.source(source).outlet();
    Running running = start(graph, {.workers = 1});
    device.give(3);
    for (int i = 0; i != 3; ++i) ASSERT_EQ(outlet.pop(), i);
    running.stop();
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

TEST(Generator, ThatWaitsEndsByItsToken) {
    const auto device = std::make_shared<Device>();
    ends_by_its_token(*device,
                      from_generator(
                          [device](const Context& context, std::stop_token stop) -> Generator<int> {
                              EXPECT_EQ(context.parallelism, 1U);
                              while (const auto number = device->take(stop)) co_yield *number;
                          },
                          {.blocks = true}));
}

TEST(Callback, ThatWaitsEndsByItsToken) {
    const auto device = std::make_shared<Device>();
    ends_by_its_token(
        *device, from_callback([device](const std::stop_token& stop) { return device->take(stop); },
                               {.blocks = true}));
}

}  // namespace
}  // namespace strid

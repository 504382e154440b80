// SPDX-License-Identifier: Apache-2.0
//
// Sources with a stop(): a poll that blocks ends with the run, whatever ends it, and is notified
// once; one that drains is polled until it says that it is finished.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>
#include <strid/connector/callback.hpp>
#include <strid/connector/paced.hpp>
#include <strid/connector/replay.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;

/// The state that a test and the copies of a source share.
struct Line {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t waiting = 0;  // guarded: records that a poll may take
    bool ended = false;         // guarded
    std::atomic<int> stops{0};
    std::atomic<int> polls{0};

    void give(std::uint64_t records) {
        const std::lock_guard lock{mutex};
        waiting += records;
        changed.notify_all();
    }
};

/// Blocks inside poll() until there is a record, or the end.
struct Blocking {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<Stopped>, .has = Has::blocks};
    std::shared_ptr<Line> line = std::make_shared<Line>();
    std::uint64_t next = 0;

    [[nodiscard]] bool blocks() const noexcept { return true; }
    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t) {
        {
            std::unique_lock lock{line->mutex};
            ++line->polls;
            line->changed.wait(lock, [this] { return line->ended || line->waiting != 0; });
            if (line->waiting == 0) return SourceStatus::idle;
            --line->waiting;
        }
        emit(std::uint64_t{next++});
        return SourceStatus::more;
    }
    void on(Stopped) noexcept {
        ++line->stops;
        const std::lock_guard lock{line->mutex};
        line->ended = true;
        line->changed.notify_all();
    }
    auto state() { return std::tie(next); }
};

/// A source that drains waiting records after a stop.
struct Draining : Blocking {
    static constexpr SourceTraits traits{
        .hears = events<Stopped>, .has = Has::blocks, .drains = true};
    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t budget) {
        const SourceStatus status = Blocking::poll(emit, budget);
        return status == SourceStatus::idle ? SourceStatus::finished : status;
    }
};

constexpr auto long_enough = 100s;

void until_polled(const Line& line) {
    while (line.polls == 0) std::this_thread::yield();
}

TEST(SourceStop, EndsAPollThatBlocks) {
    for (const bool cancels : {false, true}) {
        for (const auto mode : {RunOptions::Mode::cooperative, RunOptions::Mode::dedicated}) {
            const Blocking source;
            Graph graph{"blocked"};
            graph.source(source).sink([](std::uint64_t) {});
            Running running = start(graph, {.mode = mode});
            until_polled(*source.line);
            cancels ? running.cancel() : running.stop();
            EXPECT_TRUE(running.wait_for(long_enough));
            running.wait();
            running.stop();
            running.cancel();
            EXPECT_EQ(source.line->stops, 1);
        }
    }
}

TEST(SourceStop, EndsAPollThatBlocksWhenAnotherOperatorFails) {
    const Blocking source;
    Graph graph{"blocked"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(8);
    std::move(stream).merge(graph.source(source)).sink([](std::uint64_t) {
        throw std::runtime_error("no");
    });
    Running running = start(graph);
    until_polled(*source.line);
    EXPECT_TRUE(inlet.push(1));
    EXPECT_TRUE(running.wait_for(long_enough));
    EXPECT_THROW(running.wait(), OperatorError);
    EXPECT_EQ(source.line->stops, 1);
}

TEST(SourceStop, EndsAPollThatBlocksWhenTheRunIsDropped) {
    const Blocking source;
    Graph graph{"blocked"};
    graph.source(source).sink([](std::uint64_t) {});
    {
        const Running running = start(graph);
        until_polled(*source.line);
    }
    EXPECT_EQ(source.line->stops, 1);
}

TEST(SourceStop, MayComeFromInsideThePoll) {
    const Blocking source;
    source.line->give(1);
    Graph graph{"inside"};
    std::atomic<Running*> self{nullptr};
    graph.source(source).sink([&self](std::uint64_t) {
        while (self == nullptr) std::this_thread::yield();
        self.load()->stop();
    });
    Running running = start(graph);
    self = &running;
    EXPECT_TRUE(running.wait_for(long_enough));
    EXPECT_EQ(source.line->stops, 1);
}

struct Slow : Blocking {
    std::shared_ptr<std::atomic<bool>> returned = std::make_shared<std::atomic<bool>>(false);
    void on(Stopped stopped) noexcept {
        Blocking::on(stopped);
        std::this_thread::sleep_for(50ms);
        *returned = true;
    }
};

// The thread that cancels calls it; the last thread of the run must not overtake that.
TEST(SourceStop, HasReturnedBeforeTheEndOfACancelledRunIsReported) {
    const Slow source;
    Graph graph{"slow"};
    graph.source(source).sink([](std::uint64_t) {});
    std::atomic<bool> returned_before{false};
    const auto look = [&](const RunEnd&) { returned_before = source.returned->load(); };
    Running running = start(graph, {.on_end = look});
    until_polled(*source.line);
    running.cancel();
    EXPECT_TRUE(running.wait_for(long_enough));
    EXPECT_TRUE(returned_before);
    EXPECT_EQ(source.line->stops, 1);
}

TEST(SourceStop, LetsASourceDeliverWhatItAccepted) {
    for (const bool blocks_before : {false, true}) {
        const Draining source;
        std::atomic<std::uint64_t> taken{0};
        Graph graph{"accepted"};
        graph.source(source).separate().sink([&taken](std::uint64_t) { ++taken; });
        if (!blocks_before) source.line->give(1000);
        Running running = start(graph);
        until_polled(*source.line);
        if (blocks_before) source.line->give(1000);
        running.stop();
        EXPECT_TRUE(running.wait_for(long_enough));
        running.wait();
        EXPECT_EQ(taken, 1000U);
    }
}

// Each record of a function that blocks is out before the next call, which may wait for long.
TEST(SourceStop, ComesToAFunctionThatHoldsNoRecordsBack) {
    constexpr std::uint64_t burst = 40;
    std::atomic<std::uint64_t> taken{0};
    Graph graph{"burst"};
    graph
        .source(from_callback(
            [next = std::uint64_t{0}](
                const std::stop_token& stop) mutable -> std::optional<std::uint64_t> {
                while (next == burst && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
                return next == burst ? std::nullopt : std::optional{next++};
            },
            {.blocks = true}))
        .key_by([](std::uint64_t number) { return number; })
        .sink(
            [&taken](std::uint64_t) {
                std::this_thread::sleep_for(200us);
                ++taken;
            },
            {.name = "slow", .parallelism = 1});
    Running running = start(graph);
    const std::int64_t give_up_ns = now_ns() + std::chrono::nanoseconds{long_enough}.count();
    while (taken != burst && now_ns() < give_up_ns) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(taken, burst);
    running.stop();
    EXPECT_TRUE(running.wait_for(long_enough));
    EXPECT_EQ(taken, burst);
}

TEST(SourceStop, PassesThroughPacedAndReplay) {
    const Blocking paced_source;
    Graph graph{"paced"};
    graph.source(paced(paced_source, 0)).sink([](std::uint64_t) {});
    Running running = start(graph);
    until_polled(*paced_source.line);
    running.stop();
    EXPECT_TRUE(running.wait_for(long_enough));
    EXPECT_EQ(paced_source.line->stops, 1);
    static_assert(Paced<Draining>::traits.drains);
    static_assert(!Paced<Blocking>::traits.drains);

    // Its reading is the start of the run.
    const Blocking replayed;
    Graph again{"replayed"};
    again.source(replay(replayed)).sink([](std::uint64_t) {});
    std::stop_source opening;
    std::thread stopper{[&] {
        until_polled(*replayed.line);
        opening.request_stop();
    }};
    run(again, {.stop_opening = opening.get_token()});
    stopper.join();
    EXPECT_GE(replayed.line->stops, 1);
}

}  // namespace
}  // namespace strid

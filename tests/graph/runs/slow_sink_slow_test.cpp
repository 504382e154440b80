// SPDX-License-Identifier: Apache-2.0
//
// Back-pressure for a long time: a sink of a thousand records a second behind a source at full
// speed. Memory stays flat and nothing is lost. Five seconds; STRID_SOAK_SECONDS asks for more
// (`make soak`: a minute).
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/stream/graph.hpp>

namespace strid {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Numbers without end, with a payload that fills memory fast if anything queues up.
struct Record {
    std::uint64_t number;
    std::uint64_t payload[7];
};

struct Endless {
    using record_type = Record;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0; --budget) {
            if (!emit(Record{next++, {}})) break;
        }
        return SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

struct Taken {
    std::atomic<bool> hurry{false};
    std::atomic<std::uint64_t> records{0};
    std::atomic<std::uint64_t> gaps{0};
};

/// Takes one record per millisecond, until it is set to full speed.
auto slow_sink(Taken& taken) {
    return [&taken, due = Clock::time_point{}](const Record& record) mutable {
        const std::uint64_t expected = taken.records.fetch_add(1, std::memory_order_relaxed);
        if (record.number != expected) taken.gaps.fetch_add(1, std::memory_order_relaxed);
        if (taken.hurry.load(std::memory_order_relaxed)) return;
        due = std::max(due + 1ms, Clock::now() - 10ms);
        std::this_thread::sleep_until(due);
    };
}

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(SlowSink, HoldsTheSourceBackInFlatMemory) {
    const char* const asked = std::getenv("STRID_SOAK_SECONDS");
    const std::chrono::seconds duration(asked != nullptr ? std::atoi(asked) : 5);
    Taken taken;
    Graph graph{"slow sink"};
    graph.source(Endless{})
        .separate()
        .map([](Record& record) { ++record.payload[0]; })
        .separate()
        .sink(slow_sink(taken));
    const auto begin = Clock::now();
    auto running = start(graph, {.workers = 2});
    std::this_thread::sleep_for(1s);  // pools fill
    const std::size_t resident_at_first = resident_bytes();
    std::size_t resident_at_most = resident_at_first;
    while (Clock::now() - begin < duration) {
        std::this_thread::sleep_for(100ms);
        resident_at_most = std::max(resident_at_most, resident_bytes());
    }
    const auto slow_records = static_cast<double>(taken.records.load());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    taken.hurry = true;
    running.stop();
    const RunReport report = running.wait();
    std::cout << slow_records / seconds << " records/s for " << seconds << " s, resident "
              << resident_at_first / 1024 << " KiB after a second, " << resident_bytes() / 1024
              << " KiB at the end, at most " << resident_at_most / 1024 << " KiB; "
              << report.records_in() - taken.records.load() << " records lost\n";
    EXPECT_LE(resident_at_most - resident_at_first, std::size_t{256} << 10);
    EXPECT_NEAR(slow_records / seconds, 1000, 300);
    EXPECT_EQ(taken.gaps.load(), 0U);
    EXPECT_EQ(taken.records.load(), report.records_in());
    EXPECT_GT(report.records_in(), static_cast<std::uint64_t>(slow_records));
}

}  // namespace
}  // namespace strid

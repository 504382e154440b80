// SPDX-License-Identifier: Apache-2.0
//
// How long a node waited by the clock, seen while it waits.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <strid/engine/kernel/wait_clock.hpp>

namespace strid::operators {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t ms = 1'000'000;

TEST(WaitClock, ReportsWhatIsWaitedFor) {
    WaitClock clock;
    EXPECT_EQ(clock.idle_ns() + clock.refused_ns(), 0U);
    clock.begin(WaitClock::For::input, now_ns());
    std::this_thread::sleep_for(2ms);
    clock.begin(WaitClock::For::input, now_ns());  // the first call counts
    EXPECT_GE(clock.idle_ns(), 2 * ms) << "the wait that is on counts";
    const std::int64_t before = now_ns();
    clock.begin(WaitClock::For::room, now_ns());
    const std::uint64_t idle = clock.idle_ns();
    EXPECT_EQ(clock.idle_ns(), idle) << "it is over";
    std::this_thread::sleep_for(2ms);
    const std::int64_t end = now_ns();
    clock.end(end);
    EXPECT_GE(clock.refused_ns(), 2 * ms);
    EXPECT_LE(clock.refused_ns(), static_cast<std::uint64_t>(end - before));
    const std::uint64_t refused = clock.refused_ns();
    clock.end(now_ns());  // nothing is on
    EXPECT_EQ(clock.idle_ns(), idle);
    EXPECT_EQ(clock.refused_ns(), refused);
}

TEST(WaitClock, CountsNoWaitTwiceForWhoLooksMeanwhile) {
    // Waits without a pause between them: all of the time is counted, and none of it twice, except
    // for the time that the task needs to end one wait and to begin the next.
    WaitClock clock;
    const std::int64_t start = now_ns();
    clock.begin(WaitClock::For::room, now_ns());
    std::atomic<bool> done{false};
    std::int64_t slowest_ns = 0;
    std::thread task([&] {
        for (int i = 0; i < 5'000; ++i) {
            const std::int64_t until = now_ns() + 20'000;
            while (now_ns() < until) {
            }
            const std::int64_t before = now_ns();
            clock.begin(i % 2 == 0 ? WaitClock::For::input : WaitClock::For::room, now_ns());
            slowest_ns = std::max(slowest_ns, now_ns() - before);
        }
        done.store(true, std::memory_order_relaxed);
    });
    std::int64_t excess_ns = 0;
    while (!done.load(std::memory_order_relaxed)) {
        const auto waited = static_cast<std::int64_t>(clock.idle_ns() + clock.refused_ns());
        excess_ns = std::max(excess_ns, waited - (now_ns() - start));
    }
    task.join();
    EXPECT_LE(excess_ns, slowest_ns);
}

}  // namespace
}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// How long a node waited, and how many records it polls: two small clocks of the kernel.
#include <cstddef>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <strid/engine/kernel/poll_budget.hpp>
#include <strid/engine/kernel/wait_clock.hpp>

namespace strid::operators {
namespace {

TEST(WaitClock, ReportsWhatWasWaitedFor) {
    WaitClock clock;
    EXPECT_EQ(clock.idle_ns() + clock.refused_ns(), 0U);
    clock.begin(WaitClock::For::input, 1'000);
    clock.begin(WaitClock::For::input, 5'000);  // the first call counts
    clock.begin(WaitClock::For::room, 9'000);
    EXPECT_EQ(clock.idle_ns(), 8'000U);
    clock.end(12'000);
    EXPECT_EQ(clock.idle_ns(), 8'000U);
    EXPECT_EQ(clock.refused_ns(), 3'000U);
    clock.end(20'000);  // nothing is on
    clock.begin(WaitClock::For::input, 30'000);
    clock.end(29'000);  // another thread had read it
    EXPECT_EQ(clock.idle_ns(), 8'000U);
    EXPECT_EQ(clock.refused_ns(), 3'000U);
}

/// Future waits, so that the present one adds nothing.
TEST(WaitClock, GrowsOneByOneForWhoLooksMeanwhile) {
    constexpr std::uint64_t waits = 20'000;
    WaitClock clock;
    std::thread task([&clock] {
        std::int64_t now = std::int64_t{1} << 60;
        for (std::uint64_t i = 0; i < waits; ++i) {
            clock.begin(WaitClock::For::room, now++);
            clock.end(now++);
        }
    });
    bool is_less = false;
    for (std::uint64_t before = 0; before != waits;) {
        const std::uint64_t waited = clock.refused_ns();
        is_less = is_less || waited < before;
        before = waited;
    }
    task.join();
    EXPECT_FALSE(is_less);
    EXPECT_EQ(clock.refused_ns(), waits);
    EXPECT_EQ(clock.idle_ns(), 0U);
}

TEST(PollBudget, GrowsWhileRunsAreShortAndShrinksWhereTheyAreLong) {
    PollBudget budget;
    const std::size_t first = budget.records();
    budget.ran(first, 0, 1'000);
    EXPECT_EQ(budget.records(), 2 * first);
    budget.ran(2 * first - 1, 0, 1'000);  // the source had no more records: the budget stays
    EXPECT_EQ(budget.records(), 2 * first);
    budget.ran(2 * first, 0, 50'000);  // as long as it should be
    EXPECT_EQ(budget.records(), 2 * first);
    for (int i = 0; i < 100; ++i) budget.ran(budget.records(), 0, 1'000);
    const std::size_t most = budget.records();
    EXPECT_LE(most, 65'536U);
    for (int i = 0; i < 100; ++i) budget.ran(budget.records(), 0, 1'000'000'000);
    EXPECT_GE(budget.records(), 1U);
    EXPECT_LE(budget.records(), 64U);
}

TEST(PollBudget, IsMostOfTheRoomWhereRecordsGoOn) {
    PollBudget budget;
    constexpr std::size_t room = 2'000;
    EXPECT_EQ(budget.records(room), 1'500U);
    EXPECT_EQ(budget.records(8), 512U);  // large records
    EXPECT_EQ(budget.records(1'000'000), 8'192U);
    for (int i = 0; i < 100; ++i) budget.ran(budget.records(room), 1, 1'000);  // hardly any does
    EXPECT_GT(budget.records(room), 4'096U);
    budget.ran(budget.records(room), budget.records(room) / 2, 1'000);  // half of them do
    EXPECT_EQ(budget.records(room), 1'500U);
}

}  // namespace
}  // namespace strid::operators

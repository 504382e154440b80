// SPDX-License-Identifier: Apache-2.0
//
// Which windows a record lies in, against the arithmetic of every window near it.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/error.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {
namespace {

using namespace std::chrono_literals;

/// Window k is [offset + k * slide, offset + k * slide + length), which is written out here: what
/// the tests of graphs take windows to be (tests/graph/window_oracle.hpp).
RC_GTEST_PROP(TimeWindows, ContainATimeAsTheirBoundsSay,
              (std::int16_t time, std::uint8_t length_less_one, std::uint8_t slide_less_one,
               std::int8_t offset)) {
    const std::int64_t length = length_less_one + 1;
    const std::int64_t slide = slide_less_one + 1;
    const auto windows = TimeWindows::sliding(Duration{length}, Duration{slide}, Duration{offset});
    RC_ASSERT(windows.length().count() == length);
    RC_ASSERT(windows.slide().count() == slide);
    RC_ASSERT(windows.offset().count() == offset);
    RC_ASSERT(windows.pane().count() == std::gcd(length, slide));
    const auto range = windows.containing(EventTime::of_ns(time));
    RC_ASSERT(range.first <= range.end);
    // Every window from well before to well behind the time.
    const std::int64_t around = time / slide;
    const std::int64_t reach = 2 + (length + 256) / slide;
    for (std::int64_t k = around - reach; k <= around + reach; ++k) {
        const std::int64_t start = offset + k * slide;
        const std::int64_t end = start + length;
        RC_ASSERT(windows.bounds(k).start.ns() == start);
        RC_ASSERT(windows.bounds(k).end.ns() == end);
        RC_ASSERT((start <= time && time < end) == (range.first <= k && k < range.end));
        RC_ASSERT((end <= time) == (k < windows.end_over(EventTime::of_ns(time))));
    }
}

TEST(TimeWindows, StayWithinTheLimitsOfTime) {
    for (const Duration slide : {Duration{1}, Duration{7}, Duration{24h}, Duration::max()}) {
        for (const Duration offset : {Duration::zero(), Duration{1}, Duration::max()}) {
            const auto windows = TimeWindows::sliding(slide, slide, offset);
            for (const auto time : {EventTime::earliest(), EventTime::latest()}) {
                const auto range = windows.containing(time);
                EXPECT_LE(range.size(), 1);
                const TimeBounds bounds = windows.bounds(range.first);
                EXPECT_LE(bounds.start, bounds.end);
                if (slide > Duration{1} && offset == Duration::zero()) {
                    EXPECT_LE(bounds.start, time);
                    EXPECT_GE(bounds.end, time);
                }
            }
        }
    }
}

TEST(TimeWindows, AreOverAtTheirEnd) {
    const auto windows = TimeWindows::sliding(10s, 1s);
    EXPECT_EQ(windows.containing(EventTime{25s}), (WindowRange<std::int64_t>{16, 26}));
    EXPECT_EQ(windows.end_over(EventTime{25s}), 16);
    EXPECT_EQ(windows.end_over(EventTime{25s - 1ns}), 15);
    EXPECT_EQ(windows.bounds(15), (TimeBounds{EventTime{15s}, EventTime{25s}}));
    EXPECT_EQ(windows.pane(), 1s);
}

/// As the operators ask: by the pane of the time.
WindowRange<std::int64_t> windows_by_pane(const TimeWindows& windows, EventTime time) {
    const auto pane = windows.pane_of(time);
    auto range = windows.with_pane(pane);
    if (range.size() <= 0 || pane >= windows.panes(range.end - 1).end) return {0, 0};
    return range;
}

/// Each window in its share and in no other, also where numbers would pass their limits.
TEST(TimeWindows, AreSharedAtTheLimitsOfTimeToo) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto check = [](const TimeWindows& whole, std::size_t of, EventTime time) {
        const auto range = windows_by_pane(whole, time);
        std::vector<std::int64_t> expected;
        for (auto k = range.first; k < range.end; ++k) expected.push_back(k);
        std::vector<std::int64_t> in_shares;
        for (std::size_t i = 0; i < of; ++i) {
            const TimeWindows share = whole.share(i, of);
            const auto own = windows_by_pane(share, time);
            for (auto k = own.first; k < own.end; ++k) {
                // Without a sign: the product alone may lie below the least number, not the sum.
                const auto in_whole =
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(k) * of + i);
                in_shares.push_back(in_whole);
                EXPECT_EQ(share.bounds(k), whole.bounds(in_whole));
            }
            EXPECT_EQ(share.has_number(time), whole.has_number(time));
            // The first that is not over, which may be behind the last one that has a number.
            const auto next = static_cast<std::uint64_t>(share.end_over(time)) * of + i;
            EXPECT_LT(next - static_cast<std::uint64_t>(whole.end_over(time)), of);
        }
        std::sort(in_shares.begin(), in_shares.end());
        EXPECT_EQ(in_shares, expected);
    };
    for (const std::int64_t length : {1, 2, 3, 10}) {
        for (const std::int64_t slide : {1, 2, 3, 7}) {
            for (const std::int64_t offset : {0, 1, 5, -5}) {
                const auto whole =
                    TimeWindows::sliding(Duration{length}, Duration{slide}, Duration{offset});
                for (const std::size_t of : {1, 2, 3, 4, 7}) {
                    for (std::int64_t i = 0; i < 16; ++i) {
                        check(whole, of, EventTime::of_ns(least + i));
                        check(whole, of, EventTime::of_ns(most - i));
                        check(whole, of, EventTime::of_ns(i - 8));
                    }
                }
            }
        }
    }
}

RC_GTEST_PROP(CountWindows, ContainAPositionAsTheirBoundsSay,
              (std::uint16_t position, std::uint8_t length_less_one, std::uint8_t slide_less_one)) {
    const std::uint64_t length = length_less_one + 1U;
    const std::uint64_t slide = slide_less_one + 1U;
    const auto windows = CountWindows::sliding(length, slide);
    RC_ASSERT(windows.length() == length);
    RC_ASSERT(windows.slide() == slide);
    const auto range = windows.containing(position);
    RC_ASSERT(range.first <= range.end);
    for (std::uint64_t k = 0; k <= position / slide + 2; ++k) {
        const std::uint64_t start = k * slide;
        RC_ASSERT(windows.bounds(k) == (CountBounds{start, start + length}));
        RC_ASSERT((start <= position && position < start + length) ==
                  (range.first <= k && k < range.end));
    }
}

TEST(Windows, OfNoLengthAreRefused) {
    EXPECT_THROW(static_cast<void>(TimeWindows::tumbling(0s)), Error);
    EXPECT_THROW(static_cast<void>(TimeWindows::sliding(1s, 0s)), Error);
    EXPECT_THROW(static_cast<void>(TimeWindows::sliding(1s, -1s)), Error);
    EXPECT_THROW(static_cast<void>(CountWindows::tumbling(0)), Error);
    EXPECT_THROW(static_cast<void>(CountWindows::sliding(1, 0)), Error);
    EXPECT_THROW(static_cast<void>(SessionWindows::with_gap(0s)), Error);
    try {
        static_cast<void>(TimeWindows::tumbling(-5ns));
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the length of a window is -5 ns: it must be positive");
    }
}

TEST(SessionWindows, LastForTheGap) {
    const auto sessions = SessionWindows::with_gap(30s);
    EXPECT_EQ(sessions.gap(), 30s);
    EXPECT_EQ(sessions.of(EventTime{5s}), (TimeBounds{EventTime{5s}, EventTime{35s}}));
    EXPECT_EQ(sessions.of(EventTime::latest()).end, EventTime::latest());
}

}  // namespace
}  // namespace strid::window

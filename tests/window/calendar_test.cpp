// SPDX-License-Identifier: Apache-2.0
//
// Calendar windows: days, weeks and months of a time zone, against dates that are known and against
// the plain search for the window of a moment. tests/command_line/calendar_windows.py asks
// Python's zoneinfo about many zones.
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/error.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {
namespace {

using namespace std::chrono_literals;
using Unit = CalendarSpan::Unit;

EventTime at(std::chrono::sys_days day, std::chrono::seconds time_of_day = 0s) {
    return EventTime{day.time_since_epoch() + time_of_day};
}

TimeBounds window_of(const TimeWindows& windows, EventTime time) {
    const auto range = windows.containing(time);
    EXPECT_EQ(range.size(), 1);
    return windows.bounds(range.first);
}

TEST(CalendarWindows, DaysOfSummerTimeHave23And25Hours) {
    using namespace std::chrono;
    const auto days = TimeWindows::days(TimeZone::named("Europe/Berlin"));
    const auto spring = window_of(days, at(2024y / March / 31, 12h));
    EXPECT_EQ(spring, (TimeBounds{at(2024y / March / 30, 23h), at(2024y / March / 31, 22h)}));
    const auto autumn = window_of(days, at(2024y / October / 27, 12h));
    EXPECT_EQ(autumn, (TimeBounds{at(2024y / October / 26, 22h), at(2024y / October / 27, 23h)}));
    // The rule of the zone behind the years that its table lists.
    const auto later = window_of(days, at(2200y / July / 1, 12h));
    EXPECT_EQ(later, (TimeBounds{at(2200y / June / 30, 22h), at(2200y / July / 1, 22h)}));
}

TEST(CalendarWindows, WeeksBeginOnMonday) {
    using namespace std::chrono;
    for (const sys_days day : {sys_days{1969y / December / 29}, sys_days{1970y / January / 5},
                               sys_days{2024y / January / 1}, sys_days{2024y / July / 29}}) {
        ASSERT_EQ(weekday{day}, Monday);
        for (const auto since : {0s, 86'400s * 3, 86'400s * 7 - 1s}) {
            EXPECT_EQ(window_of(TimeWindows::weeks(), at(day, since)),
                      (TimeBounds{at(day), at(day + std::chrono::days{7})}));
        }
    }
}

TEST(CalendarWindows, MonthsQuartersAndYearsAreAsLongAsTheyAre) {
    using namespace std::chrono;
    const auto zone = TimeZone::named("America/New_York");
    EXPECT_EQ(window_of(TimeWindows::months(zone), at(2024y / February / 29, 23h)),
              (TimeBounds{at(2024y / February / 1, 5h), at(2024y / March / 1, 5h)}));
    EXPECT_EQ(window_of(TimeWindows::months(zone), at(2024y / March / 31, 23h)),
              (TimeBounds{at(2024y / March / 1, 5h), at(2024y / April / 1, 4h)}));
    EXPECT_EQ(window_of(TimeWindows::quarters(), at(1969y / December / 31)),
              (TimeBounds{at(1969y / October / 1), at(1970y / January / 1)}));
    EXPECT_EQ(window_of(TimeWindows::years(zone), at(2024y / January / 1, 4h)),
              (TimeBounds{at(2023y / January / 1, 5h), at(2024y / January / 1, 5h)}));
}

TEST(CalendarWindows, BeginAtAnOffset) {
    using namespace std::chrono;
    const auto windows =
        TimeWindows::calendar({1, Unit::day}, TimeZone::named("Europe/Berlin"), 6h + Duration{1});
    EXPECT_EQ(window_of(windows, at(2024y / March / 31, 4h)),
              (TimeBounds{at(2024y / March / 30, 5h) + Duration{1},
                          at(2024y / March / 31, 4h) + Duration{1}}));
}

/// In a zone that skipped a day, as Samoa did with 30 December 2011, it has no length.
TEST(CalendarWindows, ADayThatTheZoneSkippedIsEmpty) {
    using namespace std::chrono;
    const auto days = TimeWindows::days(TimeZone::named("Pacific/Apia"));
    const EventTime skip = at(2011y / December / 30, 10h);
    EXPECT_EQ(window_of(days, skip - Duration{1}).end, skip);
    EXPECT_EQ(window_of(days, skip).start, skip);
    const auto last = days.containing(skip - Duration{1}).first;
    EXPECT_EQ(days.containing(skip).first, last + 2);
    EXPECT_EQ(days.bounds(last + 1), (TimeBounds{skip, skip}));
}

TEST(CalendarWindows, OfNoLengthOrOfBothAxesAreRefused) {
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40,
                                     std::numeric_limits<std::int64_t>::max()}) {
        for (const Unit unit : {Unit::day, Unit::week, Unit::month, Unit::quarter, Unit::year}) {
            EXPECT_THROW(static_cast<void>(TimeWindows::calendar({count, unit})), Error);
        }
    }
    EXPECT_THROW(static_cast<void>(TimeWindows::calendar({1, Unit::month}, {1, Unit::day})), Error);
    EXPECT_THROW(static_cast<void>(TimeZone::named("Europe/Atlantis")), Error);
    EXPECT_THROW(static_cast<void>(TimeZone::named("/etc/localtime")), Error);
    EXPECT_THROW(static_cast<void>(TimeZone::named("+24:00")), Error);
    EXPECT_THROW(static_cast<void>(TimeZone::named("")), Error);
    EXPECT_EQ(TimeZone::named("-05:30").offset_at(0), -19'800);
}

/// Cuba and Newfoundland set their clocks back across midnight, Lord Howe by half an hour.
const std::vector<std::string> zone_names = {"UTC",
                                             "Europe/Berlin",
                                             "America/New_York",
                                             "America/Havana",
                                             "America/St_Johns",
                                             "Pacific/Apia",
                                             "Australia/Lord_Howe",
                                             "America/Sao_Paulo",
                                             "Asia/Kolkata",
                                             "+14:00"};

RC_GTEST_PROP(CalendarWindows, ContainATimeAsTheirBoundsSay, ()) {
    const auto zone = TimeZone::named(*rc::gen::elementOf(zone_names));
    const auto offset = Duration{std::chrono::seconds{*rc::gen::inRange(-100'000, 100'000)}};
    const bool of_days = *rc::gen::arbitrary<bool>();
    const auto length = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto slide = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto windows =
        TimeWindows::calendar({length, of_days ? Unit::day : Unit::month},
                              {slide, of_days ? Unit::week : Unit::quarter}, zone, offset);
    const auto time = EventTime::of_ns(*rc::gen::arbitrary<std::int64_t>());
    const auto range = windows.containing(time);
    for (std::int64_t k = range.first - 45; k <= range.end + 45; ++k) {
        const TimeBounds bounds = windows.bounds(k);
        RC_ASSERT(bounds.start <= bounds.end);
        RC_ASSERT(bounds.start <= windows.bounds(k + 1).start);
        if (bounds.start == EventTime::earliest() || bounds.end == EventTime::latest()) continue;
        const bool covers = bounds.start <= time && time < bounds.end;
        RC_ASSERT(covers == (range.first <= k && k < range.end));
        RC_ASSERT((bounds.end <= time) == (k < windows.end_over(time)));
        const auto further = windows.windows_within(240h);
        const TimeBounds behind = windows.bounds(k + further);
        if (behind.end != EventTime::latest()) RC_ASSERT(behind.end - bounds.end >= 240h);
    }
}

RC_GTEST_PROP(CalendarWindows, AreSharedWithoutALoss, ()) {
    const auto zone = TimeZone::named(*rc::gen::elementOf(zone_names));
    const auto length = *rc::gen::inRange<std::int64_t>(1, 10);
    const auto slide = *rc::gen::inRange<std::int64_t>(1, 10);
    const auto of = *rc::gen::inRange<std::size_t>(1, 5);
    const auto whole = TimeWindows::calendar({length, Unit::day}, {slide, Unit::day}, zone);
    const auto time = EventTime::of_ns(*rc::gen::arbitrary<std::int64_t>());
    const auto range = whole.containing(time);
    std::int64_t found = 0;
    for (std::size_t i = 0; i < of; ++i) {
        const TimeWindows share = whole.share(i, of);
        const auto own = share.containing(time);
        for (std::int64_t k = own.first; k < own.end; ++k, ++found) {
            const auto in_whole = k * static_cast<std::int64_t>(of) + static_cast<std::int64_t>(i);
            RC_ASSERT(range.first <= in_whole && in_whole < range.end);
            RC_ASSERT(share.bounds(k) == whole.bounds(in_whole));
        }
        // As the operators ask: by the pane.
        const auto pane = share.pane_of(time);
        const TimeBounds in_pane = share.pane_bounds(pane);
        RC_ASSERT(in_pane.start <= time && (time < in_pane.end || time == EventTime::latest()));
        if (own.size() > 0) RC_ASSERT(share.with_pane(pane) == own);
        RC_ASSERT(share.has_number(time));
    }
    RC_ASSERT(found == range.size());
}

TEST(CalendarWindows, ReachTheLimitsOfTime) {
    for (const std::string& name : zone_names) {
        for (const Unit unit : {Unit::day, Unit::week, Unit::month, Unit::year}) {
            const auto windows = TimeWindows::calendar({1, unit}, TimeZone::named(name));
            EXPECT_EQ(window_of(windows, EventTime::earliest()).start, EventTime::earliest());
            EXPECT_EQ(window_of(windows, EventTime::latest()).end, EventTime::latest());
        }
    }
}

}  // namespace
}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// The oracle of dates is the C library (gmtime_r, strftime).
#include <array>
#include <ctime>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/civil_time.hpp>
#include <strid/base/error.hpp>
#include <strid/base/time_pattern.hpp>

namespace strid {
namespace {

constexpr std::int64_t seconds_max = 9'223'372'036;

EventTime of_seconds(std::int64_t seconds) {
    return EventTime{std::chrono::seconds{seconds}};
}

std::tm broken_down(std::int64_t seconds) {
    const std::time_t time = seconds;
    std::tm result{};
    ::gmtime_r(&time, &result);
    return result;
}

RC_GTEST_PROP(CivilTime, IsThatOfTheCLibrary, ()) {
    const auto seconds = *rc::gen::inRange<std::int64_t>(-seconds_max, seconds_max);
    const std::tm expected = broken_down(seconds);
    const CivilTime civil = civil_of(of_seconds(seconds));
    RC_ASSERT(civil.year == expected.tm_year + 1900);
    RC_ASSERT(civil.month == expected.tm_mon + 1);
    RC_ASSERT(civil.day == expected.tm_mday);
    RC_ASSERT(civil.hour == expected.tm_hour);
    RC_ASSERT(civil.minute == expected.tm_min);
    RC_ASSERT(civil.second == expected.tm_sec);
    EventTime again;
    RC_ASSERT(moment_of(civil, {}, again) == TimeFault::none);
    RC_ASSERT(again == of_seconds(seconds));
}

TEST(CivilTime, RefusesDatesThatAreNone) {
    EventTime time;
    EXPECT_EQ(moment_of({.year = 2023, .month = 2, .day = 29}, {}, time), TimeFault::no_day);
    EXPECT_EQ(moment_of({.year = 2024, .month = 2, .day = 29}, {}, time), TimeFault::none);
    EXPECT_EQ(moment_of({.hour = 24}, {}, time), TimeFault::none);
    EXPECT_EQ(time, of_seconds(86'400));
    EXPECT_EQ(moment_of({.hour = 24, .minute = 1}, {}, time), TimeFault::no_time_of_day);
    EXPECT_EQ(moment_of({.year = 2300}, {}, time), TimeFault::out_of_range);
}

TEST(CivilTime, HasTheLeapSecondsOfUtc) {
    CivilTime civil{.year = 2016, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 60};
    EventTime time;
    EXPECT_EQ(moment_of(civil, {}, time), TimeFault::none);
    EXPECT_EQ(time, of_seconds(1'483'228'800));  // 2017-01-01
    civil.year = 2017;
    EXPECT_EQ(moment_of(civil, {}, time), TimeFault::no_leap_second);
}

TEST(CivilTime, EachFaultIsDescribed) {
    EXPECT_EQ(describe(TimeFault::none), nullptr);
    EXPECT_STREQ(describe(TimeFault::no_day), "no such day");
    EXPECT_NE(describe(TimeFault::number_out_of_range), nullptr);
}

RC_GTEST_PROP(TimePattern, WritesWhatTheCLibraryWrites, ()) {
    const std::string pattern = "%a %A %e %d.%m.%Y %y %b %B %j %I:%M:%S %p %H %F %T %D ";
    const auto seconds = *rc::gen::inRange<std::int64_t>(-seconds_max, seconds_max);
    const std::tm parts = broken_down(seconds);
    std::array<char, 200> expected;
    RC_ASSERT(std::strftime(expected.data(), expected.size(), pattern.c_str(), &parts) != 0U);
    std::string written;
    TimePattern(pattern + "%s").append(written, of_seconds(seconds), {});  // there of local time
    RC_ASSERT(written == expected.data() + std::to_string(seconds));
}

TEST(TimePattern, ReadsAsItWrites) {
    const TimePattern pattern("%d/%b/%Y:%H:%M:%S.%f %z");
    EventTime time;
    ASSERT_EQ(pattern.read("31/Mar/2024:03:30:00.25 +0200", {}, time), TimeFault::none);
    EXPECT_EQ(time.ns(), 1'711'848'600'250'000'000);  // 01:30 UTC
    std::string written;
    pattern.append(written, time, TimeZone::named("+02:00"));
    EXPECT_EQ(written, "31/Mar/2024:03:30:00.250 +0200");
    EXPECT_EQ(pattern.read("31/Mar/2024", {}, time), TimeFault::not_of_pattern);
}

TEST(TimePattern, RefusesPatternsThatDetermineNoMoment) {
    for (const char* pattern : {"%H:%M", "%Y %I", "%Q", "%s.%f", "%Y%"}) {
        EXPECT_THROW(TimePattern{pattern}, Error) << pattern;
    }
}

}  // namespace
}  // namespace strid

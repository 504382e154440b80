// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/time_pattern.hpp>
#include <strid/base/time_text.hpp>

namespace strid {
namespace {

using Kind = TimeForm::Kind;
using Date = TimeForm::Date;
using Offset = TimeForm::Offset;

constexpr std::int64_t moment = 1'711'848'600'000'000'000;  // 2024-03-31T01:30:00Z

TEST(TimeText, ReadsTheFormsAndWritesThemAgain) {
    for (const char* text : {"2024-03-31T01:30:00Z", "2024-03-31 01:30:00", "20240331T013000Z",
                             "2024/03/31 01:30:00 UTC", "03/31/2024 01:30:00 AM",
                             "31/Mar/2024:01:30:00 +0000", "1711848600000", "1711848600000.0"}) {
        EventTime time;
        TimeForm form;
        ASSERT_EQ(read_time(text, {}, time, form), TimeFault::none) << text;
        EXPECT_EQ(time.ns(), moment) << text;
        std::string written;
        append_time(written, time, form, {});
        EventTime again;
        TimeForm form_again;
        ASSERT_EQ(read_time(written, {}, again, form_again), TimeFault::none) << written;
        EXPECT_EQ(again, time) << written;
    }
}

TEST(TimeText, ReturnsTheForm) {
    EventTime time;
    TimeForm form;
    ASSERT_EQ(read_time("2024-03-31 03:30:00+02:00", {}, time, form), TimeFault::none);
    EXPECT_EQ(time.ns(), moment);
    EXPECT_EQ(form.kind, Kind::date);
    EXPECT_EQ(form.date, Date::iso);
    EXPECT_EQ(form.between, ' ');
    EXPECT_EQ(form.offset, Offset::colon);
    std::string written;
    append_time(written, time, form, {.zone = TimeZone::named("+02:00")});
    EXPECT_EQ(written, "2024-03-31 03:30:00+02:00");
}

TEST(TimeText, NamesTheFault) {
    EventTime time;
    TimeForm form;
    EXPECT_EQ(read_time("tomorrow", {}, time, form), TimeFault::no_time);
    EXPECT_EQ(read_time("03/04/2024", {}, time, form), TimeFault::day_or_month);
    EXPECT_EQ(read_time("2023-02-29", {}, time, form), TimeFault::no_day);
    EXPECT_EQ(read_time("2024-03-31T25:00", {}, time, form), TimeFault::no_time_of_day);
    EXPECT_EQ(read_time("9999-12-31", {}, time, form), TimeFault::out_of_range);
    EXPECT_EQ(read_time("1e30", {}, time, form), TimeFault::number_out_of_range);
}

TEST(TimePattern, HasTheUnitThatItsTextsTellApart) {
    using namespace std::chrono_literals;
    for (const auto& [pattern, unit] :
         std::initializer_list<std::pair<const char*, Duration>>{{"%F %T.%f", 1ns},
                                                                 {"%s", 1s},
                                                                 {"%d/%b/%Y:%T %z", 1s},
                                                                 {"%F %R", 1min},
                                                                 {"%F %I %p", 1h},
                                                                 {"%Y-%j", 24h},
                                                                 {"%B %Y", 31 * 24h},
                                                                 {"%Y", 366 * 24h}}) {
        const TimePattern asked(pattern);
        EXPECT_EQ(asked.unit(), unit) << pattern;
        // Texts of two times that lie so far apart differ.
        std::string first;
        std::string second;
        asked.append(first, EventTime::of_ns(moment), {});
        asked.append(second, EventTime::of_ns(moment + unit.count()), {});
        EXPECT_NE(first, second) << pattern;
    }
}

RC_GTEST_PROP(TimeText, ATimeThatWasWrittenReadsAsTheSame, ()) {
    const auto ns =
        *rc::gen::inRange<std::int64_t>(-9'200'000'000'000'000'000, 9'200'000'000'000'000'000);
    TimeForm form{.kind = *rc::gen::element(Kind::unknown, Kind::decimal, Kind::date)};
    form.date = *rc::gen::element(Date::iso, Date::basic, Date::slashed, Date::us, Date::log);
    form.offset = *rc::gen::element(Offset::none, Offset::z, Offset::utc, Offset::colon,
                                    Offset::basic, Offset::space, Offset::space_colon);
    form.between = form.date == Date::log ? ':' : form.date == Date::us ? ' ' : 'T';
    TimeNotation notation;
    notation.unit_ns = *rc::gen::element<std::int64_t>(1, 1'000'000, 60'000'000'000);
    if (form.offset != Offset::none) notation.zone = TimeZone::named("-03:30");
    std::string written;
    append_time(written, EventTime::of_ns(ns), form, notation);
    EventTime again;
    RC_ASSERT(read_time(written, notation, again, form) == TimeFault::none);
    RC_ASSERT(again == EventTime::of_ns(ns));
}

}  // namespace
}  // namespace strid

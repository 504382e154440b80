// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/error.hpp>
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

/// Of zones that any reader knows, in either case; of others as the zone of the text names them.
TEST(TimeText, ReadsNamesOfOffsets) {
    const TimeZone kolkata = TimeZone::named("Asia/Kolkata");
    const TimeZone berlin = TimeZone::named("Europe/Berlin");
    const auto ns_of = [](const char* text, const TimeZone& zone) {
        EventTime time;
        TimeForm form;
        const TimeFault fault = read_time(text, {.zone = zone}, time, form);
        return fault == TimeFault::none ? time.ns() : -1;
    };
    EXPECT_EQ(ns_of("2024-03-30 20:30:00 EST", {}), moment);
    EXPECT_EQ(ns_of("2024-03-31 03:30:00 CEST", kolkata), moment);
    EXPECT_EQ(ns_of("2024-03-31 03:30:00 cest", berlin), moment);
    EXPECT_EQ(ns_of("2024-03-31 07:00:00 IST", kolkata), moment);
    EXPECT_EQ(ns_of("2024-03-31 07:00:00 IST", berlin), -1);
    EXPECT_EQ(ns_of("2024-03-31 01:30:00 XYZZY", {}), -1);
    EXPECT_EQ(ns_of("2024-03-31 01:30:00 ABCDEFGH", {}), -1);
    EventTime time;
    const TimePattern pattern("%b %d %H:%M:%S %Z %Y");
    ASSERT_EQ(pattern.read("Mar 30 20:30:00 EST 2024", {}, time), TimeFault::none);
    EXPECT_EQ(time.ns(), moment);
    EXPECT_TRUE(pattern.has_offset());
}

/// The hour from 00:30 UTC on is shown again in Berlin an hour later, and that from 01:30 not.
TEST(TimeZone, SaysWhatClocksShowAgain) {
    const TimeZone berlin = TimeZone::named("Europe/Berlin");
    constexpr std::int64_t midnight_utc = 1'729'987'200;  // 2024-10-27
    EXPECT_EQ(berlin.shown_again_after(midnight_utc + 1'800), 3'600);
    EXPECT_EQ(berlin.shown_again_after(midnight_utc + 5'400), 0);
    EXPECT_EQ(berlin.shown_again_after(midnight_utc - 1), 0);
    EXPECT_EQ(TimeZone::named("+02:00").shown_again_after(midnight_utc), 0);
    EXPECT_EQ(TimeZone{}.shown_again_after(midnight_utc), 0);
}

TEST(TimePattern, HasTheYearOfItsReaderWhereTextsHaveNone) {
    EXPECT_THROW(TimePattern("%b %e %H:%M:%S"), Error);
    EXPECT_THROW(TimePattern("%H:%M:%S", PatternYear::of_reader), Error);
    const TimePattern pattern("%b %e %H:%M:%S", PatternYear::of_reader);
    EXPECT_FALSE(pattern.has_year());
    EXPECT_FALSE(pattern.has_offset());
    EventTime time;
    ASSERT_EQ(pattern.read("Mar 31 01:30:00", {}, time, 2024), TimeFault::none);
    EXPECT_EQ(time.ns(), moment);
    ASSERT_EQ(pattern.read("Feb 29 00:00:00", {}, time, 2024), TimeFault::none);
    EXPECT_EQ(pattern.read("Feb 29 00:00:00", {}, time, 2023), TimeFault::no_day);
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

// SPDX-License-Identifier: Apache-2.0
//
// Points in time, the strategies that draw watermarks from records, and the merge of several
// inputs' watermarks against the obvious one: the least of the active inputs, computed anew each
// time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/watermark.hpp>

namespace strid {
namespace {

using namespace std::chrono_literals;

struct Record {
    std::optional<EventTime> mark = {};
};

static_assert(WatermarkStrategy<MonotonousTime, Record>);
static_assert(WatermarkStrategy<BoundedDisorder, Record>);
static_assert(!std::is_convertible_v<EventTime, IngressTime> &&
              !std::is_convertible_v<IngressTime, ProcessingTime>);

EventTime at(std::int64_t ns) {
    return EventTime::of_ns(ns);
}

TEST(TimePoint, ArithmeticStaysAtTheLimits) {
    EXPECT_EQ(EventTime::latest() + 1ns, EventTime::latest());
    EXPECT_EQ(EventTime::earliest() - 1ns, EventTime::earliest());
    EXPECT_EQ(EventTime::latest() - EventTime::earliest(), Duration::max());
    EXPECT_EQ(EventTime::earliest() - EventTime::latest(), Duration::min());
    EXPECT_EQ(at(5) + 3ns, at(8));
    EXPECT_EQ(at(5) - 8ns, at(-3));
    EXPECT_LT(EventTime::earliest(), at(INT64_MIN + 1));
}

TEST(TimePoint, TimesOfOtherUnitsStayAtTheLimits) {
    using namespace std::chrono;
    EXPECT_EQ(EventTime{milliseconds{-3}}, at(-3'000'000));
    EXPECT_EQ(EventTime{seconds{9'223'372'036}}, at(9'223'372'036'000'000'000));
    EXPECT_EQ(EventTime{seconds{9'223'372'037}}, EventTime::latest());
    EXPECT_EQ(EventTime{milliseconds{INT64_MAX}}, EventTime::latest());
    EXPECT_EQ(EventTime{milliseconds{INT64_MIN}}, EventTime::earliest());
    EXPECT_EQ(EventTime{hours{-3'000'000}}, EventTime::earliest());
    EXPECT_EQ(EventTime{duration<double>{1.5}}, at(1'500'000'000));
    EXPECT_EQ(EventTime{duration<double>{1e300}}, EventTime::latest());
    EXPECT_EQ(EventTime{duration<double>{-1e10}}, EventTime::earliest());
    EXPECT_EQ(EventTime{duration<float>{1e10F}}, EventTime::latest());
    EXPECT_EQ(EventTime{duration<double>{std::nan("")}}, at(0));
    EXPECT_EQ((EventTime{duration<std::uint64_t, std::milli>{UINT64_MAX}}), EventTime::latest());
    EXPECT_EQ((EventTime{duration<std::int64_t, std::pico>{2'500}}), at(2));
}

RC_GTEST_PROP(WatermarkStrategy, AssertsWhatItsDisorderAllows,
              (const std::vector<std::int32_t>& times, std::uint16_t bound)) {
    MonotonousTime monotonous;
    BoundedDisorder bounded{Duration{bound}};
    RC_ASSERT(monotonous.watermark() == EventTime::earliest());
    RC_ASSERT(bounded.watermark() == EventTime::earliest());
    EventTime latest = EventTime::earliest();
    for (const std::int32_t time : times) {
        monotonous.observe(Record{}, at(time));
        bounded.observe(Record{}, at(time));
        latest = std::max(latest, at(time));
        RC_ASSERT(monotonous.watermark() == latest);
        RC_ASSERT(bounded.watermark() == latest - Duration{bound});
    }
    InSilence in_silence(bounded, Duration::zero());
    AtEnd at_end;
    for (const std::int32_t time : times) at_end.observe(Record{}, at(time));
    RC_ASSERT(at_end.watermark() == EventTime::earliest());
    at_end.ended();
    in_silence.ended();
    RC_ASSERT(at_end.watermark() == latest);
    RC_ASSERT(in_silence.watermark() == latest);
}

TEST(WatermarkStrategy, OfReplicasInSilenceTheEarlierWatermarkStands) {
    InSilence late(MonotonousTime{}, 1ns);
    InSilence early = late;
    late.observe(Record{}, at(10));
    early.observe(Record{}, at(3));
    early.silent_for(6ns);
    EXPECT_EQ(early.watermark(), at(8));
    InSilence merged = late;
    merged.merge_state(early);
    EXPECT_EQ(merged.watermark(), at(8));
    early.merge_state(late);
    EXPECT_EQ(early.watermark(), at(8));
}

TEST(WatermarkStrategy, PunctuationsThatGoBackAreRefused) {
    PunctuatedTime strategy([](const Record& record) { return record.mark; });
    static_assert(WatermarkStrategy<decltype(strategy), Record>);
    strategy.observe(Record{}, at(100));
    EXPECT_EQ(strategy.watermark(), EventTime::earliest());
    strategy.observe(Record{at(50)}, at(0));
    strategy.observe(Record{at(50)}, at(0));
    EXPECT_EQ(strategy.watermark(), at(50));
    try {
        strategy.observe(Record{at(40)}, at(0));
        FAIL();
    } catch (const WatermarkError& error) {
        EXPECT_STREQ(error.what(), "a watermark goes back: from 50 ns to 40 ns");
    }
    EXPECT_THROW(BoundedDisorder(-1ns), Error);
}

RC_GTEST_PROP(WatermarkMerge, IsTheLeastOfTheActiveAndNeverGoesBack,
              (const std::vector<std::uint32_t>& steps, bool waits_for_idle)) {
    constexpr std::size_t inputs = 4;
    WatermarkMerge merge(inputs);
    if (waits_for_idle) merge.wait_for_idle();
    std::vector<EventTime> times(inputs, EventTime::earliest());
    std::vector<bool> idle(inputs, false);
    EventTime expected = EventTime::earliest();
    for (const std::uint32_t step : steps) {
        const std::size_t input = step % inputs;
        if (step / inputs % 4 == 0) {
            merge.set_idle(input);
            idle[input] = true;
        } else {
            const EventTime base = times[input] == EventTime::earliest() ? at(0) : times[input];
            times[input] = base + Duration{step / 16 % 64};
            merge.update(input, times[input]);
            idle[input] = false;
        }
        std::optional<EventTime> least;
        for (std::size_t i = 0; i < inputs; ++i) {
            if (!idle[i]) least = std::min(least.value_or(EventTime::latest()), times[i]);
        }
        if (least && waits_for_idle) least = *std::ranges::min_element(times);
        if (least) expected = std::max(expected, *least);
        RC_ASSERT(merge.watermark() == expected);
        RC_ASSERT(merge.all_idle() == !least.has_value());
    }
}

TEST(WatermarkMerge, EndedInputsHoldNoInputBack) {
    WatermarkMerge merge(2);
    merge.update(0, at(100));
    EXPECT_EQ(merge.watermark(), EventTime::earliest());
    merge.update(1, at(40));
    EXPECT_EQ(merge.watermark(), at(40));
    merge.set_ended(1);
    EXPECT_EQ(merge.watermark(), at(100));
    merge.set_ended(0);
    EXPECT_EQ(merge.watermark(), at(100));
    EXPECT_THROW(merge.update(0, at(5)), WatermarkError);
    EXPECT_THROW(WatermarkMerge(0), Error);
}

TEST(WatermarkMerge, AnInputThatEndsDoesNotEndTheTimeOfOneThatIsIdle) {
    WatermarkMerge merge(2);
    merge.update(0, at(100));
    merge.set_idle(1);
    merge.set_ended(0);
    EXPECT_EQ(merge.progress(), (Progress{at(100), true}));
    merge.update(1, at(120));
    EXPECT_EQ(merge.progress(), (Progress{at(120), false}));
    merge.set_idle(1);
    merge.set_ended(1);
    EXPECT_EQ(merge.progress(), (Progress{at(120), false}));
}

TEST(WatermarkMerge, WhenAllHaveEndedTimeIsTheLastOfTheirsWhicheverEndedFirst) {
    for (const std::size_t first : {0U, 1U}) {
        WatermarkMerge merge(2);
        merge.update(0, at(100));
        merge.update(1, at(40));
        merge.set_ended(first);
        EXPECT_EQ(merge.watermark(), first == 0 ? at(40) : at(100));
        merge.set_ended(1 - first);
        EXPECT_EQ(merge.progress(), (Progress{at(100), false}));
    }
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// The harness that drives one operator (test/harness.hpp): what it sends, and what it has.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/deduplicate.hpp>
#include <strid/operator/forget_keys.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/test/harness.hpp>

namespace strid::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

EventTime at(Duration time) {
    return EventTime{time};
}

struct EverySecond : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.emits = Emits::at_most_one, .hears = events<>};
    void process(int& record, auto& emit) {
        if (++count % 2 == 0) emit(record);
    }
    auto state() { return std::tie(count); }
    std::uint64_t count = 0;
};

TEST(Harness, HasWhatAnOperatorEmits) {
    Harness harness{EverySecond{}};
    harness.record(1);
    EXPECT_THAT(harness.emitted(), IsEmpty());
    harness.batch({2, 3, 4});
    EXPECT_THAT(harness.take_emitted(), ElementsAre(2, 4));
    EXPECT_THAT(harness.emitted(), IsEmpty());
    EXPECT_EQ(harness.one().count, 4U);
    EXPECT_TRUE(harness.end());
}

/// Notes every event.
struct Notes : OperatorTypes<int, std::string> {
    static constexpr OperatorTraits traits{
        .emits = Emits::any_number,
        .hears =
            events<Opened, BatchBegins, Coming<int>, BatchEnds, Flush, Watermark, Ended, Closed>,
        .may_skip = true,
        .stateless = true};
    void on(const Opened& opened) {
        name = opened.context.name;
        counter = opened.context.counter("records");
    }
    void on(const BatchBegins& begins) {
        note("begins " + std::to_string(begins.watermark.ns()) + " of input " +
             std::to_string(begins.input));
    }
    std::size_t on(Coming<int> coming) {
        note("coming " + std::to_string(coming.records.size()));
        return 1;
    }
    void process(int& record, auto& emit) {
        if (record < 0) throw std::runtime_error("negative");
        counter.add();
        for (const std::string& one : std::exchange(noted, {})) emit(one);
        emit(std::to_string(record));
    }
    void on(BatchEnds) { note("ends"); }
    void on(Flush) { note("flush"); }
    void on(Watermark watermark, auto& emit) {
        for (const std::string& one : std::exchange(noted, {})) emit(one);
        emit((watermark.idle ? "idle " : "watermark ") + std::to_string(watermark.time.ns()));
    }
    void on(Ended, auto& emit) { emit(std::string("ended")); }
    void on(Closed) { closed = true; }
    void note(std::string one) { noted.push_back(std::move(one)); }

    std::string name;
    Counter counter;
    std::vector<std::string> noted;
    bool closed = false;
};

TEST(Harness, SendsTheEventsOfTheContract) {
    Harness harness{Notes{}};
    EXPECT_EQ(harness.one().name, "apply");
    harness.batch({1, 2});
    EXPECT_TRUE(harness.watermark(EventTime::of_ns(7)));
    harness.flush();
    EXPECT_TRUE(harness.idle());
    std::vector<int> records{3};
    harness.batch(records, BatchBegins{EventTime::of_ns(5), 1});
    EXPECT_FALSE(harness.one().closed);
    EXPECT_TRUE(harness.end());
    EXPECT_TRUE(harness.one().closed);
    const std::string earliest = std::to_string(EventTime::earliest().ns());
    EXPECT_THAT(harness.emitted(),
                ElementsAre("begins " + earliest + " of input 0", "coming 2", "1", "coming 1", "2",
                            "ends", "watermark 7", "flush", "idle 7", "begins 5 of input 1",
                            "coming 1", "3", "ended"));
    EXPECT_EQ(harness.counter("records"), 3U);
    EXPECT_EQ(harness.counter("others"), 0U);
    EXPECT_EQ(harness.progress(), (Progress{EventTime::of_ns(7), true}));
}

TEST(Harness, ReportsExceptionsAsARunDoes) {
    Harness harness{Notes{}};
    EXPECT_THROW(harness.record(-1), OperatorError);
    harness.skip_exceptions();
    harness.batch({-1, -2, 4});
    EXPECT_EQ(harness.skipped(), 2U);
    EXPECT_EQ(harness.emitted().back(), "4");
}

TEST(Harness, RefusesWhatTheEngineDoesNotDo) {
    Harness harness{Notes{}};
    EXPECT_TRUE(harness.watermark(at(2s)));
    EXPECT_THROW(harness.watermark(at(1s)), std::logic_error);
    EXPECT_TRUE(harness.end());
    EXPECT_THROW(harness.record(1), std::logic_error);
    EXPECT_THROW(harness.watermark(at(3s)), std::logic_error);
}

/// Holds records until the watermark, and emits them one by one where there is room.
struct Holds : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{
        .emits = Emits::any_number, .hears = events<Watermark, Ended>, .needs_watermarks = true};
    void process(int& record, auto& /*emit*/) { held.push_back(record); }
    bool on(Watermark, auto& emit) {
        for (; !held.empty(); held.erase(held.begin())) {
            if (!emit.room()) return false;
            emit(held.front());
        }
        return true;
    }
    bool on(Ended, auto& emit) { return on(Watermark{}, emit); }
    auto state() { return std::tie(held); }
    std::vector<int> held;
};

TEST(Harness, RefusesRoomOnRequest) {
    Harness harness{Holds{}};
    harness.batch({1, 2, 3, 4, 5});
    EXPECT_EQ(harness.state_size().bytes, harness.one().held.capacity() * sizeof(int));
    harness.make_room(2);
    EXPECT_FALSE(harness.watermark(at(1s)));
    EXPECT_THAT(harness.take_emitted(), ElementsAre(1, 2));
    EXPECT_THROW(harness.record(6), std::logic_error);
    EXPECT_FALSE(harness.go_on());
    harness.make_room(2);
    EXPECT_FALSE(harness.go_on());
    EXPECT_THAT(harness.take_emitted(), ElementsAre(3, 4));
    harness.make_room(9);
    EXPECT_TRUE(harness.go_on());
    harness.make_room(1);
    harness.batch({6, 7});
    EXPECT_FALSE(harness.end());
    harness.make_room(1);
    EXPECT_TRUE(harness.go_on());
    EXPECT_THAT(harness.emitted(), ElementsAre(5, 6, 7));
}

struct Click {
    int user = 0;
    EventTime time;
};

/// An alarm where a user does not click for ten seconds.
struct MissingClick {
    void operator()(const Click& click, Timers& timers, Emitter<std::string>& /*emit*/) {
        timers.cancel(due);
        due = EventTime::of_ns(click.time.ns() + Duration{10s}.count());
        user = click.user;
        timers.at(due);
    }
    void on_timer(EventTime /*time*/, Timers& timers, Emitter<std::string>& emit) {
        emit(std::to_string(user) + " is gone");
        timers.forget_key();
    }
    EventTime due;
    int user = 0;
};

TEST(Harness, DrivesFunctionsWithTimers) {
    Harness harness{process<std::string>(MissingClick{}), arriving_by_key<Click>(&Click::user)};
    harness.batch({{1, at(0s)}, {2, at(1s)}, {1, at(8s)}});
    EXPECT_EQ(harness.state_size().keys, 2U);
    EXPECT_TRUE(harness.watermark(at(10s)));
    EXPECT_THAT(harness.emitted(), IsEmpty());
    EXPECT_TRUE(harness.watermark(at(12s)));
    EXPECT_THAT(harness.emitted(), ElementsAre("2 is gone"));
    EXPECT_EQ(harness.state_size().keys, 1U);
    EXPECT_TRUE(harness.end());
    EXPECT_THAT(harness.emitted(), ElementsAre("2 is gone", "1 is gone"));
}

/// A reminder by the machine's clock.
struct Reminds {
    void operator()(int record, Timers& timers, Emitter<int>& /*emit*/) {
        last = record;
        timers.at(ProcessingTime::of_ns(Timers::now().ns() + Duration{1s}.count()));
    }
    void on_timer(ProcessingTime /*time*/, Timers& /*timers*/, Emitter<int>& emit) { emit(last); }
    int last = 0;
};

TEST(Harness, HasAClockOfItsOwn) {
    Harness harness{process<int>(Reminds{}), arriving_by_key<int>(std::identity{})};
    EXPECT_EQ(harness.wake_at_ns(), 0);
    harness.record(5);
    EXPECT_EQ(harness.wake_at_ns(), harness.clock().ns() + Duration{1s}.count());
    EXPECT_TRUE(harness.advance_clock(999ms));
    EXPECT_THAT(harness.emitted(), IsEmpty());
    EXPECT_TRUE(harness.advance_clock(1ms));
    EXPECT_THAT(harness.emitted(), ElementsAre(5));
    EXPECT_EQ(strid::detail::set_clock_ns, nullptr);
}

TEST(Harness, HasLateRecordsOfAMaker) {
    Harness harness{strid::deduplicate(2s), arriving_by_key<Click>(&Click::user, &Click::time)};
    harness.batch({{1, at(10s)}, {1, at(11s)}});
    EXPECT_TRUE(harness.watermark(at(20s)));
    harness.record({2, at(3s)});
    ASSERT_EQ(harness.emitted().size(), 1U);
    EXPECT_EQ(harness.emitted().front().time, at(10s));
    ASSERT_EQ(harness.late().size(), 1U);
    EXPECT_EQ(harness.late().front().user, 2);
    EXPECT_EQ(harness.late_count(), 1U);
}

struct Word {
    std::string_view text;
};
struct Adds {
    void operator()(int& sum, const Word&) const { ++sum; }
};
using CountByWord =
    operators::Accumulate<Word, int, Adds, decltype(&Word::text), ForgetKeys<ForgetBy::number>>;

/// The key's text is the operator's, which retires it when the key is forgotten.
TEST(Harness, KeepsTheTextsOfResults) {
    Harness harness{CountByWord{0, Adds{}, &Word::text, Emit::at_end, keep_at_most(1)},
                    arriving_by_key<Word>(&Word::text)};
    std::vector<std::string> expected;
    for (int i = 0; i < 2'000; ++i) {
        const std::string text = "a word that is longer than most, number " + std::to_string(i);
        harness.record({text});
        expected.push_back(text);
    }
    EXPECT_TRUE(harness.end());
    ASSERT_EQ(harness.emitted().size(), expected.size());
    for (std::size_t i = 0; i != expected.size(); ++i) {
        EXPECT_EQ(harness.emitted()[i].key, expected[i]);
    }
}

TEST(Harness, DrivesSinks) {
    std::vector<int> taken;
    const auto take = [&taken](int record) { taken.push_back(record); };
    using Sink = operators::Sink<int, decltype(take)>;
    Harness harness{Sink{take}};
    harness.batch({1, 2});
    EXPECT_TRUE(harness.end());
    EXPECT_THAT(taken, ElementsAre(1, 2));
}

TEST(Harness, PutsTheStateOfOneIntoAnother) {
    Harness first{EverySecond{}};
    first.batch({1, 2, 3});
    Harness second{EverySecond{}};
    second.restore(first);
    second.batch({4, 5});
    EXPECT_THAT(second.emitted(), ElementsAre(4));
}

}  // namespace
}  // namespace strid::test

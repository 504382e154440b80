// SPDX-License-Identifier: Apache-2.0
//
// The watermark bounds the state of a join: each operator by itself is given records without
// end, and those that are alive are counted. Where time stands still they are as many as came.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/window/joins/keyed_as_of_join.hpp>
#include <strid/engine/window/joins/keyed_interval_join.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/test/harness.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::window {
namespace {

using namespace std::chrono_literals;

/// Counts the objects that exist, also those in slots that are not in use.
struct Counted {
    static inline std::int64_t alive = 0;
    std::uint32_t key = 0;
    EventTime time;

    Counted() { ++alive; }
    Counted(std::uint32_t k, EventTime t) : key(k), time(t) { ++alive; }
    Counted(const Counted& other) : key(other.key), time(other.time) { ++alive; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --alive; }
};

struct KeyOf {
    std::uint32_t operator()(const Counted& record) const { return record.key; }
};
struct TimeOf {
    EventTime operator()(const Counted& record) const { return record.time; }
};

struct Pair {
    int operator()(const Counted*, const Counted*) const { return 1; }
};

using Either = EitherSide<Counted, Counted>;
using EitherKeyOf = EitherKey<KeyOf, KeyOf>;
using EitherTimeOf = EitherTime<TimeOf, TimeOf>;

using IntervalJoin = KeyedIntervalJoin<Counted, Counted, EitherKeyOf, TimeOf, TimeOf, Pair>;
using AsOfJoin =
    KeyedAsOfJoin<Counted, Counted, EitherKeyOf, TimeOf, TimeOf, operators::ByArrival, Pair>;
using JoinOfWindows = WindowJoin<Counted, Counted, Pair>;
using WindowsOfJoin =
    KeyedTimeWindows<Either, EitherKeyOf, std::uint32_t, EitherTimeOf, JoinOfWindows>;

IntervalJoin interval_join_of(const JoinOptions& options) {
    return {{{-40ns}, {60ns}}, {}, {}, {}, {}, options};
}

AsOfJoin as_of_join_of(const AsOfOptions& options) {
    return {{}, {}, {}, {}, {}, options};
}

WindowsOfJoin window_join_of(const TimeWindows& windows, const JoinOptions& options) {
    WindowOptions of_windows;
    of_windows.lateness = options.lateness;
    return {windows, {}, {}, JoinOfWindows{{}, options.kind}, of_windows};
}

constexpr std::int64_t records = 20'000;

/// The keys of the stream: few that go on, or ever new ones.
enum class Keys { few, ever_new };

/// The most that were alive during the first tenth of the stream, and during all of it.
struct Most {
    std::int64_t early = 0;
    std::int64_t ever = 0;
};

/// The watermark follows the records where time moves.
template <class Operator>
Most most_kept(Operator one, Keys keys, bool time_moves) {
    const auto key_of = [](const Either& record) { return EitherKeyOf{}(record); };
    test::Harness join{std::move(one), test::arriving_by_key<Either>(key_of)};
    const std::int64_t before = Counted::alive;
    Most most;
    for (std::int64_t i = 0; i < records; ++i) {
        // Each key has a left and a right record; sides take turns.
        const std::int64_t number = i / 2;
        const auto key = static_cast<std::uint32_t>(keys == Keys::few ? number % 5 : number);
        {
            const Counted record{key, EventTime::of_ns(i)};
            join.record(i % 2 == 0 ? Either{std::in_place_index<0>, record}
                                   : Either{std::in_place_index<1>, record});
        }
        if (time_moves) {
            EXPECT_TRUE(join.watermark(EventTime::of_ns(i - 20)));
        }
        most.ever = std::max(most.ever, Counted::alive - before);
        if (i < records / 10) most.early = most.ever;
    }
    return most;
}

/// `make` makes the operator, for a kind and a lateness; `span` is how long a record may be asked
/// for without lateness.
template <class Make>
void lets_go(const std::string& what, std::int64_t span, const Make& make) {
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
        for (const Duration lateness : {0ns, 100ns}) {
            for (const Keys keys : {Keys::few, Keys::ever_new}) {
                SCOPED_TRACE(what + ", kind " + std::to_string(static_cast<int>(kind)) +
                             ", lateness " + std::to_string(lateness.count()) +
                             (keys == Keys::few ? ", few keys" : ", ever new keys"));
                const JoinOptions options{.kind = kind, .lateness = lateness};
                // Rings and tables have room for twice what they hold, or somewhat more.
                const std::int64_t most = 8 * (span + lateness.count() + 20) + 200;
                const Most kept = most_kept(make(options), keys, true);
                EXPECT_LE(kept.ever, most);
                EXPECT_LE(kept.ever, 2 * kept.early) << "it grows";
                const Most stood = most_kept(make(options), keys, false);
                // Of windows with gaps three in seven.
                EXPECT_GE(stood.ever, records / 3) << "the test counts what is kept";
                EXPECT_GT(stood.ever, 4 * kept.ever);
            }
        }
    }
    EXPECT_EQ(Counted::alive, 0);
}

TEST(JoinState, OfAnIntervalJoinIsLetGoByTheWatermark) {
    lets_go("interval", 100, interval_join_of);
}

TEST(JoinState, OfAnAsOfJoinIsLetGoByTheWatermark) {
    lets_go("as of", 100, [](const JoinOptions& options) {
        return as_of_join_of(
            {.kind = options.kind, .tolerance = 100ns, .lateness = options.lateness});
    });
}

/// Without a tolerance one right record of each key stays, and no more.
TEST(JoinState, OfAnAsOfJoinIsARecordOfEachKey) {
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left}) {
        EXPECT_LE(most_kept(as_of_join_of({.kind = kind}), Keys::few, true).ever, 400);
        const std::int64_t keys = records / 2;
        const Most all = most_kept(as_of_join_of({.kind = kind}), Keys::ever_new, true);
        EXPECT_GE(all.ever, keys);
        // A ring of one record and one of a record that has left it, and some on their way.
        EXPECT_LE(all.ever, 2 * keys + 400);
    }
}

TEST(JoinState, OfAWindowJoinIsLetGoByTheWatermark) {
    for (const auto& windows : {TimeWindows::tumbling(50ns), TimeWindows::sliding(100ns, 25ns),
                                TimeWindows::sliding(30ns, 70ns)}) {
        lets_go("windows of " + std::to_string(windows.length().count()),
                windows.length().count() + windows.slide().count(),
                [&](const JoinOptions& options) { return window_join_of(windows, options); });
    }
}

}  // namespace
}  // namespace strid::window

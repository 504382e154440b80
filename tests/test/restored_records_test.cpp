// SPDX-License-Identifier: Apache-2.0
//
// The state() of operators with a function for each record, by key or not, and of those that order
// and time a stream is complete (alike.hpp).
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/operator/per_record.hpp>
#include <strid/operator/batches.hpp>
#include <strid/operator/call.hpp>
#include <strid/operator/current_table.hpp>
#include <strid/operator/deduplicate.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/forget_keys.hpp>
#include <strid/operator/ingress_time.hpp>
#include <strid/operator/lookup.hpp>
#include <strid/operator/lookup_table.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/operator/source_time.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/stream/dead_letter.hpp>

#include "alike.hpp"

namespace strid::test {
namespace {

using namespace operators;

/// A function with a state.
struct Numbers {
    std::int64_t count = 0;
    Reading operator()(const Reading& reading) {
        return {reading.key, reading.time, 1'000 * ++count + reading.value};
    }
};
struct EverySecond {
    bool passes = false;
    bool operator()(const Reading&) { return passes = !passes; }
};
struct Repeats {
    std::int64_t count = 0;
    void operator()(const Reading& reading, Emitter<std::int64_t>& emit) {
        ++count;
        for (std::int64_t i = 0; i != count % 3; ++i) emit(1'000 * count + reading.value);
    }
};
struct Logs {
    std::int64_t count = 0;
    void operator()(const Reading& reading) {
        sink_log() += std::to_string(++count) + ":" + text_of(reading) + " ";
    }
};

/// Every fifth fails in each attempt.
struct Asks {
    std::int64_t operator()(const Reading& reading) const {
        if (reading.value % 5 == 0) throw std::runtime_error("no answer");
        return 10 * reading.value;
    }
};

/// Calls are made in turn; those that fail are in flight until they were repeated twice.
TEST(Restored, Call) {
    for (const bool ordered : {true, false}) {
        state_is_complete(
            [ordered] {
                auto ask = dead_letter<Reading>(Asks{}, [](const Reading& reading, auto) {
                    sink_log() += "aside " + text_of(reading) + " ";
                });
                return Call<Reading, decltype(ask), TimeOf>{
                    ask,
                    TimeOf{},
                    {.in_flight = 5,
                     .ordered = ordered,
                     .retries = 2,
                     .backoff = std::chrono::nanoseconds{100}}};
            },
            {.clock_step = 150});
    }
}
TEST(Restored, Map) {
    state_is_complete([] { return Map<Reading, Numbers, Plain<Numbers>>{Plain{Numbers{}}}; });
}
TEST(Restored, Filter) {
    state_is_complete(
        [] { return Filter<Reading, EverySecond, Plain<EverySecond>>{Plain{EverySecond{}}}; });
}
TEST(Restored, FlatMap) {
    state_is_complete(
        [] { return FlatMap<Reading, std::int64_t, Repeats, Plain<Repeats>>{Plain{Repeats{}}}; });
}
/// The same for several records at once.
struct NumbersOfBatches {
    std::int64_t count = 0;
    void operator()(std::span<const Reading> readings, std::span<Reading> numbered) {
        for (std::size_t i = 0; i != readings.size(); ++i) {
            numbered[i] = {readings[i].key, readings[i].time, 1'000 * ++count + readings[i].value};
        }
    }
};
struct EverySecondOfBatches {
    bool passes = false;
    void operator()(std::span<const Reading> readings, std::span<bool> keep) {
        for (std::size_t i = 0; i != readings.size(); ++i) keep[i] = passes = !passes;
    }
};
TEST(Restored, BatchMap) {
    state_is_complete(
        [] { return BatchMap<Reading, Reading, NumbersOfBatches>{NumbersOfBatches{}}; });
}
TEST(Restored, BatchFilter) {
    state_is_complete(
        [] { return BatchFilter<Reading, EverySecondOfBatches>{EverySecondOfBatches{}}; });
}
TEST(Restored, Sink) {
    state_is_complete([] { return operators::Sink<Reading, Logs>{Logs{}}; });
}

/// A function for each key.
template <class F, class Life>
using ByKeyOf = PerKey<F, Reading, KeyOf, Life>;
using Arrived = message::Hashed<Reading>;

template <class Life>
void per_key_is_complete(Life life, const Ways& ways = {}) {
    keyed_state_is_complete(
        [life] {
            return Map<Arrived, Numbers, ByKeyOf<Numbers, Life>>{
                ByKeyOf<Numbers, Life>{Numbers{}, {}, life}};
        },
        ways);
}

TEST(Restored, MapByKey) {
    per_key_is_complete(KeepKeys{});
    per_key_is_complete(forget_after(Duration{30}));
    per_key_is_complete(forget_after(Duration{60}).at_most(4));
    per_key_is_complete(forget_after_by_clock(Duration{500}), {.clock_step = 200});
    // Only the number of keys counts, so that there is no time: element 1.
    per_key_is_complete(keep_at_most(4), {.unneeded = {1}});
}

struct Adds {
    std::int64_t calls = 0;
    void operator()(std::string& all, const Reading& reading) {
        all += std::to_string(++calls) + ":" + std::to_string(reading.value) + ",";
    }
};

template <class Life>
void accumulate_is_complete(Emit when, Life life, const Ways& ways = {}) {
    using Operator = Accumulate<Reading, std::string, Adds, KeyOf, Life>;
    keyed_state_is_complete(
        [=] {
            return Operator{std::string{}, Adds{}, KeyOf{}, when, life};
        },
        ways);
}

TEST(Restored, Accumulate) {
    for (const Emit when : {Emit::every_update, Emit::at_end}) {
        accumulate_is_complete(when, KeepKeys{});
        accumulate_is_complete(when, forget_after(Duration{30}));
        accumulate_is_complete(when, keep_at_most(4), {.unneeded = {1}});
    }
}

/// Emitted records point to the keys' texts.
TEST(Restored, AccumulateByTexts) {
    struct Counts {
        void operator()(int& count, const Line&) const { ++count; }
    };
    const auto check = [](auto life, const Ways& ways) {
        using Operator = Accumulate<Line, int, Counts, KeyOf, decltype(life)>;
        state_is_complete(
            [life] {
                return Operator{0, Counts{}, KeyOf{}, Emit::at_end, life};
            },
            arriving_by_key<Line>(KeyOf{}), a_line, ways);
    };
    check(KeepKeys{}, {});
    check(keep_at_most(4), {.unneeded = {1}});
}

TEST(Restored, Reduce) {
    struct Combines {
        std::int64_t calls = 0;
        Reading operator()(const Reading& so_far, const Reading& reading) {
            return {reading.key, reading.time, so_far.value + 1'000 * ++calls + reading.value};
        }
    };
    keyed_state_is_complete([] {
        return Reduce<Reading, Combines, KeyOf, KeepKeys>{Combines{}, KeyOf{}, KeepKeys{}};
    });
    keyed_state_is_complete([] {
        return Reduce<Reading, Combines, KeyOf, ForgetKeys<ForgetBy::event_time>>{
            Combines{}, KeyOf{}, forget_after(Duration{30})};
    });
}

TEST(Restored, Deduplicate) {
    // The latest time, element 2, decides how long a key is kept beyond the time that it must be.
    state_is_complete([] { return deduplicate(Duration{20}); },
                      arriving_by_key<Reading>(KeyOf{}, TimeOf{}), a_reading, {.unneeded = {2}});
}

TEST(Restored, TimeOrder) {
    state_is_complete([] { return TimeOrder<Reading, TimeOf, ByArrival>{{}, {}}; });
}

TEST(Restored, KSlack) {
    state_is_complete([] { return KSlack<Reading, TimeOf>{TimeOf{}}; });
}

template <class Strategy>
void event_time_is_complete(Strategy strategy, Duration idle_after,
                            std::vector<std::size_t> unneeded) {
    state_is_complete(
        [=] {
            return EventTimeOperator<Reading, TimeOf, Strategy>{TimeOf{}, strategy, idle_after};
        },
        {.clock_step = 600, .unneeded = std::move(unneeded)});
}

/// The watermark that was asserted, element 1, is that of the strategy: it finds out a strategy
/// that goes back.
TEST(Restored, EventTimeOperator) {
    // Without a time of silence it does not matter when the last record came.
    event_time_is_complete(MonotonousTime{}, Duration{0}, {1, 2});
    event_time_is_complete(BoundedDisorder{Duration{20}}, Duration{500}, {1});
    event_time_is_complete(InSilence{BoundedDisorder{Duration{20}}, Duration{300}}, Duration{0},
                           {1});
    // The time of the source's own watermarks.
    state_is_complete([] {
        return EventTimeOperator<Reading, TimeOf, SourceTime>{TimeOf{}, SourceTime{}, Duration{0}};
    });
}

TEST(Restored, IngressTimeOperator) {
    // The clock, which goes on by itself, is never before it.
    state_is_complete([] { return IngressTimeOperator<Reading>{Duration{300}}; },
                      {.clock_step = 200, .unneeded = {0}});
}

TEST(Restored, Lookup) {
    struct Combines {
        std::int64_t calls = 0;
        Reading operator()(const Reading& reading, const std::int64_t& value) {
            return {reading.key, reading.time, 1'000 * ++calls + value};
        }
    };
    using Table = LookupTable<std::uint32_t, std::int64_t>;
    const CurrentTable<Table> table{Table{{{1, 10}, {3, 30}, {4, 40}}}};
    // The version decides what a counter counts: element 0.
    state_is_complete(
        [&] {
            return Lookup<Reading, Table, KeyOf, Combines, Missing::left_out>{table, {}, {}};
        },
        {.unneeded = {0}});
}

/// A state that misses an element is found out: here one that was forgotten on purpose.
struct Incomplete : OperatorTypes<Reading, std::int64_t> {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(Reading& reading, auto& emit) { emit(reading.value + 1'000 * ++count + ++more); }
    auto state() { return std::tie(count); }
    std::int64_t count = 0;
    std::int64_t more = 0;
};

TEST(Alike, FindsOutAStateThatIsIncomplete) {
    Alike alike{[] { return Incomplete{}; }, arriving<Reading>(), a_reading, Ways{}};
    std::size_t found = 0;
    for (const std::uint64_t seed : seeds(50)) {
        if (!alike.difference(seed, 1).empty()) ++found;
    }
    EXPECT_GT(found, 25U);
}

}  // namespace
}  // namespace strid::test

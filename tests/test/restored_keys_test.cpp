// SPDX-License-Identifier: Apache-2.0
//
// The state() of sessions, windows of counts, global windows, functions with timers, and of what
// puts results together behind shared windows is complete (alike.hpp).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <strid/engine/window/operators/gathered_parts.hpp>
#include <strid/engine/window/operators/keyed_count_windows.hpp>
#include <strid/engine/window/operators/keyed_global_windows.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/engine/window/operators/keyed_sessions.hpp>
#include <strid/engine/window/operators/ordered_results.hpp>

#include "alike.hpp"

namespace strid::test {
namespace {

using namespace window;

template <Firing firing>
using Sessions = KeyedSessions<Reading, KeyOf, std::uint32_t, TimeOf, InOrderOfArrival, firing>;

TEST(Restored, KeyedSessions) {
    for (const Duration lateness : {Duration{0}, Duration{25}}) {
        WindowOptions options;
        options.lateness = lateness;
        keyed_state_is_complete([&] {
            return Sessions<Firing::totals>{
                SessionWindows::with_gap(Duration{12}), {}, {}, {}, options};
        });
    }
}

TEST(Restored, KeyedSessionsWithUpdates) {
    UpdateOptions options;
    options.window.lateness = Duration{25};
    options.early_every = Duration{300};
    keyed_state_is_complete(
        [&] {
            return Sessions<Firing::updates>{
                SessionWindows::with_gap(Duration{12}), {}, {}, {}, options};
        },
        {.disorder = 150, .clock_step = 200});
}

TEST(Restored, KeyedCountWindows) {
    using Windows = KeyedCountWindows<Reading, KeyOf, std::uint32_t, InOrderOfArrival>;
    for (const CountWindows& windows :
         {CountWindows::tumbling(4), CountWindows::sliding(6, 2), CountWindows::sliding(2, 5)}) {
        keyed_state_is_complete([&] { return Windows{windows, {}, {}, {}}; });
    }
}

TEST(Restored, KeyedCountWindowsOfParts) {
    using Windows = KeyedCountWindows<Reading, KeyOf, std::uint32_t, InOrderOfArrival,
                                      CountWindowOutput::parts>;
    keyed_state_is_complete([] { return Windows{CountWindows::sliding(6, 2), {}, {}, {}}; });
}

/// Fires by what it has counted of its key.
struct EveryThird {
    int count = 0;
    Trigger operator()(const Reading& reading) {
        if (++count % 3 != 0) return Trigger::wait;
        return reading.value % 2 == 0 ? Trigger::fire : Trigger::fire_and_clear;
    }
};

TEST(Restored, KeyedGlobalWindows) {
    using Windows = KeyedGlobalWindows<Reading, KeyOf, std::uint32_t, EveryThird, InOrderOfArrival>;
    keyed_state_is_complete([] { return Windows{{EveryThird{}}, {}, {}, {}}; });
}

/// Sets timers of both kinds, cancels some, sets them again, and forgets its key now and then.
struct Alarms {
    std::int64_t records = 0;
    EventTime next{};

    void operator()(const Reading& reading, Timers& timers, Emitter<std::string>& emit) {
        if (records % 3 == 1) timers.cancel(next);
        next = EventTime::of_ns(reading.time.ns() / 20 * 20 + 40);
        timers.at(next);
        if (records % 2 == 0) timers.at(next + Duration{20});
        if (reading.value % 4 == 0) {
            timers.at(ProcessingTime::of_ns(Timers::now().ns() + 300 + 100 * (reading.value % 3)));
        }
        ++records;
        emit(text_of(reading) + " at " + text_of(timers.watermark()));
    }
    void on_timer(EventTime time, Timers& timers, Emitter<std::string>& emit) {
        emit("timer " + text_of(time) + " of " + std::to_string(records));
        if (records % 5 == 0) timers.forget_key();
    }
    void on_timer(ProcessingTime time, Timers&, Emitter<std::string>& emit) {
        emit("clock " + std::to_string(time.ns()) + " of " + std::to_string(records));
    }
};

TEST(Restored, KeyedProcess) {
    state_is_complete([] { return process<std::string>(Alarms{}); },
                      arriving_by_key<Reading>(KeyOf{}), a_reading, {.clock_step = 200});
}

/// The replicas' parts of windows of four records, each of two; windows come out of order.
constexpr auto a_part = [](const Reading& reading, std::string_view) {
    using Part = GatheredParts<std::uint32_t, InOrderOfArrival>::Part;
    const auto number = static_cast<std::uint64_t>(reading.value);
    const std::uint64_t start = 2 * (number / 6 ^ 1U);
    return Part{static_cast<std::uint32_t>(number % 3), {start, start + 4}, text_of(reading), 2};
};

TEST(Restored, GatheredParts) {
    using Gathered = GatheredParts<std::uint32_t, InOrderOfArrival>;
    state_is_complete(
        [] {
            return Gathered{2, {}};
        },
        arriving_by_key<Gathered::Part>(KeyOf{}), a_part);
}

TEST(Restored, OrderedByTime) {
    using Result = WindowResult<std::uint32_t, std::string>;
    state_is_complete(
        [] { return OrderedByTime<Result>{}; }, arriving<Result>(),
        [](const Reading& reading, std::string_view) {
            const EventTime start = EventTime::of_ns(reading.time.ns() / 8 * 8);
            return Result{reading.key, {start, start + Duration{20}}, text_of(reading)};
        });
}

/// Windows of three keys, each two in the wrong order.
TEST(Restored, OrderedByCount) {
    using Result = WindowResult<std::uint32_t, std::string, CountBounds>;
    // A window comes once, so that no two of a key have one place: the numbers of arrival, element
    // 1, decide only among several values of one window.
    state_is_complete([] { return OrderedByCount<Result, std::uint32_t>{5}; }, arriving<Result>(),
                      [](const Reading& reading, std::string_view) {
                          const auto number = static_cast<std::uint64_t>(reading.value);
                          const std::uint64_t start = 5 * (number / 3 ^ 1U);
                          return Result{static_cast<std::uint32_t>(number % 3),
                                        {start, start + 10},
                                        text_of(reading)};
                      },
                      {.unneeded = {1}});
}

/// Each window has two values, and then its end.
TEST(Restored, OrderedByCountOfSeveralValues) {
    using Result = WindowResult<std::uint32_t, std::string, CountBounds>;
    using Given = ValueOrEnd<Result>;
    state_is_complete([] { return OrderedByCount<Given, std::uint32_t>{5}; }, arriving<Given>(),
                      [](const Reading& reading, std::string_view) {
                          const auto number = static_cast<std::uint64_t>(reading.value);
                          const std::uint64_t start = 5 * (number / 9 ^ 1U);
                          const auto key = static_cast<std::uint32_t>(number % 3);
                          Given given{key, start, std::nullopt};
                          if (number / 3 % 3 != 2) {
                              given.value = Result{key, {start, start + 10}, text_of(reading)};
                          }
                          return given;
                      });
}

}  // namespace
}  // namespace strid::test

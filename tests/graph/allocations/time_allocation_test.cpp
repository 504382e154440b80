// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in orders of time, timers, ingress time, alignment and source time
// (allocations.hpp).
#include <atomic>
#include <chrono>
#include <cstdint>

#include <strid/operator/aligned.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto sum = window::sum<std::uint64_t>([](const std::uint64_t& n) { return n % 100; });

TEST(Allocations, NoneForARecordThatIsPutInOrder) {
    expect_none_per_record("in order of time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .apply(in_order_of_time())
            .sink(Drop{});
    });
    expect_none_per_record("k-slack", [](auto stream) {
        std::move(stream)
            .apply(k_slack([](const std::uint64_t& n) {
                return EventTime::of_ns(static_cast<std::int64_t>(n ^ 7));
            }))
            .sink(Drop{});
    });
}

/// An alarm 50 ns after a record of the key, unless another one comes before.
struct Alarm {
    EventTime at = EventTime::earliest();

    template <class Emit>
    void operator()(const std::uint64_t& n, Timers& timers, Emit&) {
        timers.cancel(at);
        at = time_of(n) + 50ns;
        timers.at(at);
    }
    template <class Emit>
    void on_timer(EventTime time, Timers&, Emit& emit) {
        emit(time);
    }
};

/// The idiom for idle devices: of all the alarms that are set, one is pending for each key.
struct FarAlarm {
    EventTime at = EventTime::earliest();

    template <class Emit>
    void operator()(const std::uint64_t& n, Timers& timers, Emit&) {
        timers.cancel(at);
        at = time_of(n) + 1h;
        timers.at(at);
        if (n == records / 2) bytes_at_half = live_bytes.load();
        if (n == records - 1) bytes_at_end = live_bytes.load();
    }
    template <class Emit>
    void on_timer(EventTime time, Timers&, Emit& emit) {
        emit(time);
    }

    static inline std::atomic<std::int64_t> bytes_at_half{0};
    static inline std::atomic<std::int64_t> bytes_at_end{0};
};

/// The same by the clock, and a key that is forgotten.
struct ClockAlarm {
    template <class Emit>
    void operator()(const std::uint64_t& n, Timers& timers, Emit&) {
        if (n % 10 == 0) timers.at(Timers::now() + 1us);
    }
    template <class Emit>
    void on_timer(ProcessingTime, Timers& timers, Emit& emit) {
        emit(EventTime{});
        timers.forget_key();
    }
};

TEST(Allocations, NoneForATimer) {
    expect_none_per_record("of event time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by(by_remainder)
            .template process<EventTime>(Alarm{})
            .sink(Drop{});
    });
    expect_none_per_record("of event time far ahead", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by(by_remainder)
            .template process<EventTime>(FarAlarm{})
            .sink(Drop{});
    });
    // A timer that stays where it was cancelled would be 24 bytes for each record.
    EXPECT_LT(FarAlarm::bytes_at_end - FarAlarm::bytes_at_half, std::int64_t{2 * records});
    expect_none_per_record("of the clock", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .template process<EventTime>(ClockAlarm{})
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordThatIsStampedOrHeldBack) {
    expect_none_per_record("ingress time", [](auto stream) {
        std::move(stream)
            .ingress_time()
            .key_by([](const Stamped<std::uint64_t>& one) { return one.record % 97; })
            .window(window::TimeWindows::tumbling(10us), window::count())
            .sink(Drop{});
    });
    expect_none_per_record("aligned", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .apply(aligned(Alignment{1ms}))
            .sink(Drop{});
    });
}

/// Watched, which says how far it has come.
struct WatchedTime : Watched {
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        emit.watermark(time_of(next));
        return Watched::poll(emit, budget);
    }
};

TEST(Allocations, NoneWhereTheSourceReportsItsTime) {
    expect_none_per_record<WatchedTime>("source time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, SourceTime{})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(10us, 1us), sum)
            .sink(Drop{});
    });
}

}  // namespace
}  // namespace strid

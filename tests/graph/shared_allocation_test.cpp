// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows whose work is shared, in joins, and in what handles time
// otherwise (allocations.hpp).
#include <chrono>
#include <span>

#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/content.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto sum = window::sum<std::uint64_t>([](const std::uint64_t& n) { return n % 100; });
const auto how_many =
    window::content<std::uint64_t>([](std::span<const std::uint64_t> all) { return all.size(); });
const auto of_counts = window::CountWindows::sliding(100, 10);
const auto of_time = window::TimeWindows::sliding(10us, 1us);
const WindowOptions of_three{.parallelism = 3};

template <class Build>
void expect_none_when_grouped(const std::string& name, const Build& build) {
    expect_none_per_record(name, [&](auto stream) {
        build(std::move(stream)
                  .event_time(time_of, LateStart{50ns})
                  .key_by([](const std::uint64_t& n) { return n % 7; }))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInParallelWindows) {
    expect_none_when_grouped("of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, sum, share::farmed, of_three);
    });
    expect_none_when_grouped("of time", [](auto grouped) {
        return std::move(grouped).window(of_time, sum, share::farmed, of_three);
    });
    expect_none_when_grouped("full content of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, how_many, share::farmed, of_three);
    });
    expect_none_when_grouped("full content of time", [](auto grouped) {
        return std::move(grouped).window(of_time, how_many, share::farmed, of_three);
    });
}

TEST(Allocations, NoneForARecordInTwoLevels) {
    expect_none_when_grouped("combined", [](auto grouped) {
        return std::move(grouped).window(of_time, sum, share::combined);
    });
    expect_none_when_grouped("paned, of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, sum, share::paned, of_three);
    });
    expect_none_when_grouped("paned, of time", [](auto grouped) {
        return std::move(grouped).window(of_time, sum, share::paned, of_three);
    });
    expect_none_when_grouped("map-reduce, of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, sum, share::map_reduce, of_three);
    });
    expect_none_when_grouped("map-reduce, of time", [](auto grouped) {
        return std::move(grouped).window(of_time, sum, share::map_reduce, of_three);
    });
}

// ---- joins -------------------------------------------------------------------------------------

// Of each key as many records in every pane: the lists that are used again are all long enough.
const auto one_of_five = on([](const std::uint64_t& n) { return n / 2 % 5; });
const auto add = [](const std::uint64_t& left, const std::uint64_t& right) { return left + right; };
const auto add_present = [](const std::uint64_t* left, const std::uint64_t* right) {
    return (left == nullptr ? 0 : *left) + (right == nullptr ? 0 : *right);
};

/// Odd and even numbers, as two streams.
template <class Join>
void expect_none_when_joined(const std::string& name, const Join& join) {
    const auto build = [&](auto stream) {
        auto branches =
            std::move(stream).event_time(time_of, LateStart{}).split(2, [](const std::uint64_t& n) {
                return static_cast<std::size_t>(n % 2);
            });
        join(branches.select(0), branches.select(1)).sink(Drop{});
    };
    expect_none_per_record(name, build);
}

TEST(Allocations, NoneForARecordInAnIntervalJoin) {
    constexpr JoinInterval interval = within(0ns, 20ns);
    expect_none_when_joined("inner", [&](auto left, auto right) {
        return std::move(left).join(std::move(right), one_of_five, interval, add);
    });
    for (const JoinKind kind : {JoinKind::left, JoinKind::full}) {
        expect_none_when_joined("outer", [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, interval, add_present,
                                        {.kind = kind});
        });
    }
    expect_none_when_joined("shared", [&](auto left, auto right) {
        return std::move(left).join(std::move(right), one_of_five, interval, add_present,
                                    share::farmed, {.parallelism = 3, .kind = JoinKind::left});
    });
}

TEST(Allocations, NoneForARecordInAnAsOfJoin) {
    expect_none_when_joined("inner", [&](auto left, auto right) {
        return std::move(left).as_of(std::move(right), one_of_five, add);
    });
    expect_none_when_joined("left, with a tolerance", [&](auto left, auto right) {
        return std::move(left).as_of(std::move(right), one_of_five, add_present,
                                     {.kind = JoinKind::left, .tolerance = 20ns});
    });
}

/// One side is ahead of the other by as much as the edges hold, and each pane between them has
/// lists.
TEST(Allocations, NoneForARecordInAWindowJoin) {
    const auto windows = window::TimeWindows::sliding(40ns, 20ns);
    for (const std::size_t replicas : {1, 2, 3}) {
        const auto inner = [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, windows, add,
                                        {.parallelism = replicas});
        };
        const auto full = [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, windows, add_present,
                                        {.parallelism = replicas, .kind = JoinKind::full});
        };
        const auto shared = [&](auto left, auto right) {
            return std::move(left).join(std::move(right), one_of_five, windows, add, share::farmed,
                                        {.parallelism = replicas});
        };
        const std::string name = ", replicas: " + std::to_string(replicas);
        expect_none_when_joined("inner" + name, inner);
        expect_none_when_joined("full" + name, full);
        expect_none_when_joined("shared" + name, shared);
    }
}

// ---- late records ------------------------------------------------------------------------------

/// One in 100 lies far behind.
const auto time_of_some_late = [](const std::uint64_t& n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n % 100 == 99 && n > 5'000 ? n - 5'000 : n));
};

/// `build` gives two streams.
template <class Build>
void expect_none_with_late(const std::string& name, const Build& build) {
    expect_none_per_record(name, [&](auto stream) {
        auto [on_time, late] =
            build(std::move(stream).event_time(time_of_some_late, BoundedDisorder{50ns}));
        std::move(on_time).sink(Drop{});
        std::move(late).sink(Drop{});
    });
}

TEST(Allocations, NoneForALateRecord) {
    const auto windows = window::TimeWindows::sliding(1us, 100ns);
    expect_none_with_late("windows of time", [&](auto stream) {
        return std::move(stream).key_by(by_remainder).window(windows, sum, late_apart);
    });
    expect_none_with_late("windows of time that take late records", [&](auto stream) {
        return std::move(stream)
            .key_by(by_remainder)
            .window(windows, sum, late_apart, {.lateness = 10us});
    });
    expect_none_with_late("parallel windows", [&](auto stream) {
        return std::move(stream)
            .key_by(by_remainder)
            .window(windows, sum, share::farmed | late_apart, of_three);
    });
    expect_none_with_late("sessions", [](auto stream) {
        return std::move(stream)
            .key_by([](const std::uint64_t& n) { return n / 200 * 7 + n % 7; })
            .window(window::SessionWindows::with_gap(50ns), sum, late_apart);
    });
    expect_none_with_late("in order of time", [](auto stream) {
        return std::move(stream).timed_by(time_of_some_late).in_order_of_time(late_apart);
    });
    expect_none_per_record("k-slack", [](auto stream) {
        auto [on_time, late] = std::move(stream).k_slack(time_of_some_late, late_apart);
        std::move(on_time).sink(Drop{});
        std::move(late).sink(Drop{});
    });
    expect_none_per_record("an interval join", [](auto stream) {
        auto branches =
            std::move(stream)
                .event_time(time_of_some_late, BoundedDisorder{50ns})
                .split(2, [](const std::uint64_t& n) { return static_cast<std::size_t>(n % 2); });
        auto [pairs, left, right] = branches.select(0).join(
            branches.select(1), on([](const std::uint64_t& n) { return n / 2 % 7; }),
            within(0ns, 20ns), add, late_apart);
        std::move(pairs).sink(Drop{});
        std::move(left).sink(Drop{});
        std::move(right).sink(Drop{});
    });
}

// ---- time otherwise ----------------------------------------------------------------------------

TEST(Allocations, NoneForARecordThatIsPutInOrder) {
    expect_none_per_record("in order of time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .in_order_of_time()
            .sink(Drop{});
    });
    expect_none_per_record("k-slack", [](auto stream) {
        std::move(stream)
            .k_slack([](const std::uint64_t& n) {
                return EventTime::of_ns(static_cast<std::int64_t>(n ^ 7));
            })
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
            .aligned(Alignment{1ms})
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

TEST(Allocations, NoneWhereTheSourceSaysItsTime) {
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

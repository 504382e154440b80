// SPDX-License-Identifier: Apache-2.0
//
// No allocation for late records (allocations.hpp).
#include <chrono>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto sum = window::sum<std::uint64_t>([](const std::uint64_t& n) { return n % 100; });
const WindowOptions of_three{.parallelism = 3};

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
        return std::move(stream).timed_by(time_of_some_late).apply(in_order_of_time(), late_apart);
    });
    expect_none_per_record("k-slack", [](auto stream) {
        auto [on_time, late] = std::move(stream).apply(k_slack(time_of_some_late), late_apart);
        std::move(on_time).sink(Drop{});
        std::move(late).sink(Drop{});
    });
}

}  // namespace
}  // namespace strid

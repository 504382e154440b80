// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows whose work is shared, nor for late records
// (allocations.hpp).
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
}

}  // namespace
}  // namespace strid

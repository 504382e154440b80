// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows by key (allocations.hpp).
#include <chrono>
#include <span>

#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/content.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto last_digits = [](const std::uint64_t& n) { return n % 100; };

TEST(Allocations, NoneForARecordInAWindow) {
    expect_none_per_record("windows of time", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(10us, 1us),
                    window::sum<std::uint64_t>(last_digits))
            .sink(Drop{});
    });
    expect_none_per_record("windows of time, keys that come and go", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by([](const std::uint64_t& n) { return n / 200; })
            .window(window::TimeWindows::tumbling(1us), window::mean(last_digits))
            .sink(Drop{});
    });
    expect_none_per_record("sessions", [](auto stream) {
        std::move(stream)
            .event_time(time_of, MonotonousTime{})
            .key_by([](const std::uint64_t& n) { return n / 200 * 7 + n % 7; })
            .window(window::SessionWindows::with_gap(50ns), window::count())
            .sink(Drop{});
    });
    expect_none_per_record("windows of a number of records", [](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10),
                    window::maximum<std::uint64_t>(last_digits))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInAWindowOfEverything) {
    const auto every_tenth = [n = 0](const std::uint64_t&) mutable {
        return ++n % 10 == 0 ? window::Trigger::fire_and_clear : window::Trigger::wait;
    };
    expect_none_per_record("global", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::global(every_tenth), window::sum<std::uint64_t>(last_digits))
            .sink(Drop{});
    });
    expect_none_per_record("global, full content", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::global(every_tenth),
                    window::content<std::uint64_t>(
                        [](std::span<const std::uint64_t> all) { return all.size(); }))
            .sink(Drop{});
    });
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows by key of full content (allocations.hpp).
#include <chrono>
#include <span>

#include <strid/window/aggregates/content.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(Allocations, NoneForARecordInAWindowOfFullContent) {
    const auto last = [](std::span<const std::uint64_t> all) { return all.back(); };
    expect_none_per_record("content of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), window::content<std::uint64_t>(last))
            .sink(Drop{});
    });
    // A window that lags behind for once has more panes than ever before, a list for each key.
    expect_none_per_record("content of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by([](const std::uint64_t& n) { return n % 7; })
            .window(window::TimeWindows::sliding(2us, 1us),
                    window::content<std::uint64_t>(last, time_of))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInAProcessFunction) {
    const auto edges = window::process<std::uint64_t, std::uint64_t>(
        [](std::uint64_t, const auto&, std::span<const std::uint64_t> all, auto& emit) {
            emit(all.front());
            emit(all.back());
        });
    expect_none_per_record("of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), edges)
            .sink(Drop{});
    });
    expect_none_per_record("of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, LateStart{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(10us, 1us), edges)
            .sink(Drop{});
    });
    expect_none_per_record("of sessions", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, LateStart{})
            .key_by([](const std::uint64_t& n) { return n / 200 * 7 + n % 7; })
            .window(window::SessionWindows::with_gap(50ns), edges)
            .sink(Drop{});
    });
}

}  // namespace
}  // namespace strid

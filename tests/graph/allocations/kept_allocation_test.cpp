// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows by key (allocations.hpp), whatever they keep.
#include <chrono>

#include <strid/engine/window/structures/panes.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/fold.hpp>
#include <strid/window/aggregates/quantile.hpp>
#include <strid/window/aggregates/top_k.hpp>

#include "allocations.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const auto last_digits = [](const std::uint64_t& n) { return n % 100; };

TEST(Allocations, NoneForARecordInAFoldOrATreeOfPanes) {
    const auto fold = window::fold<std::uint64_t>(
        std::uint64_t{0},
        [](std::uint64_t& hash, const std::uint64_t& n) { hash = hash * 31 + n; });
    expect_none_per_record("folds of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(2us, 1us), fold)
            .sink(Drop{});
    });
    expect_none_per_record("folds of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), fold)
            .sink(Drop{});
    });
    expect_none_per_record("a tree of panes", [](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by([](const std::uint64_t& n) { return n % 7; })
            .window(window::TimeWindows::sliding(10us, 100ns),
                    window::kept_in<window::PaneTree>(window::maximum<std::uint64_t>(last_digits)))
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordAmongTheLargest) {
    const auto largest = window::top_k<3, std::uint64_t>(last_digits);
    expect_none_per_record("of time", [&](auto stream) {
        std::move(stream)
            .event_time(time_of, BoundedDisorder{50ns})
            .key_by(by_remainder)
            .window(window::TimeWindows::sliding(10us, 1us), largest)
            .sink(Drop{});
    });
    expect_none_per_record("of counts", [&](auto stream) {
        std::move(stream)
            .key_by(by_remainder)
            .window(window::CountWindows::sliding(100, 10), largest)
            .sink(Drop{});
    });
}

/// Of many records; of a few: sketch_allocation_test.cpp.
TEST(Allocations, NoneForARecordInASketch) {
    const auto expect_none = [](const std::string& name, const auto& aggregate) {
        expect_none_per_record(name, [&](auto stream) {
            std::move(stream)
                .key_by([](const std::uint64_t& n) { return n % 2; })
                .window(window::CountWindows::sliding(100'000, 50'000), aggregate)
                .sink(Drop{});
        });
    };
    expect_none("quantile", window::quantile(last_digits, 0.99));
    expect_none("distinct", window::distinct<std::uint64_t>(last_digits));
    expect_none("distinct, about", window::distinct_approximately(last_digits));
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in folds to a sketch, and in sketches of sessions, of global windows and
// of windows that take late records (sketches.hpp).
#include <strid/engine/window/structures/panes.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "sketches_by_key.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Its results are sketches, which go to the sink.
TEST(Allocations, NoneForARecordInAFoldToASketch) {
    const auto fold = window::fold<std::uint64_t>(
        quantile.identity(), [](window::TDigest& digest, const std::uint64_t& n) {
            digest.add(static_cast<double>(value_of(n)));
        });
    expect_none_of_counts("of counts", of_counts, fold);
    expect_none_of_time("of time", of_time, fold);
}

TEST(Allocations, NoneForARecordInASketchOfASession) {
    expect_none_by_key("sessions", [](auto stream) {
        std::move(stream)
            .event_time(time_of, LateStart{})
            .key_by([](const std::uint64_t& n) { return n / 70 * keys + n % keys; })
            .window(window::SessionWindows::with_gap(20ns), all)
            .sink(Drop{});
    });
    // Each record becomes a session of its own before the one between makes them one.
    const auto swapped = [](const std::uint64_t& n) {
        const std::uint64_t place = n % 4 == 1 ? n + 1 : n % 4 == 2 ? n - 1 : n;
        return EventTime::of_ns(static_cast<std::int64_t>(place * 10));
    };
    expect_none_by_key("sessions that become one", [&](auto stream) {
        std::move(stream)
            .event_time(swapped, LateStart{20ns})
            .key_by([](const std::uint64_t& n) { return n / 12; })
            .window(window::SessionWindows::with_gap(15ns), all)
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInASketchOfEverything) {
    const auto every_tenth = [n = 0](const std::uint64_t&) mutable {
        return ++n % 10 == 0 ? window::Trigger::fire_and_clear : window::Trigger::wait;
    };
    expect_none_by_key("global", [&](auto stream) {
        std::move(stream).key_by(key_of).window(window::global(every_tenth), all).sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordThatComesLateToASketch) {
    const auto some_late = [](const std::uint64_t& n) {
        const bool is_late = n % 100 == 99 && n > records / 4;
        return EventTime::of_ns(static_cast<std::int64_t>(is_late ? n - 500 : n));
    };
    const auto expect_none = [&](const std::string& name, const auto& aggregate) {
        expect_none_by_key(name, [&](auto stream) {
            std::move(stream)
                .event_time(some_late, LateStart{50ns})
                .key_by(key_of)
                .window(of_time, aggregate, {.lateness = 1us})
                .sink(Drop{});
        });
    };
    expect_none("panes", all);
    expect_none("a finger tree", window::kept_in<window::PaneTree>(all));
}

}  // namespace
}  // namespace strid

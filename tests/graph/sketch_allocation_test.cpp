// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows of sketches and sets (sketches.hpp): panes of ten records, in
// every structure that windows are kept in. The memory that panes and their combinations leave is
// used again (memory/recycling.hpp).
#include <string>

#include <strid/window/aggregates/fold.hpp>
#include <strid/window/structures/flat_fat.hpp>
#include <strid/window/structures/panes.hpp>
#include <strid/window/structures/two_stacks.hpp>

#include "sketches.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Of windows by key: what three threads keep (memory/recycling.cpp), a few panes of each key more.
/// Only where tasks go from worker to worker: where they stay all of it is seen.
constexpr std::size_t by_key = 500;

template <class Build>
void expect_none_by_key(const std::string& name, const Build& build) {
    expect_none_per_record(name, build, on_their_threads);
    const Stock stock{by_key};
    expect_none_per_record(name, build, taken_over);
}

template <class A>
void expect_none_of_counts(const std::string& name, window::CountWindows windows,
                           const A& aggregate) {
    expect_none_by_key(name, [&](auto stream) {
        std::move(stream).key_by(key_of).window(windows, aggregate).sink(Drop{});
    });
}

template <class A>
void expect_none_of_time(const std::string& name, window::TimeWindows windows, const A& aggregate) {
    expect_none_by_key(name, [&](auto stream) {
        std::move(stream)
            .event_time(time_of, LateStart{50ns})
            .key_by(key_of)
            .window(windows, aggregate)
            .sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInASketchOfAFewRecords) {
    expect_none_of_counts("quantile", of_counts, quantile);
    expect_none_of_counts("distinct", of_counts, distinct);
    expect_none_of_counts("distinct texts", of_counts, distinct_texts);
    expect_none_of_counts("distinct, about", of_counts, about);
    expect_none_of_counts("distinct, roughly", of_counts, roughly);
    expect_none_of_counts("all, tumbling", window::CountWindows::tumbling(10), all);
    expect_none_of_counts("all, each record", window::CountWindows::sliding(10, 1), all);
}

TEST(Allocations, NoneForARecordInASketchWhateverItSlidesIn) {
    expect_none_of_counts("DABA Lite", of_counts, all);
    expect_none_of_counts("two stacks", of_counts, window::kept_in<window::TwoStacks>(all));
    expect_none_of_counts("FlatFAT", of_counts, window::kept_in<window::FlatFat>(all));
    expect_none_of_time("panes, DABA Lite", of_time, all);
    expect_none_of_time("panes, tumbling", window::TimeWindows::tumbling(70ns), all);
    expect_none_of_time("panes, two stacks", of_time, window::kept_in<window::TwoStacks>(all));
    expect_none_of_time("panes, FlatFAT", of_time, window::kept_in<window::FlatFat>(all));
    expect_none_of_time("a finger tree", of_time, window::kept_in<window::PaneTree>(all));
}

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

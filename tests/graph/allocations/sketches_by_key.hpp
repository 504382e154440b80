// SPDX-License-Identifier: Apache-2.0
//
// Graphs with windows of sketches by key, in which nothing is allocated per record.
#pragma once

#include <string>

#include "sketches.hpp"

namespace strid::test {

/// Of windows by key: what three threads keep (memory/recycling.cpp), a few panes of each key more.
/// Only where tasks go from worker to worker: where they stay all of it is seen.
inline constexpr std::size_t by_key = 500;

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

}  // namespace strid::test

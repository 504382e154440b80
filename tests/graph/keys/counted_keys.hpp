// SPDX-License-Identifier: Apache-2.0
//
// Records counted by key, in windows and in a state for each key, against a std::map of the same
// records.
#pragma once

#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/window/aggregates.hpp>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid::test {

// Not in the template: operators that do not depend on the key are compiled once.
inline EventTime at_the_beginning(std::uint64_t /*n*/) {
    return EventTime::of_ns(0);
}

inline const std::uint64_t keyed_records = perturbed ? 300 : 1500;

/// Counts by key in windows of the whole stream's records, and in a state for each key.
template <class KeyOf>
void are_counted(KeyOf key_of) {
    using Key = std::invoke_result_t<KeyOf, std::uint64_t>;
    std::map<Key, std::uint64_t> expected;
    for (std::uint64_t n = 0; n < keyed_records; ++n) ++expected[key_of(n)];

    using Counts = std::vector<std::pair<Key, std::uint64_t>>;
    Collected<std::pair<Key, std::uint64_t>> folded;
    Collected<std::pair<Key, std::uint64_t>> windows;
    Graph graph{"keys"};
    auto [first, second] = graph.source(Numbers{keyed_records}).template tee<2>();
    std::move(first)
        .key_by(key_of)
        .accumulate(std::uint64_t{0}, [](std::uint64_t& sum, std::uint64_t) { ++sum; },
                    Emit::at_end, {.parallelism = 2})
        .map([](const auto& keyed) { return std::pair(keyed.key, keyed.value); })
        .sink(folded.sink());
    std::move(second)
        .event_time(at_the_beginning, MonotonousTime{})
        .key_by(key_of)
        .window(window::TimeWindows::tumbling(Duration{10}), window::count(), {.parallelism = 2})
        .map([](const auto& result) { return std::pair(result.key, result.value); })
        .sink(windows.sink());
    run(graph);
    EXPECT_EQ(folded.sorted(), Counts(expected.begin(), expected.end()));
    EXPECT_EQ(windows.sorted(), Counts(expected.begin(), expected.end()));
}

}  // namespace strid::test

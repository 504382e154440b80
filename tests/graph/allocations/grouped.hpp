// SPDX-License-Identifier: Apache-2.0
//
// Windows whose work is shared (allocations.hpp): the graphs of shared_allocation_test.cpp and
// two_level_allocation_test.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <strid/window/aggregates.hpp>

#include "allocations.hpp"

namespace strid::test {

using namespace std::chrono_literals;

inline const auto sum_of_rests =
    window::sum<std::uint64_t>([](const std::uint64_t& n) { return n % 100; });
inline const auto of_many_counts = window::CountWindows::sliding(100, 10);
inline const auto of_much_time = window::TimeWindows::sliding(10us, 1us);
inline const WindowOptions with_three{.parallelism = 3};

template <class Build>
void expect_none_when_grouped(const std::string& name, const Build& build) {
    expect_none_per_record(name, [&](auto stream) {
        build(std::move(stream)
                  .event_time(time_of, LateStart{50ns})
                  .key_by([](const std::uint64_t& n) { return n % 7; }))
            .sink(Drop{});
    });
}

}  // namespace strid::test

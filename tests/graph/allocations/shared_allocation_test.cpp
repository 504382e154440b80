// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows whose work is shared (allocations.hpp).
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

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows that take turns (grouped.hpp).
#include <span>

#include <strid/window/aggregates/content.hpp>

#include "grouped.hpp"

namespace strid {
namespace {

using namespace test;

const auto how_many =
    window::content<std::uint64_t>([](std::span<const std::uint64_t> all) { return all.size(); });

TEST(Allocations, NoneForARecordInParallelWindows) {
    expect_none_when_grouped("of counts", [](auto grouped) {
        return std::move(grouped).window(of_many_counts, sum_of_rests, share::farmed, with_three);
    });
    expect_none_when_grouped("of time", [](auto grouped) {
        return std::move(grouped).window(of_much_time, sum_of_rests, share::farmed, with_three);
    });
    expect_none_when_grouped("full content of counts", [](auto grouped) {
        return std::move(grouped).window(of_many_counts, how_many, share::farmed, with_three);
    });
    expect_none_when_grouped("full content of time", [](auto grouped) {
        return std::move(grouped).window(of_much_time, how_many, share::farmed, with_three);
    });
}

}  // namespace
}  // namespace strid

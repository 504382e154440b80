// SPDX-License-Identifier: Apache-2.0
//
// Loads as a run measures them.
#include <chrono>

#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;

struct Drop {
    static constexpr FunctionTraits traits{.hears = events<>, .parallel_by_default = true};

    void operator()(std::uint64_t) const {}
};

TEST(Sizing, LoadsOfARunAreCostTimesSelectivity) {
    using namespace std::chrono_literals;
    constexpr auto cost = 20us;
    const auto work = [=] {
        const auto until = std::chrono::steady_clock::now() + cost;
        while (std::chrono::steady_clock::now() < until) {
        }
    };
    Graph graph{"loads"};
    graph.source(Numbers{2000}, {.name = "numbers"})
        .filter([](const std::uint64_t& n) { return n % 4 == 0; }, {.name = "quarter"})
        .map([=](std::uint64_t&) { work(); }, {.name = "after"})
        .sink(Drop{}, {.name = "drop"});
    const auto loads = run(graph, {.workers = 1, .fuse = false}).loads();
    ASSERT_EQ(loads.size(), 4U);
    const double expected = std::chrono::duration<double, std::nano>(cost).count() / 4;
    EXPECT_GE(loads.at("after"), expected);
    EXPECT_LE(loads.at("drop"), loads.at("after"));
    EXPECT_EQ(RunReport{}.loads().size(), 0U);
}

}  // namespace
}  // namespace strid

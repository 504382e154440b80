// SPDX-License-Identifier: Apache-2.0
//
// How windows of time keep their panes (time_windows_test.cpp has the rest): in a tree where asked
// for, and otherwise as explain() says.
#include <cstdint>
#include <string>
#include <vector>

#include <strid/engine/window/structures/panes.hpp>
#include <strid/window/aggregates/fold.hpp>
#include <strid/window/aggregates/quantile.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

/// The same answers out of a finger tree of panes.
TEST(TimeWindowsInAGraph, KeepTheirPanesInATreeWhereAskedFor) {
    const auto sum_in_tree = window::kept_in<window::PaneTree>(sum);
    const auto mean_in_tree = window::kept_in<window::PaneTree>(mean);
    agrees(sliding(1'000, 10), sum_in_tree, sum_of, {});
    agrees(sliding(100, 30, 7), mean_in_tree, mean_of, {});
    agrees(sliding(100, 100), sum_in_tree, sum_of, {});
    agrees(sliding(30, 70), sum_in_tree, sum_of, {.step = 40});
    agrees(sliding(500, 10), mean_in_tree, mean_of, {.disorder = 300, .too_late = 2'000},
           Duration{0});
    agrees_with_lateness(sliding(1'000, 10), sum_in_tree);
    agrees_with_lateness(sliding(30, 70), sum_in_tree);
}

/// explain() names what keeps windows that overlap, and nothing where there is none.
TEST(TimeWindowsInAGraph, SayHowTheySlide) {
    const auto explanation_of = [](const auto& windows, const auto& function) {
        Graph graph{"why"};
        graph.source(replay(std::vector<Event>{}))
            .event_time<&Event::time>(MonotonousTime{})
            .key_by<&Event::key>()
            .window(windows, function)
            .sink([](const auto&) {});
        return graph.explain({});
    };
    const auto contains = [](const std::string& explanation, const char* what) {
        return explanation.find(what) != std::string::npos;
    };
    const auto maximum = window::maximum<&Event::value>();
    const auto fold = window::fold<Event>(
        std::int64_t{0}, [](std::int64_t& last, const Event& event) { last = event.value; });
    EXPECT_TRUE(contains(explanation_of(sliding(100, 25), sum), "slides as a running total"));
    EXPECT_TRUE(contains(explanation_of(sliding(100, 25), maximum), "slides in a monotone deque"));
    EXPECT_TRUE(
        contains(explanation_of(sliding(100, 25), window::quantile(field<&Event::value>, 0.5)),
                 "slides by DABA Lite: the function is associative"));
    EXPECT_TRUE(contains(explanation_of(sliding(100, 25), window::kept_in<window::PaneTree>(sum)),
                         "panes in a finger tree"));
    EXPECT_TRUE(
        contains(explanation_of(sliding(100, 25), fold), "a fold: each window has a state"));
    EXPECT_FALSE(contains(explanation_of(sliding(100, 100), sum), "slides"));
}

}  // namespace
}  // namespace strid

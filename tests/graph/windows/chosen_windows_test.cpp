// SPDX-License-Identifier: Apache-2.0
//
// How the work of windows of counts, and of those with late records, is shared by default, and what
// explain() says of that. Windows of time are in chosen_time_windows_test.cpp.
#include <gmock/gmock.h>

#include <strid/window/aggregates/content.hpp>
#include <strid/window/aggregates/top_k.hpp>

#include "explained.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using test::explanation_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const auto everything =
    window::content<Event>([](std::span<const Event> all) { return all.size(); });
const auto wide = window::top_k<20, Event>(field<&Event::value>);

/// Of windows of counts over the whole stream.
template <class A>
std::string explanation_of(const CountWindows& windows, const A& aggregate,
                           WindowOptions options = {}) {
    return explanation_of(
        [&](auto stream) { return std::move(stream).window(windows, aggregate, options); });
}

TEST(ChosenWindows, WithLateRecordsAreSharedWhereTheseAreWhole) {
    const auto explained = [](const auto& aggregate, WindowOptions options = {}) {
        return explanation_of([&](auto stream) {
            auto [results, late] = std::move(stream).template key_by<&Event::key>().window(
                sliding(100, 25), aggregate, share::automatic | late_apart, options);
            std::move(late).sink([](const Event&) {});
            return std::move(results);
        });
    };
    const auto by_key = AllOf(Not(HasSubstr("farmed:")), Not(HasSubstr("collector")));
    EXPECT_THAT(explained(sum), AllOf(by_key, HasSubstr("not shared: a record is little work"),
                                      HasSubstr("slides as a running total"), HasSubstr("×3")));
    const auto farmed = AllOf(HasSubstr("farmed: late records are whole"), HasSubstr("collector"));
    EXPECT_THAT(explained(wide), farmed);
    EXPECT_THAT(explained(everything), farmed);
    EXPECT_THROW((void)explained(everything, {.late_by = LateBy::own_input}), GraphError);
}

TEST(ChosenWindows, OfCountsAreSharedAsTheirFunctionAllows) {
    const auto overlapping = CountWindows::sliding(100, 25);
    const auto hint = HasSubstr("share::paned would add a record to one pane");
    const auto farmed = AllOf(HasSubstr("farmed: whole windows"), HasSubstr("×3"));
    EXPECT_THAT(explanation_of(overlapping, wide), AllOf(farmed, hint));
    for (const auto& whole : {CountWindows::tumbling(100), CountWindows::sliding(100, 7)}) {
        EXPECT_THAT(explanation_of(whole, wide), AllOf(farmed, Not(hint)));
    }
    EXPECT_THAT(explanation_of(overlapping, sum),
                AllOf(HasSubstr("not shared: that would cost more"), Not(HasSubstr("light")),
                      Not(HasSubstr("×"))));
}

TEST(ChosenWindows, OfKeysSayWhyTheyHaveAsManyReplicas) {
    const auto by_key = [](std::size_t parallelism) {
        return [=](auto stream) {
            return std::move(stream).template key_by<&Event::key>().window(
                CountWindows::sliding(100, 25), sum, {.parallelism = parallelism});
        };
    };
    EXPECT_THAT(explanation_of(by_key(0), {.workers = 2}),
                AllOf(HasSubstr("light: two a worker, since sources may fill half of the workers"),
                      HasSubstr("×4")));
    EXPECT_THAT(explanation_of(by_key(0), {.workers = 6}),
                AllOf(HasSubstr("light: each source is left a worker"), HasSubstr("×5")));
    for (const auto& asked : {explanation_of(by_key(3), {.workers = 2}),
                              explanation_of(by_key(0), {.workers = 2, .parallelism = 3})}) {
        EXPECT_THAT(asked, AllOf(Not(HasSubstr("light")), HasSubstr("×3")));
    }
    // A node that distributes what it makes has no reason of its own.
    const auto twice = [&](auto stream) {
        return by_key(0)(std::move(stream))
            .key_by([](const auto& result) { return result.key; })
            .map([](auto& result) { result.value = 0; });
    };
    const std::string drawn =
        explanation_of(twice, {.workers = 2, .composition = Composition::dedicated});
    EXPECT_THAT(drawn, HasSubstr("-distribution"));
    EXPECT_EQ(drawn.find("light:"), drawn.rfind("light:"));
    EXPECT_THAT(explanation_of(by_key(0), {.workers = 1}), Not(HasSubstr("light")));
    EXPECT_THAT(explanation_of(by_key(0), {.mode = RunOptions::Mode::dedicated}),
                Not(HasSubstr("light")));
}

}  // namespace
}  // namespace strid

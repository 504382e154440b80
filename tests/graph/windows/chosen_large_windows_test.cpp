// SPDX-License-Identifier: Apache-2.0
//
// How the work of windows of time is shared by default where the function keeps sketches, sets or
// all records, and what explain() says of that.
#include <gmock/gmock.h>

#include <strid/window/aggregates/content.hpp>
#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/quantile.hpp>

#include "explained.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using test::explanation_of;
using testing::AllOf;
using testing::HasSubstr;

const auto real = [](const Event& event) { return static_cast<double>(event.value); };
const auto everything =
    window::content<Event>([](std::span<const Event> all) { return all.size(); });

/// Of windows of time over the whole stream.
template <class A>
std::string explanation_of(const TimeWindows& windows, const A& aggregate,
                           WindowOptions options = {}) {
    return explanation_of(
        [&](auto stream) { return std::move(stream).window(windows, aggregate, options); });
}

TEST(ChosenWindows, OfTimeAreSharedAsTheirFunctionAllows) {
    const auto windows = sliding(100, 25);
    using Quantile = decltype(window::quantile(real, 0.5));
    EXPECT_EQ((test::chosen_way<TimeWindows, Quantile>), Share::farmed);
    EXPECT_THAT(std::string(test::chosen_note<TimeWindows, Quantile>),
                HasSubstr("farmed: parts combine in their order only"));
    EXPECT_THAT(explanation_of(windows, window::distinct<Event>(field<&Event::value>)),
                HasSubstr("paned: the aggregate is commutative"));
    EXPECT_THAT(explanation_of(sliding(100, 35), window::distinct<Event>(field<&Event::value>)),
                AllOf(HasSubstr("paned: the aggregate is commutative"),
                      HasSubstr("share::map_reduce would send one part of a window for 7 panes")));
    EXPECT_THAT(explanation_of(windows, everything), HasSubstr("farmed: the function needs whole"));
}

}  // namespace
}  // namespace strid

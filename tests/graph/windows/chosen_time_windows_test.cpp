// SPDX-License-Identifier: Apache-2.0
//
// How the work of windows of time is shared by default where the function has a small state, and
// what explain() says of that. Other functions are in chosen_large_windows_test.cpp.
#include <gmock/gmock.h>

#include "explained.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using test::explanation_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const auto real = [](const Event& event) { return static_cast<double>(event.value); };

/// Of windows of time over the whole stream.
template <class A>
std::string explanation_of(const TimeWindows& windows, const A& aggregate,
                           WindowOptions options = {}) {
    return explanation_of(
        [&](auto stream) { return std::move(stream).window(windows, aggregate, options); });
}

TEST(ChosenWindows, OfTimeAreCombinedWhereAStateIsSmall) {
    const auto windows = sliding(100, 25);
    EXPECT_THAT(explanation_of(windows, sum), HasSubstr("combined: adding to a small state"));
    EXPECT_THAT(explanation_of(windows, mean), HasSubstr("combined: adding to a small state"));
    EXPECT_THAT(
        explanation_of(windows, window::mean<Event>([](const Event& e) { return e.value; })),
        HasSubstr("combined: adding to a small state"));
    EXPECT_THAT(explanation_of(windows, window::mean(real)),
                AllOf(HasSubstr("any_order(...) would share it"), Not(HasSubstr("combined:"))));
    EXPECT_THAT(explanation_of(windows, window::variance(real)),
                HasSubstr("not shared: a record is"));
    EXPECT_THAT(explanation_of(windows, window::any_order(window::mean(real))),
                HasSubstr("combined: adding to a small state"));
}

}  // namespace
}  // namespace strid

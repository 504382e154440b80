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

/// As the table has it.
template <class A>
std::pair<Share, std::string> way_of(const A&) {
    return {test::chosen_way<TimeWindows, A>, std::string(test::chosen_note<TimeWindows, A>)};
}

TEST(ChosenWindows, OfTimeAreCombinedWhereAStateIsSmall) {
    const auto windows = sliding(100, 25);
    EXPECT_THAT(explanation_of(windows, sum), HasSubstr("combined: adding to a small state"));
    EXPECT_THAT(explanation_of(windows, window::mean(real)),
                AllOf(HasSubstr("any_order(...) would share it"), Not(HasSubstr("combined:"))));
    const auto of_lambda = window::mean<Event>([](const Event& e) { return e.value; });
    const auto any_order = window::any_order(window::mean(real));
    for (const auto& [way, note] :
         {way_of(sum), way_of(mean), way_of(of_lambda), way_of(any_order)}) {
        EXPECT_EQ(way, Share::combined);
        EXPECT_THAT(note, HasSubstr("combined: adding to a small state"));
    }
    for (const auto& [way, note] : {way_of(window::mean(real)), way_of(window::variance(real))}) {
        EXPECT_EQ(way, Share::by_key);
        EXPECT_THAT(note, HasSubstr("not shared: a record is"));
    }
}

}  // namespace
}  // namespace strid

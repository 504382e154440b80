// SPDX-License-Identifier: Apache-2.0
//
// The text of explain() for windows whose distribution is chosen by key, and how they are kept.
#include <gmock/gmock.h>

#include "explained.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

const auto real = [](const Event& event) { return static_cast<double>(event.value); };

TEST(ExplainedWindows, ByKeySaySoAndHowTheyAreKept) {
    const auto explained = [](const auto& window) {
        return explanation_of(
            [&](auto stream) { return window(std::move(stream).template key_by<&Event::key>()); });
    };
    const auto by_key = HasSubstr("by key: each replica has the windows of its keys");
    EXPECT_THAT(explained([](auto keyed) {
                    return std::move(keyed).window(sliding(100, 25), window::mean(real));
                }),
                AllOf(by_key, HasSubstr("slides by DABA Lite")));
    EXPECT_THAT(
        explained([](auto keyed) { return std::move(keyed).window(sliding(100, 100), sum); }),
        AllOf(by_key, HasSubstr("windows that do not overlap: a state for each")));
    EXPECT_THAT(explained([](auto keyed) {
                    return std::move(keyed).window(CountWindows::sliding(100, 25), sum);
                }),
                AllOf(by_key, HasSubstr("slides as a running total")));
    EXPECT_THAT(explained([](auto keyed) {
                    return std::move(keyed).window(SessionWindows::with_gap(5ns), sum);
                }),
                AllOf(by_key, HasSubstr("a state for each session")));
    const auto never = [](const Event&) { return window::Trigger::wait; };
    EXPECT_THAT(
        explained([&](auto keyed) { return std::move(keyed).window(window::global(never), sum); }),
        AllOf(by_key, HasSubstr("a state for each key, until the trigger clears it")));
}

}  // namespace
}  // namespace strid

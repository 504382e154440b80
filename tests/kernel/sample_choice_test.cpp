// SPDX-License-Identifier: Apache-2.0
//
// The events that are chosen at known rates, on a clock of the test.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/kernel/sample_choice.hpp>

namespace strid::operators {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// `events` events at equal distances from `now` on, which moves; returns how many were chosen.
std::uint64_t chosen_of(SampleChoice& choice, std::uint64_t events, std::int64_t apart_ns,
                        std::int64_t& now) {
    std::uint64_t chosen = 0;
    for (; events != 0; --events, now += apart_ns) chosen += choice.due(now) ? 1U : 0U;
    return chosen;
}

TEST(SampleChoice, TakesAllWhereThereAreFew) {
    SampleChoice choice;
    std::int64_t now = 123 * second;
    EXPECT_EQ(chosen_of(choice, 100, second / 20, now), 100U);
}

TEST(SampleChoice, TakesAboutTwoHundredASecondWhereThereAreMany) {
    for (const std::int64_t apart_ns : {1'000, 20'000, 300'000}) {
        SampleChoice choice;
        std::int64_t now = second;
        const auto events = static_cast<std::uint64_t>(10 * second / apart_ns);
        const std::uint64_t chosen = chosen_of(choice, events, apart_ns, now);
        EXPECT_GT(chosen, 10 * 80U) << apart_ns;
        EXPECT_LT(chosen, 10 * 500U) << apart_ns;
    }
}

TEST(SampleChoice, FollowsARateThatFalls) {
    SampleChoice choice;
    std::int64_t now = second;
    chosen_of(choice, 5'000'000, 1'000, now);
    // From a million a second to twenty: some are lost, and then all are chosen.
    const std::uint64_t chosen = chosen_of(choice, 100, second / 20, now);
    EXPECT_GT(chosen, 80U);
    EXPECT_EQ(chosen_of(choice, 100, second / 20, now), 100U);
}

TEST(SampleChoice, PrefersNoPlaceInABunch) {
    constexpr std::size_t bunch = 100;
    constexpr std::size_t bunches = 20'000;
    SampleChoice choice;
    std::vector<std::uint64_t> chosen(bunch);
    std::int64_t now = second;
    for (std::size_t b = 0; b < bunches; ++b, now += second / 10) {
        for (std::size_t place = 0; place < bunch; ++place, now += 1'000) {
            chosen[place] += choice.due(now) ? 1U : 0U;
        }
    }
    std::uint64_t all = 0;
    double places = 0;
    for (std::size_t place = 0; place < bunch; ++place) {
        all += chosen[place];
        places += static_cast<double>(place * chosen[place]);
    }
    EXPECT_GT(all, bunches);
    EXPECT_LT(chosen[0] * 10, all);
    const double mean = places / static_cast<double>(all);
    EXPECT_GT(mean, 25);
    EXPECT_LT(mean, 75);
}

TEST(SampleChoice, TakesTheNextWhereOneCameToNothing) {
    SampleChoice choice;
    std::int64_t now = second;
    chosen_of(choice, 5'000'000, 1'000, now);
    choice.next_instead();
    EXPECT_TRUE(choice.due(now));
}

TEST(SampleChoice, IsNotThinnedByWhatComesToNothing) {
    SampleChoice choice;
    std::int64_t now = second;
    for (int event = 0; event < 100; ++event, now += second / 50) {
        for (int nothing = 0; nothing < 20; ++nothing, now += 1'000) {
            EXPECT_TRUE(choice.due(now));
            choice.next_instead();
        }
        EXPECT_TRUE(choice.due(now));
    }
}

}  // namespace
}  // namespace strid::operators

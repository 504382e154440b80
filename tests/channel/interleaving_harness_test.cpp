// SPDX-License-Identifier: Apache-2.0
//
// The explorer itself, against answers known from the C++ memory model: which outcomes of the
// classic litmus programs are allowed, how many runs differ, and that races are found.
#include <set>

#include <gtest/gtest.h>

#include "interleaving.hpp"

namespace strid::test {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

struct Litmus {
    ModelAtomic<int> x{0};
    ModelAtomic<int> y{0};
    Watched data;
    int first = -1;
    int second = -1;
};

struct Outcomes {
    std::set<std::pair<int, int>> pairs;
    Exploration exploration;
};

Outcomes explore(std::vector<std::function<void(Litmus&)>> programs) {
    Outcomes outcomes;
    Explorer explorer;
    outcomes.exploration =
        explorer.run<Litmus>([] { return std::make_unique<Litmus>(); }, programs,
                             [&outcomes](Litmus& litmus) -> std::string {
                                 outcomes.pairs.insert({litmus.first, litmus.second});
                                 return "";
                             });
    return outcomes;
}

using Pairs = std::set<std::pair<int, int>>;

TEST(Explorer, message_passing_with_release_and_acquire_never_reads_stale_data) {
    const auto seen = explore({[](Litmus& l) {
                                   l.x.store(1, relaxed);
                                   l.y.store(1, release);
                               },
                               [](Litmus& l) {
                                   l.first = l.y.load(acquire);
                                   l.second = l.x.load(relaxed);
                               }});
    EXPECT_EQ(seen.exploration.failure, "");
    EXPECT_EQ(seen.pairs, (Pairs{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(Explorer, message_passing_relaxed_may_read_stale_data) {
    const auto seen = explore({[](Litmus& l) {
                                   l.x.store(1, relaxed);
                                   l.y.store(1, relaxed);
                               },
                               [](Litmus& l) {
                                   l.first = l.y.load(acquire);
                                   l.second = l.x.load(relaxed);
                               }});
    EXPECT_EQ(seen.pairs, (Pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Explorer, store_buffering_shows_both_loads_old) {
    const auto seen = explore({[](Litmus& l) {
                                   l.x.store(1, release);
                                   l.first = l.y.load(acquire);
                               },
                               [](Litmus& l) {
                                   l.y.store(1, release);
                                   l.second = l.x.load(acquire);
                               }});
    EXPECT_EQ(seen.pairs, (Pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Explorer, loads_of_one_location_never_go_back) {
    const auto seen = explore({[](Litmus& l) {
                                   l.x.store(1, relaxed);
                                   l.x.store(2, relaxed);
                               },
                               [](Litmus& l) {
                                   l.first = l.x.load(relaxed);
                                   l.second = l.x.load(relaxed);
                               }});
    EXPECT_EQ(seen.pairs, (Pairs{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(Explorer, knowledge_is_handed_on_through_a_third_thread) {
    const auto seen = explore({[](Litmus& l) {
                                   l.data = Watched(7);
                                   l.x.store(1, release);
                               },
                               [](Litmus& l) {
                                   if (l.x.load(acquire) == 1) l.y.store(1, release);
                               },
                               [](Litmus& l) {
                                   if (l.y.load(acquire) == 1) l.first = l.data.get();
                               }});
    EXPECT_EQ(seen.exploration.failure, "");
    EXPECT_EQ(seen.pairs, (Pairs{{-1, -1}, {7, -1}}));
}

TEST(Explorer, finds_the_race_when_a_relaxed_store_publishes_data) {
    const auto seen = explore({[](Litmus& l) {
                                   l.data = Watched(7);
                                   l.x.store(1, relaxed);
                               },
                               [](Litmus& l) {
                                   if (l.x.load(acquire) == 1) l.first = l.data.get();
                               }});
    EXPECT_NE(seen.exploration.failure.find("race"), std::string::npos);
}

TEST(Explorer, finds_the_race_when_a_reader_is_overtaken_by_the_next_write) {
    const auto seen = explore({[](Litmus& l) {
                                   if (l.x.load(acquire) == 1) l.data = Watched(7);
                               },
                               [](Litmus& l) {
                                   l.first = l.data.get();
                                   l.x.store(1, relaxed);
                               }});
    EXPECT_NE(seen.exploration.failure.find("race"), std::string::npos);
}

TEST(Explorer, commuting_operations_are_explored_in_one_order_only) {
    const auto apart = explore(
        {[](Litmus& l) { l.x.store(1, relaxed); }, [](Litmus& l) { l.y.store(1, relaxed); }});
    const auto together = explore(
        {[](Litmus& l) { l.x.store(1, relaxed); }, [](Litmus& l) { l.x.store(2, relaxed); }});
    // Two runs each, but with nothing shared the second is cut short and has no further branches.
    EXPECT_LE(apart.exploration.runs, 2U);
    EXPECT_EQ(together.exploration.runs, 2U);

    const auto long_apart = explore({[](Litmus& l) {
                                         for (int i = 0; i < 6; ++i) l.x.store(i, relaxed);
                                     },
                                     [](Litmus& l) {
                                         for (int i = 0; i < 6; ++i) l.y.store(i, relaxed);
                                     }});
    EXPECT_LE(long_apart.exploration.runs, 7U);  // 924 without sleep sets
}

TEST(Explorer, two_stores_each_to_one_location_have_six_orders) {
    const auto seen = explore({[](Litmus& l) {
                                   l.x.store(1, relaxed);
                                   l.x.store(2, relaxed);
                               },
                               [](Litmus& l) {
                                   l.x.store(3, relaxed);
                                   l.x.store(4, relaxed);
                               }});
    EXPECT_EQ(seen.exploration.runs, 6U);
}

}  // namespace
}  // namespace strid::test

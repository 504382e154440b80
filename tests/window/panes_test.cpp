// SPDX-License-Identifier: Apache-2.0
//
// The state of windows of time by key, each way against a plain map from panes to their records:
// records in any order, windows asked for as they end and again afterwards, old panes let go.
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/window/aggregates/fold.hpp>

namespace strid::window {
namespace {

/// Associative and nothing else: a structure that changes the order, or drops or doubles a part, is
/// found.
struct Concatenate {
    using State = std::string;
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State lift(const std::string& record) const { return record; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return older + newer;
    }
};

template <class A>
class PanesOfWindows : public testing::Test {};
using Ways = testing::Types<Concatenate, KeptIn<Concatenate, TwoStacks<Concatenate>>,
                            KeptIn<Concatenate, FlatFat<Concatenate>>,
                            KeptIn<Concatenate, PaneTree<Concatenate>>>;
TYPED_TEST_SUITE(PanesOfWindows, Ways);

struct Course {
    std::uint64_t seed;
    PaneIndex length;    // of a window, in panes
    PaneIndex slide;     // from a window to the next
    PaneIndex disorder;  // a record lies behind by up to so many panes
    PaneIndex lateness;  // and panes are kept for so many
};

TYPED_TEST(PanesOfWindows, AnswerAsTheModelInAnyOrder) {
    const TypeParam aggregate{};
    for (const Course& course :
         {Course{1, 10, 1, 0, 0}, Course{2, 10, 1, 5, 0}, Course{3, 300, 1, 50, 200},
          Course{4, 300, 7, 400, 500}, Course{5, 1, 1, 3, 10}, Course{6, 40, 40, 10, 60},
          Course{7, 40, 55, 60, 90}, Course{8, 1'000, 10, 20, 1'000}}) {
        std::mt19937_64 random{course.seed};
        const auto up_to = [&random](PaneIndex limit) {
            return static_cast<PaneIndex>(random() % static_cast<std::uint64_t>(limit + 1));
        };
        PanesOf<TypeParam> panes{aggregate};
        std::map<PaneIndex, std::string> model;
        const auto of_model = [&model](PaneRange window) {
            std::string sum;
            for (auto at = model.lower_bound(window.first);
                 at != model.end() && at->first < window.end; ++at) {
                sum += at->second;
            }
            return sum;
        };
        PaneIndex now = 0;
        PaneRange window{0, course.length};  // that ends next
        PaneIndex kept = 0;
        for (int step = 0; step < 3'000; ++step) {
            now += up_to(2) == 0 ? up_to(3) : 0;
            const PaneIndex pane = std::max(kept, now - up_to(course.disorder));
            const std::string record = std::to_string(step) + ' ';
            panes.add(aggregate, pane, record);
            model[pane] += record;
            for (; window.end <= now; window.first += course.slide, window.end += course.slide) {
                std::string sum;
                panes.slide_to(aggregate, window, [&](const std::string& result) { sum = result; });
                ASSERT_EQ(sum, of_model(window)) << "seed " << course.seed << ", step " << step;
                kept = std::max(kept, window.first - course.lateness);
                panes.drop_before(kept);
                model.erase(model.begin(), model.lower_bound(kept));
            }
            ASSERT_EQ(panes.empty(), model.empty());
            if (model.empty()) continue;
            ASSERT_EQ(panes.oldest(), model.begin()->first);
            ASSERT_EQ(panes.newest(), model.rbegin()->first);
            const PaneIndex from = std::min(panes.newest(), kept + up_to(now - kept));
            ASSERT_EQ(panes.first_from(from), model.lower_bound(from)->first);
            const PaneRange again{from, from + course.length};
            ASSERT_EQ(panes.sum(aggregate, again), of_model(again)) << "seed " << course.seed;
        }
        panes.clear();
        EXPECT_TRUE(panes.empty());
        panes.add(aggregate, now, "x");
        EXPECT_EQ(panes.sum(aggregate, {now, now + 1}), "x");
    }
}

/// A sum that counts how often it combines.
struct CountedSum {
    using State = std::int64_t;
    std::uint64_t* combinations;
    [[nodiscard]] State identity() const { return 0; }
    [[nodiscard]] State lift(std::int64_t number) const { return number; }
    [[nodiscard]] State combine(State older, State newer) const {
        ++*combinations;
        return older + newer;
    }
};

/// A late record and the value of its window anew, in a window of 20,000 panes: of a tree of five
/// levels of at least eight, the two paths to the ends of the window and the one to the record.
TEST(PaneTree, CombinesFewPanesForALateRecord) {
    std::uint64_t combinations = 0;
    const CountedSum aggregate{&combinations};
    PaneTree<CountedSum> panes{aggregate};
    constexpr PaneIndex length = 20'000;
    for (PaneIndex pane = 0; pane < 2 * length; ++pane) panes.add(aggregate, pane, 1);
    std::mt19937_64 random{1};
    std::int64_t expected = length;
    for (int i = 0; i < 1'000; ++i) {
        combinations = 0;
        panes.add(aggregate, length / 2 + static_cast<PaneIndex>(random() % length), 1);
        ASSERT_EQ(panes.sum(aggregate, {length / 2, length / 2 + length}), ++expected);
        ASSERT_LE(combinations, 3U * 5 * 16);
    }
}

/// States of windows that have some records in common, and none of each other's.
TEST(WindowStates, OfAFoldGoForwardOneByOne) {
    const auto append = [](std::string& all, const std::string& record) { all += record; };
    const auto fold = window::fold<std::string>(std::string{">"}, append);
    WindowStates<std::remove_const_t<decltype(fold)>> windows{fold};
    windows.add(fold, {3, 6}, std::string{"a"});
    windows.add(fold, {1, 4}, std::string{"b"});
    windows.add(fold, {5, 6}, std::string{"c"});
    const std::map<PaneIndex, std::string> expected{
        {1, ">b"}, {2, ">b"}, {3, ">ab"}, {4, ">a"}, {5, ">ac"}};
    for (const auto& [number, state] : expected) {
        EXPECT_EQ(windows.first_from(number), number);
        EXPECT_EQ(windows.sum(fold, {number, number + 1}), state);
    }
    EXPECT_EQ(windows.oldest(), 1);
    EXPECT_EQ(windows.newest(), 5);
    windows.drop_before(5);
    EXPECT_EQ(windows.oldest(), 5);
    windows.slide_to(fold, {4, 5}, [](const std::string&) { FAIL() << "it was let go"; });
}

}  // namespace
}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// The finger tree against the obvious window: all states in a map by time, combined from the
// earliest to the latest for every answer.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/window/structures/finger_tree.hpp>

#include "../support/counting_new.hpp"

namespace strid::window {
namespace {

/// Associative and nothing else: a structure that changes the order, or drops or doubles a part, is
/// found.
struct Concatenate {
    using State = std::string;
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return older + newer;
    }
};

/// x -> slope x + offset, wrapped; the older is applied first. Not commutative, and cheap.
struct Affine {
    struct State {
        std::uint64_t slope = 1;
        std::uint64_t offset = 0;
        friend bool operator==(const State&, const State&) = default;
    };
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return {older.slope * newer.slope, newer.slope * older.offset + newer.offset};
    }
    static State state_of(std::uint64_t number) { return {2 * number + 1, number}; }
};

/// The obvious window.
template <class A>
class Model {
  public:
    using State = typename A::State;
    void insert(std::int64_t time, const State& state) {
        const auto [at, is_new] = states_.try_emplace(time, state);
        if (!is_new) at->second = aggregate_.combine(at->second, state);
    }
    void evict_before(std::int64_t time) {
        states_.erase(states_.begin(), states_.lower_bound(time));
    }
    [[nodiscard]] State query() const {
        State sum = aggregate_.identity();
        for (const auto& [time, state] : states_) sum = aggregate_.combine(sum, state);
        return sum;
    }
    [[nodiscard]] State query(std::int64_t from, std::int64_t to) const {
        State sum = aggregate_.identity();
        for (const auto& [time, state] : states_) {
            if (time >= from && time < to) sum = aggregate_.combine(sum, state);
        }
        return sum;
    }
    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] std::int64_t oldest() const { return states_.begin()->first; }
    [[nodiscard]] std::int64_t newest() const { return states_.rbegin()->first; }
    [[nodiscard]] std::optional<std::int64_t> first_from(std::int64_t time) const {
        const auto at = states_.lower_bound(time);
        return at == states_.end() ? std::nullopt : std::optional(at->first);
    }

  private:
    A aggregate_;
    std::map<std::int64_t, State> states_;
};

template <class Tree>
std::optional<std::int64_t> first_from(const Tree& tree, std::int64_t time) {
    const std::int64_t* const first = tree.first_from(time);
    return first == nullptr ? std::nullopt : std::optional(*first);
}

template <std::uint32_t value>
struct Arity {
    static constexpr std::uint32_t arity = value;
};
template <class N>
class FingerTreeOfArity : public testing::Test {};
using Arities = testing::Types<Arity<4>, Arity<6>, Arity<16>>;
TYPED_TEST_SUITE(FingerTreeOfArity, Arities);

TYPED_TEST(FingerTreeOfArity, AnswersAsTheModelAfterAnySteps) {
    EXPECT_TRUE(rc::check([](const std::vector<std::int16_t>& steps, std::uint8_t spread) {
        FingerTree<Concatenate, std::int64_t, TypeParam::arity> tree;
        Model<Concatenate> model;
        for (const std::int16_t step : steps) {
            const std::int64_t time = step / 4 % (spread + 1);  // few times, often the same
            if (step % 4 == 0) {
                tree.evict_before(time);
                model.evict_before(time);
            } else {
                const std::string state = std::to_string(step) + ' ';
                tree.insert(time, state);
                model.insert(time, state);
            }
            RC_ASSERT(tree.is_valid());
            RC_ASSERT(tree.size() == model.size());
            RC_ASSERT(tree.query() == model.query());
            RC_ASSERT(tree.query(time, time + 7) == model.query(time, time + 7));
            RC_ASSERT(first_from(tree, time) == model.first_from(time));
            if (tree.size() == 0) continue;
            RC_ASSERT(tree.oldest() == model.oldest() && tree.newest() == model.newest());
        }
    }));
}

/// A stream that moves on, with states behind it; a window of it.
struct Stream {
    std::uint64_t seed;
    std::int64_t length;    // of the window
    std::int64_t disorder;  // a state lies behind by up to this much
    std::int64_t step;      // time moves on by up to this much
    std::int64_t gap;       // one in 200 times by up to this much
    std::int64_t evict;     // one in this many steps lets go of what has left the window
    std::size_t count;
};

template <class Tree, class StateOf, class M>
void expect_model(Tree& tree, M& model, const Stream& stream, StateOf&& state_of) {
    std::mt19937_64 random{stream.seed};
    const auto up_to = [&random](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit + 1));
    };
    std::int64_t now = 0;
    for (std::size_t i = 0; i < stream.count; ++i) {
        now += up_to(199) == 0 ? up_to(stream.gap) : up_to(stream.step);
        const std::int64_t time = now - up_to(stream.disorder);
        const auto state = state_of(random());
        tree.insert(time, state);
        model.insert(time, state);
        if (up_to(stream.evict - 1) == 0) {
            tree.evict_before(now - stream.length);
            model.evict_before(now - stream.length);
        }
        ASSERT_EQ(tree.size(), model.size()) << "seed " << stream.seed << ", step " << i;
        ASSERT_EQ(tree.query(), model.query()) << "seed " << stream.seed << ", step " << i;
        if (i % 16 == 0) {
            const std::int64_t from = now - up_to(2 * stream.length);
            const std::int64_t to = from + up_to(stream.length);
            ASSERT_EQ(tree.query(from, to), model.query(from, to)) << "seed " << stream.seed;
            ASSERT_EQ(first_from(tree, from), model.first_from(from)) << "seed " << stream.seed;
        }
        ASSERT_TRUE(i % 64 != 0 || tree.is_valid()) << "seed " << stream.seed << ", step " << i;
    }
}

TYPED_TEST(FingerTreeOfArity, AnswersAsTheModelWhileItSlides) {
    constexpr std::size_t count = 4'000;
    const std::vector<Stream> streams = {
        {1, 300, 0, 3, 0, 1, count},        // in order, with equal times
        {2, 300, 20, 3, 2'000, 1, count},   // gaps that empty the window
        {3, 300, 300, 3, 0, 7, count},      // as far behind as the window is long
        {4, 300, 900, 1, 500, 50, count},   // further, and older than all that is there
        {5, 40, 10, 40, 0, 1, count},       // a few states
        {6, 2'000, 50, 2, 0, 400, count},   // many that leave at once
        {7, 0, 5, 1, 0, 1, count},          // one time at most
        {8, 1'500, 3'000, 1, 0, 3, count},  // the newest are the exception
    };
    for (const Stream& stream : streams) {
        FingerTree<Affine, std::int64_t, TypeParam::arity> tree;
        Model<Affine> model;
        expect_model(tree, model, stream, Affine::state_of);
    }
}

TYPED_TEST(FingerTreeOfArity, GrowsFromEitherEndAndShrinksAgain) {
    FingerTree<Affine, std::int64_t, TypeParam::arity> tree;
    for (int round = 0; round < 3; ++round) {
        Model<Affine> model;
        const std::int64_t begin = round * 10'000;
        for (std::int64_t i = 0; i < 600; ++i) {
            // Forwards, backwards, from the middle.
            const std::int64_t at = round == 0 ? i : round == 1 ? -i : (i % 2 == 0 ? i : -i);
            const auto state = Affine::state_of(static_cast<std::uint64_t>(i));
            tree.insert(begin + at, state);
            model.insert(begin + at, state);
            ASSERT_TRUE(tree.is_valid()) << "round " << round << ", state " << i;
            ASSERT_EQ(tree.query(), model.query()) << "round " << round << ", state " << i;
        }
        for (std::int64_t at = -600; at <= 600; at += 1 + round * round * 20) {
            tree.evict_before(begin + at);
            model.evict_before(begin + at);
            ASSERT_TRUE(tree.is_valid()) << "round " << round << ", before " << at;
            ASSERT_EQ(tree.query(), model.query()) << "round " << round << ", before " << at;
        }
        tree.evict_before(begin + 601);
        ASSERT_EQ(tree.size(), 0U);
        ASSERT_EQ(tree.query(), Affine::State{});
    }
}

TEST(FingerTree, CombinesEqualTimesInTheOrderInWhichTheyCame) {
    FingerTree<Concatenate> tree;
    const auto at = [](std::int64_t ns) { return EventTime::of_ns(ns); };
    for (const auto& [time, text] : std::vector<std::pair<std::int64_t, const char*>>{
             {5, "a"}, {7, "b"}, {5, "c"}, {3, "d"}, {7, "e"}, {5, "f"}}) {
        tree.insert(at(time), text);
    }
    EXPECT_EQ(tree.query(), "dacfbe");
    EXPECT_EQ(tree.size(), 3U);
    tree.evict_before(at(5));
    EXPECT_EQ(tree.query(), "acfbe");
    tree.evict_before(at(6));
    EXPECT_EQ(tree.query(), "be");
    tree.evict_before(at(6));
    EXPECT_EQ(tree.query(), "be");
    tree.evict_before(at(8));
    EXPECT_EQ(tree.query(), "");
}

TEST(FingerTree, IsTheSameWhereItIsMovedTo) {
    FingerTree<Concatenate, int, 4> tree;
    for (int i = 0; i < 100; ++i) tree.insert(i * 37 % 100, std::to_string(i) + ' ');
    const auto before = tree.query();
    FingerTree<Concatenate, int, 4> moved = std::move(tree);
    EXPECT_EQ(moved.query(), before);
    tree = std::move(moved);
    EXPECT_EQ(tree.query(), before);
    tree.insert(-1, "first ");
    EXPECT_TRUE(tree.is_valid());
    EXPECT_EQ(tree.query(), "first " + before);
}

/// A state that owns something, and lets go of it when it leaves the window.
struct Newest {
    using State = std::shared_ptr<int>;
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return newer == nullptr ? older : newer;
    }
};

TEST(FingerTree, GivesBackWhatLeft) {
    FingerTree<Newest, int, 4> tree;
    const auto shared = std::make_shared<int>(7);
    for (int i = 0; i < 1'000; ++i) tree.insert(i * 77 % 1'000, shared);
    EXPECT_GE(shared.use_count(), 1'001);
    tree.evict_before(990);
    EXPECT_LE(shared.use_count(), 100);
    tree.evict_before(1'000);
    EXPECT_EQ(shared.use_count(), 1);
    // Nothing stays behind whatever became of the leaves in between.
    std::mt19937_64 random{1};
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 40; ++i) {
            tree.insert(static_cast<int>(random() % 100), shared);
            if (random() % 8 == 0) tree.evict_before(static_cast<int>(random() % 50));
        }
        tree.evict_before(100);
        ASSERT_EQ(shared.use_count(), 1) << "round " << round;
    }
}

/// Counts its combinations.
struct Counted {
    using State = std::uint64_t;
    std::uint64_t* combinations;
    [[nodiscard]] State identity() const { return 0; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        ++*combinations;
        return older + newer;
    }
};

/// Counts its comparisons.
struct CountedTime {
    std::int64_t time = 0;
    static inline std::uint64_t comparisons = 0;
    friend bool operator==(const CountedTime& a, const CountedTime& b) {
        ++comparisons;
        return a.time == b.time;
    }
    friend auto operator<=>(const CountedTime& a, const CountedTime& b) {
        ++comparisons;
        return a.time <=> b.time;
    }
};

struct Cost {
    double combinations = 0;
    double comparisons = 0;
};

/// Of a state (insertion, eviction, query) in a window of `length`, where each second one lies
/// behind `distance` others; 0: where all are in order.
Cost cost_per_state(std::int64_t length, std::int64_t distance) {
    std::uint64_t combinations = 0;
    FingerTree<Counted, CountedTime> tree{Counted{&combinations}};
    const std::int64_t count = 4 * length;
    // The even times first, the odd ones between them `distance` states later.
    for (std::int64_t i = 0; i < count; ++i) {
        if (i == count / 2) combinations = CountedTime::comparisons = 0;
        tree.insert({2 * i}, 1);
        if (distance != 0) tree.insert({2 * i - 2 * distance + 1}, 1);
        tree.evict_before({2 * (i - length)});
        (void)tree.query();
    }
    const auto states = static_cast<double>(count - count / 2);
    return {static_cast<double>(combinations) / states,
            static_cast<double>(CountedTime::comparisons) / states};
}

TEST(FingerTree, CostsByTheDistanceFromTheNewestNotByTheLengthOfTheWindow) {
    constexpr std::int64_t longest = 100'000;
    const Cost in_order = cost_per_state(1'000, 0);
    // 1 in, 1 out, 2 for the answer; for each leaf of 8 both halves and the parent at its split,
    // the parent again when it leaves.
    EXPECT_LE(in_order.combinations, 4 + (8 + 8 + 16 + 16) / 8.0);
    const Cost near = cost_per_state(1'000, 10);
    for (const auto& [distance, shorter] : {std::pair(0, in_order), std::pair(10, near)}) {
        const Cost longer = cost_per_state(longest, distance);
        EXPECT_NEAR(longer.combinations, shorter.combinations, 1) << "distance " << distance;
        EXPECT_NEAR(longer.comparisons, shorter.comparisons, 1) << "distance " << distance;
    }
    // Each 8 to 16 times further costs two nodes more, of at most 16 parts: up one, down one.
    EXPECT_LE(cost_per_state(longest, 100).combinations, near.combinations + 2 * 16 + 1);
    EXPECT_LE(cost_per_state(longest, 1'000).combinations, near.combinations + 4 * 16 + 1);
}

TEST(FingerTree, AllocatesNothingOnceItHasBeenLarge) {
    FingerTree<Affine, std::int64_t> tree;
    std::mt19937_64 random{1};
    const auto slide = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t now = begin; now < end; ++now) {
            tree.insert(now - static_cast<std::int64_t>(random() % 500),
                        Affine::state_of(random()));
            tree.evict_before(now - 2'000);
        }
    };
    for (std::int64_t i = 0; i < 10'000; ++i) tree.insert(i, {});
    tree.evict_before(9'000);
    const std::uint64_t before = test::allocations.load();
    slide(10'000, 200'000);
    EXPECT_EQ(test::allocations.load(), before);
}

}  // namespace
}  // namespace strid::window

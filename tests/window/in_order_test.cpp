// SPDX-License-Identifier: Apache-2.0
//
// The structures that keep the aggregate of a window sliding in order, against the obvious one: all
// states in a deque, combined from the oldest to the newest for every answer.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/in_order.hpp>

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
    static State state_of(std::uint32_t n) { return std::to_string(n % 100) + ' '; }
};

struct WrappingSum : Count {
    static State state_of(std::uint32_t n) { return n; }
};

struct Identity {
    std::uint32_t operator()(std::uint32_t n) const { return n; }
};
struct Largest : Extreme<Identity, std::uint32_t, std::greater<>> {
    static State state_of(std::uint32_t n) {  // of every five one is not present
        return n % 5 == 0 ? State{} : State{n % 16, true};
    }
};

static_assert(!Invertible<Concatenate> && !Selective<Concatenate>);
static_assert(Invertible<WrappingSum> && Selective<Largest>);
static_assert(InOrderWindow<TwoStacks<Concatenate>> && InOrderWindow<FlatFat<Concatenate>>);
static_assert(std::is_same_v<InOrder<Concatenate>, DabaLite<Concatenate>>);
static_assert(std::is_same_v<InOrder<WrappingSum>, SubtractOnEvict<WrappingSum>>);
static_assert(std::is_same_v<InOrder<Largest>, MonotoneDeque<Largest>>);

/// The obvious window.
template <Aggregate A>
class Model {
  public:
    using State = typename A::State;
    void insert(State newest) { states_.push_back(std::move(newest)); }
    void evict() { states_.pop_front(); }
    [[nodiscard]] State query() const {
        State sum = aggregate_.identity();
        for (const State& state : states_) sum = aggregate_.combine(sum, state);
        return sum;
    }
    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] State& at(std::size_t index) { return states_[index]; }

  private:
    A aggregate_;
    std::deque<State> states_;
};

template <class W>
class InOrderStructure : public testing::Test {};

template <template <class> class W, class A>
struct Case {
    using Structure = W<A>;
    using Function = A;
};

using Cases =
    testing::Types<Case<SubtractOnEvict, WrappingSum>, Case<MonotoneDeque, Largest>,
                   Case<TwoStacks, Concatenate>, Case<TwoStacks, Largest>,
                   Case<DabaLite, Concatenate>, Case<DabaLite, WrappingSum>,
                   Case<DabaLite, Largest>, Case<FlatFat, Concatenate>, Case<FlatFat, Largest>>;
TYPED_TEST_SUITE(InOrderStructure, Cases);

template <class W, class M>
void expect_equal(const W& window, const M& model) {
    RC_ASSERT(window.size() == model.size());
    RC_ASSERT(window.query() == model.query());
    if constexpr (requires { window.is_valid(); }) RC_ASSERT(window.is_valid());
}

TYPED_TEST(InOrderStructure, AnswersAsTheModelAfterAnySteps) {
    using A = typename TypeParam::Function;
    EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& steps, std::uint8_t bias) {
        typename TypeParam::Structure window;
        Model<A> model;
        for (const std::uint32_t step : steps) {
            // From runs that only grow to windows that are empty again and again.
            if (model.size() != 0 && step % 8 < bias % 8U) {
                window.evict();
                model.evict();
            } else {
                window.insert(A::state_of(step));
                model.insert(A::state_of(step));
            }
            expect_equal(window, model);
        }
        while (model.size() != 0) {
            window.evict();
            model.evict();
            expect_equal(window, model);
        }
    }));
}

TYPED_TEST(InOrderStructure, AnswersAsTheModelWhileItSlides) {
    using A = typename TypeParam::Function;
    for (const std::size_t length : {1U, 2U, 3U, 7U, 8U, 9U, 33U, 100U}) {
        typename TypeParam::Structure window;
        Model<A> model;
        std::uint32_t random = 1;
        for (std::size_t i = 0; i < 5 * length + 50; ++i) {
            random = random * 1664525 + 1013904223;
            window.insert(A::state_of(random >> 8));
            model.insert(A::state_of(random >> 8));
            if (model.size() > length) {
                window.evict();
                model.evict();
            }
            ASSERT_EQ(window.query(), model.query()) << "length " << length << ", step " << i;
        }
    }
}

TEST(FlatFat, TakesLateStatesAnywhere) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& steps) {
        FlatFat<Concatenate> window;
        Model<Concatenate> model;
        for (const std::uint32_t step : steps) {
            const auto state = Concatenate::state_of(step);
            if (model.size() != 0 && step % 3 == 0) {
                const std::size_t index = step / 3 % model.size();
                window.combine_at(window.begin_position() + index, state);
                model.at(index) += state;
            } else if (model.size() != 0 && step % 3 == 1) {
                window.evict();
                model.evict();
            } else {
                window.insert(state);
                model.insert(state);
            }
            RC_ASSERT(window.query() == model.query());
        }
    }));
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

TEST(DabaLite, NoStepTakesMoreThanThreeCombinations) {
    std::uint64_t combinations = 0;
    DabaLite<Counted> window(Counted{&combinations});
    std::uint64_t insert_max = 0;
    std::uint64_t evict_max = 0;
    std::uint64_t query_max = 0;
    const auto counting = [&](std::uint64_t& most, auto&& step) {
        const std::uint64_t before = combinations;
        step();
        most = std::max(most, combinations - before);
    };
    // Grows to a length, slides, shrinks, and again to other lengths.
    for (const std::size_t length : {10'000U, 1U, 777U, 4'096U}) {
        for (std::size_t i = 0; i < 3 * length; ++i) {
            counting(insert_max, [&] { window.insert(i); });
            if (window.size() > length) counting(evict_max, [&] { window.evict(); });
            counting(query_max, [&] { (void)window.query(); });
        }
        while (window.size() > length / 3) counting(evict_max, [&] { window.evict(); });
    }
    EXPECT_LE(insert_max, 3U);
    EXPECT_LE(evict_max, 2U);
    EXPECT_LE(query_max, 1U);
}

TEST(TwoStacks, TakesThreeCombinationsAStateOnAverageAndAWindowAtWorst) {
    std::uint64_t combinations = 0;
    TwoStacks<Counted> window(Counted{&combinations});
    constexpr std::uint64_t length = 1000;
    constexpr std::uint64_t count = 100 * length;
    std::uint64_t worst = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t before = combinations;
        window.insert(i);
        if (window.size() > length) window.evict();
        worst = std::max(worst, combinations - before);
    }
    EXPECT_LE(combinations, 3 * count);
    EXPECT_GE(worst, length - 1);
}

TEST(FlatRing, PositionsOutliveGrowthAndMemoryIsGivenBack) {
    FlatRing<std::shared_ptr<int>> ring;
    const auto shared = std::make_shared<int>(7);
    for (int i = 0; i < 100; ++i) {
        ring.push_back(shared);
        if (i % 3 == 2) ring.pop_front();
        ASSERT_TRUE(ring.is_valid());
    }
    EXPECT_EQ(ring.size(), 67U);
    EXPECT_EQ(ring.begin_position(), 33U);
    EXPECT_EQ(shared.use_count(), 68);
    ring.pop_back();
    EXPECT_EQ(ring.end_position(), 99U);
    ring.clear();
    EXPECT_EQ(shared.use_count(), 1);
    EXPECT_EQ(ring.begin_position(), 99U);
}

}  // namespace
}  // namespace strid::window

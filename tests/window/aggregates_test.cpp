// SPDX-License-Identifier: Apache-2.0
//
// The aggregates of the library: the rules of their algebra on random states, and their answers
// against the obvious computation over the records.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/window/aggregates.hpp>

namespace strid::window {
namespace {

struct Trade {
    std::int32_t volume;
    double price;
};

/// Small whole numbers, so that sums of doubles are exact and every rule can hold to the bit.
Trade trade_of(std::int16_t n) {
    return {n, static_cast<double>(n % 64)};
}

template <class A>
typename A::State fold(const A& aggregate, const std::vector<std::int16_t>& numbers) {
    auto state = aggregate.identity();
    for (const std::int16_t n : numbers) {
        state = aggregate.combine(state, aggregate.lift(trade_of(n)));
    }
    return state;
}

/// Equal, or as close as rounding leaves it where the states hold quotients.
template <class State>
bool alike(const State& a, const State& b) {
    return a == b;
}
bool alike(const Moments& a, const Moments& b) {
    if (a.count() != b.count()) return false;
    if (std::abs(a.mean() - b.mean()) > 1e-9 * (1 + std::abs(a.mean()))) return false;
    return a.count() < 2 || std::abs(a.variance() - b.variance()) <= 1e-9 * (1 + a.variance());
}

template <class A>
void expect_laws(const A& aggregate) {
    static_assert(AggregateOf<A, Trade>);
    using Numbers = std::vector<std::int16_t>;
    EXPECT_TRUE(rc::check([&aggregate](const Numbers& x, const Numbers& y, const Numbers& z) {
        const auto a = fold(aggregate, x);
        const auto b = fold(aggregate, y);
        const auto c = fold(aggregate, z);
        RC_ASSERT(alike(aggregate.combine(aggregate.combine(a, b), c),
                        aggregate.combine(a, aggregate.combine(b, c))));
        RC_ASSERT(alike(aggregate.combine(aggregate.identity(), a), a));
        RC_ASSERT(alike(aggregate.combine(a, aggregate.identity()), a));
        if constexpr (Invertible<A>) {
            RC_ASSERT(alike(aggregate.without(aggregate.combine(a, b), a), b));
        }
        if constexpr (is_commutative<A>) {
            RC_ASSERT(alike(aggregate.combine(a, b), aggregate.combine(b, a)));
        }
        if constexpr (Selective<A>) {
            const auto both = aggregate.combine(a, b);
            RC_ASSERT(both == a || both == b);
            if (aggregate.covers(b, a)) RC_ASSERT(both == b);
        }
    }));
}

TEST(Aggregates, KeepTheLawsOfTheirAlgebra) {
    expect_laws(count());
    expect_laws(sum<&Trade::volume>());
    expect_laws(sum<&Trade::price>());
    expect_laws(mean<&Trade::volume>());
    expect_laws(variance<&Trade::price>());
    expect_laws(standard_deviation<&Trade::price>());
    expect_laws(minimum<&Trade::volume>());
    expect_laws(maximum<&Trade::price>());
}

TEST(Aggregates, AnswerAsTheRecordsDo) {
    EXPECT_TRUE(rc::check([](const std::vector<std::int16_t>& numbers) {
        std::vector<double> prices;
        std::int64_t volume = 0;
        for (const std::int16_t n : numbers) {
            prices.push_back(trade_of(n).price);
            volume += trade_of(n).volume;
        }
        const auto answer = [&numbers](const auto& aggregate) {
            return aggregate.lower(fold(aggregate, numbers));
        };
        const auto n = static_cast<double>(prices.size());
        const double total = std::accumulate(prices.begin(), prices.end(), 0.0);
        RC_ASSERT(answer(count()) == prices.size());
        RC_ASSERT(answer(sum<&Trade::volume>()) == volume);
        RC_ASSERT(answer(sum<&Trade::price>()) == total);
        if (prices.empty()) {
            RC_ASSERT(std::isnan(answer(mean<&Trade::price>())));
            RC_ASSERT(std::isnan(answer(minimum<&Trade::price>())));
            return;
        }
        RC_ASSERT(answer(mean<&Trade::price>()) == total / n);
        RC_ASSERT(answer(minimum<&Trade::price>()) ==
                  *std::min_element(prices.begin(), prices.end()));
        RC_ASSERT(answer(maximum<&Trade::price>()) ==
                  *std::max_element(prices.begin(), prices.end()));
        double squares = 0;
        for (const double price : prices) squares += (price - total / n) * (price - total / n);
        const double sample = answer(variance<&Trade::price>());
        if (prices.size() == 1) {
            RC_ASSERT(std::isnan(sample));
        } else {
            RC_ASSERT(std::abs(sample - squares / (n - 1)) <= 1e-9 * (1 + squares));
            RC_ASSERT(answer(standard_deviation<&Trade::price>()) == std::sqrt(sample));
        }
    }));
}

TEST(Aggregates, PassOverNotANumberOnlyWhereTheySay) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto of = [](const auto& aggregate, std::initializer_list<double> prices) {
        auto state = aggregate.identity();
        for (const double price : prices) {
            state = aggregate.combine(state, aggregate.lift(Trade{0, price}));
        }
        return aggregate.lower(state);
    };
    EXPECT_EQ(of(minimum<&Trade::price>(), {nan, 3, nan, 2, nan}), 2);
    EXPECT_EQ(of(maximum<&Trade::price>(), {nan, 3, nan, 2, nan}), 3);
    EXPECT_TRUE(std::isnan(of(maximum<&Trade::price>(), {nan, nan})));
    EXPECT_TRUE(std::isnan(of(sum<&Trade::price>(), {1, nan, 2})));
    EXPECT_TRUE(std::isnan(of(mean<&Trade::price>(), {1, nan, 2})));
    EXPECT_TRUE(std::isnan(of(variance<&Trade::price>(), {1, nan, 2})));
    EXPECT_TRUE(std::isnan(of(standard_deviation<&Trade::price>(), {nan, 1, 2})));
    EXPECT_EQ(of(count(), {1, nan, 2}), 3U);
}

/// A field is what the member of its name is, and takes no room.
TEST(Aggregates, AreOfAMemberAsOfAFunction) {
    const auto alike_on = [](const auto& of_member, const auto& of_function) {
        static_assert(sizeof(of_member) == 1);
        EXPECT_TRUE(rc::check([&](const std::vector<std::int16_t>& numbers) {
            const auto one = of_member.lower(fold(of_member, numbers));
            const auto other = of_function.lower(fold(of_function, numbers));
            static_assert(std::is_same_v<decltype(one), decltype(other)>);
            RC_ASSERT(one == other || (one != one && other != other));
        }));
    };
    const auto volume = [](const Trade& trade) { return trade.volume; };
    const auto price = [](const Trade& trade) { return trade.price; };
    alike_on(sum<&Trade::volume>(), sum(volume));
    alike_on(sum<&Trade::price>(), sum(price));
    alike_on(mean<&Trade::volume>(), mean(volume));
    alike_on(mean<&Trade::volume>(), mean<Trade>(volume));
    alike_on(mean<&Trade::price>(), mean(price));
    alike_on(minimum<&Trade::price>(), minimum(price));
    alike_on(maximum<&Trade::volume>(), maximum(volume));
    alike_on(standard_deviation<&Trade::price>(), standard_deviation(price));
}

TEST(Aggregates, VarianceDoesNotCancelFarFromZero) {
    const auto aggregate = variance([](const Trade& trade) { return trade.price; });
    auto state = aggregate.identity();
    for (int i = 0; i < 1000; ++i) {
        state = aggregate.combine(state, aggregate.lift(Trade{0, 1e9 + i % 2}));
    }
    EXPECT_NEAR(aggregate.lower(state), 0.25 * 1000 / 999, 1e-6);
}

TEST(Aggregates, SumsOfIntegersWrap) {
    const auto aggregate = sum<Trade>([](const Trade&) { return INT64_MAX; });
    const auto one = aggregate.lift(Trade{});
    EXPECT_EQ(aggregate.combine(one, one), -2);
    EXPECT_EQ(aggregate.without(-2, one), INT64_MAX);
}

}  // namespace
}  // namespace strid::window

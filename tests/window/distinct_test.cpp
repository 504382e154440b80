// SPDX-License-Identifier: Apache-2.0
//
// Counts of different values, exact and approximate, against std::set; and the rules of their
// algebra.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/in_order.hpp>

namespace strid::window {
namespace {

struct Click {
    std::uint32_t user;
    std::string_view page = {};
    double seconds = 0;
};

const auto users = distinct(field<&Click::user>);
const auto which_users = distinct_values<Click>(field<&Click::user>);
const auto about_users = distinct_approximately<4>(field<&Click::user>);

/// From streams of a few users to streams of many.
std::vector<Click> clicks_of(const std::vector<std::uint32_t>& numbers) {
    const std::uint32_t different = numbers.size() % 3 == 0 ? 5 : 1'000'000;
    std::vector<Click> clicks;
    for (const std::uint32_t number : numbers) clicks.push_back({number % different});
    return clicks;
}

template <class A>
auto fold(const A& aggregate, const std::vector<Click>& clicks) {
    auto state = aggregate.identity();
    for (const Click& click : clicks) add_record(aggregate, state, click);
    return state;
}

TEST(Distinct, AnswersAsASetDoes) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& numbers) {
        const auto clicks = clicks_of(numbers);
        std::set<std::uint32_t> set;
        for (const Click& click : clicks) set.insert(click.user);
        RC_ASSERT(users.lower(fold(users, clicks)) == set.size());
        RC_ASSERT(which_users.lower(fold(which_users, clicks)) ==
                  std::vector<std::uint32_t>(set.begin(), set.end()));
        const auto about = distinct_approximately(field<&Click::user>);
        RC_ASSERT(about.lower(fold(about, clicks)) == set.size());  // there are few
    }));
}

template <class A>
void expect_laws(const A& aggregate) {
    static_assert(AggregateOf<A, Click> && !Invertible<A> && !Selective<A> && is_commutative<A>);
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_TRUE(rc::check([&aggregate](const Numbers& x, const Numbers& y, const Numbers& z) {
        const auto a = fold(aggregate, clicks_of(x));
        const auto b = fold(aggregate, clicks_of(y));
        const auto c = fold(aggregate, clicks_of(z));
        RC_ASSERT(aggregate.combine(aggregate.combine(a, b), c) ==
                  aggregate.combine(a, aggregate.combine(b, c)));
        RC_ASSERT(aggregate.combine(a, b) == aggregate.combine(b, a));
        RC_ASSERT(aggregate.combine(a, a) == a);
        RC_ASSERT(aggregate.combine(aggregate.identity(), a) == a);
        RC_ASSERT(aggregate.combine(a, aggregate.identity()) == a);
    }));
}

TEST(Distinct, KeepsTheLawsOfItsAlgebra) {
    expect_laws(users);
    expect_laws(which_users);
    expect_laws(about_users);  // two values are kept, more are sketched
    expect_laws(distinct_approximately(field<&Click::user>));
}

TEST(Distinct, SlidesOverEveryWindow) {
    InOrder<std::remove_const_t<decltype(users)>> exact(users);
    InOrder<std::remove_const_t<decltype(about_users)>> about(about_users);
    std::vector<Click> clicks;
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        clicks.push_back({i * i % 101});
        exact.insert(users.lift(clicks.back()));
        about.insert(about_users.lift(clicks.back()));
        if (clicks.size() > 60) {
            exact.evict();
            about.evict();
            clicks.erase(clicks.begin());
        }
        std::set<std::uint32_t> set;
        HyperLogLog<4> sketch;
        for (const Click& click : clicks) {
            set.insert(click.user);
            sketch.add(click.user);
        }
        ASSERT_EQ(users.lower(exact.query()), set.size());
        ASSERT_EQ(about.query(), sketch);
    }
}

/// Text lies in the record's batch, which is gone when the window fires.
TEST(Distinct, OwnsItsTexts) {
    const auto pages = distinct_values(field<&Click::page>);
    const auto about = distinct_approximately<4>(field<&Click::page>);
    auto state = pages.identity();
    auto sketch = about.identity();
    for (int i = 0; i < 100; ++i) {
        const std::string batch = "/a/page/of/the/shop/" + std::to_string(i % 7);
        add_record(pages, state, Click{0, batch});
        add_record(about, sketch, Click{0, batch});
    }
    const auto list = pages.lower(state);
    ASSERT_EQ(list.size(), 7U);
    EXPECT_EQ(list.front(), "/a/page/of/the/shop/0");
    EXPECT_NEAR(static_cast<double>(about.lower(sketch)), 7, 4);
}

TEST(Distinct, PassesOverNotANumberAndCountsOneZero) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto times = distinct<Click>(field<&Click::seconds>);
    const auto about = distinct_approximately(field<&Click::seconds>);
    auto state = times.identity();
    auto sketch = about.identity();
    for (const double seconds : {nan, 0.0, -0.0, 1.5, nan, 1.5}) {
        add_record(times, state, Click{0, {}, seconds});
        add_record(about, sketch, Click{0, {}, seconds});
    }
    EXPECT_EQ(times.lower(state), 2U);
    EXPECT_EQ(about.lower(sketch), 2U);
    EXPECT_EQ(times.lower(times.lift(Click{0, {}, nan})), 0U);
}

}  // namespace
}  // namespace strid::window

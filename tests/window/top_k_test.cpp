// SPDX-License-Identifier: Apache-2.0
//
// The largest and smallest values of a window against a stable sort of all its records, and the
// rules of their algebra.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/window/aggregates/in_order.hpp>
#include <strid/window/aggregates/top_k.hpp>

namespace strid::window {
namespace {

struct Trip {
    std::int32_t fare;
    std::size_t number;  // its place in the stream
    std::string_view driver = {};
};

const auto largest = top_k<3>(field<&Trip::fare>);
const auto largest_with_number = top_k<3, Trip>(field<&Trip::fare>, field<&Trip::number>);
const auto smallest_with_number = bottom_k<4>(field<&Trip::fare>, field<&Trip::number>);

static_assert(is_commutative<std::remove_const_t<decltype(largest)>>);
static_assert(!is_commutative<std::remove_const_t<decltype(largest_with_number)>>);
static_assert(std::is_trivially_copyable_v<decltype(largest)::State>);
static_assert(sizeof(decltype(largest)::State) == 3 * sizeof(std::int32_t) + 12);

/// Few different fares, so that most are equal to another.
std::vector<Trip> trips_of(const std::vector<std::uint8_t>& fares, std::size_t first = 0) {
    std::vector<Trip> trips;
    for (const std::uint8_t fare : fares) trips.push_back({fare % 8 - 4, first + trips.size()});
    return trips;
}

template <class A>
auto fold(const A& aggregate, const std::vector<Trip>& trips) {
    auto state = aggregate.identity();
    for (const Trip& trip : trips) add_record(aggregate, state, trip);
    return state;
}

/// The first of all records sorted: what every answer must be.
template <class Before>
std::vector<Trip> first_of(std::vector<Trip> trips, std::size_t k) {
    std::stable_sort(trips.begin(), trips.end(),
                     [](const Trip& a, const Trip& b) { return Before{}(a.fare, b.fare); });
    trips.resize(std::min(k, trips.size()));
    return trips;
}

template <class List>
void expect_list(const List& list, const std::vector<Trip>& expected) {
    RC_ASSERT(list.size() == expected.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        RC_ASSERT(list[i].value == expected[i].fare);
        if constexpr (requires { list[i].item == expected[i].number; }) {
            RC_ASSERT(list[i].item == expected[i].number);
        }
    }
}

TEST(TopK, IsWhatAStableSortBeginsWith) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& fares) {
        const auto trips = trips_of(fares);
        expect_list(fold(largest, trips), first_of<std::greater<>>(trips, 3));
        expect_list(fold(largest_with_number, trips), first_of<std::greater<>>(trips, 3));
        expect_list(fold(smallest_with_number, trips), first_of<std::less<>>(trips, 4));
    }));
}

template <class A>
void expect_laws(const A& aggregate) {
    static_assert(AggregateOf<A, Trip> && !Invertible<A> && !Selective<A>);
    using Fares = std::vector<std::uint8_t>;
    EXPECT_TRUE(rc::check([&aggregate](const Fares& x, const Fares& y, const Fares& z) {
        const auto a = fold(aggregate, trips_of(x));
        const auto b = fold(aggregate, trips_of(y, x.size()));
        const auto c = fold(aggregate, trips_of(z, x.size() + y.size()));
        RC_ASSERT(aggregate.combine(aggregate.combine(a, b), c) ==
                  aggregate.combine(a, aggregate.combine(b, c)));
        RC_ASSERT(aggregate.combine(aggregate.identity(), a) == a);
        RC_ASSERT(aggregate.combine(a, aggregate.identity()) == a);
        Fares all = x;
        all.insert(all.end(), y.begin(), y.end());
        RC_ASSERT(aggregate.combine(a, b) == fold(aggregate, trips_of(all)));
        if constexpr (is_commutative<A>) {
            RC_ASSERT(aggregate.combine(a, b) == aggregate.combine(b, a));
        }
    }));
}

TEST(TopK, KeepsTheLawsOfItsAlgebra) {
    expect_laws(largest);
    expect_laws(largest_with_number);
    expect_laws(smallest_with_number);
}

TEST(TopK, SlidesOverEveryWindow) {
    using A = std::remove_const_t<decltype(largest_with_number)>;
    InOrder<A> window(largest_with_number);
    std::vector<Trip> trips;
    for (std::size_t i = 0; i < 500; ++i) {
        trips.push_back({static_cast<std::int32_t>(i * i % 11), i});
        window.insert(largest_with_number.lift(trips.back()));
        if (trips.size() > 20) {
            window.evict();
            trips.erase(trips.begin());
        }
        expect_list(window.query(), first_of<std::greater<>>(trips, 3));
    }
}

TEST(TopK, PassesOverNotANumber) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto by_number = top_k<2, double>(std::identity{});
    auto state = by_number.identity();
    for (const double number : {nan, 1.0, nan, 3.0, 2.0, nan}) add_record(by_number, state, number);
    ASSERT_EQ(state.size(), 2U);
    EXPECT_EQ(state[0].value, 3);
    EXPECT_EQ(state[1].value, 2);
    EXPECT_TRUE(by_number.lift(nan).empty());
}

TEST(TopK, RanksByAPairWhereTheOrderOfTheStreamMustNotMatter) {
    const auto by_pair = top_k<1, Trip>(
        [](const Trip& trip) { return std::pair(trip.fare, std::string(trip.driver)); });
    const auto one = by_pair.lift(Trip{5, 0, "one"});
    const auto two = by_pair.lift(Trip{5, 0, "two"});
    EXPECT_EQ(by_pair.combine(one, two), by_pair.combine(two, one));
    EXPECT_EQ(by_pair.combine(one, two)[0].value.second, "two");
}

/// Text lies in the record's batch, which is gone when the window fires.
TEST(TopK, OwnsItsTexts) {
    const auto by_fare = top_k<2, Trip>(field<&Trip::fare>, field<&Trip::driver>);
    auto state = by_fare.identity();
    for (const char* name : {"a driver with a long name", "another one with a longer name"}) {
        const std::string batch = name;
        add_record(by_fare, state, Trip{1, 0, batch});
    }
    static_assert(std::is_same_v<decltype(state[0].item), std::string>);
    EXPECT_EQ(state[0].item, "a driver with a long name");
    EXPECT_EQ(state[1].item, "another one with a longer name");
}

}  // namespace
}  // namespace strid::window

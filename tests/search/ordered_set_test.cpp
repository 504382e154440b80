// SPDX-License-Identifier: Apache-2.0
//
// Ordered sets: as those of the standard library, every type of number, NaN, several searches at
// once, and memory after many changes.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/search/ordered_set.hpp>

#include "ordered_oracle.hpp"

namespace strid::memory {
namespace {

using test::require;

static_assert(std::bidirectional_iterator<OrderedSet<int>::iterator>);
static_assert(std::is_nothrow_move_constructible_v<OrderedSet<std::string>>);

TEST(OrderedSet, OfNumbersIsStdSet) {
    test::expect_random_operations<OrderedSet<std::uint64_t>, std::set<std::uint64_t>>(24'000,
                                                                                       9'000, 1);
    test::expect_random_operations<OrderedSet<std::int16_t>, std::set<std::int16_t>>(24'000, 9'000,
                                                                                     2);
}

TEST(OrderedSet, OfTextIsStdSet) {
    test::expect_random_operations<OrderedSet<std::string>, std::set<std::string>>(12'000, 4'000,
                                                                                   3);
}

TEST(OrderedMultiset, KeepsEqualKeysAsStdMultiset) {
    test::expect_random_operations<OrderedMultiset<double>, std::multiset<double>>(12'000, 60, 4);
    test::expect_random_operations<OrderedMultiset<double>, std::multiset<double>>(6'000, 1, 5);
}

/// Keys from the whole type, its ends among them: every search against a look at all keys.
template <class Key>
void expect_bounds(std::uint64_t seed) {
    using Limits = std::numeric_limits<Key>;
    std::mt19937_64 random{seed};
    OrderedSet<Key> set;
    std::vector<Key> keys{Limits::lowest(), Key{}};
    for (int i = 0; i != 2'000; ++i) keys.push_back(static_cast<Key>(random()));
    for (const Key key : keys) set.insert(key);
    // The value behind the last key of a node of integers is no key.
    require(!set.contains(Limits::max()), "the greatest, before it is there");
    require(set.lower_bound(Limits::max()) == set.end(), "lower_bound() of the greatest");
    set.insert(Limits::max());
    keys.push_back(Limits::max());
    for (std::size_t i = 0; i != 1'000; ++i) {
        const Key query = i % 2 == 0 ? keys[keys.size() - 1 - i] : static_cast<Key>(random());
        const Key* lower = nullptr;
        const Key* upper = nullptr;
        for (const Key& key : keys) {
            if (key >= query && (lower == nullptr || key < *lower)) lower = &key;
            if (key > query && (upper == nullptr || key < *upper)) upper = &key;
        }
        const auto mine = set.lower_bound(query);
        const auto behind = set.upper_bound(query);
        require(lower == nullptr ? mine == set.end() : *mine == *lower, "lower_bound()");
        require(upper == nullptr ? behind == set.end() : *behind == *upper, "upper_bound()");
        require(set.contains(query) == (lower != nullptr && *lower == query), "contains()");
    }
    require(*set.begin() == Limits::lowest(), "the least");
}
TEST(OrderedSet, SearchesEveryTypeOfNumber) {
    expect_bounds<std::uint64_t>(8);
    expect_bounds<std::int64_t>(9);
    expect_bounds<double>(10);
    expect_bounds<std::uint32_t>(11);
    expect_bounds<std::int32_t>(12);
    expect_bounds<float>(13);
}

TEST(OrderedSet, RefusesAKeyThatIsThere) {
    OrderedSet<int> set{3, 1, 3, 2};
    EXPECT_EQ(set.size(), 3U);
    EXPECT_FALSE(set.insert(3).second);
    EXPECT_EQ(*set.insert(3).first, 3);
    OrderedMultiset<int> all{3, 1, 3, 2};
    EXPECT_EQ(all.count(3), 2U);
    EXPECT_EQ(all.erase(3), 2U);
    EXPECT_EQ(all, (OrderedMultiset<int>{1, 2}));
}

TEST(OrderedSet, RefusesNaNAndFindsNothingForIt) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    OrderedSet<double> set{1, 2, 3};
    EXPECT_THROW(set.insert(nan), std::invalid_argument);
    EXPECT_FALSE(set.contains(nan));
    EXPECT_TRUE(set.find(nan) == set.end());
    EXPECT_TRUE(set.lower_bound(nan) == set.end());
    EXPECT_TRUE(set.at_or_before(nan) == set.end());
    EXPECT_TRUE(set.range(nan, 2.0).empty());
    EXPECT_TRUE(set.range(1.0, nan).empty());
    EXPECT_EQ(set.count(nan), 0U);
    EXPECT_EQ(set.erase(nan), 0U);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(set.contains(infinity));
    set.insert(infinity);
    EXPECT_TRUE(set.contains(infinity));
    EXPECT_THROW(set.rebuild(0.2), std::invalid_argument);
    EXPECT_THROW(set.rebuild(nan), std::invalid_argument);
}

TEST(OrderedSet, FindsSeveralAtOnce) {
    std::mt19937_64 random{18};
    for (const std::size_t size : {0, 1, 28, 29, 900, 40'000}) {
        OrderedSet<std::uint64_t> set;
        for (std::size_t i = 0; i != size; ++i) set.insert(random() % (2 * size));
        for (const bool is_rebuilt : {false, true}) {
            if (is_rebuilt) set.rebuild();
            std::vector<std::uint64_t> queries(137);
            for (auto& query : queries) query = random() % (2 * size + 3);
            std::vector<OrderedSet<std::uint64_t>::const_iterator> found(queries.size());
            set.find(std::span<const std::uint64_t>(queries), std::span(found));
            for (std::size_t i = 0; i != queries.size(); ++i) {
                ASSERT_TRUE(found[i] == std::as_const(set).find(queries[i]));
                ASSERT_EQ(found[i] != set.end(), set.contains(queries[i]));
            }
        }
    }
}

TEST(OrderedSet, SearchesByTypesThatCompareWithKeys) {
    const OrderedSet<std::string> words{"one", "three", "two"};
    EXPECT_TRUE(words.contains(std::string_view("two")));
    EXPECT_EQ(*words.lower_bound("p"), "three");
    const OrderedSet<std::int16_t> small{std::int16_t{-5}, std::int16_t{5}};
    EXPECT_TRUE(small.lower_bound(100'000) == small.end());
    EXPECT_FALSE(small.contains(65'541));  // 5 in its lower bits
}

TEST(OrderedSet, FillsItsLeavesWhereKeysComeInOrder) {
    OrderedSet<std::uint64_t> up;
    OrderedSet<std::uint64_t> down;
    for (std::uint64_t i = 0; i != 50'000; ++i) {
        up.insert(i);
        down.insert(50'000 - i);
    }
    ASSERT_TRUE(up.is_valid() && down.is_valid());
    const std::size_t full = up.size() * 256 / 28;
    EXPECT_LT(up.bytes(), full * 5 / 2);
    EXPECT_LT(down.bytes(), full * 5 / 2);
    up.rebuild();
    EXPECT_LT(up.bytes(), full * 11 / 10);
    up.rebuild(0.5);
    EXPECT_GT(up.bytes(), full * 19 / 10);
    EXPECT_LT(up.bytes(), full * 22 / 10);
}

TEST(OrderedSet, GivesMemoryBackWhenItIsDefragmented) {
    OrderedSet<std::uint64_t> set;
    std::set<std::uint64_t> oracle;
    std::mt19937_64 random{19};
    for (int i = 0; i != 60'000; ++i) set.insert(random());
    for (auto at = set.begin(); at != set.end();) {
        at = random() % 10 != 0 ? set.erase(at) : std::next(at);
    }
    oracle.insert(set.begin(), set.end());
    const std::size_t before = set.bytes();
    set.defragment();
    EXPECT_LT(set.bytes(), before / 2);
    test::expect_same(set, oracle);
    set.insert(oracle.begin(), oracle.end());
    test::expect_same(set, oracle);
}

}  // namespace
}  // namespace strid::memory

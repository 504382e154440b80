// SPDX-License-Identifier: Apache-2.0
//
// Ordered sets and maps against those of the standard library: random operations with rebuilds
// between them, and addresses that stay. A failure is an exception of require().
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <strid/search/ordered_map.hpp>
#include <strid/search/ordered_set.hpp>

namespace strid::memory {
namespace {

static_assert(std::bidirectional_iterator<OrderedSet<int>::iterator>);
static_assert(std::bidirectional_iterator<OrderedMap<int, std::string>::iterator>);
static_assert(std::bidirectional_iterator<OrderedMap<int, std::string>::const_iterator>);
static_assert(std::ranges::bidirectional_range<OrderedMultimap<int, int, Elements::stay>>);
static_assert(std::is_nothrow_move_constructible_v<OrderedSet<std::string>>);

template <class Key>
Key key_of(std::uint64_t number) {
    if constexpr (std::is_same_v<Key, std::string>) {
        return std::to_string(number) + std::string(number % 3 * 12, 'x');
    } else if constexpr (std::is_floating_point_v<Key>) {
        return static_cast<Key>(number) / 4 - 100;
    } else {
        // Both ends of the type are keys.
        const Key half = static_cast<Key>(number / 2);
        return static_cast<Key>(number % 2 == 0 ? std::numeric_limits<Key>::max() - half
                                                : std::numeric_limits<Key>::lowest() + half);
    }
}

template <class One, class Other>
bool are_same(const One& one, const Other& other) {
    if constexpr (requires { one.first; }) {
        return one.first == other.first && one.second == other.second;
    } else {
        return one == other;
    }
}

/// A failed test of GoogleTest, in fewer instructions than its macros.
void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

/// One element into both.
template <class Container, class Oracle>
void insert_in_both(Container& container, Oracle& oracle, std::uint64_t number, int value) {
    const auto key = key_of<typename Container::key_type>(number);
    const auto insert = [&](auto& into) {
        if constexpr (requires { typename Oracle::mapped_type; }) {
            return into.emplace(key, value);
        } else {
            return into.insert(key);
        }
    };
    const auto mine = insert(container);
    const auto theirs = insert(oracle);
    if constexpr (requires { mine.second; }) {
        require(mine.second == theirs.second, "one of both has the key");
        require(are_same(*mine.first, *theirs.first), "the iterator of insert()");
    } else {
        require(are_same(*mine, *theirs), "the iterator of insert()");
    }
}

template <class Container, class Oracle>
void expect_same(const Container& container, const Oracle& oracle) {
    require(container.is_valid(), "the invariant");
    require(container.size() == oracle.size(), "the sizes");
    auto at = container.begin();
    for (const auto& one : oracle) {
        require(at != container.end() && are_same(*at, one), "the elements");
        ++at;
    }
    require(at == container.end(), "the end");
    for (auto theirs = oracle.rbegin(); theirs != oracle.rend(); ++theirs) {
        require(are_same(*--at, *theirs), "the elements from the end on");
    }
    require(at == container.begin(), "the beginning");
}

/// The element that an iterator stands for, by its place in the order.
template <class Container>
auto rank_of(const Container& container, typename Container::const_iterator at) {
    return std::ranges::distance(container.begin(), at);
}
template <class Container, class Oracle>
void expect_same_searches(const Container& container, const Oracle& oracle, std::uint64_t number) {
    const auto key = key_of<typename Container::key_type>(number);
    const auto high = key_of<typename Container::key_type>(number + 40);
    const auto lower = std::distance(oracle.begin(), oracle.lower_bound(key));
    const auto count = static_cast<std::ptrdiff_t>(oracle.count(key));
    const auto all = static_cast<std::ptrdiff_t>(oracle.size());
    const auto until = std::distance(oracle.begin(), oracle.lower_bound(high));
    const auto rank = [&](auto at) { return rank_of(container, at); };
    require(container.contains(key) == (count != 0), "contains()");
    require(container.count(key) == oracle.count(key), "count()");
    require(rank(container.lower_bound(key)) == lower, "lower_bound()");
    require(rank(container.upper_bound(key)) == lower + count, "upper_bound()");
    require(rank(container.find(key)) == (count != 0 ? lower : all), "find()");
    require(rank(container.at_or_before(key)) == (lower + count == 0 ? all : lower + count - 1),
            "at_or_before()");
    require(std::ranges::distance(container.range(key, high)) == (key < high ? until - lower : 0),
            "range()");
}

/// Grows and shrinks, to nothing in the end.
template <class Container, class Oracle>
void expect_random_operations(std::size_t operations, std::uint64_t numbers, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    Container container;
    Oracle oracle;
    for (std::size_t i = 0; i != operations; ++i) {
        const std::uint64_t number = random() % numbers;
        const bool grows = i / (operations / 6) % 2 == 0;
        if (random() % 5 == 0 ? !grows : grows) {
            insert_in_both(container, oracle, number, static_cast<int>(i));
            continue;
        }
        const auto key = key_of<typename Container::key_type>(number);
        const auto at = container.lower_bound(key);
        if (random() % 4 == 0) {
            require(container.erase(key) == oracle.erase(key), "erase() of a key");
        } else if (at != container.end()) {
            const auto next = container.erase(at);
            const auto expected = oracle.erase(oracle.lower_bound(key));
            require((next == container.end()) == (expected == oracle.end()), "the end by erase()");
            require(next == container.end() || are_same(*next, *expected), "the next by erase()");
        }
        if (random() % (operations / 9) == 0) {
            random() % 2 == 0 ? container.defragment() : container.rebuild(random() % 2 ? 1 : 0.6);
            expect_same(container, oracle);
        }
        if (i % (operations / 60) == 0) {
            expect_same(container, oracle);
            expect_same_searches(container, oracle, random() % numbers);
        }
    }
    Container copy(container);
    require(copy.is_valid() && copy == container, "a copy");
    while (!container.empty()) {
        container.erase(container.begin());
        oracle.erase(oracle.begin());
        if (container.size() % 500 == 0) expect_same(container, oracle);
    }
    container.defragment();
    require(container.bytes() == 0, "memory of nothing");
    container = std::move(copy);
    require(container.is_valid(), "the invariant of what was moved");
}

TEST(OrderedSet, OfNumbersIsStdSet) {
    expect_random_operations<OrderedSet<std::uint64_t>, std::set<std::uint64_t>>(24'000, 9'000, 1);
    expect_random_operations<OrderedSet<std::int16_t>, std::set<std::int16_t>>(24'000, 9'000, 2);
}
TEST(OrderedSet, OfTextIsStdSet) {
    expect_random_operations<OrderedSet<std::string>, std::set<std::string>>(12'000, 4'000, 3);
}
TEST(OrderedMultiset, KeepsEqualKeysAsStdMultiset) {
    expect_random_operations<OrderedMultiset<double>, std::multiset<double>>(12'000, 60, 4);
    expect_random_operations<OrderedMultiset<double>, std::multiset<double>>(6'000, 1, 5);
}
TEST(OrderedMap, IsStdMap) {
    expect_random_operations<OrderedMap<std::int32_t, int, Elements::stay>,
                             std::map<std::int32_t, int>>(24'000, 9'000, 6);
}
TEST(OrderedMultimap, KeepsEqualKeysInTheOrderOfInsertion) {
    expect_random_operations<OrderedMultimap<std::string, int>, std::multimap<std::string, int>>(
        12'000, 60, 7);
}

/// Keys from the whole type, its ends among them: every search against that in a vector.
template <class Key>
void expect_bounds(std::uint64_t seed) {
    using Limits = std::numeric_limits<Key>;
    std::mt19937_64 random{seed};
    OrderedSet<Key> set;
    std::vector<Key> sorted{Limits::lowest(), Key{}, Limits::max()};
    for (int i = 0; i != 4'000; ++i) sorted.push_back(static_cast<Key>(random()));
    for (const Key key : sorted) set.insert(key);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    require(std::equal(set.begin(), set.end(), sorted.begin(), sorted.end()), "the keys");
    for (std::size_t i = 0; i != 2'000; ++i) {
        const Key query = i % 2 == 0 ? sorted[i % sorted.size()] : static_cast<Key>(random());
        const auto lower = std::lower_bound(sorted.begin(), sorted.end(), query);
        const auto upper = std::upper_bound(sorted.begin(), sorted.end(), query);
        const auto mine = set.lower_bound(query);
        const auto behind = set.upper_bound(query);
        require(lower == sorted.end() ? mine == set.end() : *mine == *lower, "lower_bound()");
        require(upper == sorted.end() ? behind == set.end() : *behind == *upper, "upper_bound()");
        require(set.contains(query) == (lower != upper), "contains()");
    }
    require(set.contains(Limits::max()), "the greatest");
    set.erase(Limits::max());
    require(!set.contains(Limits::max()), "the greatest, erased");
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
    expect_same(set, oracle);
    set.insert(oracle.begin(), oracle.end());
    expect_same(set, oracle);
}

TEST(OrderedMap, KeepsAddressesOfElementsThatStay) {
    OrderedMap<std::string, std::array<int, 3>, Elements::stay> map;
    std::map<std::string, const void*> places;
    std::mt19937_64 random{20};
    for (int i = 0; i != 3'000; ++i) {
        const std::string key = std::to_string(random() % 2'000);
        if (random() % 3 == 0) {
            map.erase(key);
            places.erase(key);
        } else {
            const auto [at, is_new] = map.emplace(key, std::array{i, i, i});
            if (is_new) places[key] = &(*at).second;
        }
        if (i % 700 == 0) map.rebuild();
        if (i % 900 == 0) map.defragment();
    }
    ASSERT_EQ(map.size(), places.size());
    for (const auto& [key, place] : places) EXPECT_EQ(&map.at(key), place);
    const auto moved = std::move(map);
    for (const auto& [key, place] : places) EXPECT_EQ(&moved.at(key), place);
}

TEST(OrderedMap, TakesValuesThatCannotBeCopied) {
    OrderedMap<int, std::unique_ptr<int>> map;
    for (int i = 0; i != 500; ++i) map[i * 7 % 500] = std::make_unique<int>(i * 7 % 500);
    map.rebuild();
    for (auto [key, value] : map) EXPECT_EQ(*value, key);
    EXPECT_FALSE(map.try_emplace(3, nullptr).second);
    EXPECT_EQ(*map.at(3), 3);
    EXPECT_FALSE(map.insert_or_assign(3, std::make_unique<int>(4)).second);
    EXPECT_EQ(*map.find(3)->second, 4);
    EXPECT_THROW((void)map.at(500), std::out_of_range);
}

TEST(OrderedMap, ForEachValueAFieldOfItsOwn) {
    const OrderedMap<int, std::string> map{{2, "b"}, {1, "a"}};
    std::string all;
    for (const auto& [key, value] : map) all += std::to_string(key) + value;
    EXPECT_EQ(all, "1a2b");
    EXPECT_EQ(map.rbegin()->second, "b");
}

}  // namespace
}  // namespace strid::memory

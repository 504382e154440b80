// SPDX-License-Identifier: Apache-2.0
//
// Every layout of the static search trees against std::upper_bound over the sorted keys.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <strid/search/search_tree.hpp>

namespace strid::memory {
namespace {

/// The key that std::upper_bound finds, or null.
template <class Key, class Query>
const Key* expected(const std::vector<Key>& sorted, const Query& query) {
    const auto behind = std::upper_bound(sorted.begin(), sorted.end(), query,
                                         [](const auto& a, const auto& b) { return a < b; });
    return behind == sorted.begin() ? nullptr : &*(behind - 1);
}

template <class Tree, class Key, class Query>
void expect_finds(const std::vector<Key>& sorted, const std::vector<Query>& queries) {
    const Tree tree{std::span<const Key>(sorted)};
    ASSERT_EQ(tree.size(), sorted.size());
    std::vector<TreeSlot> slots(queries.size() + 1, 12345);
    tree.at_or_before(std::span<const Query>(queries), std::span(slots));
    ASSERT_EQ(slots.back(), 12345U) << "written behind the last";
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const TreeSlot slot = tree.at_or_before(queries[i]);
        ASSERT_EQ(slots[i], slot) << "query " << i << " in a batch, of " << sorted.size();
        const Key* const key = expected(sorted, queries[i]);
        ASSERT_EQ(slot == no_slot, key == nullptr) << "query " << i << " of " << sorted.size();
        if (key != nullptr) {
            ASSERT_EQ(tree.key(slot), *key) << "query " << i << " of " << sorted.size();
        }
        const bool is_there = key != nullptr && !(*key < queries[i]);
        ASSERT_EQ(find_in(tree, queries[i]), is_there ? slot : no_slot);
    }
    // Each key has a slot of its own.
    std::vector<bool> taken(sorted.size());
    for (const Key& key : sorted) {
        const TreeSlot slot = find_in(tree, key);
        ASSERT_LT(slot, sorted.size());
        ASSERT_FALSE(taken[slot]);
        taken[slot] = true;
    }
}

template <class Key, class Query>
void expect_all_find(const std::vector<Key>& sorted, const std::vector<Query>& queries) {
    {
        SCOPED_TRACE("breadth first");
        expect_finds<SearchTree<Key, TreeLayout::breadth_first>>(sorted, queries);
    }
    {
        SCOPED_TRACE("depth first");
        expect_finds<SearchTree<Key, TreeLayout::depth_first>>(sorted, queries);
    }
    {
        SCOPED_TRACE("van Emde Boas");
        expect_finds<SearchTree<Key, TreeLayout::van_emde_boas>>(sorted, queries);
    }
    {
        SCOPED_TRACE("breadth first with offsets");
        expect_finds<OffsetTree<Key, NodeOrder::breadth_first>>(sorted, queries);
    }
    {
        SCOPED_TRACE("B-tree");
        expect_finds<SearchTree<Key, TreeLayout::b_tree>>(sorted, queries);
    }
    {
        SCOPED_TRACE("B-tree of nodes that are not searched wide");
        expect_finds<BTree<Key, 2 * wide_node_bytes>>(sorted, queries);
    }
    {
        SCOPED_TRACE("B-tree of small nodes");
        expect_finds<BTree<Key, 4 * sizeof(Key)>>(sorted, queries);
    }
}

std::vector<std::size_t> sizes() {
    std::vector<std::size_t> sizes{0, 1, 2, 3, 5, 10, 100, 1'000, 20'000};
    for (std::size_t power = 4; power <= 4'096; power *= 2) {
        for (const std::size_t size : {power - 1, power, power + 1}) sizes.push_back(size);
    }
    for (const std::size_t size : {32 * 33 - 1, 32 * 33, 32 * 33 + 1, 33 * 33 * 32 + 1}) {
        sizes.push_back(size);
    }
    return sizes;
}

/// Keys from the whole type, or so close together that every second number is a key.
template <class Key>
std::vector<Key> random_keys(std::size_t size, bool is_dense, std::mt19937_64& random) {
    std::set<Key> keys;
    while (keys.size() < size) {
        const std::uint64_t number = is_dense ? random() % (2 * size + 1) : random();
        if constexpr (std::is_floating_point_v<Key>) {
            keys.insert(static_cast<Key>(static_cast<std::int64_t>(number)) / 7);
        } else {
            keys.insert(static_cast<Key>(number));
        }
    }
    return {keys.begin(), keys.end()};
}

/// The neighbours of keys, the ends of the type, and some numbers at random.
template <class Key>
std::vector<Key> queries_for(const std::vector<Key>& sorted, std::mt19937_64& random) {
    using Limits = std::numeric_limits<Key>;
    std::vector<Key> queries{Limits::lowest(), Limits::max(), Key{}};
    if constexpr (Limits::has_infinity) {
        queries.insert(queries.end(), {Limits::infinity(), -Limits::infinity(), -Key{}});
    }
    const std::size_t step = sorted.size() / 400 + 1;
    for (std::size_t i = 0; i < sorted.size(); i += step) {
        const Key key = sorted[i];
        queries.push_back(key);
        if constexpr (std::is_floating_point_v<Key>) {
            queries.push_back(std::nextafter(key, Limits::infinity()));
            queries.push_back(std::nextafter(key, -Limits::infinity()));
        } else {
            if (key != Limits::max()) queries.push_back(static_cast<Key>(key + 1));
            if (key != Limits::lowest()) queries.push_back(static_cast<Key>(key - 1));
        }
    }
    if (!sorted.empty()) queries.push_back(sorted.back());
    for (const Key key : random_keys<Key>(300, false, random)) queries.push_back(key);
    std::shuffle(queries.begin(), queries.end(), random);
    return queries;
}

template <class Key>
void expect_all_sizes(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (const std::size_t size : sizes()) {
        for (const bool is_dense : {false, true}) {
            // Not more than half of the type's values.
            if (sizeof(Key) < 4 && size > 20'000) continue;
            const auto sorted = random_keys<Key>(size, is_dense, random);
            expect_all_find(sorted, queries_for(sorted, random));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(SearchTree, FindsUnsignedNumbers) {
    expect_all_sizes<std::uint64_t>(1);
    expect_all_sizes<std::uint32_t>(2);
}

TEST(SearchTree, FindsSignedNumbers) {
    expect_all_sizes<std::int64_t>(3);
    expect_all_sizes<std::int16_t>(4);
}

TEST(SearchTree, FindsFloatingNumbers) {
    expect_all_sizes<double>(5);
    expect_all_sizes<float>(6);
}

TEST(SearchTree, FindsTheEndsOfTheType) {
    using Limits = std::numeric_limits<std::int32_t>;
    const std::vector<std::int32_t> queries{Limits::min(),     Limits::min() + 1, -1, 0, 1,
                                            Limits::max() - 1, Limits::max()};
    expect_all_find(std::vector<std::int32_t>{Limits::min(), Limits::max()}, queries);
    expect_all_find(std::vector<std::int32_t>{Limits::max()}, queries);
    expect_all_find(std::vector<std::int32_t>{Limits::min()}, queries);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    expect_all_find(std::vector<double>{-infinity, 0, infinity},
                    std::vector<double>{-infinity, -1, -0.0, 0, 1, infinity});
}

TEST(SearchTree, FindsText) {
    std::mt19937_64 random{7};
    for (const std::size_t size : {0, 1, 2, 3, 16, 17, 100, 3'000}) {
        std::set<std::string> keys;
        while (keys.size() < size)
            keys.insert(std::string(random() % 9, 'x') + std::to_string(random()));
        const std::vector<std::string> sorted(keys.begin(), keys.end());
        std::vector<std::string> texts{"", "x", "zz"};
        for (const std::string& key : sorted) {
            texts.insert(texts.end(), {key, key + "!", key.substr(0, key.size() - 1)});
        }
        const std::vector<std::string_view> queries(texts.begin(), texts.end());
        expect_all_find(sorted, queries);
    }
}

TEST(SearchTree, FindsNoKeyForNaN) {
    const std::vector<double> sorted{1, 2, 3};
    const SearchTree<double> tree{std::span<const double>(sorted)};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(tree.at_or_before(nan), no_slot);
    const std::vector<double> queries(20, nan);
    std::vector<TreeSlot> slots(20);
    tree.at_or_before(std::span<const double>(queries), std::span(slots));
    EXPECT_EQ(slots, std::vector<TreeSlot>(20, no_slot));
    expect_all_find(sorted, std::vector<double>{0.5, 1, 2.5});
    const SearchTree<double, TreeLayout::van_emde_boas> other{std::span<const double>(sorted)};
    EXPECT_EQ(other.at_or_before(nan), no_slot);
    const SearchTree<double, TreeLayout::breadth_first> third{std::span<const double>(sorted)};
    EXPECT_EQ(third.at_or_before(nan), no_slot);
}

template <class Key, TreeLayout layout>
void expect_refused(const std::vector<Key>& keys) {
    using Tree = SearchTree<Key, layout>;
    EXPECT_THROW(Tree{std::span<const Key>(keys)}, std::invalid_argument);
}
template <class Key>
void expect_all_refuse(const std::vector<Key>& keys) {
    expect_refused<Key, TreeLayout::b_tree>(keys);
    expect_refused<Key, TreeLayout::breadth_first>(keys);
    expect_refused<Key, TreeLayout::depth_first>(keys);
    expect_refused<Key, TreeLayout::van_emde_boas>(keys);
}

TEST(SearchTree, RefusesKeysThatHaveNoOrder) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_all_refuse<double>({1, nan});
    expect_all_refuse<double>({nan});
    expect_all_refuse<int>({1, 2, 2, 3});
    expect_all_refuse<int>({2, 1});
    expect_all_refuse<std::string>({"b", "a"});
}

TEST(SearchTree, LaysNodesOutInTheOrderOfThePaper) {
    // Ranks of the tree of seven: 3 | 1 5 | 0 2 4 6.
    using Places = std::vector<std::uint32_t>;
    EXPECT_EQ(places_of_ranks(7, NodeOrder::breadth_first), (Places{3, 1, 4, 0, 5, 2, 6}));
    EXPECT_EQ(places_of_ranks(7, NodeOrder::depth_first), (Places{2, 1, 3, 0, 5, 4, 6}));
    // One level above, and two triangles below it.
    EXPECT_EQ(places_of_ranks(7, NodeOrder::van_emde_boas), (Places{2, 1, 3, 0, 5, 4, 6}));
    // Four levels: a triangle above, and four below it.
    EXPECT_EQ(places_of_ranks(15, NodeOrder::van_emde_boas),
              (Places{4, 3, 5, 1, 7, 6, 8, 0, 10, 9, 11, 2, 13, 12, 14}));
    EXPECT_EQ(places_of_ranks(0, NodeOrder::van_emde_boas), Places{});
}

}  // namespace
}  // namespace strid::memory

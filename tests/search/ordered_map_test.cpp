// SPDX-License-Identifier: Apache-2.0
//
// Ordered maps: as those of the standard library, addresses that stay, values that cannot be
// copied, and values that are changed in their place.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <strid/search/ordered_map.hpp>

#include "ordered_oracle.hpp"

namespace strid::memory {
namespace {

static_assert(std::bidirectional_iterator<OrderedMap<int, std::string>::iterator>);
static_assert(std::bidirectional_iterator<OrderedMap<int, std::string>::const_iterator>);
static_assert(std::ranges::bidirectional_range<OrderedMultimap<int, int, Elements::stay>>);

using Staying = OrderedMap<std::int32_t, int, Elements::stay>;

TEST(OrderedMap, IsStdMap) {
    test::expect_random_operations<Staying, std::map<std::int32_t, int>>(24'000, 9'000, 6);
}

TEST(OrderedMultimap, KeepsEqualKeysInTheOrderOfInsertion) {
    test::expect_random_operations<OrderedMultimap<std::string, int>,
                                   std::multimap<std::string, int>>(12'000, 60, 7);
}

TEST(OrderedMap, KeepsAddressesOfElementsThatStay) {
    Staying map;
    std::map<std::int32_t, const void*> places;
    std::mt19937_64 random{20};
    for (int i = 0; i != 3'000; ++i) {
        const auto key = static_cast<std::int32_t>(random() % 2'000);
        if (random() % 3 == 0) {
            map.erase(key);
            places.erase(key);
        } else {
            const auto [at, is_new] = map.emplace(key, i);
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

TEST(OrderedMap, YieldsPairsOfReferences) {
    Staying map{{2, 20}, {1, 10}};
    map.insert({{3, 30}, {2, 25}});
    std::string all;
    for (const auto& [key, value] : std::as_const(map)) {
        all += std::to_string(key) + '=' + std::to_string(value) + ' ';
    }
    EXPECT_EQ(all, "1=10 2=20 3=30 ");
    EXPECT_EQ(map.rbegin()->second, 30);

    for (auto [key, value] : map.range(1, 3)) value += key;
    map.at_or_before(9)->second = 7;
    for (auto [at, last] = map.equal_range(2); at != last; ++at) at->second *= 2;
    const std::map<std::int32_t, int> expected{{1, 11}, {2, 44}, {3, 7}};
    EXPECT_TRUE(std::ranges::equal(map, expected, [](const auto& one, const auto& other) {
        return one.first == other.first && one.second == other.second;
    }));
}

}  // namespace
}  // namespace strid::memory

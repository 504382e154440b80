// SPDX-License-Identifier: Apache-2.0
//
// The tables of `lookup` against std::map: by key, by range, by step, singly and several at once.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <strid/operator/current_table.hpp>
#include <strid/operator/lookup_table.hpp>

namespace strid {
namespace {

const std::vector<std::size_t> sizes{0,   1,     2,     3,     31,    32,    33,
                                     100, 1'000, 1'055, 1'056, 1'057, 20'000};

/// The found value must be `expected(key)`, singly and together.
template <class Table, class Query, class Expected>
void expect_finds(const Table& table, const std::vector<Query>& queries, const Expected& expected) {
    std::vector<const typename Table::value_type*> found(queries.size());
    table.find(std::span<const Query>(queries), std::span(found));
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto* const one = table.find(queries[i]);
        ASSERT_EQ(one, found[i]) << "query " << i;
        const auto value = expected(queries[i]);
        ASSERT_EQ(one != nullptr, value != nullptr) << "query " << i << " of " << table.size();
        if (value != nullptr) {
            ASSERT_EQ(*one, *value) << "query " << i << " of " << table.size();
        }
    }
}

template <class Key>
void expect_finds_keys(std::uint64_t spread) {
    std::mt19937_64 random{spread};
    for (const std::size_t size : sizes) {
        std::map<Key, int> map;
        while (map.size() < size) {
            map.emplace(static_cast<Key>(random() % (spread * size + 1)) - static_cast<Key>(size),
                        static_cast<int>(random() % 1'000));
        }
        std::vector<typename LookupTable<Key, int>::Entry> entries;
        for (const auto& [key, value] : map) entries.push_back({key, value});
        std::shuffle(entries.begin(), entries.end(), random);
        const LookupTable<Key, int> table{std::move(entries)};
        ASSERT_EQ(table.size(), size);
        using Limits = std::numeric_limits<Key>;
        std::vector<Key> queries{Limits::lowest(), Limits::max(), Key{}, static_cast<Key>(-1)};
        for (const auto& [key, value] : map) {
            queries.insert(queries.end(),
                           {key, static_cast<Key>(key + 1), static_cast<Key>(key - 1)});
        }
        expect_finds(table, queries, [&map](Key key) {
            const auto at = map.find(key);
            return at == map.end() ? nullptr : &at->second;
        });
    }
}

TEST(LookupTable, FindsKeysThatIndexAnArray) {
    expect_finds_keys<std::int64_t>(2);
    expect_finds_keys<std::uint32_t>(3);
    const LookupTable<int, int> near{{{-5, 1}, {7, 2}, {0, 3}}};
    EXPECT_TRUE(near.is_indexed());
    EXPECT_EQ(near.values(), (std::vector<int>{1, 3, 2}));
}

TEST(LookupTable, CopiesFindTheirOwnValues) {
    using Table = LookupTable<int, std::string>;
    auto one = std::make_unique<Table>(std::vector<Table::Entry>{{1, "one"}, {2, "two"}});
    Table copy = *one;
    Table assigned;
    assigned = *one;
    Table moved = std::move(*one);
    one.reset();
    for (const Table* table : {&copy, &assigned, &moved}) {
        EXPECT_EQ(*table->find(2), "two");
        EXPECT_EQ(table->find(1), table->values().data());
        EXPECT_EQ(table->find(3), nullptr);
    }
}

TEST(LookupTable, FindsKeysThatLieFarApart) {
    expect_finds_keys<std::int64_t>(1'000'000'007);
    expect_finds_keys<double>(1'000'000'007);
    using Limits = std::numeric_limits<std::int64_t>;
    const LookupTable<std::int64_t, int> far{{{Limits::min(), 1}, {Limits::max(), 2}}};
    EXPECT_FALSE(far.is_indexed());
    EXPECT_EQ(*far.find(Limits::min()), 1);
    EXPECT_EQ(*far.find(Limits::max()), 2);
    EXPECT_EQ(far.find(std::int64_t{0}), nullptr);
}

TEST(LookupTable, FindsText) {
    const LookupTable<std::string, int> table{{{"pear", 1}, {"apple", 2}, {"", 3}}};
    EXPECT_EQ(*table.find(std::string_view("apple")), 2);
    EXPECT_EQ(*table.find(std::string("pear")), 1);
    EXPECT_EQ(*table.find(std::string_view("")), 3);
    EXPECT_EQ(table.find(std::string_view("appl")), nullptr);
}

/// The error of a table that cannot be made of these entries.
template <class Table>
std::tuple<std::string, std::size_t, std::size_t> refusal(
    std::vector<typename Table::Entry> entries) {
    try {
        const Table table{std::move(entries)};
    } catch (const TableError& error) {
        return {error.what(), error.entry(), error.other()};
    }
    return {"none", 0, 0};
}
using Refusal = std::tuple<std::string, std::size_t, std::size_t>;

TEST(LookupTable, RefusesAKeyThatIsNamedTwice) {
    EXPECT_EQ((refusal<LookupTable<int, int>>({{7, 1}, {3, 2}, {7, 1}})),
              (Refusal{"the key 7 is named twice", 2, 0}));
    EXPECT_EQ((refusal<LookupTable<std::string, int>>({{"b", 1}, {"a", 2}, {"a", 1}})),
              (Refusal{"the key 'a' is named twice", 2, 1}));
    EXPECT_EQ((refusal<StepTable<double, int>>({{1.5, 1}, {1.5, 1}})),
              (Refusal{"a key is named twice", 1, 0}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ((refusal<LookupTable<double, int>>({{1, 1}, {nan, 1}})),
              (Refusal{"a key is NaN", 1, 1}));
    EXPECT_EQ((refusal<RangeTable<double, int>>({{1, nan, 1}})), (Refusal{"a key is NaN", 0, 0}));
}

TEST(LookupTable, FindsNothingForNaN) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ((LookupTable<double, int>{{{1, 1}}}.find(nan)), nullptr);
    EXPECT_EQ((StepTable<double, int>{{{1, 1}}}.find(nan)), nullptr);
    EXPECT_EQ((RangeTable<double, int>{{{1, 2, 1}}}.find(nan)), nullptr);
}

TEST(RangeTable, FindsTheRangeAKeyLiesIn) {
    std::mt19937_64 random{1};
    for (const std::size_t size : sizes) {
        // Some ranges touch, others leave gaps; some are of one key.
        std::vector<RangeTable<std::uint64_t, int>::Entry> entries;
        std::map<std::uint64_t, std::pair<std::uint64_t, int>> map;
        std::uint64_t next = 5;
        std::vector<std::uint64_t> queries{0, std::numeric_limits<std::uint64_t>::max()};
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t first = next + random() % 3;
            const std::uint64_t last = first + random() % 4;
            map.emplace(first, std::pair{last, static_cast<int>(i)});
            entries.push_back({first, last, static_cast<int>(i)});
            queries.insert(queries.end(), {first - 1, first, last, last + 1});
            next = last + 1;
        }
        std::shuffle(entries.begin(), entries.end(), random);
        const RangeTable<std::uint64_t, int> table{std::move(entries)};
        expect_finds(table, queries, [&map](std::uint64_t key) -> const int* {
            auto at = map.upper_bound(key);
            if (at == map.begin()) return nullptr;
            --at;
            return key <= at->second.first ? &at->second.second : nullptr;
        });
    }
}

TEST(RangeTable, ReachesToTheEndsOfTheType) {
    using Limits = std::numeric_limits<std::uint32_t>;
    const RangeTable<std::uint32_t, char> table{{{Limits::max(), Limits::max(), 'b'}, {0, 9, 'a'}}};
    EXPECT_EQ(*table.find(std::uint32_t{0}), 'a');
    EXPECT_EQ(*table.find(std::uint32_t{9}), 'a');
    EXPECT_EQ(table.find(std::uint32_t{10}), nullptr);
    EXPECT_EQ(*table.find(Limits::max()), 'b');
}

TEST(RangeTable, RefusesRangesThatOverlap) {
    using Table = RangeTable<int, int>;
    EXPECT_EQ(refusal<Table>({{10, 20, 1}, {0, 10, 1}}),
              (Refusal{"a range overlaps another", 0, 1}));
    EXPECT_EQ(refusal<Table>({{0, 10, 1}, {3, 4, 1}}), (Refusal{"a range overlaps another", 1, 0}));
    EXPECT_EQ(refusal<Table>({{0, 1, 1}, {5, 4, 1}}),
              (Refusal{"a range ends before it begins", 1, 1}));
    EXPECT_EQ(refusal<Table>({{3, 5, 1}, {3, 4, 1}}), (Refusal{"the key 3 is named twice", 1, 0}));
}

TEST(StepTable, FindsTheLastStepAtOrBefore) {
    std::mt19937_64 random{2};
    for (const std::size_t size : sizes) {
        std::map<double, int> map;
        while (map.size() < size)
            map.emplace(static_cast<double>(random() % 100'000) / 8, static_cast<int>(map.size()));
        std::vector<StepTable<double, int>::Entry> entries;
        std::vector<double> queries{-1, 1e9, std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity()};
        for (const auto& [from, value] : map) {
            entries.push_back({from, value});
            queries.insert(queries.end(), {from, from - 0.01, from + 0.01});
        }
        std::shuffle(entries.begin(), entries.end(), random);
        const StepTable<double, int> table{std::move(entries)};
        expect_finds(table, queries, [&map](double key) -> const int* {
            const auto at = map.upper_bound(key);
            return at == map.begin() ? nullptr : &std::prev(at)->second;
        });
    }
}

TEST(CurrentTable, FreesAVersionWithItsLastReader) {
    using Table = LookupTable<int, int>;
    CurrentTable<Table> current{Table{{{1, 10}}}};
    const CurrentTable<Table> copy = current;
    std::weak_ptr<const Table> first = current.table();
    auto reader = copy.take();
    EXPECT_EQ(reader.version, 0U);
    current.exchange(Table{{{1, 20}}});
    EXPECT_EQ(copy.version(), 1U);
    EXPECT_EQ(*copy.table()->find(1), 20);
    EXPECT_EQ(*reader.table->find(1), 10);
    EXPECT_FALSE(first.expired());
    reader.table.reset();
    EXPECT_TRUE(first.expired());
}

}  // namespace
}  // namespace strid

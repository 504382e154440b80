// SPDX-License-Identifier: Apache-2.0
//
// Tables of which a part is in a store, with a store in memory.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/operator/stored_keys.hpp>

#include "../support/memory_stores.hpp"
#include "../support/seeds.hpp"
#include "../support/stored_table_model.hpp"

namespace strid::operators {
namespace {

template <class State, bool shows_keys>
void agrees_with_a_map() {
    bool was_cold = false;
    for (const std::uint64_t seed : test::seeds(60)) {
        test::StoredTableModel<State, shows_keys> model(seed,
                                                        std::make_shared<test::MemoryStores>());
        model.check();
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
        was_cold = was_cold || model.is_cold_;
    }
    EXPECT_TRUE(was_cold);
}

TEST(StoredTable, IsAMapOfStatesThatOwnMemory) {
    agrees_with_a_map<test::Listed, false>();
    agrees_with_a_map<test::Listed, true>();
}

TEST(StoredTable, IsAMapOfStatesThatWriteTheirBytes) {
    agrees_with_a_map<test::Opaque, true>();
}

TEST(StoredTable, IsAMapOfPlainStates) {
    agrees_with_a_map<test::Plain, false>();
}

using Sums = StoredTable<std::uint64_t, test::Plain, false>;
constexpr auto make = [] { return test::Plain{}; };

struct Key {
    std::uint64_t key;
};
constexpr auto key_of = [](const Key& record) { return record.key; };

std::vector<message::Hashed<Key>> keys_from(std::uint64_t first, std::uint64_t count) {
    std::vector<message::Hashed<Key>> keys;
    for (std::uint64_t i = first; i != first + count; ++i) keys.push_back({{i}, hash_of(i)});
    return keys;
}

TEST(StoredTable, ReadsKeysOfABatchAheadAndOnce) {
    const auto stores = std::make_shared<test::MemoryStores>();
    Sums table{100'000};
    table.open(Context{.name = "sums"}, *stores, make);
    const auto records = keys_from(0, 200);
    const std::span<const message::Hashed<Key>> coming(records);
    for (std::size_t at = 0; at != coming.size();) {
        const std::size_t some = table.read_ahead(coming.subspan(at), key_of);
        for (const auto& one : coming.subspan(at, some)) {
            table.find_or_make(one.record.key, one.hash, make).state.add(1);
        }
        at += some;
    }
    EXPECT_EQ(stores->reads(), 200U);  // no record asked for a key that was found to be new
}

TEST(StoredTable, WritesWhatWasUsedAlone) {
    const auto stores = std::make_shared<test::MemoryStores>();
    Sums table{1};
    table.open(Context{.name = "sums"}, *stores, make);
    const auto records = keys_from(0, 16);
    (void)table.read_ahead(std::span<const message::Hashed<Key>>(records), key_of);
    EXPECT_EQ(table.keys(), 16U);
    table.make_room();
    EXPECT_EQ(table.keys(), 0U);  // none of the records came
    EXPECT_EQ(table.longest_unused(), nullptr);
}

TEST(StoredTable, AFaultOfTheStoreNamesTheOperator) {
    const auto stores = std::make_shared<test::MemoryStores>();
    Sums table{1};
    table.open(Context{.name = "sums"}, *stores, make);
    table.find_or_make(1, hash_of(std::uint64_t{1}), make).state.add(1);
    stores->before_each = [] { throw InputOutputError("states/sums/0/live: the disk is full"); };
    try {
        table.make_room();
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_STREQ(error.what(), "operator 'sums': states/sums/0/live: the disk is full");
    }
}

TEST(StoredTable, CountsWhatStatesOwn) {
    const auto stores = std::make_shared<test::MemoryStores>();
    StoredTable<std::uint64_t, test::Listed, false> table{std::size_t{1} << 20};
    table.open(Context{.name = "lists"}, *stores, [] { return test::Listed{}; });
    for (std::uint64_t key = 0; key != 10; ++key) {
        auto& entry = table.find_or_make(key, hash_of(key), [] { return test::Listed{}; });
        entry.state.numbers.assign(50'000, 1);
    }
    table.make_room();
    EXPECT_EQ(table.keys_in_memory(), 2U);
    EXPECT_LE(table.bytes(), std::size_t{1} << 20);
    EXPECT_EQ(table.keys(), 10U);
}

struct Sum {
    std::int64_t sum = 0;
};
struct SumAndCount {
    std::int64_t sum = 0;
    std::int64_t count = 0;
    using saved_before = Sum;
    void go_on_from(const Sum& before) {
        sum = before.sum;
        count = -1;
    }
};

TEST(StoredTable, AStateOfAnEarlierVersionIsConverted) {
    const auto stores = std::make_shared<test::MemoryStores>();
    StoredTable<std::uint64_t, Sum, false> before{100};
    before.open(Context{.name = "sums"}, *stores, [] { return Sum{}; });
    for (std::uint64_t key = 0; key != 50; ++key) {
        before.find_or_make(key, hash_of(key), [] { return Sum{}; }).state.sum =
            static_cast<std::int64_t>(key);
        before.make_room();
    }
    state::StoredVersions versions;
    versions.set(typeid(SumAndCount), 1);
    StoredTable<std::uint64_t, SumAndCount, false> now{100};
    now.open(Context{.name = "sums"}, *stores, [] { return SumAndCount{}; });
    now.restore_share(before.checkpoint(), {}, &versions);
    EXPECT_EQ(now.keys(), 50U);
    for (std::uint64_t key = 0; key != 50; ++key) {
        const auto& state = now.find_or_make(key, hash_of(key), [] { return SumAndCount{}; }).state;
        EXPECT_EQ(state.sum, static_cast<std::int64_t>(key));
        EXPECT_EQ(state.count, -1);
    }
}

TEST(StoredTable, ABoundAndAStoreAreNeeded) {
    EXPECT_THROW((void)keep_in_memory(0, std::make_shared<test::MemoryStores>()), GraphError);
    EXPECT_THROW((void)keep_in_memory(1, nullptr), GraphError);
}

}  // namespace
}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/operator/key_table.hpp>

namespace strid::operators {
namespace {

RC_GTEST_PROP(KeyTable, AgreesWithAMap, (const std::vector<std::uint8_t>& keys)) {
    KeyTable<std::uint64_t, std::uint64_t> table;
    std::map<std::uint64_t, std::uint64_t> model;
    for (const std::uint64_t key : keys) {
        const auto [own, count] = table.find_or_make(key, hash_of(key), [] { return 0U; });
        RC_ASSERT(own == key);
        RC_ASSERT(++count == ++model[key]);
    }
    RC_ASSERT(table.size() == model.size());
}

TEST(KeyTable, KeepsItsOwnCopyOfATextKey) {
    KeyTable<std::string_view, int> table;
    for (int i = 0; i < 10'000; ++i) {
        const std::string key = "key-" + std::to_string(i % 5000);  // gone after the round
        ++table.find_or_make(key, hash_of(std::string_view(key)), [] { return 0; }).second;
    }
    EXPECT_EQ(table.size(), 5000U);
    for (const auto& [hash, key, count] : table) {
        EXPECT_TRUE(key.starts_with("key-"));
        EXPECT_EQ(count, 2) << key;
    }
}

TEST(KeyTable, TellsKeysOfOneHashApart) {
    KeyTable<std::string_view, int> table;
    constexpr std::uint64_t hash = 42;
    table.find_or_make("one", hash, [] { return 1; });
    EXPECT_EQ(table.find_or_make("two", hash, [] { return 2; }).second, 2);
    EXPECT_EQ(table.find_or_make("one", hash, [] { return 3; }).second, 1);
}

}  // namespace
}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/key_index.hpp>

namespace strid::operators {
namespace {

struct Entry {
    std::uint64_t hash;
    std::uint64_t key;
};

/// Keys that come and go beside a map that does the same. The test chooses the hashes of keys.
template <class HashOf>
void come_and_go(const std::vector<std::uint16_t>& steps, std::uint16_t keys, HashOf hash_of_key) {
    std::deque<Entry> entries;
    KeyIndex<Entry> index;
    std::map<std::uint64_t, Entry*> model;
    for (const std::uint16_t step : steps) {
        const std::uint64_t key = step % keys;
        const auto known = model.find(key);
        Entry* const found = index.find(key, hash_of_key(key));
        RC_ASSERT(found == (known == model.end() ? nullptr : known->second));
        const Entry* const guessed = index.guess(hash_of_key(key));
        if (guessed == nullptr) {
            RC_ASSERT(found == nullptr);
        } else if (guessed != found) {
            RC_ASSERT(guessed->hash << 16 >> 50 == hash_of_key(key) << 16 >> 50);
        }
        if (found == nullptr) {
            Entry& entry = entries.emplace_back(Entry{hash_of_key(key), key});
            index.insert(entry);
            model[key] = &entry;
        } else if (step / keys % 3 == 0) {
            index.erase(*found);
            model.erase(known);
        }
        RC_ASSERT(index.size() == model.size());
        RC_ASSERT(index.is_valid());
    }
    for (std::uint64_t key = 0; key != keys; ++key) {
        const auto known = model.find(key);
        RC_ASSERT(index.find(key, hash_of_key(key)) ==
                  (known == model.end() ? nullptr : known->second));
    }
}

RC_GTEST_PROP(KeyIndex, AgreesWithAMap, (const std::vector<std::uint16_t>& steps)) {
    come_and_go(steps, 50, [](std::uint64_t key) { return hash_of(key); });
}

RC_GTEST_PROP(KeyIndex, BearsKeysOfOneHash, (const std::vector<std::uint16_t>& steps)) {
    come_and_go(steps, 20, [](std::uint64_t) { return std::uint64_t{42}; });
}

// Clusters of slots that wrap around the end of the table, where the removal of an entry moves
// others up over it; and a salt of nothing but zeros.
RC_GTEST_PROP(KeyIndex, BearsHashesThatCrowd, (const std::vector<std::uint16_t>& steps)) {
    come_and_go(steps, 40, [](std::uint64_t key) { return ~std::uint64_t{0} - key % 3; });
    come_and_go(steps, 40, [](std::uint64_t key) { return key % 5; });
}

TEST(KeyIndex, FindsEachOfManyKeys) {
    constexpr std::uint64_t count = 300'000;  // past the size up to which the table is sparse
    std::deque<Entry> entries;
    KeyIndex<Entry> index;
    for (std::uint64_t key = 0; key != count; ++key) {
        index.insert(entries.emplace_back(Entry{hash_of(key), key}));
    }
    EXPECT_TRUE(index.is_valid());
    for (std::uint64_t key = 0; key != count; ++key) {
        ASSERT_EQ(index.find(key, hash_of(key)), &entries[key]);
    }
    EXPECT_EQ(index.find(count, hash_of(count)), nullptr);
    for (std::uint64_t key = 0; key < count; key += 2) index.erase(entries[key]);
    EXPECT_EQ(index.size(), count / 2);
    EXPECT_TRUE(index.is_valid());
    for (std::uint64_t key = 0; key != count; ++key) {
        ASSERT_EQ(index.find(key, hash_of(key)), key % 2 == 0 ? nullptr : &entries[key]);
    }
}

TEST(KeyIndex, LooksAtTheTextOfTextKeys) {
    struct TextEntry {
        std::uint64_t hash;
        std::string_view key;
    };
    constexpr std::uint64_t hash = 7;
    TextEntry one{hash, "one"};
    TextEntry two{hash, "two"};
    KeyIndex<TextEntry> index;
    index.insert(one);
    index.insert(two);
    const std::string text = "two";  // elsewhere
    EXPECT_EQ(index.find(text, hash), &two);
    EXPECT_EQ(index.find("three", hash), nullptr);
}

}  // namespace
}  // namespace strid::operators

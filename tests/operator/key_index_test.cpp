// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/key_index.hpp>

#include "../support/seeds.hpp"

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

/// Whatever the marks are called, and however often they have changed.
TEST(KeyIndex, MarksAreThoseOfAModel) {
    using Index = KeyIndex<Entry>;
    using Was = Index::Was;
    for (const std::uint64_t seed : test::seeds(100)) {
        std::mt19937_64 random(seed);
        const auto below = [&random](std::uint64_t end) { return random() % end; };
        std::deque<Entry> entries;
        Index index;
        std::map<std::uint64_t, std::pair<Entry*, Was>> model;
        const std::uint64_t keys = 1 + below(60);
        // Some keys have bits of the hash that are all 0.
        const auto hash_of_key = [](std::uint64_t key) { return key % 3 == 0 ? key : key << 34; };
        for (int step = 0; step != 500; ++step) {
            const std::uint64_t key = below(keys);
            const std::uint64_t hash = hash_of_key(key);
            const auto known = model.find(key);
            const Was was = known == model.end() ? Was::gone : known->second.second;
            Entry* const entry = known == model.end() ? nullptr : known->second.first;
            ASSERT_EQ(index.find(key, hash), was == Was::present ? entry : nullptr);
            switch (below(6)) {
                case 0: {
                    ASSERT_EQ(index.take_back(key, hash), (std::pair{entry, was}));
                    if (entry != nullptr) known->second.second = Was::present;
                    break;
                }
                case 1:
                    if (entry == nullptr) break;
                    ASSERT_EQ(index.take_back(*entry), was);
                    known->second.second = Was::present;
                    break;
                case 2:
                    if (entry == nullptr) break;
                    ASSERT_EQ(index.settle(*entry), was == Was::apart);
                    if (was == Was::apart) known->second.second = Was::settled;
                    break;
                case 3:
                    if (entry != nullptr) break;
                    index.insert(entries.emplace_back(Entry{hash, key}));
                    model[key] = {&entries.back(), Was::present};
                    break;
                case 4:
                    if (was != Was::present) break;
                    index.erase(*entry);
                    model.erase(known);
                    ASSERT_EQ(index.take_back(*entry), Was::gone);
                    break;
                default: {
                    if (below(10) != 0) break;
                    for (auto& [other, one] : model) {
                        if (one.second != Was::apart) continue;
                        ASSERT_TRUE(index.settle(*one.first));
                        one.second = Was::settled;
                    }
                    const bool all = below(2) == 0;
                    index.set_apart(all);
                    for (auto& [other, one] : model) {
                        if (all || one.second == Was::present) one.second = Was::apart;
                    }
                }
            }
            ASSERT_TRUE(index.is_valid()) << "seed " << seed;
        }
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

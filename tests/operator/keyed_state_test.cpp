// SPDX-License-Identifier: Apache-2.0
//
// States by key against a map: keys for the run, keys that expire, keys in the order of their use.
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/operator/keyed_state.hpp>

namespace strid {
namespace {

RC_GTEST_PROP(KeyedState, AgreesWithAMap, (const std::vector<std::uint8_t>& keys)) {
    KeyedState<std::uint64_t, std::uint64_t> states;
    std::map<std::uint64_t, std::uint64_t> model;
    for (const std::uint64_t key : keys) {
        auto& entry = states.find_or_make(key, hash_of(key), [] { return 0U; });
        RC_ASSERT(entry.key == key);
        RC_ASSERT(++entry.state == ++model[key]);
    }
    RC_ASSERT(states.keys() == model.size());
    // Each key is in one group.
    std::map<std::uint64_t, std::uint64_t> visited;
    for (std::size_t group = 0; group != operators::key_groups; ++group) {
        states.visit(group, [&](std::uint64_t key, std::uint64_t count) {
            RC_ASSERT(operators::key_group_of(hash_of(key)) == group);
            RC_ASSERT(visited.emplace(key, count).second);
        });
    }
    RC_ASSERT(visited == model);
}

TEST(KeyedState, KeepsItsOwnCopyOfATextKey) {
    KeyedState<std::string_view, int> states;
    for (int i = 0; i < 10'000; ++i) {
        const std::string key = "key-" + std::to_string(i % 5000);  // destroyed after the round
        ++states.find_or_make(key, hash_of(std::string_view(key)), [] { return 0; }).state;
    }
    EXPECT_EQ(states.keys(), 5000U);
    for (const auto& [hash, key, count] : states) {
        EXPECT_TRUE(key.starts_with("key-"));
        EXPECT_EQ(count, 2) << key;
    }
}

TEST(KeyedState, DistinguishesKeysOfOneHash) {
    KeyedState<std::string_view, int> states;
    constexpr std::uint64_t hash = 42;
    states.find_or_make("one", hash, [] { return 1; });
    EXPECT_EQ(states.find_or_make("two", hash, [] { return 2; }).state, 2);
    EXPECT_EQ(states.find_or_make("one", hash, [] { return 3; }).state, 1);
}

TEST(KeyedState, ReportsItsBytes) {
    KeyedState<std::uint64_t, std::array<char, 100>> states;
    const std::size_t empty = states.bytes();
    for (std::uint64_t key = 0; key != 1'000; ++key) {
        states.find_or_make(key, hash_of(key), [] { return std::array<char, 100>{}; });
    }
    // Entries, and an index of which a quarter to an eighth is taken.
    EXPECT_GE(states.bytes(), 1'000 * (100 + 2 * 8) + 4 * 1'000 * 8);
    EXPECT_LE(states.bytes(), empty + 1'000 * 128 + 8 * 1'000 * 8 + 1024 * 8);
}

struct Counter {
    void clear() { count = 0; }
    int count = 0;
};

template <class K>
void keys_come_and_go(const std::vector<K>& keys) {
    std::mt19937_64 random{keys.size()};
    KeyedState<K, Counter, KeyLife{.expires = true, .clears = true}> states;
    std::map<K, int> model;
    for (int i = 0; i < 20'000; ++i) {
        const K& key = keys[random() % keys.size()];
        auto& entry = states.find_or_make(key, hash_of(key), [] { return Counter{}; });
        ASSERT_EQ(entry.key, key);
        ASSERT_EQ(entry.state.count, model[key]++) << "a key begins with a clear state";
        ++entry.state.count;
        if (random() % 3 == 0) {
            states.expire(entry);
            model.erase(key);
        }
        ASSERT_EQ(states.keys(), model.size());
    }
}

/// Entries stay where they are, with the texts of their keys and the order of their use.
TEST(KeyedState, MovesAsAWhole) {
    using States = KeyedState<std::string_view, int,
                              KeyLife{.expires = true, .shows_keys = true, .in_use_order = true}>;
    States into;
    const States::Entry* first = nullptr;
    {
        States from;
        for (int i = 0; i < 100; ++i) {
            const std::string key = "a key that is long enough " + std::to_string(i);
            auto& entry = from.find_or_make(key, hash_of(std::string_view(key)), [i] { return i; });
            from.use(entry, i);
            if (i == 0) first = &entry;
        }
        into = std::move(from);
        EXPECT_EQ(from.keys(), 0U);
    }
    EXPECT_EQ(into.keys(), 100U);
    EXPECT_EQ(into.longest_unused(), first);
    std::size_t visited = 0;
    into.for_each([&](const States::Entry& entry) {
        EXPECT_EQ(entry.key, "a key that is long enough " + std::to_string(entry.state));
        ++visited;
    });
    EXPECT_EQ(visited, 100U);
    while (auto* const entry = into.longest_unused()) into.expire(*entry);
    EXPECT_EQ(into.keys(), 0U);
}

TEST(KeysThatExpire, StartAnewForAKeyThatExpired) {
    std::vector<std::uint64_t> numbers(500);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    keys_come_and_go(numbers);
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i)
        texts.push_back("a text too long for a small one " + std::to_string(i));
    keys_come_and_go(std::vector<std::string_view>(texts.begin(), texts.end()));
}

TEST(KeysThatExpire, KeepTheTextOfAKeyOfSeveralParts) {
    using Key = std::pair<std::string_view, int>;
    KeyedState<Key, Counter, KeyLife{.expires = true, .clears = true}> states;
    const auto find = [&states](std::string text, int number) -> auto& {
        const Key key{text, number};
        return states.find_or_make(key, hash_of(key), [] { return Counter{}; });
    };
    auto& entry = find("gone with its batch", 7);
    auto& other = find("another one", 7);
    EXPECT_EQ(&find("gone with its batch", 7), &entry);
    EXPECT_NE(&other, &entry);
    EXPECT_EQ(entry.key.first, "gone with its batch");
}

TEST(KeysThatExpire, LeaveNothingOfATextKeyBehind) {
    KeyedState<std::string_view, Counter, KeyLife{.expires = true, .clears = true}> states;
    std::size_t most = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string text = "the visitor of the moment " + std::to_string(i);
        states.expire(
            states.find_or_make(text, hash_of(std::string_view(text)), [] { return Counter{}; }));
        if (i % 100 == 0) (void)states.texts().advance_epoch();
        most = std::max(most, states.texts().held());
    }
    EXPECT_LT(most, 2'000U);
}

/// Also for a type that has clear(): the operator chooses the first state.
TEST(KeysThatExpire, AreMadeAnew) {
    KeyedState<int, std::string, KeyLife{.expires = true}> states;
    auto& entry = states.find_or_make(1, 1, [] { return std::string("first"); });
    entry.state += " used";
    states.expire(entry);
    EXPECT_EQ(states.find_or_make(2, 2, [] { return std::string("second"); }).state, "second");
    EXPECT_EQ(states.keys(), 1U);
}

/// Against a list of the keys, least recently used first.
RC_GTEST_PROP(KeysInUseOrder, AgreeWithAList, (const std::vector<std::uint8_t>& steps)) {
    using States = KeyedState<int, int, KeyLife{.expires = true, .in_use_order = true}>;
    States states;
    std::list<int> model;
    std::int64_t now = 0;
    for (const std::uint8_t step : steps) {
        const int key = step % 16;
        if (step >= 200 && !model.empty()) {
            auto* const oldest = states.longest_unused();
            RC_ASSERT(oldest != nullptr && oldest->key == model.front());
            states.expire(*oldest);
            model.pop_front();
        } else {
            auto& entry = states.find_or_make(key, hash_of(key), [] { return 0; });
            states.use(entry, ++now);
            RC_ASSERT(entry.used_at == now);
            model.remove(key);
            model.push_back(key);
        }
        RC_ASSERT(states.keys() == model.size());
    }
    for (const int key : model) {
        auto* const oldest = states.longest_unused();
        RC_ASSERT(oldest != nullptr && oldest->key == key);
        states.expire(*oldest);
    }
    RC_ASSERT(states.longest_unused() == nullptr);
}

}  // namespace
}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// Tables by key as bytes: what they hold, the order of use, and the shares of several replicas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/operator/keyed_codec.hpp>

namespace strid::operators {
namespace {

using testing::ElementsAre;

struct Sum {
    explicit Sum(int first = 0) : start(first) {}
    auto state() { return std::tie(total); }
    int start;  // configuration
    std::int64_t total = 0;
};

template <class Table>
auto& add(Table& table, const std::string_view key, std::int64_t value) {
    auto& entry = table.find_or_make(key, hash_of(key), [] { return Sum{7}; });
    entry.state.total += value;
    return entry;
}

TEST(KeyedCodec, TextsOfKeysAndStatesComeBackInTheirOrder) {
    KeyedState<std::string_view, Sum> table;
    {
        std::string text = "one, which is longer than any buffer of a string";
        add(table, text, 1);
        text = "two, which is longer than any buffer of a string, too";
        add(table, text, 2);
    }
    const auto bytes = state::bytes_of(states_by_key(table, [] { return Sum{7}; }));
    KeyedState<std::string_view, Sum> fresh;
    {
        std::vector<std::byte> copy = bytes;  // the keys must not point into it
        StateReader reader{copy};
        auto part = states_by_key(fresh, [] { return Sum{7}; });
        state::load(reader, part);
        reader.expect_end();
        std::fill(copy.begin(), copy.end(), std::byte{0});
    }
    std::vector<std::string> found;
    for (auto& entry : fresh) {
        EXPECT_EQ(entry.state.start, 7);
        found.push_back(std::string(entry.key.substr(0, 3)) + std::to_string(entry.state.total));
    }
    EXPECT_THAT(found, ElementsAre("one1", "two2"));
}

TEST(KeyedCodec, TheOrderOfUseIsKept) {
    using Table = KeyedState<int, Sum, KeyLife{.expires = true, .in_use_order = true}>;
    Table table;
    std::int64_t now = 0;
    for (const int key : {3, 1, 2, 3}) {
        auto& entry = table.find_or_make(key, hash_of(key), [] { return Sum{}; });
        table.use(entry, ++now);
    }
    const auto bytes = state::bytes_of(states_by_key(table));
    Table fresh;
    StateReader reader{bytes};
    auto part = states_by_key(fresh);
    state::load(reader, part);
    std::vector<std::pair<int, std::int64_t>> found;
    while (auto* const entry = fresh.longest_unused()) {
        found.emplace_back(entry->key, entry->used_at);
        fresh.expire(*entry);
    }
    EXPECT_THAT(found, ElementsAre(std::pair{1, 2}, std::pair{2, 3}, std::pair{3, 4}));
}

TEST(KeyedCodec, SharesHaveEachKeyOnce) {
    // Two replicas become three.
    std::vector<std::vector<std::byte>> before;
    for (std::size_t replica = 0; replica != 2; ++replica) {
        KeyedState<int, Sum> table;
        for (int key = 0; key != 1'000; ++key) {
            if (!KeyShare{replica, 2}.has(hash_of(key))) continue;
            table.find_or_make(key, hash_of(key), [] { return Sum{}; }).state.total = key;
        }
        before.push_back(state::bytes_of(table));
    }
    std::map<int, int> times;
    for (std::size_t replica = 0; replica != 3; ++replica) {
        KeyedState<int, Sum> table;
        for (const auto& bytes : before) {
            StateReader reader{bytes};
            load_share_of_state(reader, table, KeyShare{replica, 3});
            reader.expect_end();
        }
        for (auto& entry : table) {
            EXPECT_TRUE((KeyShare{replica, 3}.has(entry.hash)));
            EXPECT_EQ(entry.state.total, entry.key);
            ++times[entry.key];
        }
    }
    EXPECT_EQ(times.size(), 1'000U);
    for (const auto& [key, count] : times) EXPECT_EQ(count, 1) << key;
}

TEST(KeyedCodec, AKeyThatIsThereTwiceIsAnError) {
    KeyedState<int, Sum> table;
    (void)table.find_or_make(1, hash_of(1), [] { return Sum{}; });
    const auto bytes = state::bytes_of(table);
    StateReader reader{bytes};
    EXPECT_THROW(state::load(reader, table), StateError);
}

}  // namespace
}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// Tables by key that are saved in slices while keys come, change and go: the bytes are those of the
// table at the beginning, beside a map that was copied then. So are the bytes of a whole snapshot
// with those of the changes behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/keyed_codec.hpp>

#include "../support/seeds.hpp"

namespace strid::operators {
namespace {

struct Counter {
    void clear() { count = 0; }
    auto state() { return std::tie(count); }
    std::int64_t count = 0;
};
constexpr auto make = [] { return Counter{}; };

constexpr KeyLife kept{.in_slices = true};
constexpr KeyLife expiring{.expires = true, .clears = true, .in_slices = true};

/// The bytes of a table behind those of the snapshots before, as a store puts them there.
void add_changes(std::vector<std::byte>& bytes, const std::vector<std::byte>& changes) {
    std::uint64_t snapshots = 0;
    std::memcpy(&snapshots, bytes.data(), sizeof snapshots);
    ++snapshots;
    std::memcpy(bytes.data(), &snapshots, sizeof snapshots);
    bytes.insert(bytes.end(), changes.begin(), changes.end());
}

/// How the snapshots of all cases were.
struct Counted {
    int whole = 0;
    int given_up = 0;  // whole, although changes would have been enough
    int changes = 0;
    int longest = 0;  // chain
};

/// A table of texts beside a map of the same, and the keys in the order in which they came.
template <KeyLife life>
class Model {
    using Table = KeyedState<std::string_view, Counter, life>;
    using Counts = std::map<std::string, std::int64_t>;

  public:
    explicit Model(std::uint64_t seed) : random_(seed), keys_(1 + below(400)) {}

    void check(Counted& counted) {
        for (std::uint64_t left = below(300); left != 0; --left) step();
        std::vector<std::byte> bytes;
        const std::uint64_t whole_in = 1 + below(8);
        int chain = 0;
        for (int snapshots = 0; snapshots != 8; ++snapshots) {
            const Counts cut = counts_;
            const std::vector<std::string> order = order_;
            const Saves saves = below(whole_in) == 0 ? Saves::all : Saves::changes;
            const auto slices = states_by_key(table_, make).in_slices(saves);
            const SliceSize size{.entries = 1 + below(5), .bytes = 1 + below(100)};
            const std::uint64_t steps = below(8);
            for (bool is_saved = false; !is_saved;) {
                for (std::uint64_t left = below(steps + 1); left != 0; --left) step();
                is_saved = slices->save_slice(size);
            }
            for (std::uint64_t left = below(50); left != 0; --left) step();
            if (slices->has_changes_only()) {
                ASSERT_EQ(saves, Saves::changes);
                add_changes(bytes, slices->take().take());
                ++counted.changes;
                counted.longest = std::max(counted.longest, ++chain);
            } else {
                bytes = slices->take().take();
                chain = 0;
                ++counted.whole;
                if (saves == Saves::changes && snapshots != 0) ++counted.given_up;
            }
            expect(bytes, cut, order);
        }
    }

  private:
    using Entry = typename Table::Entry;

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    void step() {
        const std::string key = "key " + std::to_string(below(keys_)) + " of a table";
        const std::uint64_t hash = hash_of(std::string_view(key));
        switch (below(4)) {
            case 0: {
                Entry* const found = table_.find(key, hash);
                ASSERT_EQ(found != nullptr, counts_.contains(key));
                if (found != nullptr) found->state.count = counts_[key] += 1'000;
                return;
            }
            case 1: {
                const auto known = entries_.find(key);
                if (known == entries_.end()) return;
                table_.change(*known->second);
                known->second->state.count = counts_[key] += 1'000'000;
                return;
            }
            case 2:
                if constexpr (life.expires) {
                    const auto known = entries_.find(key);
                    if (known == entries_.end()) return;
                    table_.expire(*known->second);
                    entries_.erase(known);
                    counts_.erase(key);
                }
                return;
            default:
                break;
        }
        Entry& entry = table_.find_or_make(key, hash, make);
        if (entries_.emplace(key, &entry).second) order_.push_back(key);
        ASSERT_EQ(entry.state.count, counts_[key]);
        entry.state.count = ++counts_[key];
    }

    static void expect(const std::vector<std::byte>& bytes, const Counts& cut,
                       const std::vector<std::string>& order) {
        Table fresh;
        auto part = states_by_key(fresh, make);
        StateReader reader{bytes};
        state::load(reader, part);
        reader.expect_end();
        Counts found;
        fresh.for_each([&](const Entry& entry) {
            ASSERT_TRUE(found.emplace(std::string(entry.key), entry.state.count).second);
        });
        ASSERT_EQ(found, cut);
        if constexpr (!life.expires) {
            std::vector<std::string> keys;
            for (const Entry& entry : fresh) keys.emplace_back(entry.key);
            ASSERT_EQ(keys, order);
        }
        // Two replicas share the keys.
        std::size_t shared = 0;
        for (std::size_t replica = 0; replica != 2; ++replica) {
            Table share;
            auto of_replica = states_by_key(share, make);
            StateReader again{bytes};
            of_replica.load(again, KeyShare{replica, 2});
            again.expect_end();
            share.for_each([&](const Entry& entry) {
                ASSERT_EQ(cut.at(std::string(entry.key)), entry.state.count);
                ++shared;
            });
        }
        ASSERT_EQ(shared, cut.size());
    }

    std::mt19937_64 random_;
    std::uint64_t keys_;
    Table table_;
    std::map<std::string, Entry*> entries_;
    Counts counts_;
    std::vector<std::string> order_;
};

template <KeyLife life>
void check() {
    Counted counted;
    for (const std::uint64_t seed : test::seeds(500)) {
        Model<life>(seed).check(counted);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    std::printf("%d whole, %d of them given up, %d of changes, %d in a chain\n", counted.whole,
                counted.given_up, counted.changes, counted.longest);
    EXPECT_GT(counted.given_up, 0);
    EXPECT_GT(counted.longest, 3);
}

TEST(KeyedSlices, KeysThatStayAreThoseOfTheCut) {
    check<kept>();
}

TEST(KeyedSlices, KeysThatExpireAreThoseOfTheCut) {
    check<expiring>();
}

TEST(KeyedSlices, ASliceEndsWithItsEntriesOrBytes) {
    KeyedState<std::uint64_t, Counter, kept> table;
    for (std::uint64_t key = 0; key != 1'000; ++key) table.find_or_make(key, hash_of(key), make);
    const auto slices_of = [&table](const SliceSize& size) {
        const auto slices = states_by_key(table, make).in_slices(Saves::all);
        int count = 1;
        while (!slices->save_slice(size)) ++count;
        return count;
    };
    EXPECT_EQ(slices_of({.entries = 10, .bytes = 1'000'000}), 100);
    EXPECT_EQ(slices_of({.entries = 1'000'000, .bytes = 16 * 25}), 40);
    EXPECT_EQ(slices_of({}), 2);
}

/// A table that is saved by its changes has no more of them to save than there were.
TEST(KeyedSlices, ChangesAreTheKeysThatChanged) {
    KeyedState<std::uint64_t, Counter, expiring> table;
    const auto entry_of = [&table](std::uint64_t key) -> auto& {
        return table.find_or_make(key, hash_of(key), make);
    };
    for (std::uint64_t key = 0; key != 10'000; ++key) entry_of(key);
    const auto saved = [&table] {
        const auto slices = states_by_key(table, make).in_slices(Saves::changes);
        while (!slices->save_slice({})) {
        }
        return std::pair{slices->has_changes_only(), slices->take().size()};
    };
    constexpr std::size_t of_a_key = 16;
    EXPECT_EQ(saved(), (std::pair{false, 16 + 10'000 * of_a_key})) << "the first is whole";
    EXPECT_EQ(saved(), (std::pair<bool, std::size_t>{true, 16})) << "nothing has changed";
    for (std::uint64_t key = 0; key != 100; ++key) ++entry_of(key).state.count;
    for (std::uint64_t key = 0; key != 100; ++key) ++entry_of(key).state.count;
    EXPECT_EQ(saved(), (std::pair{true, 16 + 100 * of_a_key}));
    for (std::uint64_t key = 50; key != 60; ++key) table.expire(entry_of(key));
    EXPECT_EQ(saved(), (std::pair<bool, std::size_t>{true, 16 + 10 * 8}));
    for (std::uint64_t key = 0; key != 5'000; ++key) ++entry_of(key).state.count;
    EXPECT_EQ(saved(), (std::pair{false, 16 + 9'990 * of_a_key + 10 * of_a_key}))
        << "keys 50 to 59 have come again";
    EXPECT_EQ(saved(), (std::pair<bool, std::size_t>{true, 16})) << "and lists again";
}

TEST(KeyedSlices, DamagedStatesBehindTheOthersAreRefused) {
    KeyedState<std::uint64_t, Counter, kept> table;
    for (std::uint64_t key = 0; key != 3; ++key) table.find_or_make(key, hash_of(key), make);
    const auto slices = states_by_key(table, make).in_slices(Saves::all);
    table.find_or_make(2, hash_of(std::uint64_t{2}), make).state.count = 7;
    ASSERT_TRUE(slices->save_slice({}));
    const std::vector<std::byte> bytes = slices->take().take();
    // Snapshots, keys, early ones, the place, three keys of which two have states, the early one.
    ASSERT_EQ(bytes.size(), 8U * (1 + 2 + 1 + 5 + 2));
    const auto is_refused = [&](std::size_t word, std::uint8_t value) {
        std::vector<std::byte> damaged = bytes;
        damaged[8 * word] = std::byte{value};
        KeyedState<std::uint64_t, Counter, kept> fresh;
        auto part = states_by_key(fresh, make);
        StateReader reader{damaged};
        try {
            state::load(reader, part);
            reader.expect_end();
        } catch (const StateError&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(is_refused(0, 1)) << "as it is";
    EXPECT_TRUE(is_refused(0, 0)) << "no snapshot";
    EXPECT_TRUE(is_refused(0, 2)) << "a snapshot more";
    EXPECT_TRUE(is_refused(1, 4)) << "a key more";
    EXPECT_TRUE(is_refused(2, 0)) << "no early state";
    EXPECT_TRUE(is_refused(2, 200)) << "more early states than bytes";
    EXPECT_TRUE(is_refused(3, 9)) << "the place of no key";
    EXPECT_TRUE(is_refused(8, 1)) << "a key twice";
    EXPECT_TRUE(is_refused(9, 1)) << "an early state of a key that has its own";
    EXPECT_TRUE(is_refused(9, 9)) << "an early state of no key";
}

}  // namespace
}  // namespace strid::operators

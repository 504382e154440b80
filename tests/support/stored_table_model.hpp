// SPDX-License-Identifier: Apache-2.0
//
// A table of which a part is in a store, beside a map of all: random keys, bounds and batches.
#pragma once

#include <cstdint>
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
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/stored_states.hpp>
#include <strid/engine/operator/stored_table.hpp>
#include <strid/operator/context.hpp>

namespace strid::test {

/// A state of which the engine knows what it owns.
struct Listed {
    std::vector<std::uint64_t> numbers;
    auto state() { return std::tie(numbers); }
    void add(std::uint64_t number) { numbers.push_back(number); }
    friend bool operator==(const Listed&, const Listed&) = default;
};
/// One that writes its own bytes.
class Opaque {
  public:
    void add(std::uint64_t number) { text_ += std::to_string(number); }
    void save(StateWriter& writer) const { writer.text(text_); }
    void load(StateReader& reader) { text_ = reader.text(); }
    friend bool operator==(const Opaque&, const Opaque&) = default;

  private:
    std::string text_;
};
/// One of plain bytes.
struct Plain {
    std::uint64_t sum = 0;
    std::uint64_t count = 0;
    void add(std::uint64_t number) {
        sum += number;
        ++count;
    }
    friend bool operator==(const Plain&, const Plain&) = default;
};

template <class State, bool shows_keys>
class StoredTableModel {
    using Table = operators::StoredTable<std::string_view, State, shows_keys>;
    using Oracle = std::map<std::string, State>;
    struct Record {
        std::string key;
    };
    struct KeyOf {
        std::string_view operator()(const Record& record) const { return record.key; }
    };

  public:
    StoredTableModel(std::uint64_t seed, std::shared_ptr<ColdStores> stores)
        : random_(seed),
          keys_(1 + below(500)),
          bound_(1 + below(40'000)),
          stores_(std::move(stores)) {}

    void check() {
        auto table = fresh("table", 0, 1);
        for (std::uint64_t left = 1 + below(8); left != 0; --left) {
            for (std::uint64_t batches = below(20); batches != 0; --batches) batch(*table);
            if (below(2) == 0) check_checkpoint(*table);
        }
        expect_all(*table, oracle_);
    }

  private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    std::unique_ptr<Table> fresh(std::string_view name, std::size_t replica,
                                 std::size_t parallelism) {
        auto table = std::make_unique<Table>(bound_);
        table->open(Context{.name = name, .replica = replica, .parallelism = parallelism}, *stores_,
                    [] { return State{}; });
        return table;
    }

    void batch(Table& table) {
        std::vector<message::Hashed<Record>> records;
        for (std::uint64_t left = below(400); left != 0; --left) {
            // A few keys have most of the records.
            const std::uint64_t number = below(1 + below(1 + below(keys_)));
            std::string key = "key " + std::to_string(number) + " of a table";
            const std::uint64_t hash = hash_of(std::string_view(key));
            records.push_back({{std::move(key)}, hash});
        }
        const bool reads_ahead = below(4) != 0;
        KeyOf key_of;
        std::size_t announced = 0;
        for (std::size_t i = 0; i != records.size(); ++i) {
            if (reads_ahead && i == announced) {
                announced += table.read_ahead(
                    std::span<const message::Hashed<Record>>(records).subspan(i), key_of);
            }
            const auto& [record, hash] = records[i];
            auto& entry = table.find_or_make(record.key, hash, [] { return State{}; });
            ASSERT_EQ(entry.state, oracle_[record.key]) << record.key;
            const std::uint64_t number = below(1'000'000);
            entry.state.add(number);
            oracle_[record.key].add(number);
            if (below(16) == 0) {
                table.expire(entry);
                oracle_.erase(record.key);
            }
        }
        table.make_room();
        ASSERT_EQ(table.keys(), oracle_.size());
        ASSERT_LE(table.keys_in_memory() * sizeof(typename Table::Entry), bound_);
        is_cold_ = is_cold_ || table.keys_in_memory() < table.keys();
    }

    void check_checkpoint(Table& table) {
        table.begin_snapshot(++snapshot_);
        const auto made = table.checkpoint();
        const std::uint64_t keys = table.keys();
        const Oracle cut = oracle_;
        for (std::uint64_t batches = below(3); batches != 0; --batches) batch(table);
        // Names of their own: a store has one user.
        const auto same = fresh("table", 1, 2);
        same->restore(made, keys);
        ASSERT_EQ(same->keys(), cut.size());
        expect_all(*same, cut);
        std::size_t found = 0;
        for (std::size_t replica = 0; replica != 3; ++replica) {
            const auto share = fresh("table", 2 + replica, 5);
            const operators::KeyShare keys_of_it{replica, 3};
            share->restore_share(made, keys_of_it, nullptr);
            Oracle part;
            for (const auto& [key, state] : cut) {
                if (keys_of_it.has(hash_of(std::string_view(key)))) part.emplace(key, state);
            }
            found += part.size();
            expect_all(*share, part);
        }
        ASSERT_EQ(found, cut.size());
    }

    /// As at the end of the stream.
    static void expect_all(Table& table, const Oracle& oracle) {
        Oracle found;
        while (auto* const entry = table.longest_unused()) {
            ASSERT_TRUE(found.emplace(std::string(entry->key), entry->state).second) << entry->key;
            table.expire(*entry);
        }
        ASSERT_EQ(found, oracle);
        ASSERT_EQ(table.keys(), 0U);
    }

    std::mt19937_64 random_;
    std::uint64_t keys_;
    std::size_t bound_;
    std::shared_ptr<ColdStores> stores_;
    Oracle oracle_;
    std::uint64_t snapshot_ = 0;

  public:
    bool is_cold_ = false;
};

}  // namespace strid::test

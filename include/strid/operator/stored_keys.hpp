// SPDX-License-Identifier: Apache-2.0
//
// State by key that may be larger than memory: the keys that were used last, about, are in memory
// within a bound of bytes, and the others in a store (state/cold_store.hpp), such as RocksDB.
//
//     #include <strid/rocksdb/rocksdb.hpp>
//
//     std::move(clicks)
//         .key_by<&Click::user>(keep_in_memory(64 << 20, rocksdb::store("states")))
//         .map(CountOfUser{})
//
// No key is forgotten. The results are those of a table without a bound, but for the order in which
// `accumulate` gives the values of keys at the end of the stream.
//
// The keys of the records to come are read from the store ahead, many at once. Behind a batch the
// keys that were used least recently are written to the store, until the bound holds. So memory is
// above it by the states that the records of at most `read_ahead_most` keys brought in.
//
// Counted are the entries, the texts of keys, and what states own: as base/heap_bytes.hpp counts
// it; of a class that it does not know, as many bytes as its codec writes, behind each batch that
// has used it. A member `heap_bytes()` is faster. The memory of the store itself is not counted.
//
// Costs: the key of each record is looked up twice; each key that is not in memory takes a read and
// a write of the store. The state, which is copied as bytes, needs a codec (state/codec.hpp).
// Threads: only the task of the node; the stores may have threads of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/operator/key_codec.hpp>
#include <strid/engine/operator/stored_states.hpp>
#include <strid/engine/operator/stored_table.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/forget_keys.hpp>
#include <strid/state/codec.hpp>
#include <strid/state/cold_store.hpp>

namespace strid {

/// How many bytes of state by key a replica keeps in memory, and the store of the others; made by
/// keep_in_memory().
class StoredKeys {
  public:
    /// Throws GraphError for 0 bytes and without a store.
    StoredKeys(std::size_t bytes, std::shared_ptr<ColdStores> stores)
        : bytes_(bytes), stores_(std::move(stores)) {
        if (bytes_ == 0) throw GraphError("a bound on the bytes of states must not be 0");
        if (stores_ == nullptr) {
            throw GraphError("keep_in_memory needs a store for the states that are not in memory");
        }
    }
    /// Whether a store can have the state of such a key. If not, it does not compile.
    template <class K, class State>
    static consteval bool can_keep() {
        constexpr bool has_codec = operators::key_has_codec<K>() && state::has_codec<State>();
        static_assert(has_codec,
                      "keep_in_memory: the key, or the state of a key, has no codec "
                      "(strid/state/codec.hpp), so that a store cannot have it");
        return has_codec;
    }
    /// The bound of each replica, in bytes.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Where the others are.
    [[nodiscard]] const std::shared_ptr<ColdStores>& stores() const noexcept { return stores_; }

  private:
    std::size_t bytes_;
    std::shared_ptr<ColdStores> stores_;
};

/// Keeps at most so many bytes of states and keys of each replica in memory, and the others in a
/// store. Throws GraphError for 0 bytes and without a store.
[[nodiscard]] inline StoredKeys keep_in_memory(std::size_t bytes,
                                               std::shared_ptr<ColdStores> stores) {
    return {bytes, std::move(stores)};
}

namespace operators {

/// The table of an operator whose keys may be in a store.
template <class K, class State, bool shows_keys>
class LivingKeys<K, State, StoredKeys, shows_keys> {
  public:
    explicit LivingKeys(StoredKeys life) : life_(std::move(life)), table_(life_.bytes()) {}

    /// The texts of keys go when keys leave the memory.
    static constexpr bool forgets = true;
    static constexpr const char* note =
        "a state for each key, for the whole run: those used last in memory, the others in a store";
    using Table = StoredTable<K, State, shows_keys>;
    using Entry = typename Table::Entry;
    static constexpr void add_to(OperatorTraits& traits) noexcept {
        traits.hears = traits.hears | events<BatchEnds, SnapshotBegins>;
        traits.hears.is_conditional = true;
        traits.has = traits.has | has_if(false, Has::wake_at_ns);
    }

    /// `make()` makes the state of a new key, also later.
    template <class Make>
    void open(const Context& context, Make make) {
        table_.open(context, *life_.stores(), std::move(make));
    }
    template <class Make, class Gone>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make,
                                               Gone&& /*gone*/) {
        return table_.find_or_make(key, hash, make);
    }
    template <class Arrived, class KeyOf>
    [[nodiscard]] std::size_t read_ahead(std::span<const Arrived> arrived, KeyOf& key_of) {
        return table_.read_ahead(arrived, key_of);
    }
    void make_room() { table_.make_room(); }
    void begin_snapshot(std::uint64_t number) { table_.begin_snapshot(number); }
    [[nodiscard]] const ColdStores& cold_stores() const noexcept { return *life_.stores(); }
    [[nodiscard]] Table& table() noexcept { return table_; }
    template <class Make>
    [[nodiscard]] auto state(Make /*make*/) {
        return std::make_tuple(StoredStates<Table>(table_));
    }

  private:
    StoredKeys life_;
    Table table_;
};

}  // namespace operators
}  // namespace strid

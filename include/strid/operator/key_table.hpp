// SPDX-License-Identifier: Apache-2.0
//
// Values by key, looked up with the hash that the record brought along.
//
// A key that is text points into the batch that it came with; a value outlives its batch, so the
// table keeps a copy of its own, once per key, for as long as the table lives (that is: the run).
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include <strid/base/assert.hpp>
#include <strid/base/prefetch.hpp>
#include <strid/operator/key_index.hpp>
#include <strid/operator/key_texts.hpp>

namespace strid::operators {

/// Values by key, which stay where they are, in the order in which the keys came first.
template <class K, class V>
class KeyTable {
  public:
    struct Entry {
        std::uint64_t hash;
        K key;
        V value;
    };

    KeyTable() = default;
    /// As KeyIndex: a copy starts empty.
    KeyTable([[maybe_unused]] const KeyTable& prototype) { STRID_ASSERT(prototype.size() == 0); }
    KeyTable& operator=(const KeyTable&) = delete;

    /// The value of the key, made by `make()` where the key is new. `hash` is `hash_of(key)`. O(1).
    template <class Make>
    [[gnu::always_inline]] std::pair<const K&, V&> find_or_make(const K& key, std::uint64_t hash,
                                                                Make&& make) {
        if (Entry* const found = index_.find(key, hash); found != nullptr) [[likely]]
            return {found->key, found->value};
        return add(key, hash, make);
    }

    /// Brings near what the next of the `count` records, Hashed, will look up. The lookups here do
    /// not wait for each other, so what is missing in the caches comes at once, not record by
    /// record. Returns for how many records; all, and nothing was done, while the table is near.
    template <class Arrived, class KeyOf>
    [[nodiscard, gnu::noinline]] std::size_t look_ahead(const Arrived* arrived, std::size_t count,
                                                        const KeyOf& key_of) {
        if (is_near()) return count;
        count = std::min(count, looked_up_at_once);
        for (std::size_t i = 0; i != count; ++i) index_.prefetch(arrived[i].hash);
        for (std::size_t i = 0; i != count; ++i) {
            prefetch_object(index_.find(std::invoke(key_of, arrived[i].record), arrived[i].hash));
        }
        return count;
    }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] auto begin() noexcept { return entries_.begin(); }
    [[nodiscard]] auto end() noexcept { return entries_.end(); }

  private:
    /// It is as large as a cache of its own core at most.
    [[nodiscard]] bool is_near() const noexcept {
        return entries_.size() * sizeof(Entry) < (std::size_t{1} << 20);
    }

    template <class Make>
    [[gnu::noinline]] std::pair<const K&, V&> add(const K& key, std::uint64_t hash, Make& make) {
        Entry& entry = entries_.emplace_back(Entry{hash, texts_.own(key), make()});
        index_.insert(entry);
        return {entry.key, entry.value};
    }

    KeyTexts texts_;
    std::deque<Entry> entries_;
    KeyIndex<Entry> index_;
};

}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// States by key that come and go: a key has one from its first record until it expires. States of
// expired keys are used again with the memory they have, so that keys that come and go allocate
// nothing in the long run.
//
// A text key's own text is kept for the run, once for each distinct key, because results point to
// it; any other key leaves nothing behind.
//
// Threads: only the task of the node. References to entries are valid until they expire.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <strid/base/assert.hpp>
#include <strid/base/prefetch.hpp>
#include <strid/operator/per_key.hpp>

namespace strid::window {

/// `State` is made once and `clear()`ed each time before it is used again.
template <class K, class State>
class KeyStates {
  public:
    struct Entry {
        K key;
        std::uint64_t hash;
        State state;
    };

    /// The entry of the key, an empty one where it is new. `hash` is `hash_of(key)`. O(1).
    template <class Make>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make) {
        const auto [own_key, entry] =
            table_.find_or_make(key, hash, [] { return static_cast<Entry*>(nullptr); });
        if (entry == nullptr) [[unlikely]]
            entry = &lease(own_key, hash, make);
        return *entry;
    }
    /// As KeyTable::look_ahead; `touch(state)` asks for what a state points to.
    template <class Arrived, class KeyOf, class Touch>
    void look_ahead(const Arrived* arrived, std::size_t count, const KeyOf& key_of, Touch&& touch) {
        if (is_near()) [[likely]]
            return;
        STRID_ASSERT(count <= at_once);
        std::array<Entry*, at_once> entries;
        for (std::size_t i = 0; i != count; ++i) {
            Entry* const* const found =
                table_.find(std::invoke(key_of, arrived[i].record), arrived[i].hash);
            entries[i] = found == nullptr ? nullptr : *found;
            prefetch_object(entries[i]);
        }
        for (std::size_t i = 0; i != count; ++i) {
            if (entries[i] != nullptr) touch(std::as_const(entries[i]->state));
        }
    }
    /// The same for the next of `entries` that are looked at one after the other; returns for how
    /// many. `leaving`: they will expire.
    template <class Touch>
    [[nodiscard]] std::size_t look_ahead(std::span<Entry* const> entries, bool leaving,
                                         Touch&& touch) {
        if (is_near()) return entries.size();
        entries = entries.first(std::min(entries.size(), at_once));
        for (const Entry* const entry : entries) prefetch_object(entry);
        for (const Entry* const entry : entries) {
            touch(entry->state);
            if (leaving) prefetch_object(table_.find(entry->key, entry->hash));
        }
        return entries.size();
    }
    void expire(Entry& entry) {
        --live_;
        table_.forget(entry.key, entry.hash);
        free_.push_back(&entry);
    }
    [[nodiscard]] std::size_t live() const noexcept { return live_; }

  private:
    static constexpr std::size_t at_once = 16;

    /// The states fit the nearer caches, with some memory of their own.
    [[nodiscard]] bool is_near() const noexcept {
        return live_ * sizeof(Entry) < (std::size_t{1} << 17);
    }

    template <class Make>
    [[gnu::noinline]] Entry& lease(const K& key, std::uint64_t hash, Make& make) {
        ++live_;
        if (free_.empty()) return entries_.emplace_back(Entry{key, hash, make()});
        Entry& entry = *free_.back();
        free_.pop_back();
        entry.key = key;
        entry.hash = hash;
        entry.state.clear();
        return entry;
    }

    operators::KeyTable<K, Entry*> table_;
    std::deque<Entry> entries_;
    std::vector<Entry*> free_;
    std::size_t live_ = 0;
};

}  // namespace strid::window

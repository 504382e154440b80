// SPDX-License-Identifier: Apache-2.0
//
// States by key that come and go: a key has one from its first record until it expires. States of
// expired keys are used again with the memory they have, so that keys that come and go allocate
// nothing in the long run.
//
// Where results point to the text of a text key, it stays until the key has expired and no result
// that was sent before is left (memory/passing_texts.hpp).
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
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/prefetch.hpp>
#include <strid/operator/key_index.hpp>
#include <strid/operator/key_table.hpp>
#include <strid/operator/key_texts.hpp>

namespace strid::window {

/// `State` is made once and `clear()`ed each time before it is used again. `shows_keys`: what is
/// sent may point to the texts of keys.
template <class K, class State, bool shows_keys = true>
class KeyStates {
  public:
    struct Entry {
        std::uint64_t hash;
        K key;
        State state;
    };

    KeyStates() = default;
    /// A copy is another replica's: it has no keys.
    KeyStates(const KeyStates&) : KeyStates() {}
    KeyStates(KeyStates&&) = default;
    KeyStates& operator=(const KeyStates&) = delete;
    KeyStates& operator=(KeyStates&&) = default;
    ~KeyStates() = default;

    /// The entry of the key, an empty one where it is new. `hash` is `hash_of(key)`. O(1).
    template <class Make>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make) {
        if (Entry* const found = index_.find(key, hash); found != nullptr) [[likely]]
            return *found;
        return lease(key, hash, make);
    }
    /// As KeyTable::look_ahead; `touch(state)` asks for what a state points to.
    template <class Arrived, class KeyOf, class Touch>
    [[nodiscard, gnu::noinline]] std::size_t look_ahead(const Arrived* arrived, std::size_t count,
                                                        const KeyOf& key_of, Touch&& touch) {
        if (is_near()) return count;
        count = std::min(count, at_once);
        for (std::size_t i = 0; i != count; ++i) index_.prefetch(arrived[i].hash);
        std::array<Entry*, at_once> entries;
        for (std::size_t i = 0; i != count; ++i) {
            entries[i] = index_.find(std::invoke(key_of, arrived[i].record), arrived[i].hash);
            prefetch_object(entries[i]);
        }
        for (std::size_t i = 0; i != count; ++i) {
            if (entries[i] != nullptr) touch(std::as_const(entries[i]->state));
        }
        return count;
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
            if (leaving) index_.prefetch(entry->hash);
        }
        return entries.size();
    }
    /// The state is empty from now on. A key that is shown may be read until the next batch comes.
    void expire(Entry& entry) {
        index_.erase(entry);
        free_.push_back(&entry);
        if constexpr (holds_text && shows_keys) texts_.retire(entry.key);
        if constexpr (holds_text && !shows_keys) texts_.free(entry.key);
    }
    [[nodiscard]] std::size_t live() const noexcept { return index_.size(); }

    static constexpr bool holds_text = operators::key_holds_text<K>;
    /// What every batch with a result has to keep alive (operator/stage.hpp).
    [[nodiscard]] memory::PassingTexts& texts() noexcept
        requires(holds_text && shows_keys)
    {
        return texts_.passing();
    }

  private:
    static constexpr std::size_t at_once = operators::looked_up_at_once;

    /// The states fit the nearer caches, with some memory of their own.
    [[nodiscard]] bool is_near() const noexcept {
        return live() * sizeof(Entry) < (std::size_t{1} << 17);
    }

    template <class Make>
    [[gnu::noinline]] Entry& lease(const K& key, std::uint64_t hash, Make& make) {
        Entry& entry = free_.empty() ? entries_.emplace_back(Entry{hash, own(key), make()})
                                     : use_again(own(key), hash);
        index_.insert(entry);
        return entry;
    }
    Entry& use_again(const K& key, std::uint64_t hash) {
        Entry& entry = *free_.back();
        free_.pop_back();
        entry.hash = hash;
        entry.key = key;
        entry.state.clear();
        return entry;
    }

    /// The key as results may hold it.
    K own(const K& key) {
        if constexpr (holds_text) {
            return texts_.own(key);
        } else {
            return key;
        }
    }

    struct Nothing {};

    operators::KeyIndex<Entry> index_;  // of the keys that live
    std::deque<Entry> entries_;
    std::vector<Entry*> free_;
    [[no_unique_address]] std::conditional_t<holds_text, operators::PassingKeyTexts, Nothing>
        texts_;
};

}  // namespace strid::window

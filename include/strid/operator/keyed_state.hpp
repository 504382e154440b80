// SPDX-License-Identifier: Apache-2.0
//
// The states of a keyed operator, looked up with the hash that the record carries. Entries never
// move. A key has an entry from its first record on, for the run or until the operator lets it
// expire. The entries of expired keys are reused with their memory, so that keys that come and go
// allocate nothing in the long run.
//
// A key with text refers to the batch of its record. A state outlives the batch, so a copy of the
// text is kept: for the run, or until the key expires and, if results may refer to it, no result
// that was sent before is left (engine/memory/epoch_text_pool.hpp).
//
// A table `in_slices` is saved by a snapshot while records go on (begin_saving). At that moment the
// index sets entries apart: all, or those that have changed since the snapshot before. A lookup
// that does not find its key looks among the others. One that is set apart is saved first, and any
// is listed as changed and taken back. Those that are left are saved by and by. A run without
// snapshots has nothing of that (engine/operator/table_changes.hpp).
//
// Threads: only the task of the node. References to entries are valid until they expire.
//
// Invariant: the index has the live entries; with `in_use_order` the list has each of them once,
// times rising. An entry is set apart if it is to be saved and was not yet.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/key_index.hpp>
#include <strid/engine/operator/key_texts.hpp>
#include <strid/engine/operator/table_changes.hpp>

namespace strid {

/// Options of a table of keys. An option that is off costs nothing.
struct KeyLife {
    bool expires = false;  ///< The operator lets them expire.
    /// States are reused after `clear()`, or `clear(fresh)` with a fresh one, and not made anew.
    bool clears = false;
    bool shows_keys = true;     ///< Of keys that expire: results may point to the text of a key.
    bool in_use_order = false;  ///< The least recently used is known: 10 % of a lookup.
    /// A snapshot saves it in slices, between two events, if `state()` names it by
    /// operators::states_by_key. The operator calls `change(entry)` before it changes an entry that
    /// it has kept from an earlier event. Not with `in_use_order`.
    bool in_slices = false;
};

namespace operators {

template <class Entry>
struct InUseOrder {
    std::int64_t used_at = 0;  ///< As the operator counts time.
    Entry* earlier = nullptr;
    Entry* later = nullptr;
};
template <class Entry>
struct InNoOrder {};

}  // namespace operators

/// A function of the operator makes each `State`, also when the entry of an expired key is reused.
template <class K, class State, KeyLife life = KeyLife{}>
class KeyedState {
    static_assert(!life.in_slices || !life.in_use_order, "a use is a change of several entries");

  public:
    /// A key with its state. It stays where it is until it is forgotten.
    struct Entry : std::conditional_t<life.in_use_order, operators::InUseOrder<Entry>,
                                      operators::InNoOrder<Entry>> {
        /// Made by the table.
        Entry(std::uint64_t hash_of_key, K own, State made)
            : hash(hash_of_key), key(std::move(own)), state(std::move(made)) {}
        std::uint64_t hash;  ///< The engine's hash of the key.
        K key;               ///< The table's own copy.
        State state;         ///< The operator's state for the key.
    };

    KeyedState() = default;
    /// A copy is another replica's: it has no keys.
    KeyedState(const KeyedState&) : KeyedState() {}
    /// The entries stay where they are, and the texts of keys come with them.
    KeyedState(KeyedState&& other) : KeyedState() { swap(other); }
    KeyedState& operator=(const KeyedState&) = delete;
    /// The same.
    KeyedState& operator=(KeyedState&& other) noexcept {
        swap(other);
        return *this;
    }
    ~KeyedState() = default;

    /// The entry of the key, with a state of `make()` if it is new. `hash` is `hash_of(key)`. O(1).
    /// May throw std::bad_alloc and what `make` throws.
    template <class Make>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make) {
        if (Entry* const found = index_.find(key, hash); found != nullptr) [[likely]]
            return *found;
        return lease(key, hash, make);
    }
    /// The entry of the key, or null. O(1).
    [[nodiscard]] Entry* find(const K& key, std::uint64_t hash) const
        requires(!life.in_slices)
    {
        return index_.find(key, hash);
    }
    /// The same.
    [[nodiscard]] Entry* find(const K& key, std::uint64_t hash)
        requires(life.in_slices)
    {
        Entry* const found = index_.find(key, hash);
        return found != nullptr ? found : taken_back(key, hash);
    }

    /// Prefetches the entries that the next of the records, Hashed, will look up. No entry is read
    /// for that, so that cache misses overlap, and none is waited for. Returns for how many
    /// records; all, without doing anything, while the table is small.
    template <class Arrived>
    [[nodiscard, gnu::noinline]] std::size_t look_ahead(std::span<const Arrived> arrived) {
        // At most as large as a cache of the core.
        if (is_within(std::size_t{1} << 20)) return arrived.size();
        arrived = arrived.first(std::min(arrived.size(), at_once));
        for (const Arrived& one : arrived) index_.prefetch(one.hash);
        for (const Arrived& one : arrived) prefetch_object(index_.guess(one.hash));
        return arrived.size();
    }
    /// The same; `touch(state)` prefetches what a state refers to.
    template <class Arrived, class Touch>
    [[nodiscard, gnu::noinline]] std::size_t look_ahead(std::span<const Arrived> arrived,
                                                        Touch&& touch) {
        if (is_within(with_memory_of_states)) return arrived.size();
        arrived = arrived.first(std::min(arrived.size(), at_once));
        for (const Arrived& one : arrived) index_.prefetch(one.hash);
        std::array<Entry*, at_once> entries;
        std::size_t looked_up = 0;
        for (const Arrived& one : arrived) {
            Entry* const entry = index_.guess(one.hash);
            entries[looked_up++] = entry;
            prefetch_object(entry);
        }
        for (std::size_t i = 0; i != looked_up; ++i) {
            if (entries[i] != nullptr) touch(std::as_const(entries[i]->state));
        }
        return looked_up;
    }
    /// The same for the next of `items`, whose members `key` are entries and are read one after the
    /// other; returns for how many. `leaving`: they will expire.
    template <class Item, class Touch>
    [[nodiscard]] std::size_t look_ahead_in(std::span<const Item> items, bool leaving,
                                            Touch&& touch) {
        if (is_within(with_memory_of_states)) return items.size();
        items = items.first(std::min(items.size(), at_once));
        for (const Item& item : items) prefetch_object(item.key);
        for (const Item& item : items) {
            touch(std::as_const(item.key->state));
            if (leaving) index_.prefetch(item.key->hash);
        }
        return items.size();
    }

    /// Forgets the key. If results may refer to its text, that is valid until the next batch. O(1).
    void expire(Entry& entry)
        requires(life.expires)
    {
        if constexpr (life.in_slices) {
            if (changes_ != nullptr) [[unlikely]]
                changes_->forget(index_, entry);
        }
        index_.erase(entry);
        free_.push_back(&entry);
        if constexpr (life.in_use_order) unlink(entry);
        if constexpr (holds_text && life.shows_keys) texts_.retire(entry.key);
        if constexpr (holds_text && !life.shows_keys) texts_.free(entry.key);
    }

    /// Marks the key as used at `at`, which is not less than any time before. O(1).
    void use(Entry& entry, std::int64_t at)
        requires(life.in_use_order)
    {
        entry.used_at = at;
        if (&entry == last_used_) return;
        if (entry.earlier != nullptr || &entry == first_used_) unlink(entry);
        entry.earlier = last_used_;
        if (last_used_ != nullptr) last_used_->later = &entry;
        last_used_ = &entry;
        if (first_used_ == nullptr) first_used_ = &entry;
    }
    /// The least recently used key, or null. O(1).
    [[nodiscard]] Entry* longest_unused() const noexcept
        requires(life.in_use_order)
    {
        return first_used_;
    }

    /// The most recently used key; the members `earlier` lead to the others.
    [[nodiscard]] Entry* last_used() const noexcept
        requires(life.in_use_order)
    {
        return last_used_;
    }

    /// The number of live keys.
    [[nodiscard]] std::size_t keys() const noexcept { return index_.size(); }
    /// Bytes of the entries, of expired entries kept for reuse, of the index and of the texts of
    /// keys; not the memory that states own elsewhere. O(1).
    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t bytes = entries_.size() * sizeof(Entry) + index_.bytes();
        if constexpr (holds_text) bytes += texts_.bytes();
        return bytes;
    }
    /// Calls `visit(key, state)` for each key of a group (engine/operator/key_groups.hpp), in an
    /// unspecified order. O(keys).
    template <class Visit>
    void visit(std::size_t key_group, Visit&& visit) {
        index_.for_each([&](Entry& entry) {
            if (key_group_of(entry.hash) == key_group) {
                visit(std::as_const(entry.key), entry.state);
            }
        });
    }

    /// Calls `visit(entry)` for each live key, in an unspecified order, for on(Restored). O(keys).
    template <class Visit>
    void for_each(Visit&& visit) {
        index_.for_each(visit);
    }
    /// All entries, in the order in which their keys first came.
    [[nodiscard]] auto begin() noexcept
        requires(!life.expires)
    {
        return entries_.begin();
    }
    /// The end of the entries.
    [[nodiscard]] auto end() noexcept
        requires(!life.expires)
    {
        return entries_.end();
    }

    /// A snapshot of a table that is saved in slices.
    using Changes = operators::TableChanges<Entry>;
    /// The entries of this moment are to be saved, or those that have changed: by save_entries(),
    /// or by `saver` before they are changed, which outlives this. None is being saved yet.
    /// `forgotten` takes the keys that expire from now on. O(1). May throw std::bad_alloc.
    [[nodiscard]] typename Changes::Begun begin_saving(
        operators::Saves saves, operators::SavesEntry<Entry>& saver,
        std::unique_ptr<operators::ForgottenKeys<Entry>> forgotten)
        requires(life.in_slices)
    {
        if (changes_ == nullptr) changes_ = std::make_unique<Changes>();
        return changes_->begin(saves, index_, entries_, saver, std::move(forgotten));
    }
    /// Calls `visit(entry, is_early)` for the next entries, at most so many, in the order in which
    /// they were made, or first changed, while it returns true. `is_early`: it was saved before;
    /// where keys expire, there is no call for those, nor for expired ones. True once all are
    /// saved.
    template <class Visit>
    [[nodiscard]] bool save_entries(std::size_t most, const Visit& visit)
        requires(life.in_slices)
    {
        return changes_->template save_some<life.expires>(most, index_, entries_, visit);
    }
    /// The entry, kept from an earlier event, is about to be changed. It may have expired. O(1);
    /// does nothing before the first snapshot of the table.
    void change([[maybe_unused]] Entry& entry) noexcept {
        if constexpr (life.in_slices) {
            if (changes_ != nullptr) [[unlikely]]
                changes_->change(index_, entry);
        }
    }
    /// The entry gets a state of `make()`. May throw what that throws.
    template <class Make>
    static void make_anew(Entry& entry, Make&& make) {
        State fresh = make();
        std::destroy_at(&entry.state);
        std::construct_at(&entry.state, std::move(fresh));
    }

    /// Whether keys point to texts, which the table keeps.
    static constexpr bool holds_text = operators::key_holds_text<K>;
    /// The texts that every batch with a result must keep alive.
    [[nodiscard]] memory::EpochTextPool& texts() noexcept
        requires(holds_text && life.expires && life.shows_keys)
    {
        return texts_.pool();
    }

  private:
    static constexpr std::size_t at_once = operators::looked_up_at_once;
    /// The size that fits the nearer caches together with memory that the states own elsewhere.
    static constexpr std::size_t with_memory_of_states = std::size_t{1} << 17;

    static std::size_t key_group_of(std::uint64_t hash) noexcept {
        return operators::key_group_of(hash);
    }

    [[nodiscard]] bool is_within(std::size_t bytes) const noexcept {
        return index_.size() * sizeof(Entry) < bytes;
    }

    template <class Make>
    [[gnu::noinline]] Entry& lease(const K& key, std::uint64_t hash, Make& make) {
        if constexpr (life.in_slices) {
            if (Entry* const found = taken_back(key, hash); found != nullptr) return *found;
        }
        Entry& entry = free_.empty() ? entries_.emplace_back(hash, own(key), make())
                                     : use_again(key, hash, make);
        index_.insert(entry);
        if constexpr (life.in_slices) {
            if (changes_ != nullptr) [[unlikely]]
                changes_->add(entry, index_.size());
        }
        return entry;
    }
    template <class Make>
    Entry& use_again(const K& key, std::uint64_t hash, Make& make) {
        Entry& entry = *free_.back();
        if constexpr (requires { entry.state.clear(make()); }) {
            entry.state.clear(make());
        } else if constexpr (life.clears) {
            entry.state.clear();
        } else {
            make_anew(entry, make);
        }
        entry.key = own(key);
        entry.hash = hash;
        free_.pop_back();
        return entry;
    }

    /// The entry of a key that is not present in the index, and is now; or null.
    [[nodiscard]] Entry* taken_back(const K& key, std::uint64_t hash) noexcept {
        if (changes_ == nullptr) [[likely]]
            return nullptr;
        return changes_->take_back(index_, key, hash);
    }

    void swap(KeyedState& other) noexcept {
        index_.swap(other.index_);
        entries_.swap(other.entries_);
        free_.swap(other.free_);
        std::swap(first_used_, other.first_used_);
        std::swap(last_used_, other.last_used_);
        if constexpr (holds_text) std::swap(texts_, other.texts_);
        if constexpr (life.in_slices) changes_.swap(other.changes_);
    }

    void unlink(Entry& entry) noexcept {
        (entry.earlier != nullptr ? entry.earlier->later : first_used_) = entry.later;
        (entry.later != nullptr ? entry.later->earlier : last_used_) = entry.earlier;
        entry.earlier = entry.later = nullptr;
    }

    /// The key in its kept form.
    K own(const K& key) {
        if constexpr (holds_text) {
            return texts_.own(key);
        } else {
            return key;
        }
    }

    struct Nothing {};
    using Texts = std::conditional_t<
        !holds_text, Nothing,
        std::conditional_t<life.expires, operators::EpochKeyTexts, operators::KeyTexts>>;

    operators::KeyIndex<Entry> index_;  // of the live keys
    std::deque<Entry> entries_;
    std::vector<Entry*> free_;
    Entry* first_used_ = nullptr;  // of the keys in the order of their use
    Entry* last_used_ = nullptr;
    [[no_unique_address]] Texts texts_;
    // Null: the run has taken no snapshot of the table.
    [[no_unique_address]] std::conditional_t<life.in_slices, std::unique_ptr<Changes>, Nothing>
        changes_;
};

}  // namespace strid

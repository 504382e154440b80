// SPDX-License-Identifier: Apache-2.0
//
// A table of states by key of which only a part is in memory, the entries
// (operator/stored_keys.hpp); the others are in a store (state/cold_store.hpp). An entry that was
// used since it came in, or that is new, is written when it goes out; the store may have an earlier
// state of it meanwhile, which is not read.
//
// About the least recently used entries go out: a hand goes round the places of all entries, takes
// the mark of use from those that have it, and takes out those that have none (the algorithm CLOCK;
// Corbato, "A Paging Experiment with the Multics System"). So a use writes to its entry alone.
//
// Threads: only the task of the node. An entry is valid until the next call of read_ahead(),
// make_room() or expire().
//
// Invariant: the index has the entries, which are the places that are not free. `unmeasured_` has
// the entries that are not measured. A key that is no entry has its state in the store, unless it
// is new. Between two batches the bound holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/base/heap_bytes.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/operator/cold_entries.hpp>
#include <strid/engine/operator/key_codec.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/key_index.hpp>
#include <strid/engine/operator/key_texts.hpp>
#include <strid/engine/state/layouts.hpp>
#include <strid/operator/context.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

/// How it is known what a state owns on the heap.
template <class State>
inline constexpr bool owns_nothing = std::is_trivially_copyable_v<State>;
template <class State>
inline constexpr bool is_counted_by_parts =
    !owns_nothing<State> && !owns_heap<State> && state::NamesItsState<State> &&
    !state::SavesItself<State> && !state::SavedByUser<State>;

template <class K, class State, bool shows_keys>
class StoredTable {
  public:
    /// A key with its state, in memory.
    struct Entry {
        Entry(std::uint64_t hash_of_key, K own, State made)
            : hash(hash_of_key), key(std::move(own)), state(std::move(made)) {}
        std::uint64_t hash;
        K key;                        ///< The table's own copy.
        State state;                  ///< The operator's.
        std::size_t owned_bytes = 0;  ///< By the state, as it was measured.
        std::uint32_t place = 0;
        bool is_used = false;      ///< Once more, since the hand came by.
        bool is_changed = false;   ///< Since it came in, or was written.
        bool is_stored = false;    ///< The store has it, maybe an earlier state.
        bool is_measured = false;  ///< Since it was used, or came in.
    };

    explicit StoredTable(std::size_t bound_bytes) : bound_bytes_(bound_bytes) {}
    /// A copy is another replica's: it has no keys.
    StoredTable(const StoredTable& prototype) : StoredTable(prototype.bound_bytes_) {}
    StoredTable(StoredTable&& other) : StoredTable(other.bound_bytes_) { *this = std::move(other); }
    StoredTable& operator=(const StoredTable&) = delete;
    /// The keys of another table, whose store comes with them.
    StoredTable& operator=(StoredTable&& other) noexcept {
        places_.swap(other.places_);
        free_.swap(other.free_);
        unmeasured_.swap(other.unmeasured_);
        std::swap(hand_, other.hand_);
        index_.swap(other.index_);
        if constexpr (holds_text) std::swap(texts_, other.texts_);
        std::swap(cold_, other.cold_);
        std::swap(owned_bytes_, other.owned_bytes_);
        std::swap(keys_, other.keys_);
        return *this;
    }
    ~StoredTable() = default;

    /// Before the first record. `make()` makes the state of a new key. Throws InputOutputError.
    void open(const Context& context, ColdStores& stores, std::function<State()> make) {
        make_ = std::move(make);
        cold_ = std::make_unique<ColdEntries>(context, stores);
    }

    // ---- records --------------------------------------------------------------------------------

    /// The entry of the key, with a state of `make()` if it is new. O(1); where it is not in
    /// memory, the store is asked. Throws OperatorError, and what `make` throws.
    template <class Make>
    [[gnu::always_inline]] Entry& find_or_make(const K& key, std::uint64_t hash, Make&& make) {
        Entry* found = index_.find(key, hash);
        if (found == nullptr) [[unlikely]]
            found = &bring(key, hash, make);
        use(*found);
        return *found;
    }

    /// Brings the keys of the next records into memory; returns for how many. First there is room
    /// for them. Throws OperatorError, and what the key function throws.
    template <class Arrived, class KeyOf>
    [[nodiscard, gnu::noinline]] std::size_t read_ahead(std::span<const Arrived> arrived,
                                                        KeyOf& key_of) {
        make_room();
        arrived = arrived.first(std::min(arrived.size(), ahead_most()));
        prefetch(arrived);
        missing_.clear();
        for (std::size_t i = 0; i != arrived.size(); ++i) {
            const K& key = std::invoke(key_of, arrived[i].record);
            if (index_.find(key, arrived[i].hash) != nullptr) continue;
            missing_.push_back(i);
            cold_->ask([&key](StateWriter& writer) { save_key(writer, key); });
        }
        if (missing_.empty()) return arrived.size();
        cold_->answer([&](std::size_t place, ColdStore::Bytes bytes) {
            const Arrived& one = arrived[missing_[place]];
            const K& key = std::invoke(key_of, one.record);
            if (index_.find(key, one.hash) == nullptr) load(key, one.hash, bytes);
        });
        for (const std::size_t place : missing_) {
            const K& key = std::invoke(key_of, arrived[place].record);
            const std::uint64_t hash = arrived[place].hash;
            if (index_.find(key, hash) == nullptr) insert_new(key, hash, make_());
        }
        return arrived.size();
    }

    /// Writes those that were used least recently to the store, until the bound holds. O(entries
    /// used since), amortised, and what the store needs. Throws OperatorError.
    void make_room() {
        measure_used();
        if (bytes_to_bound() <= bound_bytes_) return;
        while (bytes_to_bound() > bound_bytes_ && index_.size() != 0) {
            Entry& entry = next_at_hand();
            if (std::exchange(entry.is_used, false)) continue;
            if (entry.is_changed) {
                write(entry);
            } else if (!entry.is_stored) {
                --keys_;  // it was made for a record that never came
            }
            take_out(entry);
        }
        cold_->write_changes();
    }

    // ---- the end, and keys that are forgotten ---------------------------------------------------

    /// Some key in memory. Where none is, the next one of the store: at the end of the stream, when
    /// each is expired that this has returned. Null: there is none. Throws OperatorError.
    [[nodiscard]] Entry* longest_unused() {
        if (index_.size() != 0) return &next_at_hand();
        if (cold_ == nullptr) return nullptr;
        if (cursor_ == nullptr) cursor_ = cold_->all();
        if (!cold_->next(*cursor_)) return nullptr;
        StateReader reader{cursor_->key()};
        const K key = load_key<K>(reader);
        Entry& entry = load(key, hash_of(key), cursor_->state());
        entry.is_stored = false;  // the cursor passes it once
        return &entry;
    }
    /// Forgets the key. O(1).
    void expire(Entry& entry) {
        if (entry.is_stored) {
            cold_->remove([&entry](StateWriter& writer) { save_key(writer, entry.key); });
        }
        --keys_;
        take_out(entry);
    }

    // ---- size -----------------------------------------------------------------------------------

    /// All keys, in memory or not.
    [[nodiscard]] std::size_t keys() const noexcept { return keys_; }
    /// Of memory. O(1).
    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_to_bound() - index_.size() * bytes_of_slot + index_.bytes();
    }
    template <class Visit>
    void for_each_in_memory(const Visit& visit) {
        for (Place& place : places_) {
            if (place) visit(*place);
        }
    }
    /// The keys that are in memory.
    [[nodiscard]] std::size_t keys_in_memory() const noexcept { return index_.size(); }

    static constexpr bool holds_text = key_holds_text<K>;
    /// The texts that every batch with a result must keep alive.
    [[nodiscard]] memory::EpochTextPool& texts() noexcept
        requires(holds_text && shows_keys)
    {
        return texts_.pool();
    }

    // ---- snapshots ------------------------------------------------------------------------------

    void begin_snapshot(std::uint64_t number) { cold_->begin_snapshot(number); }
    /// The store keeps all states of this moment. O(keys in memory), and what the store needs.
    [[nodiscard]] ColdStore::Checkpoint checkpoint() {
        for_each_in_memory([this](Entry& entry) {
            if (!entry.is_changed) return;
            write(entry);
            entry.is_changed = false;
            entry.is_stored = true;
        });
        return cold_->checkpoint();
    }
    /// All keys of a checkpoint, which are so many. Throws StateError, InputOutputError.
    void restore(const ColdStore::Checkpoint& from, std::size_t keys) {
        cold_->restore(from);
        keys_ = keys;
    }
    /// The same, one by one: those of a share, from states that an earlier version of a type may
    /// have written. O(keys of the checkpoint).
    void restore_share(const ColdStore::Checkpoint& from, const KeyShare& share,
                       const state::StoredVersions* versions) {
        const auto cursor = cold_->read_checkpoint(from);
        while (cursor->next()) {
            StateReader reader{cursor->key()};
            if (!share.has(hash_of(load_key<K>(reader)))) continue;
            ++keys_;
            const auto key = [&](StateWriter& writer) { writer.bytes(cursor->key()); };
            if (versions == nullptr || versions->empty()) {
                cold_->put(key, [&](StateWriter& writer) { writer.bytes(cursor->state()); });
                continue;
            }
            StateReader before{cursor->state()};
            before.use(*versions);
            State state = make_();
            state::load(before, state);
            before.expect_end();
            cold_->put(key, [&state](StateWriter& writer) { state::save(writer, state); });
        }
        cold_->write_changes();
    }

    /// Of an entry, with what the index needs for it, about.
    static constexpr std::size_t bytes_of_slot = 4 * sizeof(std::uint64_t);
    static constexpr std::size_t bytes_of_entry =
        sizeof(std::optional<Entry>) + sizeof(std::uint32_t) + bytes_of_slot;

  private:
    static constexpr std::size_t at_once = looked_up_at_once;

    /// The bytes that the bound is for.
    [[nodiscard]] std::size_t bytes_to_bound() const noexcept {
        std::size_t bytes = index_.size() * bytes_of_entry + owned_bytes_;
        if constexpr (holds_text) bytes += texts_.bytes();
        return bytes;
    }
    /// For how many records keys are read ahead: their states take a quarter of the bound, about.
    [[nodiscard]] std::size_t ahead_most() const noexcept {
        constexpr std::size_t least = 16;
        constexpr std::size_t most = 256;
        if (index_.size() == 0) return least;
        const std::size_t average = bytes_to_bound() / index_.size();
        return std::clamp(bound_bytes_ / 4 / average, least, most);
    }
    template <class Arrived>
    void prefetch(std::span<const Arrived> arrived) const noexcept {
        for (; !arrived.empty(); arrived = arrived.subspan(std::min(arrived.size(), at_once))) {
            const auto some = arrived.first(std::min(arrived.size(), at_once));
            for (const Arrived& one : some) index_.prefetch(one.hash);
            for (const Arrived& one : some) prefetch_object(index_.guess(one.hash));
        }
    }

    void use(Entry& entry) {
        entry.is_used = entry.is_changed;  // a key that comes once goes at the first round
        entry.is_changed = true;
        if constexpr (!owns_nothing<State>) {
            if (std::exchange(entry.is_measured, false)) unmeasured_.push_back(&entry);
        }
    }
    /// The entry behind the last one that this has returned. There is one.
    [[nodiscard]] Entry& next_at_hand() {
        for (;;) {
            Place& place = places_[hand_];
            hand_ = hand_ + 1 == places_.size() ? 0 : hand_ + 1;
            if (place) return *place;
        }
    }
    void measure_used() {
        for (Entry* const entry : unmeasured_) measure(*entry);
        unmeasured_.clear();
    }
    void measure(Entry& entry) {
        owned_bytes_ -= entry.owned_bytes;
        entry.owned_bytes = owned_by(entry.state);
        owned_bytes_ += entry.owned_bytes;
        entry.is_measured = true;
    }
    template <class Value>
    [[nodiscard]] std::size_t owned_by(const Value& value) {
        if constexpr (owns_nothing<Value>) {
            return 0;
        } else if constexpr (owns_heap<Value>) {
            return heap_bytes_of(value);
        } else if constexpr (is_counted_by_parts<Value>) {
            // state() names the members in order to change them; this does not.
            return std::apply([this](auto&... parts) { return (owned_by(parts) + ... + 0); },
                              const_cast<Value&>(value).state());
        } else {
            return cold_->measure([&value](StateWriter& writer) { state::save(writer, value); });
        }
    }

    template <class Make>
    [[gnu::noinline]] Entry& bring(const K& key, std::uint64_t hash, Make& make) {
        Entry* found = nullptr;
        cold_->ask([&key](StateWriter& writer) { save_key(writer, key); });
        cold_->answer(
            [&](std::size_t, ColdStore::Bytes bytes) { found = &load(key, hash, bytes); });
        return found != nullptr ? *found : insert_new(key, hash, make());
    }
    Entry& load(const K& key, std::uint64_t hash, ColdStore::Bytes bytes) {
        State state = make_();
        StateReader reader{bytes};
        state::load(reader, state);
        reader.expect_end();
        Entry& entry = insert(key, hash, std::move(state));
        entry.is_stored = true;
        return entry;
    }
    Entry& insert_new(const K& key, std::uint64_t hash, State state) {
        Entry& entry = insert(key, hash, std::move(state));
        ++keys_;
        return entry;
    }
    Entry& insert(const K& key, std::uint64_t hash, State state) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(places_.size()));
            places_.emplace_back();
        }
        const std::uint32_t place = free_.back();
        Entry& entry = places_[place].emplace(hash, own(key), std::move(state));
        entry.place = place;
        free_.pop_back();
        index_.insert(entry);
        if constexpr (!owns_nothing<State>) unmeasured_.push_back(&entry);
        return entry;
    }
    void write(const Entry& entry) {
        cold_->put([&entry](StateWriter& writer) { save_key(writer, entry.key); },
                   [&entry](StateWriter& writer) { state::save(writer, entry.state); });
    }
    void take_out(Entry& entry) {
        if constexpr (!owns_nothing<State>) {
            if (!entry.is_measured) std::erase(unmeasured_, &entry);
        }
        index_.erase(entry);
        owned_bytes_ -= entry.owned_bytes;
        if constexpr (holds_text && shows_keys) texts_.retire(entry.key);
        if constexpr (holds_text && !shows_keys) texts_.free(entry.key);
        free_.push_back(entry.place);
        places_[entry.place].reset();
    }
    K own(const K& key) {
        if constexpr (holds_text) {
            return texts_.own(key);
        } else {
            return key;
        }
    }

    using Place = std::optional<Entry>;
    struct Nothing {};
    using Texts = std::conditional_t<holds_text, EpochKeyTexts, Nothing>;

    std::size_t bound_bytes_;
    std::deque<Place> places_;  // whose entries do not move
    std::vector<std::uint32_t> free_;
    std::vector<Entry*> unmeasured_;
    std::size_t hand_ = 0;
    KeyIndex<Entry> index_;
    [[no_unique_address]] Texts texts_;
    std::unique_ptr<ColdEntries> cold_;  // from open() on
    std::function<State()> make_;
    std::size_t owned_bytes_ = 0;  // by the states of the entries
    std::size_t keys_ = 0;
    std::vector<std::size_t> missing_;  // places among the records that come
    std::unique_ptr<ColdStore::Cursor> cursor_;
};

}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// How a table of states by key (operator/keyed_state.hpp) becomes bytes and comes back. A key with
// text is saved with its text, and hashed anew where it is loaded; the order in which keys came, or
// were used last, is kept.
//
// A state is loaded into one that the operator has made, because some of it is configuration. The
// table does not know how: the operator names it in its state() by `states_by_key(table, make)`.
//
// A table that is saved in slices (keyed_slices.hpp) may have states behind all others, whose keys
// lie in their order before, and changes behind those of its first snapshot.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/engine/operator/early_states.hpp>
#include <strid/engine/operator/key_codec.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/keyed_slices.hpp>
#include <strid/engine/operator/slices.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

/// Calls `visit(entry)` for each key in the order in which they have to be loaded: that of their
/// use where it is known, else that in which they came. Where keys expire without that order, it
/// decides nothing.
template <class Table, class Visit>
void each_in_order(Table& table, const Visit& visit) {
    constexpr KeyLife life = life_of<Table>;
    if constexpr (life.in_use_order) {
        for (auto* entry = table.longest_unused(); entry != nullptr; entry = entry->later) {
            visit(*entry);
        }
    } else if constexpr (life.expires) {
        table.for_each(visit);
    } else {
        for (auto& entry : table) visit(entry);
    }
}

/// A table by key as a part of an operator's state. It refers to the table, as a std::tie does:
/// assigned to, it moves the other's table. `make()` makes the state of a key; `lent` is an object
/// of the operator that states need while they are loaded (StateReader::lent), or null.
template <class Table, class Make, class Lent>
class StatesByKey {
    using K = decltype(Table::Entry::key);
    using State = decltype(Table::Entry::state);
    static constexpr KeyLife life = life_of<Table>;
    static constexpr bool has_codec = key_has_codec<K>() && state::has_codec<State>();

  public:
    /// A key, and what is saved of it.
    using value_type = std::pair<K, State>;

    StatesByKey(Table& table, Make make, const Lent* lent)
        : table_(&table), make_(std::move(make)), lent_(lent) {}
    StatesByKey(const StatesByKey&) = default;
    StatesByKey(StatesByKey&&) = default;
    StatesByKey& operator=(const StatesByKey&) = delete;
    StatesByKey& operator=(StatesByKey&& other) noexcept {
        *table_ = std::move(*other.table_);
        return *this;
    }
    ~StatesByKey() = default;

    // As the table itself (engine/operator/state_size.hpp).
    [[nodiscard]] std::size_t keys() const noexcept { return table_->keys(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return table_->bytes(); }
    [[nodiscard]] decltype(auto) texts() noexcept
        requires requires(Table& table) { table.texts(); }
    {
        return table_->texts();
    }

    void save(StateWriter& writer) const
        requires has_codec
    {
        if constexpr (life.in_slices) writer.length(1);
        writer.length(table_->keys());
        if constexpr (has_early_states<Table>) writer.length(0);
        each_in_order(*table_, [&](const auto& entry) {
            save_key(writer, entry.key);
            if constexpr (life.in_use_order) writer.number(as_word(entry.used_at));
            state::save(writer, entry.state);
        });
    }
    /// Saves the table as it is now, or what has changed in it, while records go on.
    [[nodiscard]] std::unique_ptr<SlicedState> in_slices(Saves saves) const
        requires(has_codec && life.in_slices)
    {
        return std::make_unique<KeyedSlices<Table>>(*table_, saves);
    }
    /// Into a table without keys.
    void load(StateReader& reader)
        requires has_codec
    {
        load(reader, KeyShare{});
    }
    /// Adds the keys of a share: those of other replicas are read, and left out.
    void load(StateReader& reader, const KeyShare& share)
        requires has_codec
    {
        const auto lending = reader.lend(lent_);
        std::size_t snapshots = 1;
        if constexpr (life.in_slices) {
            snapshots = reader.length(sizeof(std::uint64_t));
            if (snapshots == 0) reader.refuse("has no snapshot of a table");
        }
        load_keys(reader, share, false);
        for (std::size_t left = snapshots - 1; left != 0; --left) {
            if constexpr (life.in_slices && life.expires) forget_keys(reader, share);
            load_keys(reader, share, true);
        }
    }

  private:
    using Entry = typename Table::Entry;

    /// Of `changes`, a key may be there, and its state is replaced.
    void load_keys(StateReader& reader, const KeyShare& share, bool changes) {
        const std::size_t keys = reader.length(0);
        EarlyStates early(reader, has_early_states<Table>);
        for (std::uint64_t place = 0; place != keys; ++place) {
            const K key = load_key<K>(reader);
            const std::uint64_t hash = hash_of(key);
            const bool is_early = early.is_next(place);
            std::int64_t used_at = 0;
            if constexpr (life.in_use_order) used_at = as_time(reader.number());
            if (!share.has(hash)) {
                if (!is_early) leave_out_state(reader);
                continue;
            }
            const std::size_t keys_before = table_->keys();
            Entry& entry = table_->find_or_make(key, hash, make_);
            if (table_->keys() == keys_before) {
                if (!changes) reader.refuse("has a key twice");
                Table::make_anew(entry, make_);
            }
            if (is_early) {
                early.await(&entry);
                continue;
            }
            state::load(reader, entry.state);
            if constexpr (life.in_use_order) {
                // Of several replicas: a key is kept for a little longer then.
                if (auto* const last = table_->last_used(); last != nullptr) {
                    used_at = std::max(used_at, last->used_at);
                }
                table_->use(entry, used_at);
            }
        }
        if (early.has_next()) reader.refuse("has the place of no key");
        for (std::size_t left = early.count(); left != 0; --left) load_early(reader, share, early);
    }
    void forget_keys(StateReader& reader, const KeyShare& share) {
        for (std::size_t left = reader.length(0); left != 0; --left) {
            const K key = load_key<K>(reader);
            const std::uint64_t hash = hash_of(key);
            if (!share.has(hash)) continue;
            Entry* const entry = table_->find(key, hash);
            if (entry == nullptr) continue;  // it was new, too
            // An operator empties what it forgets before: the entry may be used again.
            Table::make_anew(*entry, make_);
            table_->expire(*entry);
        }
    }
    void load_early(StateReader& reader, const KeyShare& share, EarlyStates& early) {
        const K key = load_key<K>(reader);
        const std::uint64_t hash = hash_of(key);
        if (!share.has(hash)) return leave_out_state(reader);
        Entry* const entry = table_->find(key, hash);
        if (!early.arrives(entry)) reader.refuse("has the state of no key");
        state::load(reader, entry->state);
    }
    void leave_out_state(StateReader& reader) {
        State of_another = make_();
        state::load(reader, of_another);
    }
    static std::uint64_t as_word(std::int64_t time) noexcept {
        return static_cast<std::uint64_t>(time);
    }
    static std::int64_t as_time(std::uint64_t word) noexcept {
        return static_cast<std::int64_t>(word);
    }

    Table* table_;
    Make make_;
    const Lent* lent_;
};

/// A value as a part of a state, of which several replicas together have the greatest.
template <class T>
class GreatestOf {
  public:
    explicit GreatestOf(T& value) noexcept : value_(&value) {}
    GreatestOf(const GreatestOf&) = default;
    GreatestOf& operator=(const GreatestOf&) = delete;
    GreatestOf& operator=(GreatestOf&& other) noexcept {
        *value_ = *other.value_;
        return *this;
    }
    ~GreatestOf() = default;

    void save(StateWriter& writer) const { state::save(writer, *value_); }
    void load(StateReader& reader) { state::load(reader, *value_); }
    void load(StateReader& reader, const KeyShare& /*share*/) {
        *value_ = std::max(*value_, state::loaded<T>(reader));
    }

  private:
    T* value_;
};

/// For state(): the table, and how the operator makes the state of a key.
template <class Table, class Make>
[[nodiscard]] auto states_by_key(Table& table, Make make) {
    return StatesByKey<Table, Make, void>{table, std::move(make), nullptr};
}
/// The same; states that are loaded may ask for `lent`.
template <class Table, class Make, class Lent>
[[nodiscard]] auto states_by_key(Table& table, Make make, const Lent& lent) {
    return StatesByKey<Table, Make, Lent>{table, std::move(make), &lent};
}
/// The same, of states that are made by their default constructor.
template <class Table>
[[nodiscard]] auto states_by_key(Table& table) {
    return states_by_key(table, [] { return decltype(Table::Entry::state){}; });
}

}  // namespace strid::operators

namespace strid {

/// A table by itself, whose states are made by their default constructor (strid/state/codec.hpp).
template <class K, class State, KeyLife life>
    requires(operators::key_has_codec<K>() && state::has_codec<State>() &&
             std::is_default_constructible_v<State>)
void save_state(StateWriter& writer, const KeyedState<K, State, life>& table) {
    // Saving changes nothing.
    operators::states_by_key(const_cast<KeyedState<K, State, life>&>(table)).save(writer);
}
/// Into a table without keys.
template <class K, class State, KeyLife life>
    requires(operators::key_has_codec<K>() && state::has_codec<State>() &&
             std::is_default_constructible_v<State>)
void load_state(StateReader& reader, KeyedState<K, State, life>& table) {
    operators::states_by_key(table).load(reader);
}
/// The keys of one replica of several.
template <class K, class State, KeyLife life>
    requires(operators::key_has_codec<K>() && state::has_codec<State>() &&
             std::is_default_constructible_v<State>)
void load_share_of_state(StateReader& reader, KeyedState<K, State, life>& table,
                         const operators::KeyShare& share) {
    operators::states_by_key(table).load(reader, share);
}

}  // namespace strid

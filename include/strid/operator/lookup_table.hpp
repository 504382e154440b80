// SPDX-License-Identifier: Apache-2.0
//
// The tables that enrich streams: by a key (LookupTable), by the range that contains a key
// (RangeTable), or by the last step at or before it (StepTable). Each is made once, of entries in
// any order, and searched by a static B-tree (search/b_tree.hpp), several keys side by side. Keys
// that are whole numbers and close together index an array instead.
//
// Keys are numbers, text, or any type with `<`. A table of std::string is searched by
// std::string_view. A table whose keys are std::string_view does not own their text, which must
// outlive it. NaN is no key, and is never found. Values are of any movable type except bool.
//
// `lookup` enriches a stream with a table (operator/lookup.hpp). A CurrentTable exchanges it while
// the graph runs (operator/current_table.hpp), and connector/table_file.hpp reads it from a file.
//
// A pointer that find() returns is valid until the table is assigned to or destroyed. A move takes
// the values along where they lie: pointers into `other` then point into the new table.
//
// Threads: immutable after construction; any thread. Invariant: values are in the order of their
// keys.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/search/b_tree.hpp>
#include <strid/search/search_keys.hpp>

namespace strid {

/// Entries that make no table: two of one key, ranges that overlap or end before they begin, a key
/// that is NaN, or more than 2^32 - 2 entries.
class TableError : public Error {
  public:
    /// `entry` and `other` are the positions of the entries that do not go together.
    TableError(const std::string& message, std::size_t entry, std::size_t other)
        : Error(message), entry_(entry), other_(other) {}

    /// The entry that is refused, counted from 0 in the order given: of two with equal keys the
    /// later one, of two ranges that overlap the one that begins later.
    [[nodiscard]] std::size_t entry() const noexcept { return entry_; }
    /// The entry that conflicts with it; the same number if none does.
    [[nodiscard]] std::size_t other() const noexcept { return other_; }

  private:
    std::size_t entry_;
    std::size_t other_;
};

namespace operators {

/// The whole numbers that an array can be indexed by.
template <class Key>
concept IndexKey = std::integral<Key>;

/// "the key 7", or as much of it as an error can show.
template <class Key>
[[nodiscard]] std::string named_key(const Key& key) {
    if constexpr (std::integral<Key>) {
        return "the key " + std::to_string(key);
    } else if constexpr (std::convertible_to<const Key&, std::string_view>) {
        return "the key '" + excerpt(std::string_view(key)) + "'";
    } else {
        return "a key";
    }
}

/// Entries in the order of their keys, with their original positions.
template <class Entry, class Key>
[[nodiscard]] std::vector<std::size_t> order_of_entries(const std::vector<Entry>& entries,
                                                        const Key Entry::*key) {
    if (entries.size() > memory::tree_keys_max) {
        throw TableError("the table has too many entries", memory::tree_keys_max,
                         memory::tree_keys_max);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!memory::is_ordered(entries[i].*key)) throw TableError("a key is NaN", i, i);
    }
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_before = [&](std::size_t one, std::size_t other) {
        return entries[one].*key < entries[other].*key;
    };
    if (!std::is_sorted(order.begin(), order.end(), is_before)) {
        std::stable_sort(order.begin(), order.end(), is_before);
    }
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (!is_before(order[i - 1], order[i])) {
            throw TableError(named_key(entries[order[i]].*key) + " is named twice", order[i],
                             order[i - 1]);
        }
    }
    return order;
}

/// Keys and values in their order. A table that was moved from may be assigned to or destroyed.
template <class Key, class Value>
class SortedTable {
    static_assert(!std::same_as<Value, bool>,
                  "a table has no bools, which std::vector packs: take char or an enum");

  public:
    using key_type = Key;
    using value_type = Value;

    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
    /// In the order of the keys.
    [[nodiscard]] const std::vector<Value>& values() const noexcept { return values_; }

  protected:
    SortedTable() = default;
    /// Moves from the entries.
    template <class Entry>
    SortedTable(std::vector<Entry>& entries, const std::vector<std::size_t>& order, Key Entry::*key,
                Value Entry::*value) {
        std::vector<Key> keys;
        keys.reserve(order.size());
        values_.reserve(order.size());
        for (const std::size_t entry : order) {
            keys.push_back(std::move(entries[entry].*key));
            values_.push_back(std::move(entries[entry].*value));
        }
        tree_ = memory::BTree<Key>{std::span<const Key>(keys)};
    }

    memory::BTree<Key> tree_;
    std::vector<Value> values_;  // by slot of the tree
};

/// The number of keys that one call searches side by side.
inline constexpr std::size_t slots_at_once = 64;

/// Calls `take(i, slot)` for the slot at or before each query, which `tree` finds side by side.
template <class Tree, class Query, class Take>
void for_each_slot(const Tree& tree, std::span<const Query> queries, const Take& take) {
    std::array<memory::TreeSlot, slots_at_once> slots;
    for (std::size_t first = 0; first < queries.size(); first += slots_at_once) {
        const std::size_t some = std::min(slots_at_once, queries.size() - first);
        tree.at_or_before(queries.subspan(first, some), std::span(slots));
        for (std::size_t i = 0; i < some; ++i) take(first + i, slots[i]);
    }
}

}  // namespace operators

/// A value for each key.
template <memory::SearchKey Key, class Value>
class LookupTable : public operators::SortedTable<Key, Value> {
    using Sorted = operators::SortedTable<Key, Value>;

  public:
    /// An entry of a table.
    struct Entry {
        Key key;      ///< Unique in the table.
        Value value;  ///< The value that is found.
    };

    LookupTable() = default;
    /// O(n log n), and O(n) where the entries are in order. Throws TableError.
    explicit LookupTable(std::vector<Entry> entries)
        : LookupTable(entries, operators::order_of_entries(entries, &Entry::key)) {}
    ~LookupTable() = default;
    /// O(n). The index points to values; a move leaves them in place.
    LookupTable(const LookupTable& other) : Sorted(other) {
        if constexpr (operators::IndexKey<Key>) make_index();
    }
    LookupTable(LookupTable&& other) noexcept = default;
    LookupTable& operator=(const LookupTable& other) { return *this = LookupTable(other); }
    LookupTable& operator=(LookupTable&& other) noexcept = default;

    /// The value of the key, or null. O(log n), or O(1) if is_indexed() and the query is a `Key`.
    template <memory::SearchesFor<Key> Query>
    [[nodiscard]] const Value* find(const Query& query) const noexcept {
        if constexpr (operators::IndexKey<Key> && std::same_as<Query, Key>) {
            // Without an index, no number is below its end.
            const std::uint64_t at = index_of(query);
            if (at < index_end_) [[likely]]
                return index_[at];
            return find_by_value(query);
        } else {
            return find_in_tree(query);
        }
    }
    /// The same for several keys, side by side: `found[i]` is for `queries[i]`. `found` is at least
    /// as long as `queries`.
    template <memory::SearchesFor<Key> Query>
    void find(std::span<const Query> queries, std::span<const Value*> found) const noexcept {
        if constexpr (operators::IndexKey<Key> && std::same_as<Query, Key>) {
            if (is_indexed()) {
                for (std::size_t i = 0; i < queries.size(); ++i) found[i] = find(queries[i]);
                return;
            }
        }
        operators::for_each_slot(this->tree_, queries, [&](std::size_t i, memory::TreeSlot slot) {
            found[i] = exact(slot, queries[i]);
        });
    }
    /// Its keys index an array: they are integers, and the greatest is less than four times the
    /// number of entries, or less than 1,024, above the least.
    [[nodiscard]] bool is_indexed() const noexcept { return index_end_ != 0; }

  private:
    /// An index takes 8 bytes for each number between the least and the greatest key: at most four
    /// times as much as keys of 8 bytes, or 8 KiB.
    static constexpr std::uint64_t numbers_per_key_max = 4;
    static constexpr std::uint64_t numbers_always = 1'024;

    LookupTable(std::vector<Entry>& entries, const std::vector<std::size_t>& order)
        : Sorted(entries, order, &Entry::key, &Entry::value) {
        if constexpr (operators::IndexKey<Key>) make_index();
    }

    [[nodiscard]] std::uint64_t index_of(Key key) const noexcept
        requires operators::IndexKey<Key>
    {
        // Modulo 2^64: the distance to the least key, for signed keys too.
        return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(least_);
    }
    void make_index()
        requires operators::IndexKey<Key>
    {
        const std::size_t size = this->tree_.size();
        if (size == 0) return;
        least_ = this->tree_.key(0);
        const std::uint64_t greatest =
            index_of(this->tree_.key(static_cast<memory::TreeSlot>(size - 1)));
        if (greatest >= std::max(numbers_per_key_max * size, numbers_always)) return;
        index_.assign(greatest + 1, nullptr);
        for (std::size_t i = 0; i < size; ++i) {
            const auto slot = static_cast<memory::TreeSlot>(i);
            index_[index_of(this->tree_.key(slot))] = this->values_.data() + i;
        }
        index_end_ = index_.size();
    }
    /// By value: a reference would need the key in memory.
    [[nodiscard, gnu::noinline]] const Value* find_by_value(Key query) const noexcept
        requires operators::IndexKey<Key>
    {
        return is_indexed() ? nullptr : exact(this->tree_.at_or_before(query), query);
    }
    /// Out of line: inlined into the loop of a chain, the search would use up the registers.
    template <class Query>
    [[nodiscard, gnu::noinline]] const Value* find_in_tree(const Query& query) const noexcept {
        return exact(this->tree_.at_or_before(query), query);
    }
    template <class Query>
    [[nodiscard]] const Value* exact(memory::TreeSlot slot, const Query& query) const noexcept {
        if (slot == memory::no_slot || this->tree_.key(slot) < query) return nullptr;
        return this->values_.data() + slot;
    }

    Key least_{};
    std::uint64_t index_end_ = 0;  // its size, in a place of its own: read at each look-up
    std::vector<const Value*, memory::TableAllocator<const Value*>> index_;
};

/// A value for each range of keys, both ends included. Ranges do not overlap.
template <memory::SearchKey Key, class Value>
class RangeTable : public operators::SortedTable<Key, Value> {
    using Sorted = operators::SortedTable<Key, Value>;

  public:
    /// An entry of a table.
    struct Entry {
        Key first;    ///< The first key of the range.
        Key last;     ///< The last key of the range, in it.
        Value value;  ///< The value that is found.
    };

    RangeTable() = default;
    /// O(n log n), and O(n) where the entries are in order. Throws TableError.
    explicit RangeTable(std::vector<Entry> entries) : RangeTable(entries, order_of(entries)) {}

    /// The value of the range that contains the key, or null. O(log n).
    template <memory::SearchesFor<Key> Query>
    [[nodiscard, gnu::noinline]] const Value* find(const Query& query) const noexcept {
        return around(this->tree_.at_or_before(query), query);
    }
    /// Finds several at once, faster: found[i] is for queries[i], null where no range has it.
    /// `found` is at least as long as `queries`.
    template <memory::SearchesFor<Key> Query>
    void find(std::span<const Query> queries, std::span<const Value*> found) const noexcept {
        operators::for_each_slot(this->tree_, queries, [&](std::size_t i, memory::TreeSlot slot) {
            found[i] = around(slot, queries[i]);
        });
    }

  private:
    RangeTable(std::vector<Entry>& entries, const std::vector<std::size_t>& order)
        : Sorted(entries, order, &Entry::first, &Entry::value) {
        lasts_.reserve(order.size());
        for (const std::size_t entry : order) lasts_.push_back(std::move(entries[entry].last));
    }

    [[nodiscard]] static std::vector<std::size_t> order_of(const std::vector<Entry>& entries) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!memory::is_ordered(entries[i].last)) throw TableError("a key is NaN", i, i);
            if (entries[i].last < entries[i].first) {
                throw TableError("a range ends before it begins", i, i);
            }
        }
        std::vector<std::size_t> order = operators::order_of_entries(entries, &Entry::first);
        for (std::size_t i = 1; i < order.size(); ++i) {
            if (!(entries[order[i - 1]].last < entries[order[i]].first)) {
                throw TableError("a range overlaps another", order[i], order[i - 1]);
            }
        }
        return order;
    }
    template <class Query>
    [[nodiscard]] const Value* around(memory::TreeSlot slot, const Query& query) const noexcept {
        if (slot == memory::no_slot || lasts_[slot] < query) return nullptr;
        return this->values_.data() + slot;
    }

    std::vector<Key, memory::TableAllocator<Key>> lasts_;  // by slot
};

/// A value from each key on, up to the next key: the tariff of a time, for example.
template <memory::SearchKey Key, class Value>
class StepTable : public operators::SortedTable<Key, Value> {
    using Sorted = operators::SortedTable<Key, Value>;

  public:
    /// An entry of a table.
    struct Entry {
        Key from;     ///< Its value holds from this key on, up to the next entry's.
        Value value;  ///< The value that is found.
    };

    StepTable() = default;
    /// O(n log n), and O(n) where the entries are in order. Throws TableError.
    explicit StepTable(std::vector<Entry> entries)
        : StepTable(entries, operators::order_of_entries(entries, &Entry::from)) {}

    /// The value of the last step at or before the key, or null if all are after it. O(log n).
    template <memory::SearchesFor<Key> Query>
    [[nodiscard, gnu::noinline]] const Value* find(const Query& query) const noexcept {
        return at(this->tree_.at_or_before(query));
    }
    /// Finds several at once, faster: found[i] is for queries[i], null before the first entry.
    /// `found` is at least as long as `queries`.
    template <memory::SearchesFor<Key> Query>
    void find(std::span<const Query> queries, std::span<const Value*> found) const noexcept {
        operators::for_each_slot(this->tree_, queries, [&](std::size_t i, memory::TreeSlot slot) {
            found[i] = at(slot);
        });
    }

  private:
    StepTable(std::vector<Entry>& entries, const std::vector<std::size_t>& order)
        : Sorted(entries, order, &Entry::from, &Entry::value) {}

    [[nodiscard]] const Value* at(memory::TreeSlot slot) const noexcept {
        return slot == memory::no_slot ? nullptr : this->values_.data() + slot;
    }
};

}  // namespace strid

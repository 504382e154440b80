// SPDX-License-Identifier: Apache-2.0
//
// Sets of keys in their order that change: a B+-tree of nodes of four cache lines, for a million
// keys and more, where each level of std::set is another line and another page (paper 5, "prefer
// n-ary tree implementation to binary tree").
//
//     OrderedSet<std::uint64_t> open;
//     open.insert(4711);                       // false in the second of the pair: it is there
//     for (const auto order : open.range(4000, 5000)) ...
//     open.rebuild();                          // for reading: full nodes, in order, one block
//
// Keys have `<`; numbers are compared several at once. A query may be of another type that compares
// with keys. NaN is refused. Keys are moved without exceptions. An exception changes nothing. A
// table that never changes is smaller and faster as a SearchTree (search_tree.hpp).
//
// Threads: one changes a set; any number read it while none does.
#pragma once

#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

#include <strid/engine/search/ordered_container.hpp>
#include <strid/memory/table_allocator.hpp>
#include <strid/search/ordered_options.hpp>

namespace strid::memory {

namespace detail {

/// A set (`unique`) or multiset; the rest of its functions: OrderedContainer.
template <class Key, bool unique, Elements elements, class Allocator>
class OrderedKeys
    : public OrderedContainer<OrderedTraits<Key, NoSlot, unique, elements, Allocator>> {
    using Base = OrderedContainer<OrderedTraits<Key, NoSlot, unique, elements, Allocator>>;

  public:
    using Base::Base;
    using iterator = typename Base::iterator;
    /// The result of insert(): where the key is, and for a set whether it is new.
    using Inserted = std::conditional_t<unique, std::pair<iterator, bool>, iterator>;

    OrderedKeys(std::initializer_list<Key> keys) { insert(keys.begin(), keys.end()); }
    /// In any order. O(n) where they ascend, else O(n log n).
    template <std::input_iterator Iterator>
    OrderedKeys(Iterator first, Iterator last, const Allocator& allocator = Allocator())
        : Base(allocator) {
        insert(first, last);
    }

    /// O(log n). Throws std::invalid_argument for NaN, and what the allocator and the copy of a key
    /// throw; then nothing has changed.
    Inserted insert(const Key& key) {
        return insert_key(key, [&key] { return Key(key); });
    }
    Inserted insert(Key&& key) {
        return insert_key(key, [&key]() -> Key&& { return std::move(key); });
    }
    /// One after the other: after an exception those before it are there.
    template <std::input_iterator Iterator>
    void insert(Iterator first, Iterator last) {
        for (; first != last; ++first) insert(*first);
    }
    void insert(std::initializer_list<Key> keys) { insert(keys.begin(), keys.end()); }
    template <class... Arguments>
    Inserted emplace(Arguments&&... arguments) {
        return insert(Key(std::forward<Arguments>(arguments)...));
    }

  private:
    template <class Take>
    Inserted insert_key(const Key& key, Take&& take) {
        const auto [at, is_there] = this->place_for(key);
        if constexpr (unique) {
            if (is_there) return {iterator(at), false};
            return {this->insert_at(at, take(), NoSlot{}), true};
        } else {
            return this->insert_at(at, take(), NoSlot{});
        }
    }
};

}  // namespace detail

/// A set: a key that is there is refused. As std::set but for the addresses (Elements) and for
/// iterators, which every change invalidates.
template <SearchKey Key, Elements elements = Elements::move, class Allocator = TableAllocator<Key>>
using OrderedSet = detail::OrderedKeys<Key, true, elements, Allocator>;

/// A multiset: equal keys are kept, in the order of their insertion.
template <SearchKey Key, Elements elements = Elements::move, class Allocator = TableAllocator<Key>>
using OrderedMultiset = detail::OrderedKeys<Key, false, elements, Allocator>;

}  // namespace strid::memory

// SPDX-License-Identifier: Apache-2.0
//
// Values by key in the order of keys, in the tree of ordered_set.hpp:
//
//     OrderedMap<std::int64_t, Level> book;
//     book[price].quantity += 100;
//     for (auto [at, level] : book.range(9'900, 10'000)) ...    // const Key&, Level&
//
// Keys and values of a node are apart, so that a search reads keys alone; an iterator therefore
// yields a pair of references (`first`, `second`). Values may be of any size and move-only; those
// that are in the nodes (Elements::move) are moved without exceptions.
//
// Threads: one changes a map; any number read it while none does.
#pragma once

#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <strid/engine/search/ordered_container.hpp>
#include <strid/memory/table_allocator.hpp>
#include <strid/search/ordered_options.hpp>

namespace strid::memory {

namespace detail {

/// A map (`unique`) or multimap; the rest of its functions: OrderedContainer.
template <class Key, class Value, bool unique, Elements elements, class Allocator>
class OrderedValues
    : public OrderedContainer<OrderedTraits<Key, Value, unique, elements, Allocator>> {
    using Base = OrderedContainer<OrderedTraits<Key, Value, unique, elements, Allocator>>;

  public:
    using Base::Base;
    using mapped_type = Value;
    using iterator = typename Base::iterator;
    using value_type = typename Base::value_type;
    using Inserted = std::conditional_t<unique, std::pair<iterator, bool>, iterator>;

    OrderedValues(std::initializer_list<value_type> all) { insert(all.begin(), all.end()); }
    template <std::input_iterator Iterator>
    OrderedValues(Iterator first, Iterator last, const Allocator& allocator = Allocator())
        : Base(allocator) {
        insert(first, last);
    }

    /// O(log n). Throws std::invalid_argument for NaN, and what the allocator and the copies throw;
    /// then nothing has changed.
    Inserted insert(const value_type& pair) { return emplace(pair.first, pair.second); }
    Inserted insert(value_type&& pair) {
        return emplace(std::move(pair.first), std::move(pair.second));
    }
    /// One after the other: after an exception those before it are there.
    template <std::input_iterator Iterator>
    void insert(Iterator first, Iterator last) {
        for (; first != last; ++first) insert(value_type(*first));
    }
    void insert(std::initializer_list<value_type> all) { insert(all.begin(), all.end()); }
    /// A key, and what the value is made of. Where the key is there, a map makes nothing.
    template <class... Arguments>
    Inserted emplace(Key key, Arguments&&... arguments) {
        const auto [at, is_there] = this->place_for(key);
        if constexpr (unique) {
            if (is_there) return {iterator(at), false};
        }
        Value value(std::forward<Arguments>(arguments)...);
        const iterator made = this->insert_at(at, std::move(key), std::move(value));
        if constexpr (unique) {
            return {made, true};
        } else {
            return made;
        }
    }
    template <class... Arguments>
    Inserted try_emplace(Key key, Arguments&&... arguments)
        requires unique
    {
        return emplace(std::move(key), std::forward<Arguments>(arguments)...);
    }
    template <class Object>
    Inserted insert_or_assign(Key key, Object&& object)
        requires unique
    {
        const auto found = this->find(key);
        if (found == this->end()) return emplace(std::move(key), std::forward<Object>(object));
        (*found).second = std::forward<Object>(object);
        return {found, false};
    }
    /// The value of a key; one made by default where there was none.
    Value& operator[](const Key& key)
        requires unique
    {
        return (*emplace(key).first).second;
    }
    /// Throws std::out_of_range where the key is not there.
    template <SearchesFor<Key> Query>
    [[nodiscard]] Value& at(const Query& key)
        requires unique
    {
        return (*there(this->find(key))).second;
    }
    template <SearchesFor<Key> Query>
    [[nodiscard]] const Value& at(const Query& key) const
        requires unique
    {
        return (*there(this->find(key))).second;
    }

  private:
    template <class Found>
    Found there(Found found) const {
        if (typename Base::const_iterator(found) == this->cend()) {
            throw std::out_of_range("the key is not in the map");
        }
        return found;
    }
};

}  // namespace detail

/// A map: a key that is there is refused. As std::map but for the pair of references, the addresses
/// (Elements), and iterators, which every change invalidates.
template <SearchKey Key, class Value, Elements elements = Elements::move,
          class Allocator = TableAllocator<std::pair<const Key, Value>>>
using OrderedMap = detail::OrderedValues<Key, Value, true, elements, Allocator>;

/// A multimap: equal keys are kept, in the order of their insertion.
template <SearchKey Key, class Value, Elements elements = Elements::move,
          class Allocator = TableAllocator<std::pair<const Key, Value>>>
using OrderedMultimap = detail::OrderedValues<Key, Value, false, elements, Allocator>;

}  // namespace strid::memory

// SPDX-License-Identifier: Apache-2.0
//
// The types of ordered sets and maps (ordered_container.hpp) and their iterators. Threads: those of
// the container.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <strid/engine/search/ordered_tree.hpp>
#include <strid/search/ordered_options.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory::detail {

/// An element that stays.
template <class Key, class Value>
struct alignas(void*) StayingElement {
    Key key;
    [[no_unique_address]] Value value;
};

/// The types of a container. `Value` is NoSlot for sets.
template <SearchKey KeyType, class ValueType, bool unique, Elements where, class AllocatorType>
struct OrderedTraits {
    using Key = KeyType;
    using Value = ValueType;
    using Allocator = AllocatorType;
    using Element = StayingElement<Key, Value>;
    static constexpr bool is_unique = unique;
    static constexpr bool stays = where == Elements::stay;
    static constexpr bool is_map = !std::is_same_v<Value, NoSlot>;
    using Slot = std::conditional_t<stays, Element*, Value>;
    using Tree = OrderedTree<Key, Slot, Allocator>;

    [[nodiscard]] static const Key& key_at(const TreePlace<Key>& at) noexcept {
        if constexpr (stays) {
            return Tree::slots(at.leaf)[at.index]->key;
        } else {
            return at.leaf->keys()[at.index];
        }
    }
    [[nodiscard]] static Value& value_at(const TreePlace<Key>& at) noexcept {
        if constexpr (stays) {
            return Tree::slots(at.leaf)[at.index]->value;
        } else {
            return Tree::slots(at.leaf)[at.index];
        }
    }
};

/// References to a key and its value, in the place of an element of a map. `auto [key, value]`.
template <class Key, class Value>
struct KeyAndValue {
    const Key& first;
    Value& second;

    operator std::pair<Key, std::remove_const_t<Value>>() const  // NOLINT: implicit by intent
        requires std::copy_constructible<std::remove_const_t<Value>>
    {
        return {first, second};
    }
    friend bool operator==(const KeyAndValue& one, const KeyAndValue& other) {
        return one.first == other.first && one.second == other.second;
    }
};

/// Bidirectional; of a map it yields KeyAndValue.
template <class Traits, bool is_const>
class OrderedIterator {
    using Key = typename Traits::Key;
    using Value =
        std::conditional_t<is_const, const typename Traits::Value, typename Traits::Value>;

  public:
    using value_type =
        std::conditional_t<Traits::is_map, std::pair<Key, typename Traits::Value>, Key>;
    using reference = std::conditional_t<Traits::is_map, KeyAndValue<Key, Value>, const Key&>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::bidirectional_iterator_tag;
    using iterator_category = std::bidirectional_iterator_tag;
    /// The result of `->` of an iterator of a map.
    struct Arrow {
        reference pair;
        const reference* operator->() const noexcept { return &pair; }
    };
    using pointer = std::conditional_t<Traits::is_map, Arrow, const Key*>;

    OrderedIterator() = default;
    explicit OrderedIterator(TreePlace<Key> at) noexcept : at_(at) {}
    operator OrderedIterator<Traits, true>() const noexcept  // NOLINT: implicit by intent
        requires(!is_const)
    {
        return OrderedIterator<Traits, true>(at_);
    }

    [[nodiscard]] reference operator*() const noexcept {
        if constexpr (Traits::is_map) {
            return {Traits::key_at(at_), Traits::value_at(at_)};
        } else {
            return Traits::key_at(at_);
        }
    }
    [[nodiscard]] pointer operator->() const noexcept {
        if constexpr (Traits::is_map) {
            return {**this};
        } else {
            return &**this;
        }
    }
    OrderedIterator& operator++() noexcept {
        if (++at_.index == at_.leaf->count && at_.leaf->next != nullptr) at_ = {at_.leaf->next, 0};
        return *this;
    }
    OrderedIterator& operator--() noexcept {
        if (at_.index == 0) at_ = {at_.leaf->previous, at_.leaf->previous->count};
        --at_.index;
        return *this;
    }
    OrderedIterator operator++(int) noexcept {
        const OrderedIterator before = *this;
        ++*this;
        return before;
    }
    OrderedIterator operator--(int) noexcept {
        const OrderedIterator before = *this;
        --*this;
        return before;
    }
    friend bool operator==(const OrderedIterator& one, const OrderedIterator& other) noexcept {
        return one.at_.leaf == other.at_.leaf && one.at_.index == other.at_.index;
    }
    /// For the container.
    [[nodiscard]] const TreePlace<Key>& place() const noexcept { return at_; }

  private:
    TreePlace<Key> at_{nullptr, 0};
};

}  // namespace strid::memory::detail

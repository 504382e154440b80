// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a B+-tree that changes (ordered_tree.hpp). All elements are in the leaves; an inner
// node has the keys that separate its children. A node begins with 32 bytes of links and, for
// numbers, 224 bytes of keys: four cache lines. The places behind the last key of a number hold the
// greatest value of the type, so that a search compares all places, and needs no count.
//
// Separator s between two subtrees: keys on the left are not greater than s, keys on the right are
// not less. Threads: those of the tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/search/key_checks.hpp>

namespace strid::memory {

template <class Key>
struct TreeInner;

/// Keys of a node.
template <class Key>
inline constexpr std::size_t tree_node_keys =
    std::max<std::size_t>(is_plain_number<Key> ? 1 : 8, (4 * cache_line_bytes - 32) / sizeof(Key));

/// The common part of leaves and inner nodes.
template <class Key>
struct TreeNode {
    TreeNode* previous;  // of a leaf, in the order of keys
    TreeNode* next;
    TreeInner<Key>* parent;
    std::uint32_t rank;   // while the tree is laid out anew
    std::uint32_t count;  // of the keys
    alignas(std::max<std::size_t>(alignof(Key),
                                  32)) std::byte storage[tree_node_keys<Key> * sizeof(Key)];

    [[nodiscard]] Key* keys() noexcept { return reinterpret_cast<Key*>(storage); }
    [[nodiscard]] const Key* keys() const noexcept { return reinterpret_cast<const Key*>(storage); }
};
static_assert(sizeof(TreeNode<std::uint64_t>) == 4 * cache_line_bytes);

/// `count` separators, and one child more.
template <class Key>
struct alignas(cache_line_bytes) TreeInner : TreeNode<Key> {
    TreeNode<Key>* children[tree_node_keys<Key> + 1];
};

/// Nothing beside a key.
struct NoSlot {};

/// Room for what lies beside each key.
template <class Slot, std::size_t count>
struct SlotStorage {
    alignas(Slot) std::byte bytes[count * sizeof(Slot)];
};
template <std::size_t count>
struct SlotStorage<NoSlot, count> {};

template <class Key, class Slot>
struct alignas(cache_line_bytes) TreeLeaf : TreeNode<Key> {
    [[no_unique_address]] SlotStorage<Slot, tree_node_keys<Key>> beside;

    [[nodiscard]] Slot* slots() noexcept { return reinterpret_cast<Slot*>(&beside); }
};

/// The value behind the last key of a node of numbers.
template <class Key>
[[nodiscard]] constexpr Key greatest_key() noexcept {
    if constexpr (std::is_enum_v<Key>) {
        return static_cast<Key>(std::numeric_limits<std::underlying_type_t<Key>>::max());
    } else if constexpr (std::numeric_limits<Key>::has_infinity) {
        return std::numeric_limits<Key>::infinity();
    } else {
        return std::numeric_limits<Key>::max();
    }
}
template <class Key>
void pad_keys(TreeNode<Key>& node, std::size_t from) noexcept {
    if constexpr (is_plain_number<Key>) {
        std::fill(node.keys() + from, node.keys() + tree_node_keys<Key>, greatest_key<Key>());
    }
}

/// Moves `count` objects to places without objects; the ranges may overlap.
template <class T>
void relocate(T* from, std::size_t count, T* to) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "keys and values of a search tree are moved without exceptions");
    if constexpr (std::is_same_v<T, NoSlot>) {
        return;
    } else if constexpr (std::is_trivially_copyable_v<T>) {
        if (count != 0) std::memmove(static_cast<void*>(to), from, count * sizeof(T));
    } else if (to < from) {
        for (std::size_t i = 0; i != count; ++i) {
            std::construct_at(to + i, std::move(from[i]));
            std::destroy_at(from + i);
        }
    } else {
        for (std::size_t i = count; i-- != 0;) {
            std::construct_at(to + i, std::move(from[i]));
            std::destroy_at(from + i);
        }
    }
}
/// Puts an object between others; there is room for one more.
template <class T>
void put_between(T* all, std::size_t count, std::size_t at, T&& object) noexcept {
    if constexpr (std::is_same_v<T, NoSlot>) return;
    relocate(all + at, count - at, all + at + 1);
    std::construct_at(all + at, std::move(object));
}
/// Takes an object out and closes the gap.
template <class T>
void take_between(T* all, std::size_t count, std::size_t at) noexcept {
    if constexpr (std::is_same_v<T, NoSlot>) return;
    std::destroy_at(all + at);
    relocate(all + at + 1, count - at - 1, all + at);
}

}  // namespace strid::memory

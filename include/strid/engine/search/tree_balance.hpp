// SPDX-License-Identifier: Apache-2.0
//
// The balance of a B+-tree that changes: a full node is split, and one with few elements is merged
// with a neighbour. A change of a leaf is passed on to its parents, as far as they become full or
// nearly empty.
//
// Part of ordered_tree.hpp. Nodes and the copy of the separator are there before a node is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <strid/engine/search/ordered_tree.hpp>

namespace strid::memory {

/// Makes room in a full leaf. The place at which `key` belongs then.
template <class Key, class Slot, class Allocator>
auto OrderedTree<Key, Slot, Allocator>::split_leaf(Place at, const Key& key) -> Place {
    Node* const left = at.leaf;
    std::size_t kept = node_keys / 2;
    if (left == tail_ && at.index == node_keys) kept = node_keys;
    if (left == head_ && at.index == 0) kept = 0;
    const bool goes_left = at.index <= kept && kept != node_keys;
    Key separator = goes_left && at.index == kept ? key : left->keys()[kept - 1];
    reserve_for_split(left);

    Leaf* const right = new_leaf();
    const bool is_tail = left == tail_;
    link_behind(left, right);
    move_keys(left, kept, right);
    relocate(slots(left) + kept, node_keys - kept, right->slots());
    insert_child(left, std::move(separator), right, is_tail);
    return goes_left ? at : Place{right, at.index - kept};
}

/// Keys from `kept` on, to a node that is empty.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::move_keys(Node* from, std::size_t kept, Node* to) noexcept {
    to->count = from->count - static_cast<std::uint32_t>(kept);
    relocate(from->keys() + kept, to->count, to->keys());
    from->count = static_cast<std::uint32_t>(kept);
    pad_keys(*from, kept);
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::reserve_for_split(const Node* leaf) {
    std::size_t inners = 0;
    const Inner* above = leaf->parent;
    for (; above != nullptr && above->count == node_keys; above = above->parent) ++inners;
    if (above == nullptr) ++inners;  // a new root
    leaves_.reserve(1);
    inners_.reserve(inners);
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::link_behind(Node* left, Node* right) noexcept {
    right->previous = left;
    right->next = std::exchange(left->next, right);
    if (right->next != nullptr) {
        right->next->previous = right;
    } else {
        tail_ = right;
    }
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::unlink(const Node* leaf) noexcept {
    (leaf->previous != nullptr ? leaf->previous->next : head_) = leaf->next;
    (leaf->next != nullptr ? leaf->next->previous : tail_) = leaf->previous;
}

/// `right` is new beside `left`. `is_tail`: `left` was the last node of its level.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::insert_child(Node* left, Key&& separator, Node* right,
                                                     bool is_tail) noexcept {
    Inner* parent = left->parent;
    if (parent == nullptr) {
        parent = new_inner();
        parent->children[0] = left;
        left->parent = parent;
        root_ = parent;
        ++levels_;
    }
    std::size_t at = position_of(left);
    if (parent->count == node_keys) {
        const bool is_end = is_tail && at == node_keys;
        Inner* const beside = new_inner();
        if (is_end) {
            beside->children[0] = right;
            right->parent = beside;
            insert_child(parent, std::move(separator), beside, true);
            return;
        }
        constexpr std::size_t half = node_keys / 2;
        move_keys(parent, half + 1, beside);
        adopt(beside, parent->children + half + 1, beside->count + 1, 0);
        Key middle = std::move(parent->keys()[half]);
        std::destroy_at(parent->keys() + half);
        --parent->count;
        pad_last(*parent);
        insert_child(parent, std::move(middle), beside, is_tail);
        if (at > half) {
            at -= half + 1;
            parent = beside;
        }
    }
    put_between(parent->keys(), parent->count, at, std::move(separator));
    relocate(parent->children + at + 1, parent->count - at, parent->children + at + 2);
    parent->children[at + 1] = right;
    right->parent = parent;
    ++parent->count;
}

/// Copies `count` children into a node, from place `at` on.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::adopt(Inner* parent, Node** children, std::size_t count,
                                              std::size_t at) noexcept {
    for (std::size_t i = 0; i != count; ++i) {
        parent->children[at + i] = children[i];
        children[i]->parent = parent;
    }
}

/// A leaf with few elements, perhaps none. Where the place is now; null: at the end.
template <class Key, class Slot, class Allocator>
auto OrderedTree<Key, Slot, Allocator>::settle_leaf(Place at) noexcept -> Place {
    Node* const leaf = at.leaf;
    if (levels_ == 0) {
        unlink(leaf);
        root_ = nullptr;
        leaves_.give(static_cast<Leaf*>(leaf));
        return {nullptr, 0};
    }
    const std::size_t here = position_of(leaf);
    const Inner& parent = *leaf->parent;
    if (here != parent.count && leaf->count + leaf->next->count <= node_keys) {
        merge_leaves(leaf, leaf->next);
    } else if (here != 0 && leaf->count + leaf->previous->count <= node_keys) {
        at = {leaf->previous, leaf->previous->count + at.index};
        merge_leaves(leaf->previous, leaf);
    } else if (leaf->count == 0) {
        at = {leaf->next, 0};
        drop_leaf(leaf);
    }
    return at;
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::merge_leaves(Node* left, Node* right) noexcept {
    relocate(right->keys(), right->count, left->keys() + left->count);
    relocate(slots(right), right->count, slots(left) + left->count);
    left->count += right->count;
    drop_leaf(right);
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::drop_leaf(Node* leaf) noexcept {
    unlink(leaf);
    remove_child(leaf->parent, position_of(leaf));
    leaves_.give(static_cast<Leaf*>(leaf));
}

/// Takes a child out, and the separator before it.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::remove_child(Inner* parent, std::size_t at) noexcept {
    if (parent->count == 0) {  // the only one
        if (parent == root_) {
            root_ = nullptr;
            levels_ = 0;
        } else {
            remove_child(parent->parent, position_of(parent));
        }
        inners_.give(parent);
        return;
    }
    take_between(parent->keys(), parent->count, at == 0 ? 0 : at - 1);
    relocate(parent->children + at + 1, parent->count - at, parent->children + at);
    --parent->count;
    pad_last(*parent);
    if (parent == root_) {
        if (parent->count == 0) lower_root();
    } else if (parent->count < node_keys / 4) {
        settle_inner(parent);
    }
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::lower_root() noexcept {
    while (levels_ != 0 && root_->count == 0) {
        Inner* const old = inner(root_);
        root_ = old->children[0];
        root_->parent = nullptr;
        --levels_;
        inners_.give(old);
    }
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::settle_inner(Inner* node) noexcept {
    Inner* const parent = node->parent;
    const std::size_t here = position_of(node);
    const auto fits = [&](std::size_t left) {
        return parent->children[left]->count + parent->children[left + 1]->count < node_keys;
    };
    if (here != parent->count && fits(here)) {
        merge_inners(parent, here);
    } else if (here != 0 && fits(here - 1)) {
        merge_inners(parent, here - 1);
    }
}

template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::merge_inners(Inner* parent, std::size_t at) noexcept {
    Inner* const left = inner(parent->children[at]);
    Inner* const right = inner(parent->children[at + 1]);
    std::construct_at(left->keys() + left->count, std::move(parent->keys()[at]));
    relocate(right->keys(), right->count, left->keys() + left->count + 1);
    adopt(left, right->children, right->count + 1, left->count + 1);
    left->count += right->count + 1;
    remove_child(parent, at + 1);
    inners_.give(right);
}

}  // namespace strid::memory

// SPDX-License-Identifier: Apache-2.0
//
// A B+-tree laid out anew (paper 5, "recreate the data structure" and "perform defragmentation"):
// leaves full and in the order of their keys, inner nodes level by level, each kind one block.
// rebuild() moves the elements into new memory of the size that they need; defragment() packs them
// where they are, and exchanges leaves until each is in its place.
//
// Part of ordered_tree.hpp. Copies of keys (the separators) are made before anything is changed, so
// that a throw changes nothing.
#pragma once

#include <array>
#include <limits>

#include <strid/engine/search/ordered_tree.hpp>

namespace strid::memory {

/// Copies of the last keys of all leaves but the last, if leaves have `keys_each` keys. Numbers
/// need none: they are read from the leaves.
template <class Key, class Slot, class Allocator>
auto OrderedTree<Key, Slot, Allocator>::separators(std::size_t keys_each) const -> Separators {
    Separators copies{typename Separators::allocator_type(allocator())};
    if constexpr (!is_plain_number<Key>) {
        copies.reserve(size_ / keys_each);
        std::size_t rank = 0;
        for (const Node* leaf = head_; leaf != nullptr; leaf = leaf->next) {
            for (std::size_t i = 0; i != leaf->count; ++i) {
                if (++rank % keys_each == 0 && rank != size_) copies.push_back(leaf->keys()[i]);
            }
        }
    }
    return copies;
}

template <class Key, class Slot, class Allocator>
std::size_t OrderedTree<Key, Slot, Allocator>::inners_for(std::size_t leaves) noexcept {
    std::size_t all = 0;
    for (std::size_t below = leaves; below > 1;) {
        below = (below + node_keys) / (node_keys + 1);
        all += below;
    }
    return all;
}

/// Leaves of `keys_each` keys in new memory. O(n). Throws what the allocator and the copy of a key
/// throw.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::rebuild(std::size_t keys_each) {
    Separators copies = separators(keys_each);
    OrderedTree anew(allocator());
    const std::size_t leaves = (size_ + keys_each - 1) / keys_each;
    anew.leaves_.reserve(leaves);
    anew.inners_.reserve(inners_for(leaves));
    anew.leaves_.keep_first(leaves);
    anew.fill_leaves(*this, keys_each);
    anew.build_inners(leaves, copies);
    forget();  // its nodes have no elements now
    swap(anew);
}

/// Moves all elements of another tree.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::fill_leaves(OrderedTree& from,
                                                    std::size_t keys_each) noexcept {
    Node* source = from.head_;
    std::size_t begin = 0;  // in the source
    std::size_t rest = size_ = from.size_;
    leaves_.visit_slots((rest + keys_each - 1) / keys_each, [&](Leaf* slot) {
        Leaf* const leaf = ::new (static_cast<void*>(slot)) Leaf;
        begin_node(leaf);
        leaf->previous = tail_;
        (tail_ == nullptr ? head_ : tail_->next) = leaf;
        tail_ = leaf;
        for (const std::size_t wanted = std::min(keys_each, rest); leaf->count != wanted;) {
            const std::size_t some = std::min(wanted - leaf->count, source->count - begin);
            relocate(source->keys() + begin, some, leaf->keys() + leaf->count);
            relocate(slots(source) + begin, some, leaf->slots() + leaf->count);
            leaf->count += static_cast<std::uint32_t>(some);
            begin += some;
            if (begin == source->count) {
                source = source->next;
                begin = 0;
            }
        }
        rest -= leaf->count;
    });
}

/// In place. O(n), no memory but for the copies of keys that are no numbers, which may throw.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::defragment() {
    if (root_ == nullptr) {
        forget();
        return;
    }
    Separators copies = separators(node_keys);
    end_inners(root_, levels_);
    const std::size_t leaves = pack_leaves();
    order_leaves(leaves);
    leaves_.keep_first(leaves);
    build_inners(leaves, copies);
}

/// Moves elements to the front until all leaves but the last are full. How many leaves are left.
template <class Key, class Slot, class Allocator>
std::size_t OrderedTree<Key, Slot, Allocator>::pack_leaves() noexcept {
    Node* to = head_;
    std::size_t filled = 0;
    std::size_t leaves = 1;
    for (Node* from = head_; from != nullptr; from = from->next) {
        const std::size_t count = from->count;
        for (std::size_t at = 0; at != count;) {
            if (filled == node_keys) {
                to->count = static_cast<std::uint32_t>(filled);
                to = to->next;
                filled = 0;
                ++leaves;
            }
            const std::size_t some = std::min(node_keys - filled, count - at);
            if (to != from || filled != at) {
                relocate(from->keys() + at, some, to->keys() + filled);
                relocate(slots(from) + at, some, slots(to) + filled);
            }
            filled += some;
            at += some;
        }
    }
    to->count = static_cast<std::uint32_t>(filled);
    pad_keys(*to, filled);
    to->next = nullptr;
    tail_ = to;
    return leaves;
}

/// Puts leaf i of the list into slot i.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::order_leaves(std::size_t count) noexcept {
    leaves_.visit_slots(count, [](Leaf* slot) { slot->rank = not_taken; });
    std::uint32_t rank = 0;
    for (Node* leaf = head_; leaf != nullptr; leaf = leaf->next) leaf->rank = rank++;
    Node* next = head_;
    leaves_.visit_slots(count, [&](Leaf* slot) {
        if (next != slot) {
            if (slot->rank == not_taken) {
                move_leaf(next, slot);
            } else {
                alignas(Leaf) std::array<std::byte, sizeof(Leaf)> room;
                Node* const aside = ::new (static_cast<void*>(room.data())) Leaf;
                move_leaf(slot, aside);
                move_leaf(next, slot);
                move_leaf(aside, next);
            }
        }
        next = slot->next;
    });
}
/// With its links.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::move_leaf(Node* from, Node* to) noexcept {
    to->previous = from->previous;
    to->next = from->next;
    to->parent = nullptr;
    to->rank = from->rank;
    to->count = from->count;
    (to->previous != nullptr ? to->previous->next : head_) = to;
    (to->next != nullptr ? to->next->previous : tail_) = to;
    relocate(from->keys(), from->count, to->keys());
    relocate(slots(from), from->count, slots(to));
    pad_keys(*to, to->count);
    from->rank = not_taken;
}

/// The last key below a node, as a separator.
template <class Key, class Slot, class Allocator>
Key OrderedTree<Key, Slot, Allocator>::separator_after(Node* node, std::size_t levels,
                                                       Separators& separators) const noexcept {
    if constexpr (is_plain_number<Key>) {
        for (; levels != 0; --levels) node = inner(node)->children[node->count];
        return node->keys()[node->count - 1];
    } else {
        return std::move(separators[node->rank]);
    }
}

/// Levels of inner nodes above the linked leaves, which hold no object of an older level; the
/// lowest level first. There are slots for them.
template <class Key, class Slot, class Allocator>
void OrderedTree<Key, Slot, Allocator>::build_inners(std::size_t leaves,
                                                     Separators& separators) noexcept {
    std::uint32_t rank = 0;
    for (Node* leaf = head_; leaf != nullptr; leaf = leaf->next) leaf->rank = rank++;
    inners_.keep_first(inners_for(leaves));
    root_ = head_;
    if (root_ != nullptr) root_->parent = nullptr;
    levels_ = 0;
    std::size_t below = leaves;  // nodes of the level below
    std::size_t here = (below + node_keys) / (node_keys + 1);
    std::size_t at = 0;
    Node* child = head_;
    Node* first = nullptr;
    Node* last = nullptr;
    inners_.visit_slots(inners_for(leaves), [&](Inner* slot) {
        Inner* const node = ::new (static_cast<void*>(slot)) Inner;
        begin_node(node);
        (first == nullptr ? first : last->next) = node;
        last = node;
        const std::size_t children = (at + 1) * below / here - at * below / here;
        for (std::size_t i = 0; i != children; ++i, child = child->next) {
            node->children[i] = child;
            child->parent = node;
            node->rank = child->rank;
            if (i + 1 == children) continue;
            std::construct_at(node->keys() + i, separator_after(child, levels_, separators));
            ++node->count;
        }
        if (++at != here) return;
        root_ = child = first;
        root_->parent = nullptr;
        ++levels_;
        below = here;
        here = (below + node_keys) / (node_keys + 1);
        at = 0;
        first = last = nullptr;
    });
}

template <class Key, class Slot, class Allocator>
bool OrderedTree<Key, Slot, Allocator>::is_valid() const {
    if (root_ == nullptr) {
        return head_ == nullptr && tail_ == nullptr && size_ == 0 && levels_ == 0;
    }
    std::size_t count = 0;
    const Node* expected = head_;
    const Node* last = nullptr;
    const auto is_sound = [&](const auto& self, const Node* node, std::size_t level, const Key* low,
                              const Key* high) -> bool {
        const Key* const keys = node->keys();
        for (std::size_t i = 0; i != node->count; ++i) {
            if (i != 0 && keys[i] < keys[i - 1]) return false;
            if ((low != nullptr && keys[i] < *low) || (high != nullptr && *high < keys[i])) {
                return false;
            }
        }
        if constexpr (is_plain_number<Key>) {
            for (std::size_t i = node->count; i != node_keys; ++i) {
                if (keys[i] != greatest_key<Key>()) return false;
            }
        }
        if (level == 0) {
            const bool is_next = node == expected && node->previous == last && node->count != 0;
            last = node;
            expected = node->next;
            count += node->count;
            return is_next;
        }
        const auto* const above = static_cast<const Inner*>(node);
        for (std::size_t i = 0; i <= above->count; ++i) {
            if (above->children[i]->parent != above ||
                !self(self, above->children[i], level - 1, i == 0 ? low : keys + i - 1,
                      i == above->count ? high : keys + i)) {
                return false;
            }
        }
        return true;
    };
    return root_->parent == nullptr && is_sound(is_sound, root_, levels_, nullptr, nullptr) &&
           expected == nullptr && last == tail_ && count == size_;
}

}  // namespace strid::memory

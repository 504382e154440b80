// SPDX-License-Identifier: Apache-2.0
//
// The aggregate of a window whose states come in any order of time, for any associative function: a
// finger B-tree (Tangwongsan, Hirzel, Schneider: "Optimal and general out-of-order sliding-window
// aggregation", PVLDB 2019). A tree by time is entered at its newest leaf, so that a state that is
// behind d others costs O(log d); the partial aggregates are kept relative to the two outer paths,
// so that a change near an end is not carried up to the root, and the whole is three of them.
//
// Amortised: insertion O(1 + log d) combinations, in order 1 and a share of a split; eviction by
// time O(1) per state that leaves, however many leave at once; query 2 at worst, of a part O(log
// size). States of equal time are combined into one, in the order in which they came. Nodes are
// used again: a window that has had its greatest size allocates nothing more.
//
// The windows of a graph combine by panes, for which disorder costs nothing; panes in such a tree
// are better where there are many and records come late (panes.hpp).
//
// Differently from the paper's tree, states are in the leaves only; and since states leave at the
// old end only, nodes there may become as thin as one child and are never mended: what keeps the
// tree balanced is that every other node was split off a full one and has at least half of it.
//
// Threads: one. Invariants. All leaves have the same height. In the leaves, from left to right,
// times rise strictly; those below child i of a node are at least times[i], but for its first
// child, and less than times[i + 1]. A node is at the root, on the path to the oldest leaf (left),
// on that to the newest (right), or inside; it has at least one slot in use, inside and on the
// right arity / 2, at an inner root two; only a leaf at the root may be empty. Its aggregate is of
//     inside    everything below it
//     left      what is below it but not below its first child, then its parent's, unless at root
//     right     its parent's, unless at root, then what is below it but not below its last child
//     root      what is below it but not below its first or last child; of a leaf, all of it
// and the left leaf has one for each slot, of its states from there on: they are given out one by
// one as the window slides.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/window/structures/finger_tree_node.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

template <Aggregate A, std::totally_ordered Time = EventTime, std::uint32_t arity = 16>
    requires(arity >= 4 && arity % 2 == 0)
class FingerTree {
  public:
    using State = typename A::State;

    explicit FingerTree(A aggregate = {}) : aggregate_(std::move(aggregate)) {
        left_ = right_ = &leaves_.take();
        root_ = left_;
        root_->aggregate = aggregate_.identity();
    }
    /// Not copied: nodes point to each other. A moved-from tree can only be assigned to or
    /// destroyed.
    FingerTree(FingerTree&&) = default;
    FingerTree& operator=(FingerTree&&) = default;

    /// Combines a state behind all that are in the window and are not later than `time`.
    void insert(Time time, State state) {
        Leaf* leaf = &leaf_of(time);
        std::uint32_t at = leaf->slot_behind(time);
        const bool is_known = at != leaf->first && leaf->times[at - 1] == time;
        if (!is_known && leaf->is_full()) {
            split(*leaf);
            leaf = &leaf_of(time);
            at = leaf->slot_behind(time);
        }
        const bool is_newest = leaf == right_ && at == leaf->end;
        if (is_newest) leaf->aggregate = aggregate_.combine(leaf->aggregate, state);
        if (is_known) {
            leaf->items[at - 1] = aggregate_.combine(leaf->items[at - 1], state);
        } else {
            leaf->put(at, time, std::move(state));
            ++size_;
        }
        if (!is_newest) refresh_from(*leaf);
    }

    /// Evicts the states before `time`.
    void evict_before(Time time) {
        const std::size_t before = size_;
        std::uint32_t changed = 0;  // the greatest height where a child was lost
        while (left_ != root_ && left_->times[left_->end - 1] < time) {
            changed = std::max(changed, drop_left_leaf());
        }
        while (left_->first != left_->end && left_->times[left_->first] < time) {
            detail::free_memory_of(left_->items[left_->first]);
            detail::free_memory_of(left_sums_[left_->first]);
            ++left_->first;
            --size_;
        }
        if (left_ == root_) {
            if (size_ != before) refresh(*left_);
        } else if (changed != 0) {
            Inner* top = left_->parent;
            while (top->height < changed && top->parent != nullptr) top = top->parent;
            refresh_down(*top, Place::left);
        }
    }

    /// The combination of all that is in the window, in the order of time.
    [[nodiscard]] State query() const {
        return left_ == root_ ? root_->aggregate : query_from(left_->first);
    }
    /// The same of what is in [from, to). O(arity * log size), where that is all from a time in the
    /// oldest leaf on O(arity).
    [[nodiscard]] State query(const Time& from, const Time& to) const {
        if (left_ != root_ && newest() < to && !(left_->times[left_->end - 1] < from)) {
            std::uint32_t at = left_->first;
            while (left_->times[at] < from) ++at;
            return query_from(at);
        }
        State sum = aggregate_.identity();
        gather(*root_, &from, &to, sum);
        return sum;
    }
    /// How many different times are in the window.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Of a window that is not empty.
    [[nodiscard]] const Time& oldest() const noexcept { return left_->times[left_->first]; }
    [[nodiscard]] const Time& newest() const noexcept { return right_->times[right_->end - 1]; }
    /// The first time that is not earlier, valid until the window changes; null where there is
    /// none. O(arity * log size).
    [[nodiscard]] const Time* first_from(const Time& time) const {
        const Node* node = &leaf_of(time);
        for (std::uint32_t at = node->first; at != node->end; ++at) {
            if (!(node->times[at] < time)) return &node->times[at];
        }
        for (; node->parent != nullptr; node = node->parent) {
            const std::uint32_t next = node->parent->slot_of(node) + 1;
            if (next != node->parent->end) return &node->parent->times[next];
        }
        return nullptr;
    }

    /// The invariant, as far as it is not about aggregates. O(size).
    [[nodiscard]] bool is_valid() const {
        std::size_t states = 0;
        return root_->parent == nullptr && root_->place == Place::root &&
               is_valid(*root_, nullptr, nullptr, states) && states == size_;
    }

    /// Calls `visit(time, state)` for each, in the order of time.
    void for_each(const auto& visit) const { detail::visit_below(*root_, visit); }

  private:
    using Place = detail::Place;
    using Node = detail::FingerTreeNode<State, Time, arity>;
    using Leaf = typename Node::Leaf;
    using Inner = typename Node::Inner;

    [[nodiscard]] static Leaf& as_leaf(Node& node) noexcept { return static_cast<Leaf&>(node); }
    [[nodiscard]] static Inner& as_inner(Node& node) noexcept { return static_cast<Inner&>(node); }

    /// The leaf that a time belongs to, from the newest one up and down again.
    [[nodiscard]] Leaf& leaf_of(const Time& time) const {
        Node* node = right_;
        while (node->parent != nullptr && time < node->parent->times[node->parent->end - 1]) {
            node = node->parent;
        }
        while (node->height != 0) {
            const std::uint32_t behind = node->slot_behind(time);
            node = as_inner(*node).items[std::max(behind, node->first + 1) - 1];
        }
        return as_leaf(*node);
    }

    // ---- aggregates -----------------------------------------------------------------------------

    /// The state from which a node on an outer path continues.
    [[nodiscard]] State beside(const Node& node) const {
        return node.parent->place == Place::root ? aggregate_.identity() : node.parent->aggregate;
    }

    void refresh(Leaf& leaf) {
        if (leaf.place == Place::left) {
            for (State& sum : left_sums_) detail::free_memory_of(sum);
            State sum = beside(leaf);
            for (std::uint32_t at = leaf.end; at-- != leaf.first;) {
                left_sums_[at] = sum = aggregate_.combine(leaf.items[at], sum);
            }
            return;
        }
        State sum = leaf.place == Place::right ? beside(leaf) : aggregate_.identity();
        for (std::uint32_t at = leaf.first; at != leaf.end; ++at) {
            sum = aggregate_.combine(sum, leaf.items[at]);
        }
        leaf.aggregate = std::move(sum);
    }
    void refresh(Inner& node) {
        const bool is_left = node.place == Place::left;
        const bool is_right = node.place == Place::right;
        const bool is_root = node.place == Place::root;
        State sum = is_right ? beside(node) : aggregate_.identity();
        const std::uint32_t end = node.end - (is_right || is_root ? 1 : 0);
        for (std::uint32_t at = node.first + (is_left || is_root ? 1 : 0); at != end; ++at) {
            sum = aggregate_.combine(sum, node.items[at]->aggregate);
        }
        node.aggregate = is_left ? aggregate_.combine(sum, beside(node)) : std::move(sum);
    }
    void refresh(Node& node) {
        if (node.height == 0) {
            refresh(as_leaf(node));
        } else {
            refresh(as_inner(node));
        }
    }
    /// A node of an outer path, or the root, and what follows on that path down to the leaf.
    void refresh_down(Node& from, Place side) {
        Node* node = &from;
        refresh(*node);
        while (node->height != 0) {
            const Inner& parent = as_inner(*node);
            node = parent.items[side == Place::left ? parent.first : parent.end - 1];
            refresh(*node);
        }
    }
    /// A leaf has changed: up to the outer path, and down on that.
    void refresh_from(Leaf& changed) {
        Node* node = &changed;
        while (node->place == Place::inside) {
            refresh(*node);
            node = node->parent;
        }
        if (node->place == Place::root) {
            refresh(*node);
        } else {
            refresh_down(*node, node->place);
        }
    }

    /// All from a slot of the oldest leaf on, which is not the root.
    [[nodiscard]] State query_from(std::uint32_t at) const {
        return aggregate_.combine(aggregate_.combine(left_sums_[at], root_->aggregate),
                                  right_->aggregate);
    }
    /// Adds what is below a node and in [*from, *to); null where all of it is.
    void gather(const Node& node, const Time* from, const Time* to, State& sum) const {
        if (from == nullptr && to == nullptr && node.place == Place::inside) {
            sum = aggregate_.combine(sum, node.aggregate);
            return;
        }
        const auto is_before = [&](auto at) { return to == nullptr || node.times[at] < *to; };
        if (node.height == 0) {
            for (std::uint32_t at = node.first; at != node.end && is_before(at); ++at) {
                if (from != nullptr && node.times[at] < *from) continue;
                sum = aggregate_.combine(sum, static_cast<const Leaf&>(node).items[at]);
            }
            return;
        }
        for (std::uint32_t at = node.first; at != node.end; ++at) {
            const bool is_first = at == node.first;
            if (!is_first && !is_before(at)) break;
            const Time* const next = at + 1 == node.end ? nullptr : &node.times[at + 1];
            if (from != nullptr && next != nullptr && !(*from < *next)) continue;
            const bool begins_inside = !is_first && from != nullptr && !(node.times[at] < *from);
            const bool ends_inside = next != nullptr && to != nullptr && !(*to < *next);
            gather(*static_cast<const Inner&>(node).items[at], begins_inside ? nullptr : from,
                   ends_inside ? nullptr : to, sum);
        }
    }

    // ---- shape ----------------------------------------------------------------------------------

    /// Halves a full node. The tree is valid before and after.
    void split(Leaf& full) {
        make_room_above(full);
        Leaf& newer = leaves_.take();
        full.halve(newer);
        if (&full == right_) right_ = &newer;
        attach(full, newer);
    }
    void split(Inner& full) {
        make_room_above(full);
        Inner& newer = inners_.take();
        full.halve(newer);
        for (std::uint32_t at = newer.first; at != newer.end; ++at) {
            newer.items[at]->parent = &newer;
        }
        attach(full, newer);
    }
    void make_room_above(Node& node) {
        if (node.parent != nullptr && node.parent->is_full()) split(*node.parent);
    }
    /// Makes the newer half of a node the next child of its parent, which has room.
    void attach(Node& older, Node& newer) {
        const Place before = older.place;
        if (before == Place::root) {
            Inner& root = inners_.take();
            root.height = older.height + 1;
            root.put(0, older.times[older.first], &older);
            older.parent = &root;
            older.place = Place::left;
            newer.place = Place::right;
            root_ = &root;
        } else {
            newer.place = before == Place::right ? Place::right : Place::inside;
            if (before == Place::right) older.place = Place::inside;
        }
        Inner& parent = *older.parent;
        newer.parent = &parent;
        parent.put(parent.slot_of(&older) + 1, newer.times[newer.first], &newer);

        if (older.place == Place::inside) refresh(older);
        if (newer.place == Place::inside) refresh(newer);
        // Of a node inside, what is above it is the same as before.
        if (before == Place::left || before == Place::root) refresh_down(parent, Place::left);
        if (before == Place::right || before == Place::root) refresh_down(parent, Place::right);
    }

    /// The oldest leaf goes, with every node that it leaves without a child. The height of the one
    /// that lost a child and is still there, or of the new root.
    std::uint32_t drop_left_leaf() {
        size_ -= left_->used();
        for (std::uint32_t at = left_->first; at != left_->end; ++at) {
            detail::free_memory_of(left_->items[at]);
            detail::free_memory_of(left_sums_[at]);
        }
        Inner* above = left_->parent;
        leaves_.give_back(*left_);
        while (++above->first == above->end) {
            Inner* const empty = std::exchange(above, above->parent);
            inners_.give_back(*empty);
        }
        Node* top = above;
        if (above->parent == nullptr && above->used() == 1) {
            top = root_ = above->items[above->first];
            inners_.give_back(*above);
            root_->parent = nullptr;
            root_->place = Place::root;
            refresh_down(*root_, Place::right);
        }
        Node* node = top;
        while (node->height != 0) {
            node = as_inner(*node).items[node->first];
            node->place = Place::left;
        }
        left_ = &as_leaf(*node);
        return top->height;
    }

    // ---- checks ---------------------------------------------------------------------------------

    /// A node whose times are bounded by *low and *high, where these are not null. Counts states.
    [[nodiscard]] bool is_valid(const Node& node, const Time* low, const Time* high,
                                std::size_t& states) const {
        const std::uint32_t used = node.used();
        const bool is_root = node.place == Place::root;
        if (node.first > node.end || node.end > arity || used < node.used_min()) return false;
        if (node.height == 0) {
            states += used;
            return is_valid_leaf(node, low, high);
        }
        for (std::uint32_t at = node.first; at != node.end; ++at) {
            const bool is_first = at == node.first;
            const bool is_last = at + 1 == node.end;
            const Node& child = *static_cast<const Inner&>(node).items[at];
            const Place place = is_first && (is_root || node.place == Place::left) ? Place::left
                                : is_last && (is_root || node.place == Place::right)
                                    ? Place::right
                                    : Place::inside;
            if (child.place != place || child.parent != &node || child.height + 1 != node.height ||
                !is_valid(child, is_first ? low : &node.times[at],
                          is_last ? high : &node.times[at + 1], states)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool is_valid_leaf(const Node& leaf, const Time* low, const Time* high) const {
        if (leaf.place == Place::left && &leaf != left_) return false;
        if (leaf.place == Place::right && &leaf != right_) return false;
        for (std::uint32_t at = leaf.first; at != leaf.end; ++at) {
            const Time& time = leaf.times[at];
            if ((at != leaf.first && !(leaf.times[at - 1] < time)) ||
                (low != nullptr && time < *low) || (high != nullptr && !(time < *high))) {
                return false;
            }
        }
        return true;
    }

    [[no_unique_address]] A aggregate_;
    detail::NodePool<Leaf> leaves_;
    detail::NodePool<Inner> inners_;
    Node* root_;
    Leaf* left_;   // the oldest
    Leaf* right_;  // the newest
    std::array<State, arity> left_sums_{};
    std::size_t size_ = 0;
};

}  // namespace strid::window

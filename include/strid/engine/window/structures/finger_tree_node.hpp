// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a finger tree (finger_tree.hpp): their slots, and the pools that they come from and
// go back to. The meaning of a node for the tree is explained there.
//
// Threads: one. Invariant: the slots in use are [first, end), in the order of their times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

namespace strid::window::detail {

/// Where in the tree: at the root, on the path to the oldest or to the newest leaf, or inside.
enum class Place : std::uint8_t { root, left, right, inside };

template <class State, class Time, std::uint32_t arity, class Item>
struct FingerTreeItems;

/// The common part of leaves and inner nodes.
template <class State, class Time, std::uint32_t arity>
struct FingerTreeNode {
    using Leaf = FingerTreeItems<State, Time, arity, State>;
    using Inner = FingerTreeItems<State, Time, arity, FingerTreeNode*>;

    Inner* parent = nullptr;
    std::uint32_t height = 0;  // 0: a leaf
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    Place place = Place::root;
    std::array<Time, arity> times{};
    State aggregate{};

    [[nodiscard]] std::uint32_t used() const noexcept { return end - first; }
    [[nodiscard]] bool is_full() const noexcept { return used() == arity; }
    /// As many slots are in use at least.
    [[nodiscard]] std::uint32_t used_min() const noexcept {
        if (place == Place::root) return height == 0 ? 0 : 2;
        return place == Place::left ? 1 : arity / 2;
    }
    /// The first slot whose time is later, or the end. Looked for from the newest on.
    [[nodiscard]] std::uint32_t slot_behind(const Time& time) const {
        std::uint32_t at = end;
        while (at != first && time < times[at - 1]) --at;
        return at;
    }
};

/// A node with its items: the states of a leaf, the children of an inner node.
template <class State, class Time, std::uint32_t arity, class Item>
struct FingerTreeItems : FingerTreeNode<State, Time, arity> {
    std::array<Item, arity> items{};

    /// Puts an item before the slot `at`; the node must not be full.
    void put(std::uint32_t at, const Time& time, Item item) {
        if (this->end == arity) {
            const auto to_begin = [this](auto* slots) {
                std::move(slots + this->first, slots + this->end, slots);
            };
            to_begin(this->times.data());
            to_begin(items.data());
            at -= this->first;
            this->end -= std::exchange(this->first, 0);
        }
        const auto make_room = [this, at](auto* slots) {
            std::move_backward(slots + at, slots + this->end, slots + this->end + 1);
        };
        make_room(this->times.data());
        make_room(items.data());
        ++this->end;
        this->times[at] = time;
        items[at] = std::move(item);
    }

    /// Of a child that the node has.
    [[nodiscard]] std::uint32_t slot_of(const auto* child) const noexcept {
        const auto* const slots = items.data();
        return static_cast<std::uint32_t>(std::find(slots + this->first, slots + this->end, child) -
                                          slots);
    }

    /// Gives the upper half of a full node to an empty one.
    void halve(FingerTreeItems& newer) {
        constexpr std::uint32_t half = arity / 2;
        std::move(this->times.begin() + half, this->times.end(), newer.times.begin());
        std::move(items.begin() + half, items.end(), newer.items.begin());
        newer.height = this->height;
        newer.end = arity - half;
        this->end = half;
    }
};

/// Calls `visit(time, state)` for each state below a node, in the order of time.
template <class Node, class Visit>
void visit_below(const Node& node, const Visit& visit) {
    for (std::uint32_t at = node.first; at != node.end; ++at) {
        if (node.height != 0) {
            visit_below(*static_cast<const typename Node::Inner&>(node).items[at], visit);
        } else {
            visit(node.times[at], static_cast<const typename Node::Leaf&>(node).items[at]);
        }
    }
}

/// A state that owns memory frees it now, not when its slot is used again.
template <class State>
void free_memory_of(State& state) noexcept {
    if constexpr (!std::is_trivially_destructible_v<State>) state = State{};
}

/// Nodes of one kind; those that are given back are the next to be taken.
template <class Node>
class NodePool {
  public:
    Node& take() {
        if (free_.empty()) return nodes_.emplace_back();
        Node& node = *free_.back();
        free_.pop_back();
        return node;
    }
    void give_back(Node& node) {
        node.parent = nullptr;
        node.place = Place::root;
        node.first = node.end = 0;
        free_memory_of(node.aggregate);
        free_.push_back(&node);
    }

  private:
    std::deque<Node> nodes_;
    std::vector<Node*> free_;
};

}  // namespace strid::window::detail

// SPDX-License-Identifier: Apache-2.0
//
// A B+-tree that changes: the machine of ordered_set.hpp and ordered_map.hpp. Elements are in the
// leaves, which are linked; nodes know their parent. A full node is halved; at the ends of the tree
// it is left full, so that keys that come in order fill their leaves. A node that falls below a
// quarter is merged with a neighbour where both fit in one (tree_balance.hpp). Laying out:
// tree_layout.hpp.
//
// Threads: one changes; any search while none does. Invariant (is_valid): the leaves, in their
// order, hold the keys in theirs, none is empty; separators part subtrees as tree_nodes.hpp says;
// the places behind the last key of a node of numbers hold the greatest value of the type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/search/node_arena.hpp>
#include <strid/engine/search/node_search.hpp>
#include <strid/engine/search/tree_nodes.hpp>

namespace strid::memory {

template <class Key, class Slot, class Allocator>
class OrderedTree {
  public:
    using Node = TreeNode<Key>;
    using Inner = TreeInner<Key>;
    using Leaf = TreeLeaf<Key, Slot>;
    using Place = TreePlace<Key>;
    static constexpr std::size_t node_keys = tree_node_keys<Key>;

    explicit OrderedTree(const Allocator& allocator) noexcept
        : leaves_(allocator), inners_(allocator) {}
    OrderedTree(const OrderedTree&) = delete;
    OrderedTree& operator=(const OrderedTree&) = delete;
    ~OrderedTree() { clear(); }

    void swap(OrderedTree& other) noexcept {
        leaves_.swap(other.leaves_);
        inners_.swap(other.inners_);
        std::swap(root_, other.root_);
        std::swap(head_, other.head_);
        std::swap(tail_, other.tail_);
        std::swap(levels_, other.levels_);
        std::swap(size_, other.size_);
    }
    void take_allocator(const Allocator& allocator) noexcept {
        leaves_.take_allocator(allocator);
        inners_.take_allocator(allocator);
    }

    [[nodiscard]] Allocator allocator() const noexcept { return leaves_.allocator(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return leaves_.bytes() + inners_.bytes(); }
    [[nodiscard]] Place first() const noexcept { return {head_, 0}; }
    [[nodiscard]] Place end() const noexcept {
        return {tail_, tail_ == nullptr ? 0 : tail_->count};
    }
    [[nodiscard]] static Slot* slots(Node* leaf) noexcept {
        return static_cast<Leaf*>(leaf)->slots();
    }

    /// The leaf that a new element with this key belongs into, and its place there.
    template <Past past, class Query>
    [[nodiscard]] Place place_of(const Query& query) const noexcept {
        if (root_ == nullptr) return {nullptr, 0};
        if constexpr (is_wide<Query>) {
            if (searches_wide_) return descend_wide<past, Key>(root_, levels_, query);
        }
        return descend<past, Key>(root_, levels_, query);
    }
    /// The first element that is not less, or that is greater; end() if there is none.
    template <Past past, class Query>
    [[nodiscard]] Place search(const Query& query) const noexcept {
        if (root_ == nullptr || !is_ordered(query)) return end();
        return normal(place_of<past>(query));
    }
    /// The first that is not less, for several.
    template <class Query>
    void search(std::span<const Query> queries, Place* places) const noexcept {
        if (root_ == nullptr) {
            std::fill_n(places, queries.size(), end());
            return;
        }
        bool is_done = false;
        if constexpr (is_wide<Query>) {
            is_done = searches_wide_;
            if (is_done) descend_wide<Key>(root_, levels_, queries, places);
        }
        if (!is_done) descend<Key>(root_, levels_, queries, places);
        for (std::size_t i = 0; i != queries.size(); ++i) {
            places[i] = is_ordered(queries[i]) ? normal(places[i]) : end();
        }
    }

    /// Puts an element at a place of place_of(), or at end() behind a key that is not greater. O(1)
    /// but for the moves within a node; splits are O(log n). Throws what the allocator and the copy
    /// of a key throw; then nothing has changed.
    Place insert(Place at, Key&& key, Slot&& slot) {
        if (at.leaf == nullptr) {
            leaves_.reserve(1);
            root_ = head_ = tail_ = at.leaf = new_leaf();
        } else if (at.leaf->count == node_keys) {
            at = split_leaf(at, key);
        }
        put_between(at.leaf->keys(), at.leaf->count, at.index, std::move(key));
        put_between(slots(at.leaf), at.leaf->count, at.index, std::move(slot));
        ++at.leaf->count;
        ++size_;
        return at;
    }
    /// Takes an element out. The place of the next one. O(1) but for the moves within a node;
    /// merges are O(log n).
    Place erase(Place at) noexcept {
        Node* const leaf = at.leaf;
        STRID_ASSERT(leaf != nullptr && at.index < leaf->count);
        take_between(leaf->keys(), leaf->count, at.index);
        take_between(slots(leaf), leaf->count, at.index);
        --leaf->count;
        --size_;
        pad_last(*leaf);
        if (leaf->count <= node_keys / 4 && (levels_ != 0 || leaf->count == 0)) {
            at = settle_leaf(at);
        }
        return at.leaf == nullptr ? end() : normal(at);
    }
    /// Destroys all elements and gives all memory back.
    void clear() noexcept {
        for_each_leaf([](Node* leaf) {
            if constexpr (!std::is_trivially_destructible_v<Key>) {
                std::destroy_n(leaf->keys(), leaf->count);
            }
            if constexpr (!std::is_trivially_destructible_v<Slot>) {
                std::destroy_n(slots(leaf), leaf->count);
            }
        });
        forget();
    }

    /// tree_layout.hpp has these.
    void rebuild(std::size_t keys_each);
    void defragment();
    /// Checks the invariant. O(n).
    [[nodiscard]] bool is_valid() const;

  private:
    template <class Query>
    static constexpr bool is_wide = has_wide_search && std::is_same_v<Query, Key> && WideKey<Key>;

    [[nodiscard]] static Inner* inner(Node* node) noexcept { return static_cast<Inner*>(node); }
    template <class Visit>
    void for_each_leaf(Visit&& visit) noexcept {
        for (Node *leaf = head_, *next = nullptr; leaf != nullptr; leaf = next) {
            next = leaf->next;
            visit(leaf);
        }
    }
    /// A place behind the last key of a leaf is the first of the next leaf.
    [[nodiscard]] static Place normal(Place at) noexcept {
        if (at.index == at.leaf->count && at.leaf->next != nullptr) return {at.leaf->next, 0};
        return at;
    }
    static void pad_last(Node& node) noexcept {
        if constexpr (is_plain_number<Key>) node.keys()[node.count] = greatest_key<Key>();
    }

    template <class Kind>
    static void begin_node(Kind* node) noexcept {
        node->previous = node->next = nullptr;
        node->parent = nullptr;
        node->count = 0;
        pad_keys<Key>(*node, 0);
    }
    [[nodiscard]] Leaf* new_leaf() noexcept {
        Leaf* const leaf = ::new (static_cast<void*>(leaves_.take())) Leaf;
        begin_node(leaf);
        return leaf;
    }
    [[nodiscard]] Inner* new_inner() noexcept {
        Inner* const node = ::new (static_cast<void*>(inners_.take())) Inner;
        begin_node(node);
        return node;
    }
    [[nodiscard]] static std::size_t position_of(const Node* child) noexcept {
        const Node* const* const children = child->parent->children;
        std::size_t at = 0;
        while (children[at] != child) ++at;
        return at;
    }

    // In tree_balance.hpp.
    Place split_leaf(Place at, const Key& key);
    static void move_keys(Node* from, std::size_t kept, Node* to) noexcept;
    void reserve_for_split(const Node* leaf);
    void link_behind(Node* left, Node* right) noexcept;
    void unlink(const Node* leaf) noexcept;
    void insert_child(Node* left, Key&& separator, Node* right, bool is_tail) noexcept;
    static void adopt(Inner* parent, Node** children, std::size_t count, std::size_t at) noexcept;
    Place settle_leaf(Place at) noexcept;
    void merge_leaves(Node* left, Node* right) noexcept;
    void drop_leaf(Node* leaf) noexcept;
    void remove_child(Inner* parent, std::size_t at) noexcept;
    void lower_root() noexcept;
    void settle_inner(Inner* node) noexcept;
    void merge_inners(Inner* parent, std::size_t at) noexcept;

    /// Destroys separators.
    void end_inners(Node* node, std::size_t levels) noexcept {
        if constexpr (!std::is_trivially_destructible_v<Key>) {
            if (levels == 0) return;
            for (std::size_t i = 0; i <= node->count; ++i) {
                end_inners(inner(node)->children[i], levels - 1);
            }
            std::destroy_n(node->keys(), node->count);
        }
    }
    /// Of nodes whose elements are gone.
    void forget() noexcept {
        if (root_ != nullptr) end_inners(root_, levels_);
        root_ = head_ = tail_ = nullptr;
        levels_ = size_ = 0;
        leaves_.release();
        inners_.release();
    }

    // In tree_layout.hpp.
    using Separators =
        std::vector<Key, typename std::allocator_traits<Allocator>::template rebind_alloc<Key>>;
    [[nodiscard]] Separators separators(std::size_t keys_each) const;
    void fill_leaves(OrderedTree& from, std::size_t keys_each) noexcept;
    static constexpr std::uint32_t not_taken = std::numeric_limits<std::uint32_t>::max();
    [[nodiscard]] std::size_t pack_leaves() noexcept;
    void order_leaves(std::size_t count) noexcept;
    void move_leaf(Node* from, Node* to) noexcept;
    [[nodiscard]] static std::size_t inners_for(std::size_t leaves) noexcept;
    void build_inners(std::size_t leaves, Separators& separators) noexcept;
    [[nodiscard]] Key separator_after(Node* node, std::size_t levels,
                                      Separators& separators) const noexcept;

    NodeArena<Leaf, Allocator> leaves_;
    NodeArena<Inner, Allocator> inners_;
    Node* root_ = nullptr;
    Node* head_ = nullptr;
    Node* tail_ = nullptr;
    std::size_t levels_ = 0;  // of inner nodes
    std::size_t size_ = 0;
    bool searches_wide_ = compares_wide();
};

}  // namespace strid::memory

#include <strid/engine/search/tree_balance.hpp>  // IWYU pragma: export
#include <strid/engine/search/tree_layout.hpp>   // IWYU pragma: export

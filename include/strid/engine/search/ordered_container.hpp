// SPDX-License-Identifier: Apache-2.0
//
// The part that ordered sets and maps share: iterators, searches, erasure, copies, and where the
// elements are. An element that stays is in an arena of its own, and the leaf has a copy of its key
// and a pointer to it; else the leaf has the element itself.
//
// Threads: one changes; any reads while none does.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <strid/engine/search/ordered_iterator.hpp>
#include <strid/engine/search/ordered_tree.hpp>
#include <strid/search/search_keys.hpp>

namespace strid::memory::detail {

/// The elements that stay, if they do.
template <class Traits, bool stays = Traits::stays>
struct ElementArena : NodeArena<typename Traits::Element, typename Traits::Allocator> {
    using NodeArena<typename Traits::Element, typename Traits::Allocator>::NodeArena;
};
template <class Traits>
struct ElementArena<Traits, false> {
    explicit ElementArena(const typename Traits::Allocator&) noexcept {}
    void swap(ElementArena&) noexcept {}
    void take_allocator(const typename Traits::Allocator&) noexcept {}
    void release() noexcept {}
    [[nodiscard]] static std::size_t bytes() noexcept { return 0; }
};

/// A container without functions that insert.
template <class Traits>
class OrderedContainer {
    using Tree = typename Traits::Tree;
    using Value = typename Traits::Value;
    using Slot = typename Traits::Slot;
    using Memory = std::allocator_traits<typename Traits::Allocator>;

  public:
    using key_type = typename Traits::Key;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using allocator_type = typename Traits::Allocator;
    using const_iterator = OrderedIterator<Traits, true>;
    using iterator =
        std::conditional_t<Traits::is_map, OrderedIterator<Traits, false>, const_iterator>;
    using value_type = typename iterator::value_type;
    using reference = typename iterator::reference;
    using const_reference = typename const_iterator::reference;

    OrderedContainer()
        requires std::default_initializable<allocator_type>
        : OrderedContainer(allocator_type()) {}
    explicit OrderedContainer(const allocator_type& allocator) noexcept
        : tree_(allocator), elements_(allocator) {}
    OrderedContainer(const OrderedContainer& other)
        : OrderedContainer(other,
                           Memory::select_on_container_copy_construction(other.get_allocator())) {}
    OrderedContainer(const OrderedContainer& other, const allocator_type& allocator)
        : OrderedContainer(allocator) {
        for (auto at = other.begin(); at != other.end(); ++at) {
            append(key_type(Traits::key_at(at.place())),
                   Value(std::as_const(Traits::value_at(at.place()))));
        }
    }
    OrderedContainer(OrderedContainer&& other) noexcept : OrderedContainer(other.get_allocator()) {
        exchange(other);
    }
    OrderedContainer(OrderedContainer&& other, const allocator_type& allocator)
        : OrderedContainer(allocator) {
        move_from(other);
    }
    OrderedContainer& operator=(const OrderedContainer& other) {
        if (this == &other) return *this;
        if constexpr (Memory::propagate_on_container_copy_assignment::value) {
            OrderedContainer copy(other, other.get_allocator());
            replace_by(copy);
        } else {
            OrderedContainer copy(other, get_allocator());
            exchange(copy);
        }
        return *this;
    }
    OrderedContainer& operator=(OrderedContainer&& other) noexcept(
        Memory::propagate_on_container_move_assignment::value || Memory::is_always_equal::value) {
        if (this == &other) return *this;
        if constexpr (Memory::propagate_on_container_move_assignment::value) {
            OrderedContainer moved(std::move(other));
            replace_by(moved);
        } else {
            OrderedContainer moved(get_allocator());
            moved.move_from(other);
            exchange(moved);
        }
        return *this;
    }
    ~OrderedContainer() { clear(); }

    /// The allocators are equal, or are exchanged as well. O(1).
    void swap(OrderedContainer& other) noexcept {
        if constexpr (Memory::propagate_on_container_swap::value) {
            const allocator_type mine = get_allocator();
            take_allocator(other.get_allocator());
            other.take_allocator(mine);
        } else {
            STRID_ASSERT(get_allocator() == other.get_allocator());
        }
        exchange(other);
    }
    friend void swap(OrderedContainer& one, OrderedContainer& other) noexcept { one.swap(other); }

    [[nodiscard]] allocator_type get_allocator() const noexcept { return tree_.allocator(); }
    [[nodiscard]] std::size_t size() const noexcept { return tree_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// That the container holds of its allocator; what keys and values own is not counted.
    [[nodiscard]] std::size_t bytes() const noexcept { return tree_.bytes() + elements_.bytes(); }
    /// The same, for what a record or a state weighs (base/heap_bytes.hpp).
    [[nodiscard]] std::size_t heap_bytes() const noexcept { return bytes(); }

    [[nodiscard]] iterator begin() noexcept { return iterator(tree_.first()); }
    [[nodiscard]] iterator end() noexcept { return iterator(tree_.end()); }
    [[nodiscard]] const_iterator begin() const noexcept { return const_iterator(tree_.first()); }
    [[nodiscard]] const_iterator end() const noexcept { return const_iterator(tree_.end()); }
    [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
    [[nodiscard]] const_iterator cend() const noexcept { return end(); }
    [[nodiscard]] auto rbegin() const noexcept { return std::reverse_iterator(end()); }
    [[nodiscard]] auto rend() const noexcept { return std::reverse_iterator(begin()); }

    /// The first element that is not less than `query`; end() if there is none, and for NaN.
    /// O(log n), as all searches.
    template <SearchesFor<key_type> Query>
    [[nodiscard]] iterator lower_bound(const Query& query) noexcept {
        return iterator(tree_.template search<Past::less>(query));
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] const_iterator lower_bound(const Query& query) const noexcept {
        return const_iterator(tree_.template search<Past::less>(query));
    }
    /// The first element that is greater.
    template <SearchesFor<key_type> Query>
    [[nodiscard]] iterator upper_bound(const Query& query) noexcept {
        return iterator(tree_.template search<Past::equal>(query));
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] const_iterator upper_bound(const Query& query) const noexcept {
        return const_iterator(tree_.template search<Past::equal>(query));
    }
    /// The first element that is equal; end() if there is none.
    template <SearchesFor<key_type> Query>
    [[nodiscard]] iterator find(const Query& query) noexcept {
        return iterator(found(tree_.template search<Past::less>(query), query));
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] const_iterator find(const Query& query) const noexcept {
        return const_iterator(found(tree_.template search<Past::less>(query), query));
    }
    /// Without a jump for numbers in a set, so that searches one behind the other overlap.
    template <SearchesFor<key_type> Query>
    [[nodiscard]] bool contains(const Query& query) const noexcept {
        if constexpr (Traits::is_unique && is_plain_number<key_type>) {
            if (empty()) return false;
            const auto at = tree_.template place_of<Past::less>(query);
            const std::size_t last = Tree::node_keys - 1;
            const key_type& key = at.leaf->keys()[std::min(at.index, last)];
            const auto is_key = static_cast<unsigned>(at.index != at.leaf->count);
            return (is_key & static_cast<unsigned>(!(query < key)) &
                    static_cast<unsigned>(is_ordered(query))) != 0;
        } else {
            return find(query) != end();
        }
    }
    /// Several searches side by side, which wait for memory together: `found[i]` is
    /// find(queries[i]). O(log n) each.
    template <SearchesFor<key_type> Query>
    void find(std::span<const Query> queries, std::span<const_iterator> found_at) const noexcept {
        STRID_ASSERT(found_at.size() >= queries.size());
        constexpr std::size_t at_once = 64;
        std::array<TreePlace<key_type>, at_once> places;
        for (std::size_t begin = 0; begin < queries.size(); begin += at_once) {
            const auto some = queries.subspan(begin, std::min(at_once, queries.size() - begin));
            tree_.search(some, places.data());
            for (std::size_t i = 0; i != some.size(); ++i) {
                found_at[begin + i] = const_iterator(found(places[i], some[i]));
            }
        }
    }
    /// The last element that is not greater; end() if there is none. As SearchTree's.
    template <SearchesFor<key_type> Query>
    [[nodiscard]] iterator at_or_before(const Query& query) noexcept {
        return iterator(place_at_or_before(query));
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] const_iterator at_or_before(const Query& query) const noexcept {
        return const_iterator(place_at_or_before(query));
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] std::pair<iterator, iterator> equal_range(const Query& query) noexcept {
        return {lower_bound(query), upper_bound(query)};
    }
    template <SearchesFor<key_type> Query>
    [[nodiscard]] std::pair<const_iterator, const_iterator> equal_range(
        const Query& query) const noexcept {
        return {lower_bound(query), upper_bound(query)};
    }
    /// O(log n + result).
    template <SearchesFor<key_type> Query>
    [[nodiscard]] std::size_t count(const Query& query) const noexcept {
        if constexpr (Traits::is_unique) return contains(query) ? 1 : 0;
        return static_cast<std::size_t>(
            std::ranges::distance(lower_bound(query), upper_bound(query)));
    }
    /// The elements from `low` on that are less than `high`, in order; none where high <= low.
    template <SearchesFor<key_type> Low, SearchesFor<key_type> High>
    [[nodiscard]] auto range(const Low& low, const High& high) noexcept {
        return between<iterator>(low, high);
    }
    template <SearchesFor<key_type> Low, SearchesFor<key_type> High>
    [[nodiscard]] auto range(const Low& low, const High& high) const noexcept {
        return between<const_iterator>(low, high);
    }

    /// Erases one element; the next one. Amortised O(1) but for the moves within a node. Throws
    /// nothing. Iterators become invalid; references too, but those to elements that stay.
    iterator erase(const_iterator at) noexcept {
        end_element(at.place());
        return iterator(tree_.erase(at.place()));
    }
    iterator erase(iterator at) noexcept
        requires Traits::is_map
    {
        return erase(const_iterator(at));
    }
    iterator erase(const_iterator first, const_iterator last) noexcept {
        auto count = std::ranges::distance(first, last);
        iterator at(first.place());
        for (; count != 0; --count) at = erase(const_iterator(at));
        return at;
    }
    /// All that are equal; how many there were. O(log n + result).
    std::size_t erase(const key_type& key) noexcept {
        const auto [first, last] = equal_range(key);
        const auto count = std::ranges::distance(first, last);
        erase(first, last);
        return static_cast<std::size_t>(count);
    }
    /// Gives all memory back.
    void clear() noexcept {
        if constexpr (Traits::stays) {
            for (auto at = begin(); at != end(); ++at) end_element(at.place());
        }
        tree_.clear();
        elements_.release();
    }

    /// Lays the tree out anew, for reading: nodes full to `fill` and in the order of keys, in new
    /// memory of just that size; the old memory is given back. With a fill below 1 the next
    /// insertions find room. O(n), while both are there. Elements that stay keep their addresses.
    /// Iterators become invalid. Throws std::invalid_argument where fill is not from 0.5 to 1, and
    /// what the allocator and the copy of a key throw; then nothing has changed. Paper 5, "binary
    /// tree modification".
    void rebuild(double fill = 1.0) {
        if (!(fill >= 0.5 && fill <= 1.0)) {
            throw std::invalid_argument("a node of a search tree is filled from 0.5 to 1");
        }
        tree_.rebuild(static_cast<std::size_t>(std::lround(fill * Tree::node_keys)));
    }
    /// The same in place: no second copy of the nodes, and none allocated; whole blocks that are
    /// free then are given back. O(n). For keys that are no numbers one of a node is copied, which
    /// may throw; then nothing has changed.
    void defragment() {
        tree_.defragment();
        if (empty()) elements_.release();
    }

    /// Checks the invariant of the tree. O(n).
    [[nodiscard]] bool is_valid() const { return tree_.is_valid(); }

    friend bool operator==(const OrderedContainer& one, const OrderedContainer& other) {
        return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin());
    }

  protected:
    /// Where an element with this key goes, and whether there is one. Throws std::invalid_argument
    /// for NaN, which has no place in the order.
    [[nodiscard]] std::pair<TreePlace<key_type>, bool> place_for(const key_type& key) const {
        if (!is_ordered(key)) throw std::invalid_argument("a key of a search tree is NaN");
        if constexpr (Traits::is_unique) {
            const auto at = tree_.template place_of<Past::less>(key);
            return {at, at.leaf != nullptr && at.index != at.leaf->count &&
                            !(key < at.leaf->keys()[at.index])};
        } else {
            return {tree_.template place_of<Past::equal>(key), false};
        }
    }
    iterator insert_at(TreePlace<key_type> at, key_type&& key, Value&& value) {
        if constexpr (Traits::stays) {
            using Element = typename Traits::Element;
            elements_.reserve(1);
            key_type copy = key;
            Element* const element = elements_.take();
            bool is_made = false;
            try {
                ::new (static_cast<void*>(element)) Element{std::move(copy), std::move(value)};
                is_made = true;
                return iterator(tree_.insert(at, std::move(key), Slot{element}));
            } catch (...) {
                if (is_made) std::destroy_at(element);
                elements_.give(element);
                throw;
            }
        } else {
            return iterator(tree_.insert(at, std::move(key), std::move(value)));
        }
    }
    /// A key that is not less than the last.
    iterator append(key_type&& key, Value&& value) {
        return insert_at(tree_.end(), std::move(key), std::move(value));
    }

  private:
    template <class Query>
    [[nodiscard]] TreePlace<key_type> found(const TreePlace<key_type>& at,
                                            const Query& query) const noexcept {
        const bool is_there = at.leaf != nullptr && at.index != at.leaf->count &&
                              !(query < at.leaf->keys()[at.index]);
        return is_there ? at : tree_.end();
    }
    template <class Query>
    [[nodiscard]] TreePlace<key_type> place_at_or_before(const Query& query) const noexcept {
        const_iterator behind = upper_bound(query);
        return !is_ordered(query) || behind == begin() ? tree_.end() : (--behind).place();
    }
    template <class Iterator, class Low, class High>
    [[nodiscard]] std::ranges::subrange<Iterator> between(const Low& low,
                                                          const High& high) const noexcept {
        const const_iterator last = lower_bound(high);
        const const_iterator first = lower_bound(low);
        const bool is_empty = first == end() || !is_ordered(high) ||
                              (last != end() && !(key_of(first) < key_of(last)));
        return {Iterator((is_empty ? last : first).place()), Iterator(last.place())};
    }
    [[nodiscard]] static const key_type& key_of(const const_iterator& at) noexcept {
        return Traits::key_at(at.place());
    }
    void end_element(const TreePlace<key_type>& at) noexcept {
        if constexpr (Traits::stays) {
            typename Traits::Element* const element = Tree::slots(at.leaf)[at.index];
            std::destroy_at(element);
            elements_.give(element);
        }
    }
    void exchange(OrderedContainer& other) noexcept {
        tree_.swap(other.tree_);
        elements_.swap(other.elements_);
    }
    void take_allocator(const allocator_type& allocator) noexcept {
        tree_.take_allocator(allocator);
        elements_.take_allocator(allocator);
    }
    /// With the other's allocator.
    void replace_by(OrderedContainer& other) noexcept {
        clear();
        take_allocator(other.get_allocator());
        exchange(other);
    }
    /// Memory where the allocators are equal, else elements.
    void move_from(OrderedContainer& other) {
        if (get_allocator() == other.get_allocator()) {
            exchange(other);
            return;
        }
        for (auto at = other.begin(); at != other.end(); ++at) {
            append(key_type(Traits::key_at(at.place())), std::move(Traits::value_at(at.place())));
        }
        other.clear();
    }

    Tree tree_;
    [[no_unique_address]] ElementArena<Traits> elements_;
};

}  // namespace strid::memory::detail

// SPDX-License-Identifier: Apache-2.0
//
// The k largest (or smallest) values of a field in a window, each with another field of its record
// that the user chooses: `top_k<3>(field<&Trip::fare>, field<&Trip::driver>)`. A state is the list
// of them, in place, so that it allocates nothing and is copied as a block where its parts are. It
// is as long as k elements whatever is in it: k should be small.
//
// Equal values stand, and are dropped, in the order of the stream: the older first. The list is
// what a stable sort of the window's records would begin with. For an answer that does not depend
// on the order of equal values, rank by a pair: the value and an identifier. A NaN is passed over.
//
// Each record has a place of its own: a driver with three of the highest fares stands there three
// times. Text is copied into the list (std::string), so that a result may outlive its batch.
//
// Nothing can be taken back out of a list, for what it displaced is forgotten: a window that slides
// keeps lists by DABA Lite.
//
// Without a kept field the aggregate is commutative, and the replicas may combine panes. With one
// it is not, since equal values keep the order of the stream: `share::automatic` farms its windows,
// or leaves them by key where a state is trivially copyable and at most 64 bytes large.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/base/assert.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::window {

/// A value in the list. If nothing else of the record is kept, `item` is std::monostate.
template <class Value, class Item>
struct Ranked {
    Value value{};                      ///< The value by which the record was ranked.
    [[no_unique_address]] Item item{};  ///< The part of its record that is kept.
    friend bool operator==(const Ranked&, const Ranked&) = default;
};

/// Up to k elements in place, in the order of their rank: the first is the largest of `top_k`, the
/// smallest of `bottom_k`. A window with fewer values has a shorter list.
template <class Element, std::size_t k>
class TopList {
  public:
    /// For generic code.
    using value_type = Element;

    /// How many there are, at most k.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether the list is empty.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// The first in rank.
    [[nodiscard]] const Element* begin() const noexcept { return elements_.data(); }
    /// Behind the last.
    [[nodiscard]] const Element* end() const noexcept { return elements_.data() + size_; }
    /// The element at `rank`, from 0, below size().
    [[nodiscard]] const Element& operator[](std::size_t rank) const noexcept {
        STRID_ASSERT(rank < size_);
        return elements_[rank];
    }

    /// Puts an element before the one at `rank`, which may be size(); of a full list the last one
    /// makes room. `rank` < k.
    void insert(std::size_t rank, Element element) {
        STRID_ASSERT(rank <= size_ && rank < k);
        if (size_ < k) ++size_;
        Element* const first = elements_.data();
        std::move_backward(first + rank, first + size_ - 1, first + size_);
        elements_[rank] = std::move(element);
    }

    friend bool operator==(const TopList& a, const TopList& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    std::array<Element, k> elements_{};
    std::size_t size_ = 0;
};

/// The first k of the values that `by` names, each with what `kept` names. `Before` is
/// std::greater for the largest, std::less for the smallest. O(k) per record that is among them,
/// O(1) per record that is not, O(k) per combination.
template <std::size_t k, class By, class Value, class Kept, class Item, class Before>
    requires(k > 0 && !detail::is_borrowed<Value> && !detail::is_borrowed<Item>)
struct TopK {
    using Element = Ranked<Value, Item>;
    using State = TopList<Element, k>;
    static constexpr bool commutative = std::is_same_v<Item, std::monostate>;

    [[no_unique_address]] By by;
    [[no_unique_address]] Kept kept;

    template <class T>
        requires(std::invocable<const By&, const T&> && std::invocable<const Kept&, const T&>)
    [[nodiscard]] State lift(const T& record) const {
        State state;
        add(state, record);
        return state;
    }
    template <class T>
    void add(State& state, const T& record) const {
        const auto& value = std::invoke(by, record);
        if (!(value == value)) return;
        std::size_t rank = state.size();
        while (rank != 0 && Before{}(value, state[rank - 1].value)) --rank;
        if (rank != k) state.insert(rank, {Value(value), Item(std::invoke(kept, record))});
    }
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State both;
        auto a = older.begin();
        auto b = newer.begin();
        while (both.size() != k && (a != older.end() || b != newer.end())) {
            const bool is_newer =
                a == older.end() || (b != newer.end() && Before{}(b->value, a->value));
            both.insert(both.size(), is_newer ? *b++ : *a++);
        }
        return both;
    }
    [[nodiscard]] State lower(const State& state) const { return state; }
};

namespace detail {

/// Keeps nothing else of the record.
struct KeepNothing {
    template <class T>
    std::monostate operator()(const T&) const noexcept {
        return {};
    }
};

template <std::size_t k, class T, template <class> class Before, class By, class Kept>
[[nodiscard]] auto ranked(By by, Kept kept) {
    using Value = OwnedType<FieldType<By, T>>;
    using Item = OwnedType<FieldType<Kept, T>>;
    return TopK<k, By, Value, Kept, Item, Before<void>>{std::move(by), std::move(kept)};
}

}  // namespace detail

/// The k largest values: `top_k<3>(field<&Trip::fare>)`, `top_k<3, Trip>(function)`. The result is
/// a TopList of Ranked, largest first. `by` and `kept` are functions of the record; `kept` names
/// what else of the record is in the list.
template <std::size_t k, class T, class By, class Kept = detail::KeepNothing>
[[nodiscard]] auto top_k(By by, Kept kept = {}) {
    return detail::ranked<k, T, std::greater>(std::move(by), std::move(kept));
}
/// The same, of a function that names its record.
template <std::size_t k, detail::NamesRecord By, class Kept = detail::KeepNothing>
[[nodiscard]] auto top_k(By by, Kept kept = {}) {
    return top_k<k, detail::RecordOf<By>>(std::move(by), std::move(kept));
}
/// The k smallest, smallest first.
template <std::size_t k, class T, class By, class Kept = detail::KeepNothing>
[[nodiscard]] auto bottom_k(By by, Kept kept = {}) {
    return detail::ranked<k, T, std::less>(std::move(by), std::move(kept));
}
/// The same, of a function that names its record.
template <std::size_t k, detail::NamesRecord By, class Kept = detail::KeepNothing>
[[nodiscard]] auto bottom_k(By by, Kept kept = {}) {
    return bottom_k<k, detail::RecordOf<By>>(std::move(by), std::move(kept));
}

}  // namespace strid::window

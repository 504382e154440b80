// SPDX-License-Identifier: Apache-2.0
//
// The class of the aggregates of the first k values (window/aggregates/top_k.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/lifts_by_adding.hpp>
#include <strid/window/aggregates/top_list.hpp>

namespace strid::window {

/// The first k of the values that `by` names, each with what `kept` names. `Before` is
/// std::greater for the largest, std::less for the smallest. O(k) per record that is among them,
/// O(1) per record that is not, O(k) per combination.
template <std::size_t k, class By, class Value, class Kept, class Item, class Before>
    requires(k > 0 && !detail::is_borrowed<Value> && !detail::is_borrowed<Item>)
struct TopK : LiftsByAdding<TopK<k, By, Value, Kept, Item, Before>> {
    using Element = Ranked<Value, Item>;
    using State = TopList<Element, k>;
    static constexpr bool commutative = std::is_same_v<Item, std::monostate>;

    [[no_unique_address]] By by;
    [[no_unique_address]] Kept kept;

    template <class T>
        requires(std::invocable<const By&, const T&> && std::invocable<const Kept&, const T&>)
    void add(State& state, const T& record) const {
        const auto& value = std::invoke(by, record);
        if (!(value == value)) return;
        std::size_t rank = state.size();
        while (rank != 0 && Before{}(value, state[rank - 1].value)) --rank;
        if (rank != k) state.insert(rank, {Value(value), Item(std::invoke(kept, record))});
    }
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
    return TopK<k, By, Value, Kept, Item, Before<void>>{{}, std::move(by), std::move(kept)};
}

}  // namespace detail

}  // namespace strid::window

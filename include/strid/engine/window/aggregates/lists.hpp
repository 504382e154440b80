// SPDX-License-Identifier: Apache-2.0
//
// The classes of the aggregates that keep lists (window/aggregates/lists.hpp).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/lifts_by_adding.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates/collected_values.hpp>

namespace strid::window {

/// The `length` values that stand first by `Before`, in that order; equal ones as they came.
template <class Field, class Value, class Before>
    requires(!detail::is_borrowed<Value>)
struct Leading : LiftsByAdding<Leading<Field, Value, Before>> {
    using State = std::vector<Value, memory::RecyclingAllocator<Value>>;
    static constexpr bool commutative = true;

    std::size_t length;
    [[no_unique_address]] Field field;

    /// O(length) for a value that is among the first, O(1) for any other.
    template <class T>
        requires std::invocable<const Field&, const T&>
    void add(State& state, const T& record) const {
        const auto& value = std::invoke(field, record);
        if (!(value == value) || length == 0) return;
        if (state.size() == length) {
            if (!Before{}(value, state.back())) return;
            state.pop_back();
        }
        const auto behind =
            std::upper_bound(state.begin(), state.end(), value,
                             [](const auto& a, const auto& b) { return Before{}(a, b); });
        state.insert(behind, Value(value));
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State both;
        both.reserve(std::min(length, older.size() + newer.size()));
        auto a = older.begin();
        auto b = newer.begin();
        while (both.size() != length && (a != older.end() || b != newer.end())) {
            const bool is_newer = a == older.end() || (b != newer.end() && Before{}(*b, *a));
            both.push_back(is_newer ? *b++ : *a++);
        }
        return both;
    }
    [[nodiscard]] std::vector<Value> lower(const State& state) const {
        return {state.begin(), state.end()};
    }
};

/// The earliest `length` values in the order of time, those of one time as they came.
template <class Field, class Value, class TimeOf, class Time>
    requires(!detail::is_borrowed<Value>)
struct Earliest : LiftsByAdding<Earliest<Field, Value, TimeOf, Time>> {
    using Timed = std::pair<Time, Value>;
    struct State {
        std::vector<Timed, memory::RecyclingAllocator<Timed>> values;
        std::uint64_t left_out = 0;
        friend bool operator==(const State&, const State&) = default;
    };

    std::size_t length;
    [[no_unique_address]] Field field;
    [[no_unique_address]] TimeOf time_of;

    /// O(1) for a record that is later than those before it, O(length) for any other.
    template <class T>
        requires(std::invocable<const Field&, const T&> && std::invocable<const TimeOf&, const T&>)
    void add(State& state, const T& record) const {
        const Time time = std::invoke(time_of, record);
        auto& values = state.values;
        const auto behind =
            std::upper_bound(values.begin(), values.end(), time,
                             [](const Time& at, const Timed& one) { return at < one.first; });
        if (values.size() < length || behind != values.end()) {
            values.emplace(behind, time, Value(std::invoke(field, record)));
        } else {
            ++state.left_out;
        }
        shorten(state);
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State both{{}, older.left_out + newer.left_out};
        both.values.reserve(older.values.size() + newer.values.size());
        std::merge(older.values.begin(), older.values.end(), newer.values.begin(),
                   newer.values.end(), std::back_inserter(both.values),
                   [](const Timed& a, const Timed& b) { return a.first < b.first; });
        shorten(both);
        return both;
    }
    [[nodiscard]] CollectedValues<Value> lower(const State& state) const {
        CollectedValues<Value> all{{}, state.left_out};
        all.values.reserve(state.values.size());
        for (const Timed& one : state.values) all.values.push_back(one.second);
        return all;
    }

  private:
    void shorten(State& state) const {
        while (state.values.size() > length) {
            state.values.pop_back();
            ++state.left_out;
        }
    }
};

}  // namespace strid::window

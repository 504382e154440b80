// SPDX-License-Identifier: Apache-2.0
//
// Lists of values of a window, with a length that is given at run time: `top(3,
// field<&Trip::fare>)`, the largest; `bottom(3, ...)`, the smallest; `collect(100,
// field<&Trip::fare>, field<&Trip::time>)`, the earliest in the order of time. For a length that is
// known when the program is compiled, and for what else is to be known of the records, there is
// `top_k` (window/aggregates/top_k.hpp).
//
// Text is copied, a NaN is passed over by top and bottom. States combine to one list of both, in
// O(length): lists should be short. Their memory is used again (memory/recycling.hpp).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::window {

/// The `length` values that stand first by `Before`, in that order; equal ones as they came.
template <class Field, class Value, class Before>
    requires(!detail::is_borrowed<Value>)
struct Leading {
    using State = std::vector<Value, memory::RecyclingAllocator<Value>>;
    static constexpr bool commutative = true;

    std::size_t length;
    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        State state;
        add(state, record);
        return state;
    }
    /// O(length) for a value that is among the first, O(1) for any other.
    template <class T>
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
    [[nodiscard]] State identity() const { return {}; }
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

/// The result of collect(): values in the order of time, and the number of values that found no
/// room.
template <class Value>
struct CollectedValues {
    std::vector<Value> values;   ///< At most the requested number of values.
    std::uint64_t left_out = 0;  ///< The number of values that were not kept.
    friend bool operator==(const CollectedValues&, const CollectedValues&) = default;
};

/// The earliest `length` values in the order of time, those of one time as they came.
template <class Field, class Value, class TimeOf, class Time>
    requires(!detail::is_borrowed<Value>)
struct Collect {
    using Timed = std::pair<Time, Value>;
    struct State {
        std::vector<Timed, memory::RecyclingAllocator<Timed>> values;
        std::uint64_t left_out = 0;
        friend bool operator==(const State&, const State&) = default;
    };

    std::size_t length;
    [[no_unique_address]] Field field;
    [[no_unique_address]] TimeOf time_of;

    template <class T>
        requires(std::invocable<const Field&, const T&> && std::invocable<const TimeOf&, const T&>)
    [[nodiscard]] State lift(const T& record) const {
        State state;
        add(state, record);
        return state;
    }
    /// O(1) for a record that is later than those before it, O(length) for any other.
    template <class T>
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
    [[nodiscard]] State identity() const { return {}; }
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

/// The `length` largest values, as a std::vector in falling order.
template <class T, class Field>
[[nodiscard]] auto top(std::size_t length, Field field) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Leading<Field, Value, std::greater<>>{length, std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto top(std::size_t length, Field field) {
    return top<detail::RecordOf<Field>>(length, std::move(field));
}
/// The `length` smallest values, as a std::vector in rising order.
template <class T, class Field>
[[nodiscard]] auto bottom(std::size_t length, Field field) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Leading<Field, Value, std::less<>>{length, std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto bottom(std::size_t length, Field field) {
    return bottom<detail::RecordOf<Field>>(length, std::move(field));
}
/// The earliest `length` values in the order of time: a CollectedValues.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto collect(std::size_t length, Field field, TimeOf time_of) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Collect<Field, Value, TimeOf, detail::FieldType<TimeOf, T>>{length, std::move(field),
                                                                       std::move(time_of)};
}
/// The same, of functions that name their record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto collect(std::size_t length, Field field, TimeOf time_of) {
    return collect<detail::RecordOf<Field>>(length, std::move(field), std::move(time_of));
}

}  // namespace strid::window

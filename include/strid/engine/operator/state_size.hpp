// SPDX-License-Identifier: Apache-2.0
//
// The states that an operator names by state() (operator/contract.hpp), and their size.
//
// Threads: only the task of the operator's node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace strid::operators {

/// A table by key, as the engine uses it.
template <class State>
concept StateByKey = requires(const State& state) {
    { state.keys() } -> std::convertible_to<std::size_t>;
    { state.bytes() } -> std::convertible_to<std::size_t>;
};
/// A state that holds records or results back: it has bytes(), or is a vector.
template <class State>
concept StateInBuffer =
    !StateByKey<State> &&
    (
        requires(const State& state) {
            { state.bytes() } -> std::convertible_to<std::size_t>;
        } ||
        requires(const State& state) { state.capacity() * sizeof(typename State::value_type); });

/// The size of an operator's state.
struct StateSize {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
};

/// Calls `visit` with each of the operator's states.
template <class Operator, class Visit>
void for_each_state(Operator& one, Visit&& visit) {
    if constexpr (requires { one.state(); }) {
        // Not std::apply, whose exception specification takes long to compile.
        auto states = one.state();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit(std::get<I>(states)), ...);
        }(std::make_index_sequence<std::tuple_size_v<decltype(states)>>{});
    } else {
        (void)one;
        (void)visit;
    }
}

/// The states of an operator, none if it has none.
template <class Operator>
[[nodiscard]] auto state_of(Operator& one) {
    if constexpr (requires { one.state(); }) {
        return one.state();
    } else {
        return std::tie();
    }
}

/// Whether the engine can report a size of its states.
template <class Operator>
inline constexpr bool has_sized_state = [] {
    if constexpr (requires(Operator& one) { one.state(); }) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return ((StateByKey<std::remove_reference_t<States>> ||
                     StateInBuffer<std::remove_reference_t<States>>) ||
                    ...);
        }(std::type_identity<decltype(std::declval<Operator&>().state())>{});
    }
    return false;
}();

/// A state that owns texts to which emitted records may refer.
template <class State>
concept HasTexts = requires(State& state) { state.texts(); };
template <class Operator>
inline constexpr bool has_texts = [] {
    if constexpr (requires(Operator& one) { one.state(); }) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return (HasTexts<std::remove_reference_t<States>> || ...);
        }(std::type_identity<decltype(std::declval<Operator&>().state())>{});
    }
    return false;
}();

/// O(states): each state counts its size.
template <class Operator>
[[nodiscard]] StateSize state_size(Operator& one) {
    StateSize size;
    for_each_state(one, [&size]<class State>(State& state) {
        if constexpr (StateByKey<State>) size.keys += state.keys();
        if constexpr (requires { state.bytes(); }) {
            size.bytes += state.bytes();
        } else if constexpr (StateInBuffer<State>) {
            size.bytes += state.capacity() * sizeof(typename State::value_type);
        }
    });
    return size;
}

}  // namespace strid::operators

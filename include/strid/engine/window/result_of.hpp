// SPDX-License-Identifier: Apache-2.0
//
// The values that functions make of windows, and their types.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <strid/engine/base/text_fields.hpp>

namespace strid::window {

/// The number of records of the stream that one record represents: several if it is a part of a
/// window.
template <class T>
[[nodiscard]] constexpr std::uint64_t records_in(const T&) noexcept {
    return 1;
}

/// The value that a function makes of the state of a window. `state` may also be the answer of its
/// sliding structure (`query()`).
template <class A, class K, class Bounds, class State>
[[nodiscard]] auto value_of(const A& aggregate, const K& key, const Bounds& bounds,
                            const State& state) {
    if constexpr (requires { aggregate.lower(state); }) {
        return aggregate.lower(state);
    } else {
        return aggregate.lower(key, bounds, state);
    }
}

/// Gives `take` the values of a window: one, or as many as a function with a `Value` emits.
template <class A, class K, class Bounds, class State, class Take>
[[gnu::always_inline]] inline void give_values(const A& aggregate, const K& key,
                                               const Bounds& bounds, const State& state,
                                               const Take& take) {
    if constexpr (requires { typename A::Value; }) {
        aggregate.give(key, bounds, state, take);
    } else {
        take(value_of(aggregate, key, bounds, state));
    }
}

namespace detail {
template <class A, class K, class Bounds>
auto value_type() {
    check_state_owns_text<typename A::State>();
    if constexpr (requires { typename A::Value; }) {
        return std::type_identity<typename A::Value>{};
    } else {
        return std::type_identity<decltype(value_of(
            std::declval<const A&>(), std::declval<const K&>(), std::declval<const Bounds&>(),
            std::declval<const typename A::State&>()))>{};
    }
}
}  // namespace detail

/// The type of an aggregate's values for a window.
template <class A, class K, class Bounds>
using ResultOf = typename decltype(detail::value_type<A, K, Bounds>())::type;

}  // namespace strid::window

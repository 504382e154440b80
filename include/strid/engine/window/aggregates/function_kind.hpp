// SPDX-License-Identifier: Apache-2.0
//
// The properties of a function of windows (window/aggregates/aggregate.hpp) by which the planner
// and the operators choose what to do with it. A function declares none of them itself.
//
// Threads: types, and a call on the thread of the operator.
#pragma once

#include <tuple>
#include <type_traits>

#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

/// It looks like an aggregate over records of type `T`.
template <class A, class T>
inline constexpr bool lifts =
    requires(const A& aggregate, const T& record) { aggregate.lift(record); };

/// Adding a record to a state is hardly more than reading it.
template <class A>
inline constexpr bool has_small_state =
    std::is_trivially_copy_constructible_v<typename A::State> &&
    std::is_trivially_destructible_v<typename A::State> && sizeof(typename A::State) <= 64;

/// The state of an operator with this function, in which the `parts` hold states of the function:
/// memory of the function to which they refer goes with them.
template <class A, class... Parts>
[[nodiscard]] auto state_with(A& function, Parts&... parts) {
    if constexpr (has_local_states<A>) {
        return std::tie(parts..., function);
    } else {
        (void)function;
        return std::tie(parts...);
    }
}

}  // namespace strid::window

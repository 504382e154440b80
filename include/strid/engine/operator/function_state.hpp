// SPDX-License-Identifier: Apache-2.0
//
// The state of a user's function (operator/contract.hpp): what `state()` names; nothing if its call
// does not change it, or it has no members; else the function itself, which is then made of values
// alone.
//
// Threads: those of the function.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <strid/engine/base/members.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/operator/contract.hpp>

namespace strid::operators {

namespace detail {

/// Whether a type is, or visibly contains, a pointer or a reference.
template <class T>
consteval bool points_elsewhere() {
    if constexpr (std::is_array_v<T>) {
        return points_elsewhere<std::remove_all_extents_t<T>>();
    } else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T>) {
        return true;
    } else if constexpr (strid::detail::has_members<T>) {
        return []<class... Members>(strid::detail::MemberList<Members...>) {
            return (points_elsewhere<std::remove_cv_t<Members>>() || ...);
        }(strid::detail::MembersOf<T>{});
    } else {
        return false;
    }
}

}  // namespace detail

/// A function whose bytes are its state: it is copied and destroyed as they are, and no member that
/// the compiler can see is a pointer. The captures of a lambda, and private members, it cannot see.
template <class F>
inline constexpr bool is_own_state =
    std::is_trivially_copy_constructible_v<F> && std::is_trivially_destructible_v<F> &&
    !detail::points_elsewhere<F>();

namespace detail {

template <class Call>
inline constexpr bool is_constant_call = false;
template <class F, class R, class... Arguments>
inline constexpr bool is_constant_call<R (F::*)(Arguments...) const> = true;
template <class F, class R, class... Arguments>
inline constexpr bool is_constant_call<R (F::*)(Arguments...) const noexcept> = true;

}  // namespace detail

/// Whether a call may change the function. It has plain values then, or state(); of a function with
/// an overloaded or generic call that has plain values it is not known.
template <class F>
consteval bool may_change() {
    if constexpr (!std::is_class_v<F> || std::is_empty_v<F>) {
        return false;
    } else if constexpr (requires { &F::operator(); }) {
        return !detail::is_constant_call<decltype(&F::operator())>;
    } else {
        return is_own_state<F>;
    }
}

/// The state of a function whose call may change it, as a std::tie.
template <class F>
[[nodiscard]] auto state_of_function(F& function) {
    if constexpr (requires { function.state(); }) {
        return function.state();
    } else if constexpr (!may_change<F>() || traits_of_function<F>.stateless) {
        return std::tie();
    } else {
        return std::tie(function);
    }
}

/// The state of an operator: `parts`, and that of its function.
template <class F, class... Parts>
[[nodiscard]] auto state_with_function(F& function, Parts&... parts) {
    if constexpr (std::tuple_size_v<decltype(state_of_function(function))> == 0) {
        return std::tie(parts...);
    } else {
        return std::tuple_cat(std::tie(parts...), state_of_function(function));
    }
}

}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// How a function takes its first argument. A function that is to change a record or a state, but
// takes it by value or as a constant, compiles and has no effect: the operators check for that
// here. Compile time only.
#pragma once

#include <concepts>
#include <type_traits>

namespace strid::operators {

namespace detail {

/// The first parameter of a function or of a call operator; void if it is not known.
template <class Signature>
struct FirstParameter {
    using type = void;
};
template <class R, class First, class... Rest>
struct FirstParameter<R (*)(First, Rest...)> {
    using type = First;
};
template <class R, class First, class... Rest>
struct FirstParameter<R (*)(First, Rest...) noexcept> {
    using type = First;
};
template <class R, class C, class First, class... Rest>
struct FirstParameter<R (C::*)(First, Rest...)> {
    using type = First;
};
template <class R, class C, class First, class... Rest>
struct FirstParameter<R (C::*)(First, Rest...) const> {
    using type = First;
};
template <class R, class C, class First, class... Rest>
struct FirstParameter<R (C::*)(First, Rest...) noexcept> {
    using type = First;
};
template <class R, class C, class First, class... Rest>
struct FirstParameter<R (C::*)(First, Rest...) const noexcept> {
    using type = First;
};

/// A generic lambda (`auto`) is checked with `Arguments`: plain types, so that its body is compiled
/// with the types of its calls.
template <class F, class... Arguments>
struct FirstParameterOf {
    using type = void;
};
template <class F, class... Arguments>
    requires std::is_pointer_v<F>
struct FirstParameterOf<F, Arguments...> : FirstParameter<F> {};
template <class F, class... Arguments>
    requires requires { &F::operator(); }
struct FirstParameterOf<F, Arguments...> : FirstParameter<decltype(&F::operator())> {};
template <class F, class First, class... Rest>
    requires requires { &F::template operator()<First, Rest...>; }
struct FirstParameterOf<F, First, Rest...>
    : FirstParameter<decltype(&F::template operator()<First, Rest...>)> {};
template <class F, class First, class... Rest>
    requires(sizeof...(Rest) != 0 && requires { &F::template operator()<First>; })
struct FirstParameterOf<F, First, Rest...>
    : FirstParameter<decltype(&F::template operator()<First>)> {};

/// Changes to a copy of it reach the original.
template <class T>
concept StandsForOther = std::is_pointer_v<T> || requires { typename T::element_type; };

}  // namespace detail

/// True if a function for a `T&` cannot change it: it takes a copy or a constant.
template <class F, class T, class... Rest>
consteval bool cannot_change() {
    if constexpr (!std::invocable<F&, T, Rest...>) {
        return false;  // it takes T& or auto&, as is usual
    } else if constexpr (std::is_member_function_pointer_v<F>) {
        return std::invocable<F&, const T&, Rest...>;
    } else {
        using First = typename detail::FirstParameterOf<F, T, std::remove_cvref_t<Rest>...>::type;
        using Plain = std::remove_cvref_t<First>;
        return !std::is_void_v<First> && !detail::StandsForOther<Plain> &&
               (!std::is_reference_v<First> || std::is_const_v<std::remove_reference_t<First>>);
    }
}

}  // namespace strid::operators

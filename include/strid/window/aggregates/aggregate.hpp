// SPDX-License-Identifier: Apache-2.0
//
// The algebra of window functions. An aggregate says how one record becomes a state (`lift`), how
// two states that stand side by side in the stream become one (`combine`, the older on the left),
// and what a finished state means (`lower`): paper 2's lift and combine, with the algebraic
// properties that let a window be kept cheaply stated as members.
//
// Rules, which the property tests check for every aggregate of the library:
//     combine is associative:            (a + b) + c == a + (b + c)
//     identity() changes nothing:        identity() + a == a == a + identity()
//     where invertible:                  without(a + b, a) == b
//     where selective:                   a + b is a or b; covers(b, a) means a + b is b, and stays
//                                        so whatever follows b
// Sums of floating-point numbers are neither exactly associative nor invertible: they are combined
// in the order of the stream and never taken back out of a total, unless the user says that their
// order does not matter (`any_order`).
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace strid::window {

/// The requirements of an aggregate. `State` outlives the batches of its records, so it must own
/// what it points to. It is a plain value; the state without records is `identity()`.
template <class A>
concept Aggregate =
    std::copy_constructible<A> &&
    requires(const A& aggregate, const typename A::State& older, const typename A::State& newer) {
        typename A::State;
        { aggregate.identity() } -> std::same_as<typename A::State>;
        { aggregate.combine(older, newer) } -> std::same_as<typename A::State>;
    } && std::default_initializable<typename A::State> && std::movable<typename A::State>;

/// An aggregate over records of type `T`. Its result for the user is `lower(state)`, or
/// `lower(key, bounds, state)` where it depends on the window (window/aggregates/content.hpp).
template <class A, class T>
concept AggregateOf = Aggregate<A> && requires(const A& aggregate, const T& record) {
    { aggregate.lift(record) } -> std::same_as<typename A::State>;
};

/// It declares that it only goes forward, record by record (window/aggregates/fold.hpp): there is
/// no combining two of its states, so each window has one of its own.
template <class A>
inline constexpr bool only_goes_forward = requires { requires A::only_forward; };

/// A fold over records of type `T`, which only goes forward.
template <class A, class T>
concept FoldOf =
    only_goes_forward<A> && std::copy_constructible<A> &&
    requires(const A& fold, typename A::State& state, const T& record) {
        { fold.identity() } -> std::same_as<typename A::State>;
        fold.add(state, record);
    } && std::default_initializable<typename A::State> && std::movable<typename A::State>;

/// A function of windows over records of type `T`.
template <class A, class T>
concept FunctionOf = AggregateOf<A, T> || FoldOf<A, T>;

/// The oldest part of a total can be taken out again, exactly.
template <class A>
concept Invertible = Aggregate<A> && requires(const A& aggregate, const typename A::State& state) {
    { aggregate.without(state, state) } -> std::same_as<typename A::State>;
};

/// A combination is one of its two parts: of an older and a newer state only one can ever matter
/// once both are in the window.
template <class A>
concept Selective = Aggregate<A> && requires(const A& aggregate, const typename A::State& state) {
    { aggregate.covers(state, state) } -> std::same_as<bool>;
};

/// The order of the parts does not matter.
template <class A>
inline constexpr bool is_commutative = requires { requires A::commutative; };

/// The states belong to the replica that made them, as lists of records from its pool do: none is
/// sent to another one.
template <class A>
inline constexpr bool has_local_states = requires { requires A::local_states; };

/// Its windows can be put together from states of their parts, computed elsewhere.
template <class A>
inline constexpr bool has_parts = !only_goes_forward<A> && !has_local_states<A> &&
                                  !std::is_final_v<A> && !requires { typename A::Value; };

/// An aggregate that is declared independent of the order of its parts.
template <Aggregate A>
    requires has_parts<A>
struct AnyOrder : A {
    static constexpr bool commutative = true;  ///< The order of the records does not matter.
};

/// `any_order(mean(field<&Reading::value>))`: parts of a window may be combined in any order, so
/// that replicas that have some of the records each can share it (stream/share.hpp). For
/// sums of floating-point numbers, of which the last digits then depend on the run.
template <Aggregate A>
    requires has_parts<A>
[[nodiscard]] AnyOrder<A> any_order(A aggregate) {
    return {std::move(aggregate)};
}

}  // namespace strid::window

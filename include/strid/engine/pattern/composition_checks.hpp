// SPDX-License-Identifier: Apache-2.0
//
// The properties of a pattern that its type shows, and the errors of the compiler for impossible
// compositions: one sentence each.
//
// Each check is true for a valid composition, and does not compile otherwise. Compile time only.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <strid/operator/contract.hpp>
#include <strid/pattern/any_pattern.hpp>
#include <strid/pattern/composition.hpp>
#include <strid/pattern/node_work.hpp>
#include <strid/pattern/scheduling.hpp>

namespace strid::pattern::detail {

/// Stands for the tasks of a composition that was refused.
struct RefusedTasks {};

template <class Pattern>
inline constexpr bool hands_out = false;  // begins with a farm, so that several take its tasks
template <class Worker, class Policy>
inline constexpr bool hands_out<Farm<Worker, Policy>> = true;
template <class Worker, class Policy>
inline constexpr bool hands_out<OrderedFarm<Worker, Policy>> = true;
template <class First, class... Rest>
inline constexpr bool hands_out<Pipeline<First, Rest...>> = hands_out<First>;
template <class Pattern>
inline constexpr bool hands_out<Named<Pattern>> = hands_out<Pattern>;

template <class T, class U>
inline constexpr bool hands_out<AnyPattern<T, U>> = true;  // it may

/// One node that adds itself to a network: `build(network, ends, name)` returns its Ends. By what
/// stands on the patterns (stream/graph_node.hpp).
template <class Pattern>
concept BuildsItself = requires { requires Pattern::builds_itself; };

template <class Pattern>
inline constexpr bool is_node = !BuildsItself<Pattern>;  // a function or an operator
template <class... Patterns>
inline constexpr bool is_node<Pipeline<Patterns...>> = false;
template <class Worker, class Policy>
inline constexpr bool is_node<Farm<Worker, Policy>> = false;
template <class Worker, class Policy>
inline constexpr bool is_node<OrderedFarm<Worker, Policy>> = false;
template <class Body>
inline constexpr bool is_node<Iterate<Body>> = false;
template <class Pattern>
inline constexpr bool is_node<Named<Pattern>> = false;
template <class T, class U>
inline constexpr bool is_node<AnyPattern<T, U>> = false;
template <class Body, class BytesOf>
inline constexpr bool is_node<Limited<Body, BytesOf>> = false;

template <class Pattern>
inline constexpr bool ends_loop = BuildsItself<Pattern>;  // what leaves it leaves a loop
template <class Body>
inline constexpr bool ends_loop<Iterate<Body>> = true;
template <class T, class U>
inline constexpr bool ends_loop<AnyPattern<T, U>> = true;  // it may
template <class... Patterns>
inline constexpr bool ends_loop<Pipeline<Patterns...>> =
    ends_loop<std::tuple_element_t<sizeof...(Patterns) - 1, std::tuple<Patterns...>>>;
template <class Worker, class Policy>
inline constexpr bool ends_loop<Farm<Worker, Policy>> = ends_loop<Worker>;
template <class Pattern>
inline constexpr bool ends_loop<Named<Pattern>> = ends_loop<Pattern>;

template <class Pattern>
inline constexpr bool ends_in_order = false;  // what leaves it a node of the library hands on
template <class Worker, class Policy>
inline constexpr bool ends_in_order<OrderedFarm<Worker, Policy>> = true;
template <class... Patterns>
inline constexpr bool ends_in_order<Pipeline<Patterns...>> =
    ends_in_order<std::tuple_element_t<sizeof...(Patterns) - 1, std::tuple<Patterns...>>>;
template <class Worker, class Policy>
inline constexpr bool ends_in_order<Farm<Worker, Policy>> = ends_in_order<Worker>;
template <class Body, class BytesOf>
inline constexpr bool ends_in_order<Limited<Body, BytesOf>> = true;
template <class Pattern>
inline constexpr bool ends_in_order<Named<Pattern>> = ends_in_order<Pattern>;

template <class Pattern>
inline constexpr bool has_any_pattern = false;
template <class T, class U>
inline constexpr bool has_any_pattern<AnyPattern<T, U>> = true;
template <class... Patterns>
inline constexpr bool has_any_pattern<Pipeline<Patterns...>> = (has_any_pattern<Patterns> || ...);
template <class Worker, class Policy>
inline constexpr bool has_any_pattern<Farm<Worker, Policy>> = has_any_pattern<Worker>;
template <class Body>
inline constexpr bool has_any_pattern<Iterate<Body>> = has_any_pattern<Body>;
template <class Body, class BytesOf>
inline constexpr bool has_any_pattern<Limited<Body, BytesOf>> = has_any_pattern<Body>;
template <class Pattern>
inline constexpr bool has_any_pattern<Named<Pattern>> = has_any_pattern<Pattern>;

/// Something can go along with its tasks (engine/pattern/tagged.hpp).
template <class Pattern>
consteval bool takes_tags() {
    static_assert(!has_any_pattern<Pattern>,
                  "an AnyPattern has fixed the types of its tasks: it cannot be limited, nor its "
                  "results be futures");
    return !has_any_pattern<Pattern>;
}

template <class T, class Policy>
consteval bool takes_farm() {
    constexpr bool fits = std::same_as<T, Nothing> || PolicyFor<Policy, T>;
    static_assert(fits,
                  "a farm needs a policy for tasks T: Adaptive, RoundRobin, OnDemand, LeastLoaded, "
                  "Weighted, ByKey, Chosen, or Broadcast and Multicast of tasks that can be "
                  "copied");
    return fits;
}

template <class T, class Worker, class Policy>
consteval bool takes_ordered_farm() {
    constexpr bool one = requires(const Policy& policy) { policy.template scheduler<T>(); };
    if constexpr (std::same_as<T, Nothing>) {
        static_assert(!std::same_as<T, Nothing>, "tasks arrive at an ordered farm");
        return false;
    } else if constexpr (!one) {
        static_assert(one,
                      "a task of an ordered farm goes to one worker: neither Broadcast nor "
                      "Multicast");
        return false;
    } else if constexpr (!is_node<Worker>) {
        static_assert(is_node<Worker>,
                      "the worker of an ordered farm is one node: several are fused(f, g)");
        return false;
    } else if constexpr (!is_node_for<Worker, T>()) {
        return false;
    } else {
        constexpr bool makes =
            decltype(make_operator<T>(std::declval<Worker>()))::traits.emits != Emits::nothing;
        static_assert(makes,
                      "the worker of an ordered farm makes the results that are put in order");
        return makes;
    }
}

template <class T, class Body, class BytesOf>
consteval bool takes_limit() {
    if constexpr (!takes_tags<Body>()) {
        return false;
    } else if constexpr (std::same_as<T, Nothing>) {
        static_assert(!std::same_as<T, Nothing>,
                      "a limit needs tasks that arrive: a source stands before it");
        return false;
    } else {
        constexpr bool fits = std::is_invocable_r_v<std::size_t, const BytesOf&, const T&>;
        static_assert(fits, "the size of a task is given by std::size_t bytes_of(const T&)");
        return fits;
    }
}

template <class T, class Body>
consteval bool takes_loop() {
    if constexpr (std::same_as<T, Nothing>) {
        static_assert(!std::same_as<T, Nothing>,
                      "tasks arrive at a loop: a source stands before it");
        return false;
    } else {
        static_assert(!ends_in_order<Body>,
                      "the last node of a loop says which tasks go through it again: a node stands "
                      "behind an ordered farm or a limit");
        static_assert(!ends_loop<Body>,
                      "the last node of a loop says which tasks go through it again: it is not the "
                      "last of another loop too");
        return !ends_in_order<Body> && !ends_loop<Body>;
    }
}

}  // namespace strid::pattern::detail

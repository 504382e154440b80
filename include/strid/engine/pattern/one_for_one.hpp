// SPDX-License-Identifier: Apache-2.0
//
// Which patterns make one result of each task, in the order of the tasks, as far as their types
// say: nodes that emit one, ordered farms of such, and pipelines of both. Compile time only.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/pattern/builder.hpp>
#include <strid/operator/contract.hpp>

namespace strid::pattern::detail {

/// The results of a pattern whose tasks are of `T`: an Ends.
template <class T, class Pattern>
using Behind = decltype(build(std::declval<Network&>(), Ends<T>{}, std::declval<const Pattern&>()));

template <class Ends>
struct TaskOf;
template <class T>
struct TaskOf<Ends<T>> {
    using type = T;
};

template <class T, class Node>
struct OneForOne {
    static constexpr bool value = [] {
        if constexpr (is_node<Node>) {
            return decltype(make_operator<T>(std::declval<Node>()))::traits.emits == Emits::one;
        }
        return false;
    }();
};
template <class T, class Worker, class Policy>
struct OneForOne<T, OrderedFarm<Worker, Policy>> : OneForOne<T, Worker> {};
template <class T, class Pattern>
struct OneForOne<T, Named<Pattern>> : OneForOne<T, Pattern> {};
template <class T, class First>
struct OneForOne<T, Pipeline<First>> : OneForOne<T, First> {};
template <class T, class First, class... Rest>
struct OneForOne<T, Pipeline<First, Rest...>> {
    static constexpr bool value = [] {
        if constexpr (OneForOne<T, First>::value) {
            using Next = typename TaskOf<Behind<T, First>>::type;
            return OneForOne<Next, Pipeline<Rest...>>::value;
        }
        return false;
    }();
};

/// One result of each task, in the order of the tasks.
template <class T, class Pattern>
inline constexpr bool is_one_for_one = OneForOne<T, Pattern>::value;

}  // namespace strid::pattern::detail

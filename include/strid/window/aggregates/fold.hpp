// SPDX-License-Identifier: Apache-2.0
//
// A fold over the records of a window, for functions that only go forward: a state that each record
// changes, with no way to put two states together. It is incremental: a window keeps its state, not
// its records.
//
//     const auto take = [](Book& book, const Order& order) { book.take(order); };
//     ...
//     .window(TimeWindows::tumbling(1min), field<&Order::time>, window::fold<Order>(Book{}, take))
//
// Records are folded in the order in which they come. With a time function they are in the order of
// time, equal times in the order in which they came: then they are kept until their window fires
// (of windows of counts that overlap only those of a pane are in order, see
// window/aggregates/content.hpp).
//
// Windows that overlap have nothing in common here: a record is folded into each of the
// length / slide that it lies in. Write an associative function as an aggregate, which shares
// panes. Sessions, two of which may become one, keep their records and fold them when they fire.
//
// Threads: only the task of the node; each replica has its own copy of the function.
#pragma once

#include <concepts>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/window/aggregates/fold.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/content.hpp>

namespace strid::window {

/// `void f(S&, const T&)`, starting from `initial`, which is the value of a window without records.
/// `S` owns what it points to. O(1) per record and window.
template <class T, std::default_initializable S, class F>
    requires std::invocable<const F&, S&, const T&>
[[nodiscard]] Fold<T, S, F> fold(S initial, F function) {
    detail::check_fold<T, S, F>();
    return {std::move(initial), std::move(function)};
}
/// The same in the order of `time_of`. O(window) each time that a window fires.
template <class T, std::default_initializable S, class F, class TimeOf>
    requires std::invocable<const F&, S&, const T&>
[[nodiscard]] auto fold(S initial, F function, TimeOf time_of) {
    detail::check_fold<T, S, F>();
    return content<T>(detail::FoldAll<T, S, F>{std::move(initial), std::move(function)},
                      std::move(time_of));
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// Windows of full content: the function is given all records of the window when it fires (papers 1
// and 2: the non-incremental window functions). As an aggregate, so that every kind of window takes
// it: the state of a pane is the list of its records, and what slides is a container of them.
//
//     .window(CountWindows::sliding(1000, 25), window::content<Quote>(fit))
//
// Records of a pane are in the order in which they came; with a time function, in the order of
// time, equal times in the order in which they came. Windows that overlap have one pane behind the
// other, each in its order: with a time function windows of time are in order as a whole, windows
// of counts only pane by pane. Records are copied out of their batches: what they point to must be
// their own, and those with text fields (std::string_view) do not compile.
//
// The function is const and called once for each window that has records, again each time that a
// window fires anew (lateness, updates, a trigger), and with none for the windows that
// UpdateOptions::fill_max adds. The records, the key and the bounds are valid during the call: the
// value must own what it keeps of them. An exception of the function ends the run. Each value
// becomes a WindowResult, or a WindowUpdate; with `process` each one that is emitted does.
//
// A key keeps all records of its open windows: each once in its pane, however many windows it lies
// in, and where windows overlap once more in the container that slides. O(1) per record and pane
// beside the function, which usually is O(window); with a time function a record that comes before
// n later ones of its pane moves these n.
//
// Threads: only the task of the node; each replica has its own copy of the function.
#pragma once

#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/window/aggregates/content.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/container.hpp>

namespace strid::window {

/// A function over the records of a window in a span: `V f(std::span<const T>)` or
/// `V f(const K& key, const Bounds& bounds, std::span<const T>)`. `time_of(record)`, if given, is
/// the time by which the records are ordered: any type with `>`.
template <class T, class F, class TimeOf = OrderOfArrival>
[[nodiscard]] auto content(F function, TimeOf time_of = {}) {
    return Content<T, SpanContainer<T>, OneValue<F>, TimeOf>{
        {}, {std::move(function)}, std::move(time_of)};
}

/// The same over a container of the user's, which is given empty: the function gets what its
/// `content()` returns in the place of the span.
template <class T, WindowContainer<T> C, class F, class TimeOf = OrderOfArrival>
[[nodiscard]] auto contained(C container, F function, TimeOf time_of = {}) {
    return Content<T, C, OneValue<F>, TimeOf>{
        std::move(container), {std::move(function)}, std::move(time_of)};
}

/// A function that makes any number of `U` of a window:
/// `void f(const K& key, const Bounds& bounds, std::span<const T>, Emitter<U>& emit)`.
template <class T, class U, class F, class TimeOf = OrderOfArrival>
[[nodiscard]] auto process(F function, TimeOf time_of = {}) {
    return Content<T, SpanContainer<T>, ManyValues<U, F>, TimeOf>{
        {}, {std::move(function)}, std::move(time_of)};
}

}  // namespace strid::window

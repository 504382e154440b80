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
#include <functional>
#include <span>
#include <utility>

#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/parameters.hpp>
#include <strid/operator/callable.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/content.hpp>

namespace strid::window {

namespace detail {

/// Every record of a window at once.
template <class T, class S, class F>
struct FoldAll {
    S initial;
    F function;

    [[nodiscard]] S operator()(std::span<const T> records) const {
        S state = initial;
        for (const T& record : records) std::invoke(function, state, record);
        return state;
    }
};

}  // namespace detail

template <class T, class S, class F>
class Fold {
  public:
    using State = S;
    static constexpr bool only_forward = true;

    Fold(S initial, F function) : initial_(std::move(initial)), function_(std::move(function)) {}

    [[nodiscard]] State identity() const { return initial_; }
    [[gnu::always_inline]] void add(State& state, const T& record) const {
        std::invoke(function_, state, record);
    }
    [[nodiscard]] const State& lower(const State& state) const { return state; }

    /// The same of records that are kept, for sessions.
    [[nodiscard]] auto of_content() const {
        return content<T>(detail::FoldAll<T, S, F>{initial_, function_});
    }

  private:
    S initial_;
    [[no_unique_address]] F function_;
};

namespace detail {

template <class T, class S, class F>
constexpr void check_fold() noexcept {
    check_state_owns_text<S>();
    static_assert(!operators::cannot_change<F, S, const T&>(),
                  "the fold would do nothing: the function takes the state as a copy or a "
                  "constant, and what it returns is not used. Take it as State&");
}

}  // namespace detail

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

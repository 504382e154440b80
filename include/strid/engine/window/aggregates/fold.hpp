// SPDX-License-Identifier: Apache-2.0
//
// The class of a fold (window/aggregates/fold.hpp).
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

}  // namespace strid::window

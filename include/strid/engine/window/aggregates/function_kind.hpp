// SPDX-License-Identifier: Apache-2.0
//
// The properties of a function of windows (window/aggregates/aggregate.hpp) by which the planner
// and the operators choose what to do with it. A function declares none of them itself.
//
// Threads: types, and a call on the thread of the operator.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/operator/state_size.hpp>
#include <strid/state/bytes.hpp>
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

/// The memory of a function as a part of an operator's state: it goes with the states that refer to
/// it where they are moved, and is none of their bytes.
template <class A>
class MemoryOf {
  public:
    explicit MemoryOf(A& function) noexcept : function_(&function) {}
    MemoryOf(const MemoryOf&) = default;
    MemoryOf& operator=(const MemoryOf&) = delete;
    MemoryOf& operator=(MemoryOf&& other) noexcept {
        std::destroy_at(function_);  // captures cannot be assigned
        std::construct_at(function_, std::move(*other.function_));
        return *this;
    }
    ~MemoryOf() = default;

    void save(StateWriter& /*writer*/) const noexcept {}
    void load(StateReader& /*reader*/) noexcept {}

  private:
    A* function_;
};

/// The state of an operator with this function, in which the `tables` hold states of the function:
/// memory of the function to which they refer goes with them, and so does what it names by
/// `state()`.
template <class A, class... Tables, class... Parts>
[[nodiscard]] auto state_with(A& function, std::tuple<Tables...> tables, Parts&... parts) {
    auto named =
        std::tuple_cat(std::move(tables), std::tie(parts...), operators::state_of(function));
    if constexpr (has_local_states<A>) {
        return std::tuple_cat(std::move(named), std::make_tuple(MemoryOf<A>(function)));
    } else {
        return named;
    }
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// Lifting records before an edge to a window. A window that adds records up needs only the key and
// the time of each, and the state that the aggregate lifts it to. Where these are much smaller than
// the record, they are computed before the edge and sent in its place, so fewer bytes cross to
// another core. The window then combines states (engine/window/aggregates/partial.hpp).
//
// The user's functions are called for every record, even one that no window takes, and by several
// replicas before the edge at the same time.
//
// Stateless but for these functions; threads: only the task of the node before the edge.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

namespace detail {

/// The key does not point to the record, and the state, one or two numbers (three where they are
/// exact), is what records are combined to one by one: no `add` that might round otherwise.
template <class K, class A, class T>
inline constexpr bool may_lift =
    AggregateOf<A, T> && std::is_scalar_v<K> && !std::is_pointer_v<K> &&
    std::is_trivially_copyable_v<typename A::State> &&
    sizeof(typename A::State) <= (is_commutative<A> ? 24 : 16) && !std::is_final_v<A> &&
    !requires(const A& aggregate, typename A::State& state, const T& record) {
        aggregate.add(state, record);
    };

/// Calls the user's functions for the window of this name.
template <class Make>
[[gnu::always_inline]] inline auto lifted_for(const std::string& window_name, Make&& make) {
    try {
        return make();
    } catch (...) {
        operators::rethrow_as(window_name);
    }
}

}  // namespace detail

/// The parts of a record for a window of a number of records.
template <class T, class KeyOf, class K, FunctionOf<T> A>
struct Lift {
    struct Lifted {
        K key;
        typename A::State value;
    };
    static constexpr bool pays = detail::may_lift<K, A, T> && 2 * sizeof(Lifted) <= sizeof(T);

    KeyOf key_of;
    A aggregate;
    std::string window_name = {};

    [[gnu::always_inline]] Lifted operator()(const T& record) const {
        return detail::lifted_for(window_name, [&] {
            return Lifted{std::invoke(key_of, record), aggregate.lift(record)};
        });
    }
};

/// The parts of a record for a window of event time.
template <class T, class KeyOf, class K, class TimeOf, FunctionOf<T> A>
struct LiftAt {
    struct Lifted {
        K key;
        EventTime time;
        typename A::State value;
    };
    static constexpr bool pays = detail::may_lift<K, A, T> && 2 * sizeof(Lifted) <= sizeof(T);

    KeyOf key_of;
    operators::AgreedTime<TimeOf> time_of;
    A aggregate;
    std::string window_name = {};

    [[gnu::always_inline]] Lifted operator()(const T& record) const {
        return detail::lifted_for(window_name, [&] {
            return Lifted{std::invoke(key_of, record), time_of(record), aggregate.lift(record)};
        });
    }
};

}  // namespace strid::window

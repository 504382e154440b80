// SPDX-License-Identifier: Apache-2.0
//
// The structure that keeps the aggregate of a window that slides in order. The engine chooses it by
// the properties of the function: the running total where what leaves can be subtracted, the
// monotone deque where the newer of two may make the older superfluous, DABA Lite for anything
// else. The user can name one instead.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <strid/engine/window/structures/in_order.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

/// The common interface: states are inserted at one end and evicted at the other. The combination
/// of all states can be queried at any time; for an empty window it is the identity.
template <class W>
concept InOrderWindow = requires(W& window, const W& asked, typename W::State state) {
    window.insert(state);
    window.evict();
    { asked.query() } -> std::same_as<typename W::State>;
    { asked.size() } -> std::same_as<std::size_t>;
};

/// `aggregate` with its sliding windows kept in `Structure`.
template <template <Aggregate> class Structure, Aggregate A>
[[nodiscard]] auto kept_in(A aggregate) {
    return KeptIn<A, Structure<A>>{std::move(aggregate)};
}

}  // namespace strid::window

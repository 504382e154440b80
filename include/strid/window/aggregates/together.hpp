// SPDX-License-Identifier: Apache-2.0
//
// Several aggregates of the same window at once: `together(count(), mean(field<&Flight::delay>))`.
// The state is a tuple of theirs, the result a tuple of their results. Invertible where all are.
#pragma once

#include <utility>

#include <strid/engine/window/aggregates/together.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/result.hpp>

namespace strid::window {

/// Several aggregates of the same window: the result is a tuple of theirs.
template <Aggregate... A>
[[nodiscard]] Together<A...> together(A... parts) {
    return {{std::move(parts)...}};
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// How replicas share the work of a window or a join (stream/share.hpp).
#pragma once

#include <concepts>

#include <strid/stream/options.hpp>
#include <strid/stream/share.hpp>

namespace strid::graph {

/// The meaning of `late_apart` alone where `by_default` is the default.
template <Share by_default, class Way>
[[nodiscard]] constexpr auto way_of(Way way) noexcept {
    if constexpr (std::same_as<Way, LateApart>) {
        return SharedBy<by_default, true>{};
    } else {
        return way;
    }
}

}  // namespace strid::graph

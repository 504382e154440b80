// SPDX-License-Identifier: Apache-2.0
//
// The functions of joins.
#pragma once

#include <concepts>

#include <strid/engine/window/joins/pair_calls.hpp>

namespace strid {

/// The function of a pair: `U f(const L&, const R&)`; or `U f(const L*, const R*)`, which an outer
/// join calls with a null pointer for the side that is missing. A function that can be called both
/// ways counts as one of references, which an outer join refuses.
template <class F, class L, class R>
concept PairFunction =
    std::copy_constructible<F> && (window::needs_both<F, L, R> || window::takes_pointers<F, L, R>);

/// The function of a left record and its partner: a PairFunction, or `U f(const L&, const R*)`,
/// which is given a null pointer where a left join has none.
template <class F, class L, class R>
concept AsOfFunction =
    std::copy_constructible<F> &&
    (window::needs_both<F, L, R> || std::invocable<const F&, const L&, const R*> ||
     std::invocable<const F&, const L*, const R*>);

}  // namespace strid

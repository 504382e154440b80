// SPDX-License-Identifier: Apache-2.0
//
// How the function of a pair is called.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

namespace strid::window {

/// A function that makes one record of a pair takes both. Asked first, so that a generic function
/// of references is not instantiated with pointers.
template <class F, class L, class R>
inline constexpr bool needs_both = std::invocable<const F&, const L&, const R&>;

/// It takes a null pointer for a record that is missing.
template <class F, class L, class R>
inline constexpr bool takes_pointers = [] {
    if constexpr (needs_both<F, L, R>) {
        return false;
    } else {
        return std::invocable<const F&, const L*, const R*>;
    }
}();

/// The result of a pair function.
template <class F, class L, class R>
struct PairResult {
    using type = std::invoke_result_t<const F&, const L&, const R&>;
};
template <class F, class L, class R>
    requires takes_pointers<F, L, R>
struct PairResult<F, L, R> {
    using type = std::invoke_result_t<const F&, const L*, const R*>;
};

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// Chooses the structure that keeps the aggregate of a window that slides in order, by the
// properties of its function, unless the aggregate names one itself
// (window/aggregates/in_order.hpp).
//
// For states out of order there is no such choice: whatever the function, states must be found by
// time when they leave, and FingerTree (finger_tree.hpp) does that.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <strid/engine/window/structures/daba_lite.hpp>
#include <strid/engine/window/structures/monotone_deque.hpp>
#include <strid/engine/window/structures/subtract_on_evict.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

namespace detail {

template <Aggregate A>
struct InOrderChoice {
    using type = DabaLite<A>;
};
template <class A>
concept NamesItsStructure = Aggregate<A> && requires { typename A::InOrderStructure; };
template <NamesItsStructure A>
struct InOrderChoice<A> {
    using type = typename A::InOrderStructure;
};
template <Selective A>
    requires(!NamesItsStructure<A>)
struct InOrderChoice<A> {
    using type = MonotoneDeque<A>;
};
template <Invertible A>
    requires(!Selective<A> && !NamesItsStructure<A>)
struct InOrderChoice<A> {
    using type = SubtractOnEvict<A>;
};

}  // namespace detail

/// The running total where what leaves can be subtracted, the monotone deque where the newer of two
/// may make the older superfluous, DABA Lite for anything else; or what the aggregate names itself.
template <Aggregate A>
using InOrder = typename detail::InOrderChoice<A>::type;

/// How windows that overlap are kept, for explain(): the member `how` of their structure.
template <class A>
[[nodiscard]] constexpr const char* how_it_slides() noexcept {
    if constexpr (only_goes_forward<A>) {
        return "a fold: each window has a state of its own";
    } else if constexpr (requires { InOrder<A>::how; }) {
        return InOrder<A>::how;
    } else {
        return "slides in a structure of the user's";
    }
}

/// An aggregate whose windows are kept in another structure than its algebra would choose:
/// `kept_in<FlatFat>(sum(field<&Trade::price>))`.
template <Aggregate A, class Structure>
struct KeptIn : A {
    using InOrderStructure = Structure;
};

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// The keys of two streams for joins, as-of joins and `connect`: `on(...)`.
//
//     on<&Order::number, &Payment::order>()           members; the faster way
//     on(number_of_order, order_of_payment)           functions of a left and of a right record
//     on<&Reading::device>(), on(device_of)           one that suits both
//     on<&Trade::symbol, &Quote::symbol>().ties_by<&Quote::sequence>()      of `as_of`
//
// Threads: plain values.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/operator/time_order.hpp>

namespace strid {

/// The keys of both sides, and which of right records of equal key and time counts: the one of the
/// greatest `tie_of`, of these the last that came.
template <class LeftKey, class RightKey, class TieOf = operators::ByArrival>
struct JoinKeys {
    LeftKey left;       ///< The key of a left record.
    RightKey right;     ///< The key of a right record.
    TieOf tie_of = {};  ///< Which of several right records of the same time an as-of join takes.

    /// The same for an as-of join in which ties are broken by a member or a function of a right
    /// record. Otherwise the last that came counts: behind several sources or replicas, which of
    /// them that is depends on the run.
    template <class Tie>
    [[nodiscard]] constexpr JoinKeys<LeftKey, RightKey, Tie> ties_by(Tie tie) const {
        return {left, right, std::move(tie)};
    }
    /// As above, by a member of the right records.
    template <auto Member>
        requires std::is_member_pointer_v<decltype(Member)>
    [[nodiscard]] constexpr auto ties_by() const {
        return ties_by(field<Member>);
    }
};

/// Keys by a function or a member pointer for each side: `on(left_key, right_key)`.
template <class LeftKey, class RightKey>
[[nodiscard]] constexpr JoinKeys<LeftKey, RightKey> on(LeftKey left, RightKey right) {
    return {std::move(left), std::move(right)};
}
/// The same key function for both sides.
template <class KeyOf>
[[nodiscard]] constexpr JoinKeys<KeyOf, KeyOf> on(KeyOf key_of) {
    return {key_of, key_of};
}
template <auto Left, auto Right>
    requires std::is_member_pointer_v<decltype(Left)> && std::is_member_pointer_v<decltype(Right)>
[[nodiscard]] constexpr auto on() {
    return on(field<Left>, field<Right>);
}
template <auto Member>
    requires std::is_member_pointer_v<decltype(Member)>
[[nodiscard]] constexpr auto on() {
    return on(field<Member>);
}

}  // namespace strid

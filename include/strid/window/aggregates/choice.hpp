// SPDX-License-Identifier: Apache-2.0
//
// The value of one field in the record that another field chooses: `min_by(field<&Bid::bidder>,
// field<&Bid::price>)` is the bidder of the lowest price, `first(field<&Quote::price>,
// field<&Quote::time>)` the price at the earliest time, also where records come out of order.
//
// Of records with the same `by` the older one is chosen, which came first in its pane, but by
// `last` the newer one. Where the answer must not depend on how records of equal `by` came, choose
// by a pair: of the field and an identifier. A record whose `by` is not a number is passed over.
// A window in which all are gives a value of the type's own, not a number for floating-point ones.
//
// A state is the value and what it was chosen by; text is copied. Windows that overlap are kept in
// a monotone deque: O(1) amortised per record and result.
#pragma once

#include <functional>
#include <utility>

#include <strid/engine/window/aggregates/choice.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::window {

/// The `field` of the record whose `by` is smallest. `T`, the record's type, is given where neither
/// names it: `min_by<Bid>(f, g)`.
template <class T, class Field, class ByField>
[[nodiscard]] auto min_by(Field field, ByField by) {
    return detail::choice<T, std::less<>, false>(std::move(field), std::move(by));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class ByField>
[[nodiscard]] auto min_by(Field field, ByField by) {
    return min_by<detail::NamedRecord<Field>>(std::move(field), std::move(by));
}
/// The `field` of the record whose `by` is largest.
template <class T, class Field, class ByField>
[[nodiscard]] auto max_by(Field field, ByField by) {
    return detail::choice<T, std::greater<>, false>(std::move(field), std::move(by));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class ByField>
[[nodiscard]] auto max_by(Field field, ByField by) {
    return max_by<detail::NamedRecord<Field>>(std::move(field), std::move(by));
}
/// The `field` of the earliest record, by `time_of`; of those of one time the one that came first.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto first(Field field, TimeOf time_of) {
    return detail::choice<T, std::less<>, false>(std::move(field), std::move(time_of));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto first(Field field, TimeOf time_of) {
    return first<detail::NamedRecord<Field>>(std::move(field), std::move(time_of));
}
/// The `field` of the latest record, by `time_of`; of those of one time the one that came last.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto last(Field field, TimeOf time_of) {
    return detail::choice<T, std::greater<>, true>(std::move(field), std::move(time_of));
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto last(Field field, TimeOf time_of) {
    return last<detail::NamedRecord<Field>>(std::move(field), std::move(time_of));
}

}  // namespace strid::window

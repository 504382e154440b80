// SPDX-License-Identifier: Apache-2.0
//
// How many different values a field has in a window, exactly or approximately, and which ones.
// States are sets and combine to their union, so equal values count once however often and wherever
// they came. Nothing can be taken back out of a union: a window that slides keeps them by DABA
// Lite, with some five unions per pane.
//
// Values are what `hash_of` takes: numbers, enumerations, text (which is copied), pairs and tuples
// of them (whose text must be std::string). -0.0 is the same value as 0.0; NaN is passed over.
//
// Memory, per pane of a key: exactly, an open-addressing table with the values in place, two to
// four slots for each; approximately, 8 bytes for each of the first 2^precision / 8 values and
// 2^precision bytes from then on. Memory that a pane or a combination gives up is used again
// (memory/recycling.hpp), that of texts included: in the long run only results that are lists, and
// texts in pairs and tuples, ask the heap for memory.
#pragma once

#include <utility>

#include <strid/engine/window/aggregates/distinct.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/hyper_log_log.hpp>

namespace strid::window {

/// Builders: `distinct(field<&Trip::driver>)`, `distinct_approximately<14>(...)`.
template <class T, class Field>
[[nodiscard]] auto distinct(Field field) {
    return Distinct<Field, detail::OwnedType<detail::FieldType<Field, T>>>{{}, std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto distinct(Field field) {
    return distinct<detail::NamedRecord<Field>>(std::move(field));
}
/// The different values, ascending. Memory grows with their number.
template <class T, class Field>
[[nodiscard]] auto distinct_values(Field field) {
    return DistinctValues<Field, detail::OwnedType<detail::FieldType<Field, T>>>{
        {{}, std::move(field)}};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto distinct_values(Field field) {
    return distinct_values<detail::NamedRecord<Field>>(std::move(field));
}
/// How many different values, by HyperLogLog: at most 2^precision bytes a state.
template <unsigned precision = 12, class Field>
[[nodiscard]] auto distinct_approximately(Field field) {
    return DistinctApproximately<Field, precision>{{}, std::move(field)};
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// Lists of values of a window, with a length that is given at run time: `top(3,
// field<&Trip::fare>)`, the largest; `bottom(3, ...)`, the smallest; `collect(100,
// field<&Trip::fare>, field<&Trip::time>)`, the earliest in the order of time. For a length that is
// known when the program is compiled, and for what else is to be known of the records, there is
// `top_k` (window/aggregates/top_k.hpp).
//
// Text is copied, a NaN is passed over by top and bottom. States combine to one list of both, in
// O(length): lists should be short. Their memory is used again (memory/recycling.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/lists.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/collected_values.hpp>

namespace strid::window {

/// The `length` largest values, as a std::vector in falling order.
template <class T, class Field>
[[nodiscard]] auto top(std::size_t length, Field field) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Leading<Field, Value, std::greater<>>{{}, length, std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto top(std::size_t length, Field field) {
    return top<detail::NamedRecord<Field>>(length, std::move(field));
}
/// The `length` smallest values, as a std::vector in rising order.
template <class T, class Field>
[[nodiscard]] auto bottom(std::size_t length, Field field) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Leading<Field, Value, std::less<>>{{}, length, std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto bottom(std::size_t length, Field field) {
    return bottom<detail::NamedRecord<Field>>(length, std::move(field));
}
/// The earliest `length` values in the order of time: a CollectedValues.
template <class T, class Field, class TimeOf>
[[nodiscard]] auto collect(std::size_t length, Field field, TimeOf time_of) {
    using Value = detail::OwnedType<detail::FieldType<Field, T>>;
    return Earliest<Field, Value, TimeOf, detail::FieldType<TimeOf, T>>{
        {}, length, std::move(field), std::move(time_of)};
}
/// The same, of functions that name their record.
template <detail::NamesRecord Field, class TimeOf>
[[nodiscard]] auto collect(std::size_t length, Field field, TimeOf time_of) {
    return collect<detail::NamedRecord<Field>>(length, std::move(field), std::move(time_of));
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// The common aggregates. Each is of a member of the record, `sum<&Quote::volume>()`, or of a
// function of it, `sum(spread)`, with the record's type where that is a template:
// `sum<Quote>(any)`. A pointer to a member will do too (slower, base/field.hpp says why). They are
// values without state of their own; the state is what a window holds. A window without records
// gives 0 for counts and sums, and not a number, or the type's own zero, for a mean, a variance, a
// minimum and a maximum.
//
// NaN: a sum, a mean and a variance that a NaN entered are NaN for as long as it is in the window;
// a minimum and a maximum pass over it, as quantiles do (window/aggregates/quantile.hpp), and are
// NaN only where nothing else is there.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/window/aggregates/basic.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

/// Builders: `count()`, `sum<&Quote::volume>()`, `sum([](const Quote& quote) { ... })`. Give the
/// record's type where the function does not name it: `sum<Quote>([](const auto& quote) { ... })`.
[[nodiscard]] inline Count count() noexcept {
    return {};
}
/// The sum of a field as std::int64_t, std::uint64_t or double; 0 without records. Integers wrap.
template <class T, class Field>
[[nodiscard]] auto sum(Field field) {
    return Sum<Field, detail::FieldType<Field, T>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto sum(Field field) {
    return sum<detail::NamedRecord<Field>>(std::move(field));
}
/// Of integers an IntegerMean.
template <class T, class Field>
[[nodiscard]] auto mean(Field field) {
    if constexpr (std::integral<detail::FieldType<Field, T>>) {
        return IntegerMean<Field>{std::move(field)};
    } else {
        return Mean<Field>{{std::move(field)}};
    }
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto mean(Field field) {
    return mean<detail::NamedRecord<Field>>(std::move(field));
}
/// The variance of a sample; not a number for fewer than two records. One pass, stable.
template <class Field>
[[nodiscard]] auto variance(Field field) {
    return Variance<Field>{{std::move(field)}};
}
/// The square root of the variance.
template <class Field>
[[nodiscard]] auto standard_deviation(Field field) {
    return StandardDeviation<Field>{{{std::move(field)}}};
}
/// The least value; NaN is passed over. O(1) a record, amortised.
template <class T, class Field>
[[nodiscard]] auto minimum(Field field) {
    using Number = detail::FieldType<Field, T>;
    return Extreme<Field, Number, std::less<Number>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto minimum(Field field) {
    return minimum<detail::NamedRecord<Field>>(std::move(field));
}
/// The greatest value; NaN is passed over. O(1) a record, amortised.
template <class T, class Field>
[[nodiscard]] auto maximum(Field field) {
    using Number = detail::FieldType<Field, T>;
    return Extreme<Field, Number, std::greater<Number>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto maximum(Field field) {
    return maximum<detail::NamedRecord<Field>>(std::move(field));
}

/// The same of a member, `mean<&Trip::delay>()`: the faster way (base/field.hpp).
template <auto Member>
[[nodiscard]] auto sum() {
    return sum(field<Member>);
}
/// The mean of a member.
template <auto Member>
[[nodiscard]] auto mean() {
    return mean(field<Member>);
}
/// The variance of a member.
template <auto Member>
[[nodiscard]] auto variance() {
    return variance(field<Member>);
}
/// The standard deviation of a member.
template <auto Member>
[[nodiscard]] auto standard_deviation() {
    return standard_deviation(field<Member>);
}
/// The least value of a member.
template <auto Member>
[[nodiscard]] auto minimum() {
    return minimum(field<Member>);
}
/// The greatest value of a member.
template <auto Member>
[[nodiscard]] auto maximum() {
    return maximum(field<Member>);
}

}  // namespace strid::window

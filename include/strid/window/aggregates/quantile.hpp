// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of a field: `quantile(field<&Reading::value>, 0.99)`, or several of one pass,
// `quantiles(field<&Reading::value>, 0.5, 0.9, 0.99)`. The state has the values of the window, and
// quantiles are exact, up to 65,536 of them, or 16,384 where windows slide or sessions meet, as
// long as the windows of the process together take no more than 256 MiB. Above it is a t-digest
// (window/aggregates/t_digest.hpp), with an error of rank that is least near both ends.
//
// The quantile q of n values in order is the one at the place q * (n - 1), counted from 0; between
// two places it is interpolated, as numpy does by default. That of a sketch is off by about
// n * 4 q (1 - q) / 200 places: 0.5 % of n for the median, 0.02 % for q = 0.99.
//
// Values are taken as double; a NaN is passed over. A window without values gives NaN.
//
// A state has memory of its own for each key and pane, 8 to 16 bytes a value or some 20 KB of a
// sketch. The next one uses it again (memory/recycling.hpp): in the long run neither a pane nor a
// result asks the heap for any.
#pragma once

#include <concepts>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/window/aggregates/quantiles.hpp>
#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

/// The value below which the share `q` of the values lies, between two of them interpolated; a
/// double. `field` is a function of the record, `field<&Reading::value>` for a member. Throws Error
/// for a `q` that is not from 0 to 1.
template <class Field>
[[nodiscard]] auto quantile(Field field, double q) {
    return Quantile<Field>{std::move(field), q};
}
/// The quantile 0.5.
template <class Field>
[[nodiscard]] auto median(Field field) {
    return Quantile<Field>{std::move(field), 0.5};
}
/// Several quantiles of one pass: a std::array<double, n>, in the order of the n `shares`. Throws
/// Error for a share that is not from 0 to 1.
template <class Field, std::convertible_to<double>... Shares>
[[nodiscard]] auto quantiles(Field field, Shares... shares) {
    return Quantiles<Field, sizeof...(Shares)>{std::move(field), {static_cast<double>(shares)...}};
}

}  // namespace strid::window

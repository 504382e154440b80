// SPDX-License-Identifier: Apache-2.0
//
// Rates a second: `rate(field<&Packet::bytes>)` is the sum of a field over the length of the window
// in seconds, `rate()` the number of records. For windows of event time and sessions, whose length
// is that of their bounds: a session's is from its first record to one gap behind its last.
#pragma once

#include <utility>

#include <strid/engine/window/aggregates/basic.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/rate.hpp>
#include <strid/window/aggregates.hpp>

namespace strid::window {

/// Records a second.
[[nodiscard]] inline Rate<Count> rate() noexcept {
    return {};
}
/// The sum of a field over the length of the window in seconds.
template <class T, class Field>
[[nodiscard]] auto rate(Field field) {
    return Rate<Sum<Field, detail::FieldType<Field, T>>>{{std::move(field)}};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto rate(Field field) {
    return rate<detail::NamedRecord<Field>>(std::move(field));
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// How much comes a second: `rate(field<&Packet::bytes>)` is the sum of a field over the length of
// the window in seconds, `rate()` the number of records. For windows of event time and sessions,
// whose length is that of their bounds: a session's is from its first record to one gap behind its
// last.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include <strid/window/aggregates.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// The state is that of `A`, a Sum or a Count; the result a double.
template <Aggregate A>
struct Rate : A {
    template <class Key>
    [[nodiscard]] double lower(const Key&, const TimeBounds& bounds,
                               const typename A::State& state) const noexcept {
        const std::chrono::duration<double> seconds = bounds.end - bounds.start;
        return static_cast<double>(A::lower(state)) / seconds.count();
    }
};

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
    return rate<detail::RecordOf<Field>>(std::move(field));
}

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// Adds a record to the state of an aggregate or of a fold.
#pragma once

#include <strid/window/aggregates/aggregate.hpp>

namespace strid::window {

/// Adds one record to a state: as `add(state, record)` where the function has that, which saves an
/// aggregate a state of one record; else lifted and combined.
template <class T, FunctionOf<T> A>
[[gnu::always_inline]] inline void add_record(const A& function, typename A::State& state,
                                              const T& record) {
    if constexpr (requires { function.add(state, record); }) {
        function.add(state, record);
    } else {
        state = function.combine(state, function.lift(record));
    }
}

}  // namespace strid::window

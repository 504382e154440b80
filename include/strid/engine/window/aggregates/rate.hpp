// SPDX-License-Identifier: Apache-2.0
//
// The class of the aggregates of rates (window/aggregates/rate.hpp).
#pragma once

#include <chrono>

#include <strid/window/aggregates/aggregate.hpp>
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

}  // namespace strid::window

// SPDX-License-Identifier: Apache-2.0
//
// The common part of handles of streams by key: an edge that is already made, and the check of
// window options.
//
// Threads: as Stream.
#pragma once

#include <strid/base/error.hpp>
#include <strid/engine/plan/handle.hpp>
#include <strid/stream/stream_types.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid {

namespace graph {

/// An edge by key that is there already, from one segment or several.
template <class T, class Time>
struct KeyedEdge {
    using time_type = Time;

    [[nodiscard]] const Time& time() const noexcept { return of_records; }

    Handle handle;
    [[no_unique_address]] Time of_records = {};
};

inline void check(const WindowOptions& options) {
    if (options.lateness < Duration::zero()) {
        throw GraphError("the lateness of a window must not be negative");
    }
}
inline void check(const UpdateOptions& options) {
    check(options.window);
    if (options.early_every < Duration::zero()) {
        throw GraphError("the time between early results of a window must not be negative");
    }
}

}  // namespace graph

}  // namespace strid

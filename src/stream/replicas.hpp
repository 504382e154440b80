// SPDX-License-Identifier: Apache-2.0
//
// How many replicas each operator has: what the options ask for, else what was measured, else what
// its kind suggests (docs/design/0007-how-many-replicas.md).
//
// Threads: a pure function of the segments and the options.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <strid/engine/plan/segment.hpp>
#include <strid/stream/options.hpp>

namespace strid::graph {

struct SegmentReplicas {
    std::vector<std::size_t> of;  ///< Each operator.
    /// Why the first one has as many, for `explain()`, where it is not the usual.
    std::string_view why = {};
};

/// Of each segment, for a run with `workers`. Throws GraphError where an operator cannot have as
/// many as it is to have. O(segments * edges).
[[nodiscard]] std::vector<SegmentReplicas> replicas_of(const Segments& segments,
                                                       const RunOptions& options,
                                                       std::size_t workers);

}  // namespace strid::graph

// SPDX-License-Identifier: Apache-2.0
//
// Which replicas share one stream: each of them gets some or all of what the same producers send,
// so that they fall idle together. Records that one of them still holds then (a window, or a part
// of one) must not be late because another was the first to receive a record again. Replicas that
// draw watermarks themselves are idle each by itself.
//
// Threads: a pure function of the plan.
#pragma once

#include <strid/engine/plan/plan.hpp>

namespace strid::graph {

/// Sets `Fragment::waits_for_idle` of those that have all their batches from such replicas.
/// O(edges).
void find_shared_streams(Plan& plan, const Segments& segments);

}  // namespace strid::graph

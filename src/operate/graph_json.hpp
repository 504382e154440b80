// SPDX-License-Identifier: Apache-2.0
//
// The shape of a graph as JSON, for the page. A pure function; any thread.
#pragma once

#include <string>

#include <strid/stream/drawing.hpp>

namespace strid::operate {

/// `name`, `segments` with the names, kinds and numbers of replicas of their `operators`, and
/// `edges` with `from`, `to` (places in `segments`), `routing` and `back`.
[[nodiscard]] std::string graph_json(const GraphDescription& graph);

}  // namespace strid::operate

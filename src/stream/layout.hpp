// SPDX-License-Identifier: Apache-2.0
//
// The content of a plan and of a block term in one form, so that they can be compared. Private to
// src/stream. Plain values, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/plan/plan.hpp>

namespace strid::graph {

/// How one operator feeds the next.
enum class Way : std::uint8_t { within, same_replica, any_replica, by_key, to_all, complex };
[[nodiscard]] const char* to_string(Way way) noexcept;

/// The layout of a run: nodes by the operators in them, in their order, or by those that they
/// distribute to; and edges from operator to operator, those through a distributing node straight.
struct Layout {
    std::map<std::string, std::size_t> nodes;
    std::map<std::pair<std::string, std::string>, Way> edges;
};

/// The names of nodes with operators, and of those that only distribute.
[[nodiscard]] std::string node_of(const std::vector<std::string>& operators);
[[nodiscard]] std::string distribution_to(const std::set<std::string>& operators);

[[nodiscard]] Layout layout_of(const Segments& segments, const Plan& plan);
/// Reads a term by what its blocks mean, not by how they were built: along a node and a pipe each
/// operator feeds the next, across an all-to-all every last one on the left feeds every first one
/// on the right. Adds to `faults` where a distribution does not name exactly those.
[[nodiscard]] Layout layout_of(const block::DagComposition& term, std::vector<std::string>& faults);

}  // namespace strid::graph

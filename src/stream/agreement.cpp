// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/engine/plan/block_term.hpp>

#include "layout.hpp"

namespace strid::graph {

namespace {

/// Whether the plan may send in this way where the term has that one.
bool is_allowed(Way term, Way plan) noexcept {
    if (term == Way::any_replica) return plan == Way::any_replica || plan == Way::same_replica;
    if (term == Way::complex) return plan != Way::within;
    return term == plan;
}

template <class Map>
void compare_keys(const Map& term, const Map& plan, const auto& name,
                  std::vector<std::string>& faults) {
    for (const auto& [key, value] : term) {
        if (!plan.contains(key)) faults.push_back(fmt::format("only the term has {}", name(key)));
    }
    for (const auto& [key, value] : plan) {
        if (!term.contains(key)) faults.push_back(fmt::format("only the plan has {}", name(key)));
    }
}

}  // namespace

std::string disagreement(const block::DagComposition& term, const Segments& segments,
                         const Plan& plan) {
    std::vector<std::string> faults;
    const Layout blocks = layout_of(term, faults);
    const Layout runs = layout_of(segments, plan);
    compare_keys(
        blocks.nodes, runs.nodes, [](const auto& node) { return fmt::format("node '{}'", node); },
        faults);
    for (const auto& [node, replicas] : blocks.nodes) {
        const auto found = runs.nodes.find(node);
        if (found == runs.nodes.end() || found->second == replicas) continue;
        faults.push_back(fmt::format("'{}' is {} nodes in the term and {} in the plan", node,
                                     replicas, found->second));
    }
    compare_keys(
        blocks.edges, runs.edges,
        [](const auto& edge) {
            return fmt::format("the edge from '{}' to '{}'", edge.first, edge.second);
        },
        faults);
    for (const auto& [edge, way] : blocks.edges) {
        const auto found = runs.edges.find(edge);
        if (found == runs.edges.end() || is_allowed(way, found->second)) continue;
        faults.push_back(fmt::format("'{}' feeds '{}' {} in the term and {} in the plan",
                                     edge.first, edge.second, to_string(way),
                                     to_string(found->second)));
    }
    return fmt::format("{}", fmt::join(faults, "\n"));
}

}  // namespace strid::graph

// SPDX-License-Identifier: Apache-2.0
//
// Reads the graph of operators back out of a term, by the meaning of the blocks and not by their
// construction. Along a node and a pipe each operator feeds the next; across an A2A every last
// operator on the left feeds every first one on the right. Distribution functions must name exactly
// those.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/block/dag.hpp>

namespace strid::block::testing {

using NamedEdges = std::set<std::pair<std::string, std::string>>;

inline NamedEdges edges_of(const Dag& dag) {
    NamedEdges edges;
    for (const Dag::Edge& edge : dag.edges()) {
        edges.emplace(dag.operator_at(edge.from).name, dag.operator_at(edge.to).name);
    }
    return edges;
}

/// Operators at the two borders of a term; for the last ones, the targets of their distributions.
struct Borders {
    std::set<std::string> first;
    std::set<std::string> last;
    std::set<std::string> addressed;
};

inline Borders collect_edges(const ParallelBlock& block, NamedEdges& edges) {
    if (block.kind() == ParallelBlock::Kind::pipe) {
        std::vector<std::string> logic;
        std::set<std::string> addressed;
        for (const SequentialBlock& node : block.nodes()) {
            for (const Function& function : node.functions()) {
                if (function.role == Function::Role::logic) logic.push_back(function.operator_name);
                if (function.role == Function::Role::distribution) {
                    addressed.insert(function.operator_name);
                }
            }
        }
        for (std::size_t index = 1; index < logic.size(); ++index) {
            edges.emplace(logic[index - 1], logic[index]);
        }
        return {{logic.front()}, {logic.back()}, addressed};
    }
    if (block.kind() == ParallelBlock::Kind::container) {
        Borders all;
        for (const ParallelBlock& part : block.elements()) {
            Borders inner = collect_edges(part, edges);
            all.first.merge(inner.first);
            all.last.merge(inner.last);
            all.addressed.merge(inner.addressed);
        }
        return all;
    }
    const Borders left = collect_edges(block.left(), edges);
    const Borders right = collect_edges(block.right(), edges);
    for (const std::string& from : left.last) {
        for (const std::string& to : right.first) edges.emplace(from, to);
    }
    EXPECT_EQ(left.addressed, right.first);
    return {left.first, right.last, right.addressed};
}

}  // namespace strid::block::testing

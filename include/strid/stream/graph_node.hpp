// SPDX-License-Identifier: Apache-2.0
//
// A graph as a node of a pattern: the tasks of the node are the records of a stream, and the
// records that leave the graph are the results of the node.
//
//     pipeline(source(next_file), farm(graph_node<Line, Count>([](auto lines) {
//         return std::move(lines).key_by<&Line::word>().apply(counted());
//     })), print)
//
// The graph runs beside the pattern, with threads of its own: one, unless the options of its run
// say otherwise (design note 0018).
//
// The graph ends when the node's input has ended; the node ends when the graph has. An exception
// thrown in the graph ends the pattern, with an OperatorError that names the node and the operator.
// A pattern that ends early cancels the graph.
//
// The pattern cannot see how many records the graph makes of one task. So a graph cannot stand in a
// loop: a loop ends when it has no task left, which it has to count.
//
// Threads: plain values; the node is stepped as every node.
#pragma once

#include <utility>

#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/plan/graph_node.hpp>
#include <strid/pattern/task_type.hpp>
#include <strid/stream/options.hpp>

namespace strid {

/// A node that runs a graph: `build(stream)` or `build(graph, stream)` gets the stream of the
/// node's tasks, `T`, and returns the stream of its results, `U`, which must own their text. Each
/// replica of the node builds and runs its own graph. Throws GraphError in a loop.
template <pattern::TaskType T, pattern::TaskType U, class Build>
[[nodiscard]] auto graph_node(Build build, GraphNodeOptions options = {}) {
    check_owns_text<U>();
    return graph::GraphPattern<T, U, Build>{std::move(build), std::move(options)};
}

}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// The term of the block algebra that `explain()` shows for a graph, and the rules that tie it to
// the plan that runs. The planner cuts fragments and does not use blocks; the rules of paper 2
// compose the term from the plan's operators, their replicas, distributions and edges and know
// nothing of fragments, tasks and links. The rules, for every graph and every way to run it:
//
//   nodes      Each fragment of n replicas is n equal sequential blocks of the term, which run its
//              operators in their order; the term has no others. So operators are the same, a
//              farm's degree is the number of replicas, and in dedicated mode there are as many
//              threads as the paper counts nodes. A distributing fragment (figure 17) is as many
//              nodes that only distribute, to the same operators.
//   edges      One operator feeds another in the term if and only if it does in the plan: within a
//              node, along a pipe, or across an all-to-all.
//   delivery   Along a pipe the plan sends from replica i to replica i. Across an all-to-all it
//              sends by key where the term distributes by key, to all where that broadcasts, and
//              where it forwards or rebalances to one of the consumer's replicas: to any, or to the
//              same one each time, which is less than an all-to-all allows. The complex
//              distributions of windows (table 1) may be any of these.
//
// Builds of STRID_ASSERT_LEVEL 2 check every plan against its term before it runs. All builds do so
// where the run is perturbed or a simulation, so every graph of the tests is checked.
#pragma once

#include <string>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/plan/plan.hpp>
#include <strid/engine/plan/segment.hpp>

namespace strid::graph {

/// The term that the rules derive for the operators of a plan, with its derivation. O(blocks).
[[nodiscard]] block::DagComposition composition_of(const Segments& segments, const Plan& plan);

/// Where a term and a plan break these rules, a line for each place; empty where they keep them.
/// O(blocks + replicas).
[[nodiscard]] std::string disagreement(const block::DagComposition& term, const Segments& segments,
                                       const Plan& plan);

}  // namespace strid::graph

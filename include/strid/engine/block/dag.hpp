// SPDX-License-Identifier: Apache-2.0
//
// Any acyclic graph of operators, and its composition into blocks. Grammar (2) of paper 2 has no
// n-to-m connections between Matryoshkas and no merge of branches that belong to different splits;
// a Dag may have both. A Dag that the paper's rules can derive becomes a term of the algebra, with
// its derivation. Any other becomes the general form: Matryoshkas whose last nodes route to the
// Matryoshkas that follow, and the edges between them. Plain values, one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <strid/engine/block/derivation.hpp>
#include <strid/engine/block/node_order.hpp>
#include <strid/engine/block/operator_descriptor.hpp>
#include <strid/engine/block/parallel_block.hpp>
#include <strid/engine/block/rules.hpp>

namespace strid::block {

/// A graph of operators. Vertices are numbered from 0 in the order they were added.
class Dag {
  public:
    struct Edge {
        std::size_t from;
        std::size_t to;

        bool operator==(const Edge&) const = default;
    };

    /// Adds an operator. With `chain` it is combined with the operator before it if that one is its
    /// only neighbour and the rule chain1 applies. Throws GraphError for a name that is taken, no
    /// replicas, or a distribution that the operator does not admit.
    std::size_t add_vertex(OperatorDescriptor descriptor, Attachment attachment = Attachment::add);

    /// The order of an operator's edges is the order of its branches. Throws GraphError for an
    /// unknown vertex, a repeated edge, an edge into a source or out of a sink.
    void add_edge(std::size_t from, std::size_t to);

    /// Sets the composition at one vertex: whether the distribution of its records (by a shuffle,
    /// split or merge) is in separate nodes, whatever the argument of `compose` is. For a graph
    /// whose edges differ in this.
    void route(std::size_t vertex, ShuffleComposition composition);

    [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }
    [[nodiscard]] const OperatorDescriptor& operator_at(std::size_t vertex) const;
    [[nodiscard]] Attachment attachment_at(std::size_t vertex) const;
    /// Nothing if the vertex uses the argument of `compose`.
    [[nodiscard]] std::optional<ShuffleComposition> routing_at(std::size_t vertex) const;
    [[nodiscard]] const std::vector<Edge>& edges() const noexcept { return edges_; }
    [[nodiscard]] const std::vector<std::size_t>& successors(std::size_t vertex) const;
    [[nodiscard]] const std::vector<std::size_t>& predecessors(std::size_t vertex) const;

    /// Producers before consumers, depth first: a branch is followed to its end, as far as its
    /// inputs allow, before the next one begins. Throws a GraphError that names the operators of a
    /// cycle.
    [[nodiscard]] std::vector<std::size_t> topological_order() const;

  private:
    struct Vertex {
        OperatorDescriptor descriptor;
        Attachment attachment;
        std::optional<ShuffleComposition> routing;
        std::vector<std::size_t> successors;
        std::vector<std::size_t> predecessors;
    };

    std::vector<Vertex> vertices_;
    std::vector<Edge> edges_;
};

/// The result of composing a Dag.
struct DagComposition {
    /// A longest stretch of operators without a branch: one Matryoshka of the general form.
    struct Section {
        std::vector<std::size_t> operators;  ///< vertices of the Dag, in the order of the stream
        ParallelBlock matryoshka;  ///< with the distribution to its successors combined at its end
        std::vector<std::size_t> successors;  ///< indices of sections
    };

    /// The general form, in topological order. Every Dag has one.
    std::vector<Section> sections;
    /// One term of grammar (2) for each connected part of the Dag; nothing when some part has none.
    std::optional<std::vector<ParallelBlock>> multipipes;
    /// The rules that led to `multipipes`, or to the sections of the general form.
    Derivation derivation;

    [[nodiscard]] bool in_grammar() const noexcept { return multipipes.has_value(); }
    /// Blocks of the terms, or of all sections if there are no terms.
    [[nodiscard]] BlockCounts counts() const;
    /// The derivation, then the terms or the sections with their edges.
    [[nodiscard]] std::string explain(Notation notation = Notation::unicode) const;
};

/// Composes a Dag under the paper's rules as far as they apply, and in the general form elsewhere.
/// `composition` applies to add-shuffle; splits and merges are combined, unless Dag::route sets
/// them otherwise. Throws GraphError for an empty or a cyclic graph.
[[nodiscard]] DagComposition compose(const Dag& dag,
                                     ShuffleComposition composition = ShuffleComposition::combined);

/// Whether grammar (2) has terms for the graph.
[[nodiscard]] bool is_expressible(const Dag& dag);

/// The nodes of a composition in placement order: of each term, or of each section in turn.
[[nodiscard]] std::vector<PlacedNode> placement_order(const DagComposition& composition);

}  // namespace strid::block

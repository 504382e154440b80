// SPDX-License-Identifier: Apache-2.0
//
// The two grammars of paper 2 as recognisers, and checked views over the terms they accept:
//   (1)  M  ::= [Phi]^n | A2A([Phi]^n, M)                                     Matryoshka
//   (2)  G  ::= M | A2A([G_i], Gl) | A2A(Gr, [G_i])                           MultiPipe
//        Gl ::= M | A2A(M, [G_i])          Gr ::= M | A2A([G_i], M)
// where Phi is a Pipe and [Phi]^n holds identical pipes (the replicas). A term that (1) accepts is
// always read as one Matryoshka. Names of operators are unique in a graph, so two branches are
// never identical pipes, and the reading is the only one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/engine/block/parallel_block.hpp>

namespace strid::block {

[[nodiscard]] bool is_matryoshka(const ParallelBlock& block);
[[nodiscard]] bool is_multipipe(const ParallelBlock& block);

/// A term that is a Matryoshka: a set of pipelines, one level per shuffle, seed innermost.
class Matryoshka {
  public:
    /// Nothing when grammar (1) does not accept the block.
    [[nodiscard]] static std::optional<Matryoshka> view(const ParallelBlock& block);

    [[nodiscard]] const ParallelBlock& block() const noexcept { return block_; }
    /// The containers [Phi]^n from the outermost to the seed, at least one.
    [[nodiscard]] std::vector<ParallelBlock> levels() const;
    [[nodiscard]] ParallelBlock seed() const { return levels().back(); }
    /// OutCard, paper 2, figure 6: the number of pipes in the seed.
    [[nodiscard]] std::size_t out_card() const;
    /// LastOP, paper 2, figure 6. Nothing once the last node ends in a distribution: the
    /// Matryoshka has been split or merged and takes no further operator.
    [[nodiscard]] std::optional<OperatorKind> last_operator() const;
    /// The name of that operator; empty under the same condition.
    [[nodiscard]] std::string last_operator_name() const;
    /// Ends in a sink: no operator can follow.
    [[nodiscard]] bool closed() const;

  private:
    explicit Matryoshka(ParallelBlock block) : block_(std::move(block)) {}

    ParallelBlock block_;
};

/// A term that is a MultiPipe: Matryoshkas in a graph of splits and merges.
class MultiPipe {
  public:
    /// Nothing when grammar (2) does not accept the block.
    [[nodiscard]] static std::optional<MultiPipe> view(const ParallelBlock& block);

    [[nodiscard]] const ParallelBlock& block() const noexcept { return block_; }
    /// Rmost, paper 2, section 4.2.2: the Matryoshkas without a successor, left to right.
    [[nodiscard]] std::vector<ParallelBlock> rightmost() const;
    /// noSink, paper 2, section 4.2.2: none of the rightmost is closed.
    [[nodiscard]] bool no_sink() const;
    /// The rightmost Matryoshka that ends in the operator of that name.
    [[nodiscard]] std::optional<ParallelBlock> rightmost_named(
        std::string_view operator_name) const;

  private:
    explicit MultiPipe(ParallelBlock block) : block_(std::move(block)) {}

    ParallelBlock block_;
};

/// A side of an A2A read as the grammar does: one Matryoshka, or the list of its MultiPipes.
[[nodiscard]] std::vector<ParallelBlock> branches_of(const ParallelBlock& side);

/// Whether the block is a Gl of grammar (2): it decides on which side an A2A may grow.
[[nodiscard]] bool is_left_closed(const ParallelBlock& block);

}  // namespace strid::block

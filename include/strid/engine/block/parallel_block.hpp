// SPDX-License-Identifier: Apache-2.0
//
// Parallel building blocks, the production Delta of paper 2, table 2:
//   Delta ::= Pipe(Sigma1 * ... * Sigma_n) | [Delta_i] | A2A([Delta_i], [Delta_j])
// Immutable values over a shared tree, as the sequential blocks: cheap copies, structural equality,
// read by any thread. A container of one block is that block, as the paper writes it; the two
// sides of an all-to-all are therefore any Delta, read as a container through `elements()`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/block/sequential_block.hpp>

namespace strid::block {

/// A term of the algebra. A new production (a feedback edge) is a new Kind with its constructor;
/// the recursive functions switch over Kind without a default, so the compiler names each of them.
class ParallelBlock {
  public:
    enum class Kind : std::uint8_t { pipe, container, all_to_all };

    [[nodiscard]] Kind kind() const noexcept;

    /// The nodes of a Pipe, in the order of the stream. Precondition: kind() == pipe.
    [[nodiscard]] const std::vector<SequentialBlock>& nodes() const;
    /// Left-hand side of an A2A. Precondition: kind() == all_to_all.
    [[nodiscard]] const ParallelBlock& left() const;
    /// Right-hand side of an A2A. Precondition: kind() == all_to_all.
    [[nodiscard]] const ParallelBlock& right() const;
    /// The block read as a container: its parts, or itself alone when it is a Pipe or an A2A.
    [[nodiscard]] std::vector<ParallelBlock> elements() const;

    friend bool operator==(const ParallelBlock& left, const ParallelBlock& right);

  private:
    struct Node;
    explicit ParallelBlock(std::shared_ptr<const Node> node) noexcept : node_(std::move(node)) {}

    friend ParallelBlock pipe(std::vector<SequentialBlock> nodes);
    friend ParallelBlock container(std::vector<ParallelBlock> parts);
    friend ParallelBlock all_to_all(ParallelBlock left, ParallelBlock right);

    std::shared_ptr<const Node> node_;
};

/// Pipe of n > 0 nodes. Throws GraphError when empty.
[[nodiscard]] ParallelBlock pipe(std::vector<SequentialBlock> nodes);
/// [Delta_i] of n > 0 blocks; of one block it is that block. Throws GraphError when empty.
[[nodiscard]] ParallelBlock container(std::vector<ParallelBlock> parts);
/// [Delta]^n, n copies of one block. Throws GraphError when n is 0.
[[nodiscard]] ParallelBlock replicate(const ParallelBlock& block, std::size_t copies);
/// A2A(L, R): every rightmost node of L may send to every leftmost node of R.
[[nodiscard]] ParallelBlock all_to_all(ParallelBlock left, ParallelBlock right);

/// The term in the paper's notation; equal parts of a container are written once, [Delta]^n.
[[nodiscard]] std::string to_string(const ParallelBlock& block,
                                    Notation notation = Notation::unicode);

/// Names of the operators whose logic runs in the block, in term order, each once.
[[nodiscard]] std::vector<std::string> operator_names(const ParallelBlock& block);

/// How many blocks of each sort a term has: the columns of paper 2, table 3.
struct BlockCounts {
    std::size_t seqs = 0;
    std::size_t combiners = 0;  ///< Comb and fan-out Comb
    std::size_t pipes = 0;
    std::size_t containers = 0;  ///< two for each all-to-all, and every other one of n > 1 blocks
    std::size_t all_to_alls = 0;

    bool operator==(const BlockCounts&) const = default;
    BlockCounts& operator+=(const BlockCounts& other) noexcept;
};

/// Counts every occurrence in the term. The sides of an A2A are containers even when they hold one
/// block, as in table 3; a lone block elsewhere is written, and counted, without its container.
[[nodiscard]] BlockCounts counts(const ParallelBlock& block);
/// "5 Seqs, 1 Combiner, 2 Pipes, 2 Containers, 1 All-to-All"
[[nodiscard]] std::string to_string(const BlockCounts& counts);

}  // namespace strid::block

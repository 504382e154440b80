// SPDX-License-Identifier: Apache-2.0
//
// Sequential building blocks, the production Sigma of paper 2, table 2:
//   Sigma ::= Seq(f) | Comb(Sigma1, Sigma2) | Comb<(Sigma', {Sigma_i})
// Immutable values over a shared tree: a copy is one reference count, equality is structural (and
// immediate where two values share their tree). Any thread may read; nothing can be written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/block/operator_descriptor.hpp>

namespace strid::block {

/// How terms are written: with the paper's signs, or in plain ASCII.
enum class Notation : std::uint8_t { unicode, ascii };

/// A node of the running graph when it stands in a pipe: one execution entity.
class SequentialBlock {
  public:
    enum class Kind : std::uint8_t { seq, comb, fan_out };

    [[nodiscard]] Kind kind() const noexcept;

    /// The function of a Seq. Precondition: kind() == seq.
    [[nodiscard]] const Function& function() const;
    /// First of a Comb, or the head of a fan-out. Precondition: kind() != seq.
    [[nodiscard]] const SequentialBlock& first() const;
    /// The rest after the first: one block for a Comb, the branches for a fan-out.
    [[nodiscard]] const std::vector<SequentialBlock>& rest() const;

    /// Every function in the order of its execution (branches of a fan-out in their order).
    [[nodiscard]] std::vector<Function> functions() const;

    friend bool operator==(const SequentialBlock& left, const SequentialBlock& right);

  private:
    struct Node;
    explicit SequentialBlock(std::shared_ptr<const Node> node) noexcept : node_(std::move(node)) {}

    friend SequentialBlock seq(Function function);
    friend SequentialBlock comb(SequentialBlock first, SequentialBlock second);
    friend SequentialBlock fan_out(SequentialBlock head, std::vector<SequentialBlock> branches);

    std::shared_ptr<const Node> node_;
};

/// Seq(f): runs f on each input.
[[nodiscard]] SequentialBlock seq(Function function);
/// Comb(Sigma1, Sigma2): the sequential composition of two blocks, in one node.
[[nodiscard]] SequentialBlock comb(SequentialBlock first, SequentialBlock second);
/// Comb<(Sigma', {Sigma_i}): each output of the head goes to one of the n > 1 branches, all in one
/// node. Throws GraphError for fewer than two branches.
[[nodiscard]] SequentialBlock fan_out(SequentialBlock head, std::vector<SequentialBlock> branches);

/// The term in the paper's notation.
[[nodiscard]] std::string to_string(const SequentialBlock& block,
                                    Notation notation = Notation::unicode);

}  // namespace strid::block

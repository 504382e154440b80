// SPDX-License-Identifier: Apache-2.0
//
// The utility functions of paper 2, figures 5 and 6: pure, total on the terms named. They share the
// parts of the term that they do not change.
#pragma once

#include <cstddef>
#include <optional>

#include <strid/engine/block/parallel_block.hpp>

namespace strid::block {

/// Delta |> Sigma (figure 5): combines a copy of the block with every rightmost node.
[[nodiscard]] ParallelBlock combine_with_last(const ParallelBlock& block,
                                              const SequentialBlock& addition);

/// Delta |- Sigma (figure 5): appends a copy of the block to every rightmost pipe.
[[nodiscard]] ParallelBlock pipe_with_last(const ParallelBlock& block,
                                           const SequentialBlock& addition);

/// OutCard(M) (figure 6): pipes in the seed. Nothing when the block is no Matryoshka.
[[nodiscard]] std::optional<std::size_t> out_card(const ParallelBlock& matryoshka);

/// M <> [Phi]^n (figure 6): puts a new seed inside the innermost doll. Nothing when the first is no
/// Matryoshka or the second no container of identical pipes.
[[nodiscard]] std::optional<ParallelBlock> replace_seed(const ParallelBlock& matryoshka,
                                                        const ParallelBlock& seed);

/// LastOP(M) (figure 6). Nothing when the block is no Matryoshka, or ends in a distribution.
[[nodiscard]] std::optional<OperatorKind> last_operator(const ParallelBlock& matryoshka);

}  // namespace strid::block

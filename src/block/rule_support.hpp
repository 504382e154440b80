// SPDX-License-Identifier: Apache-2.0
//
// Side conditions shared by the rules. Private to src/block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <strid/engine/block/rules.hpp>

namespace strid::block::detail {

/// [Pipe(Seq(f_op))]^n, the seed of a new operator.
ParallelBlock new_seed(const OperatorDescriptor& descriptor);

/// Whether an operator may enter behind the given terms; the reason if not.
std::optional<Refusal> refuse_operator(const std::vector<OperatorDescriptor>& descriptors,
                                       const std::vector<ParallelBlock>& terms);

/// "counter x2"
std::string describe(const OperatorDescriptor& descriptor);

/// A Matryoshka and the router of its records: in its last nodes, behind each of them, or behind
/// all.
ParallelBlock with_router(const ParallelBlock& matryoshka, const SequentialBlock& router,
                          ShuffleComposition composition);

/// Rebuilds a MultiPipe with one rightmost Matryoshka exchanged for another term.
ParallelBlock exchange(const ParallelBlock& block, const ParallelBlock& target,
                       const ParallelBlock& replacement);

bool contains(const std::vector<ParallelBlock>& blocks, const ParallelBlock& block);

}  // namespace strid::block::detail

// SPDX-License-Identifier: Apache-2.0
//
// The order in which the nodes of a term are laid out on cores (paper 2, section 4.4): a
// depth-first visit that goes along a Pipe from the left and alternates between the blocks of an
// A2A's two sides, because blocks of one container never exchange data while blocks across do.
#pragma once

#include <cstddef>
#include <vector>

#include <strid/engine/block/parallel_block.hpp>

namespace strid::block {

/// A node: a sequential block that is not part of another combiner, so one execution entity.
struct PlacedNode {
    SequentialBlock block;
    /// Number among the equal replicas of the block, from 0, counted in term order.
    std::size_t replica = 0;

    bool operator==(const PlacedNode&) const = default;
};

/// All nodes of the term, neighbours first. Two replicas a and b, shuffled to c and d, are visited
/// a c b d; a Matryoshka of several levels row by row.
/// Time: nodes times distinct blocks.
[[nodiscard]] std::vector<PlacedNode> placement_order(const ParallelBlock& block);

}  // namespace strid::block

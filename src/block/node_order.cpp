// SPDX-License-Identifier: Apache-2.0
//
// The visit in terms of lanes. A Pipe is one lane, a container has the lanes of its blocks side by
// side, and an A2A continues the i-th lane of its left with the i-th of its right. The order is the
// lanes one after the other. For sides made of Pipes that is the paper's interleaving; inside a
// nested A2A every level gets its turn.
#include <algorithm>
#include <utility>

#include <strid/engine/block/node_order.hpp>

namespace strid::block {

namespace {

using Lane = std::vector<SequentialBlock>;

std::vector<Lane> lanes_of(const ParallelBlock& block) {
    switch (block.kind()) {
        case ParallelBlock::Kind::pipe:
            return {block.nodes()};
        case ParallelBlock::Kind::container: {
            std::vector<Lane> lanes;
            for (const ParallelBlock& part : block.elements()) {
                for (Lane& lane : lanes_of(part)) lanes.push_back(std::move(lane));
            }
            return lanes;
        }
        case ParallelBlock::Kind::all_to_all: {
            std::vector<Lane> lanes = lanes_of(block.left());
            std::vector<Lane> right = lanes_of(block.right());
            lanes.resize(std::max(lanes.size(), right.size()));
            for (std::size_t index = 0; index < right.size(); ++index) {
                lanes[index].insert(lanes[index].end(), right[index].begin(), right[index].end());
            }
            return lanes;
        }
    }
    return {};
}

}  // namespace

std::vector<PlacedNode> placement_order(const ParallelBlock& block) {
    std::vector<PlacedNode> order;
    // Equal blocks are replicas of one another; lanes keep them in term order.
    std::vector<std::pair<SequentialBlock, std::size_t>> seen;
    for (const Lane& lane : lanes_of(block)) {
        for (const SequentialBlock& node : lane) {
            auto known = std::find_if(seen.begin(), seen.end(),
                                      [&](const auto& entry) { return entry.first == node; });
            if (known == seen.end()) known = seen.insert(seen.end(), {node, 0});
            order.push_back({node, known->second++});
        }
    }
    return order;
}

}  // namespace strid::block

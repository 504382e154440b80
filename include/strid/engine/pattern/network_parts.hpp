// SPDX-License-Identifier: Apache-2.0
//
// Records the parts of a network while it is built, and reads the counters of its lanes. Owned by
// the network, and borrows its nodes and lanes.
//
// Threads: building is one thread's; afterwards any number read.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <strid/pattern/description.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

class NetworkParts {
  public:
    /// A part of the pattern, as long as it is being built.
    class [[nodiscard]] OpenPart {
      public:
        OpenPart(NetworkParts& all, PartDescription part) : all_(all) {
            all_.begin(std::move(part));
        }
        OpenPart(const OpenPart&) = delete;
        OpenPart& operator=(const OpenPart&) = delete;
        ~OpenPart() { all_.end(); }

      private:
        NetworkParts& all_;
    };

    void add_node(const runtime::Task& node, NodeType (*type)(), std::size_t replica,
                  std::size_t replicas) {
        numbers_.emplace(&node, nodes_.size());
        nodes_.push_back({&node, type, replica, replicas});
    }
    /// `L` says by counts() what went through it. A lane from or to a task that is none of the
    /// nodes is left to what that is part of.
    template <class L>
    void add_lane(const runtime::Task& from, const runtime::Task& to, const L& lane,
                  LaneDescription description) {
        const auto first = numbers_.find(&from);
        const auto second = numbers_.find(&to);
        if (first == numbers_.end() || second == numbers_.end()) return;
        description.from = first->second;
        description.to = second->second;
        network_.lanes.push_back(description);
        lanes_.push_back(
            {&lane, [](const void* one) { return static_cast<const L*>(one)->counts(); }});
    }
    [[nodiscard]] NetworkDescription network() const {
        NetworkDescription network = network_;
        for (const auto& [node, type, replica, replicas] : nodes_) {
            network.nodes.push_back({node->name(), type(), replica, replicas});
        }
        return network;
    }
    /// The counters of the lanes, in their order.
    [[nodiscard]] std::vector<LaneCounts> lane_counts() const {
        std::vector<LaneCounts> all;
        all.reserve(lanes_.size());
        for (const auto& [lane, counts] : lanes_) all.push_back(counts(lane));
        return all;
    }

  private:
    // Texts are made when they are asked for: a pattern may be built for every task of another.
    struct KnownNode {
        const runtime::Task* node;
        NodeType (*type)();
        std::size_t replica;
        std::size_t replicas;
    };
    struct CountedLane {
        const void* lane;
        LaneCounts (*counts)(const void*);
    };

    void begin(PartDescription part) {
        part.first_node = nodes_.size();
        auto& siblings = open_.empty() ? network_.parts : open_.back()->parts;
        siblings.push_back(std::move(part));
        open_.push_back(&siblings.back());
    }
    void end() noexcept {
        open_.back()->end_node = nodes_.size();
        open_.pop_back();
    }

    NetworkDescription network_;  // without the nodes
    std::vector<KnownNode> nodes_;
    std::unordered_map<const runtime::Task*, std::size_t> numbers_;
    std::vector<CountedLane> lanes_;
    std::vector<PartDescription*>
        open_;  // each in the one before it, which grows no more meanwhile
};

}  // namespace strid::pattern

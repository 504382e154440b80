// SPDX-License-Identifier: Apache-2.0
//
// What a pattern becomes when it is built: its parts as they were written, the nodes, and the lanes
// between them, as plain values. The network describes itself while it is built; explanations,
// reports and pictures are made of this description alone.
//
// Invariant: the nodes of a part are a range of the network's nodes, and the parts of a part lie in
// it one after the other. So a node belongs to the innermost part that it lies in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strid::pattern {

/// What is known of a node by its type.
struct NodeType {
    /// "source", "node", "loop" (its entry), "limit" (the entry of what is limited) and "limit
    /// end", "emitter" (of a farm of farms), "collector" (of an ordered farm), "entrance" and
    /// "exit" (of an accelerator), or an operator's own.
    std::string kind = "node";
    std::string takes = {};  ///< The type of its tasks; empty: it takes none.
    std::string makes = {};  ///< Empty: it makes none.
    /// Functions that are fused in it, as "int -> double"; empty where there is only one.
    std::vector<std::string> fused = {};
    bool uses_resource = false;  ///< It is stepped only while it has one.
};

/// A node of a pattern.
struct NodeDescription {
    std::string name;          ///< As in errors and reports: "parse 3, replica 1".
    NodeType type = {};        ///< The properties of its type.
    std::size_t replica = 0;   ///< Which of the replicas it is, from 0.
    std::size_t replicas = 1;  ///< Copies of the node in its farm.
};

/// Which way a lane leads.
enum class LaneKind : std::uint8_t {
    forward,  ///< To the next node of the pattern.
    back,     ///< From the end of a loop to its entry.
    order     ///< Tells an ordered farm's collector which worker got which tasks.
};
/// "forward", "back" or "order".
[[nodiscard]] const char* to_string(LaneKind kind) noexcept;

/// A lane between two nodes.
struct LaneDescription {
    std::size_t from = 0;               ///< Numbers of nodes.
    std::size_t to = 0;                 ///< The node that receives.
    LaneKind kind = LaneKind::forward;  ///< Which way it leads.
    std::size_t tasks_max = 0;          ///< That may wait in it; 0: any number.
    std::size_t task_bytes = 0;         ///< Of one, without what it owns elsewhere.

    /// What its slots take; 0 where it has no bound.
    [[nodiscard]] std::size_t bytes_max() const noexcept { return tasks_max * task_bytes; }
};

/// What has gone through a lane.
struct LaneCounts {
    std::uint64_t tasks = 0;    ///< Pushed since the run began; of an order, runs of tasks.
    std::uint64_t waiting = 0;  ///< Pushed and not yet given back by the consumer.
};

/// A part of a pattern as it was written.
struct PartDescription {
    /// The kind of the part.
    enum class Kind : std::uint8_t {
        pipeline,      ///< Its parts one behind the other.
        farm,          ///< Workers side by side.
        ordered_farm,  ///< Workers side by side, results in the order of the tasks.
        worker,        ///< One replica of what a farm is made of.
        loop,          ///< Its part, again and again.
        limited,       ///< Its part with a bound on what is in flight.
        named          ///< Its part with a name.
    };

    Kind kind = Kind::pipeline;  ///< The kind of the part.
    std::string text = {};       ///< The policy of a farm, the limit, the name of what is named.
    std::string in_use = {};     ///< How many workers of a farm are; empty: all.
    std::size_t workers = 0;     ///< Of a farm.
    std::size_t first_node = 0;  ///< The number of its first node.
    std::size_t end_node = 0;    ///< Behind its last.
    std::vector<PartDescription> parts = {};  ///< Its parts, as they were written.
};

/// The nodes and lanes that a pattern becomes.
struct NetworkDescription {
    std::size_t threads = 0;  ///< That step the nodes; 0: those that wait for the pattern do.
    std::vector<NodeDescription> nodes = {};  ///< By their number.
    std::vector<LaneDescription> lanes = {};  ///< Between the nodes.
    std::vector<PartDescription> parts = {};  ///< The whole; none where the pattern is one node.

    /// For each node the number of its first replica: nodes with equal numbers do the same.
    [[nodiscard]] std::vector<std::size_t> first_replicas() const;
    /// The policy by which a lane's producer chooses it among others; empty: it has no choice.
    [[nodiscard]] std::string policy_of(const LaneDescription& lane) const;
    /// The name of a first replica without the words that tell it from the others.
    [[nodiscard]] std::string name_of_all(std::size_t node) const;
    /// Whether a limit bounds what is in this lane.
    [[nodiscard]] bool is_limited(const LaneDescription& lane) const;
    /// What the slots of all lanes with a bound take.
    [[nodiscard]] std::size_t lane_bytes_max() const noexcept;
};

/// For a person: the parts of the pattern, what its nodes take and make, its lanes and what bounds
/// them, and its threads. Lines that end in '\n'.
[[nodiscard]] std::string explain(const NetworkDescription& network);

}  // namespace strid::pattern

// SPDX-License-Identifier: Apache-2.0
//
// The figures of a pattern, as plain values. The counters are always on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/pattern/description.hpp>

namespace strid::pattern {

/// The figures of a node.
struct NodeReport {
    std::string name;             ///< As in errors.
    NodeCounters counters;        ///< The node's tasks, steps and times.
    double tasks_per_second = 0;  ///< That came in, or went out of a source; mean of the run.
    double task_ns = 0;           ///< Of one of these in the node's steps, mean; 0: there was none.
    /// Of the run: in its steps, and waiting for tasks or for room. In the rest of the run it
    /// waited for a thread, or had ended.
    double busy_share = 0;
    double idle_share = 0;  ///< See busy_share.
};

/// The figures of a pattern up to now, or up to its end. A range of its nodes, in the order in
/// which they were built.
struct Report {
    NetworkDescription network = {};     ///< The nodes and lanes of the pattern.
    double seconds = 0;                  ///< Since it was started, or that it ran.
    bool ended = false;                  ///< Whether all nodes have ended.
    std::vector<NodeReport> nodes = {};  ///< In the order in which they were built.
    std::vector<LaneCounts> lanes = {};  ///< As in the description.

    /// Tasks that the first nodes have made.
    [[nodiscard]] std::uint64_t tasks_in() const;
    /// Tasks that the last nodes have worked on: those that no lane leads on from.
    [[nodiscard]] std::uint64_t tasks_done() const;
    /// How full a lane is, 0 to 1; 0 where it has no bound.
    [[nodiscard]] double fill(std::size_t lane) const;
    /// All of it as JSON, one object.
    [[nodiscard]] std::string to_json() const;
    /// For a person: two tables, of the nodes and of the lanes. Lines that end in '\n'.
    [[nodiscard]] std::string to_text() const;

    /// How many nodes.
    [[nodiscard]] std::size_t size() const noexcept { return nodes.size(); }
    /// Node i, below size().
    [[nodiscard]] const NodeReport& operator[](std::size_t i) const { return nodes[i]; }
    /// Node i. Throws std::out_of_range.
    [[nodiscard]] const NodeReport& at(std::size_t i) const { return nodes.at(i); }
    /// The first node.
    [[nodiscard]] auto begin() const noexcept { return nodes.begin(); }
    /// Behind the last node.
    [[nodiscard]] auto end() const noexcept { return nodes.end(); }
};

}  // namespace strid::pattern

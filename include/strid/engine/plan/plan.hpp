// SPDX-License-Identifier: Apache-2.0
//
// The plan of a run: into which fragments the segments are cut, how many replicas each has, how
// batches are delivered between them, and which of them share a task. A pure function of the
// segments and the options, so that `explain()` and the run always agree.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/engine/plan/segment.hpp>
#include <strid/stream/options.hpp>

namespace strid::graph {

/// How batches reach the replicas of the consumer.
enum class Delivery : std::uint8_t {
    direct,        ///< Replica i to replica i.
    least_loaded,  ///< Each batch to the replica with the least waiting.
    by_key,        ///< Each record to the replica that owns its key.
    to_all         ///< Each batch to every replica, shared.
};
[[nodiscard]] const char* to_string(Delivery delivery) noexcept;

struct Edge {
    std::size_t to;  ///< Fragment.
    Delivery delivery;
};

/// The operators [first, last) of a segment, with their replicas.
struct Fragment {
    std::size_t segment = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t parallelism = 1;
    /// Of the first operator, for `explain()`, where it is not the usual.
    std::string_view why_as_many = {};
    bool distributes = false;   ///< A distributing node of figure 17; first == last.
    bool plain_output = false;  ///< Forwards to a distributing node instead of routing.
    bool splits = false;        ///< One edge per branch of a split.
    bool restores_order = false;
    bool keeps_sequences = false;
    bool stamps_sequences = false;
    /// Its batches come from replicas that share one stream. If the stream is idle, all of them
    /// are; but they learn that it is idle, or goes on, one after another.
    bool waits_for_idle = false;
    std::vector<Edge> edges;  ///< One, or one per branch; none for a sink.
    std::vector<std::size_t> producers;
};

struct Plan {
    std::vector<Fragment> fragments;  ///< Producers before consumers.
    std::size_t workers = 1;
    /// Per fragment, the group it runs in: the replicas r of all fragments of a group are one task.
    std::vector<std::size_t> groups;
};

/// The replicas of this number of some fragments, first to last, which share a task.
struct PlannedTask {
    std::vector<std::size_t> fragments;
    std::size_t replica;
};

/// The files that its operators declare to read and write, with the names of the operators.
[[nodiscard]] std::vector<FileUse> files_of(const Segments& segments);

/// Throws GraphError for what cannot be run: duplicate or unknown names, streams that lead nowhere,
/// windows of event time behind a stream without time, impossible parallelism, files that would be
/// destroyed. O(operators).
void check(const Segments& segments, const RunOptions& options);

/// Of a graph that stands the check. `cores` is what the machine offers. O(segments + operators).
[[nodiscard]] Plan make_plan(const Segments& segments, const RunOptions& options,
                             std::size_t cores);

/// A replica of a fragment.
[[nodiscard]] std::unique_ptr<operators::Node> make_node(const Segments& segments,
                                                         const Fragment& fragment,
                                                         std::size_t replica);

/// The tasks in the order in which they get their places: depth first (paper 2, section 4.4). A
/// fragment is `alone` that may block in the operating system: it leaves its group. O(tasks).
[[nodiscard]] std::vector<PlannedTask> order_of_tasks(const Plan& plan,
                                                      const std::vector<bool>& alone);

/// The name of a task: the first operator of each of its fragments, and its replica.
[[nodiscard]] std::string name_of(const Segments& segments, const Plan& plan,
                                  const PlannedTask& task);

}  // namespace strid::graph

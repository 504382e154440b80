// SPDX-License-Identifier: Apache-2.0
//
// The running form of a pattern: its nodes, the lanes between them, and the execution that steps
// them. A pattern is a value that builds itself into a network, from its first node to its last
// (pattern/pattern.hpp).
//
// Threads: building is one thread's; run, stop and the observers as in
// engine/runtime/execution.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/pattern/loop.hpp>
#include <strid/engine/pattern/network_parts.hpp>
#include <strid/engine/pattern/node_type.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/pattern/pattern_options.hpp>
#include <strid/pattern/pattern_report.hpp>

namespace strid::pattern {

/// Nodes whose outputs nothing takes yet: the tasks of type `T` that leave what has been built.
template <class T>
struct Ends {
    struct One {
        Output<T>* output;
        runtime::Task* node;  ///< That steps the output.
    };
    std::vector<One> nodes;
};
/// Where a pattern begins.
template <>
struct Ends<Nothing> {};

class Network {
  public:
    explicit Network(Options options);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Threads that step the nodes.
    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }

    // ---- building ------------------------------------------------------------------------------

    template <class N>
    N& add(std::unique_ptr<N> node) {
        N& added = *node;
        network_parts_.add_node(added, &detail::type_of_node<N>, replica_.number, replica_.of);
        nodes_.push_back(std::move(node));
        return added;
    }
    /// A lane from each of the ends to the node, for this number of tasks; 0: the number in the
    /// options.
    template <class T>
    void connect(const Ends<T>& ends, Input<T>& input, PatternNode& node, std::size_t tasks = 0) {
        connect(ends, input, node, node.task_ns(), tasks);
    }
    /// The same to a task that is none of the network's nodes. `task_ns` is how long a task of the
    /// lane takes it.
    template <class T>
    void connect(const Ends<T>& ends, Input<T>& input, runtime::Task& consumer,
                 const std::atomic<std::int64_t>& task_ns, std::size_t tasks = 0) {
        if (tasks == 0) tasks = lane_tasks(sizeof(T), std::max(ends.nodes.size(), replica_.of));
        for (const auto& end : ends.nodes) {
            auto lane = std::make_shared<Lane<T>>(tasks);
            lane->connect(*end.node, end.output->room_wait(), consumer);
            end.output->add(*lane, task_ns);
            input.add(*lane);
            describe(*lane, *end.node, consumer, LaneKind::forward);
            lanes_.push_back(std::move(lane));
        }
    }
    /// Which task goes where is written down for the node, by the one node that hands them out.
    template <class T>
    void keep_order(const Ends<T>& ends, Input<Run>& input, PatternNode& node) {
        const auto& end = ends.nodes.front();
        auto lane = std::make_shared<Lane<Run>>(lane_tasks(sizeof(Run), 1));
        lane->connect(*end.node, end.output->room_wait(), node);
        end.output->keep_order(*lane);
        input.add(*lane);
        describe(*lane, *end.node, node, LaneKind::order);
        lanes_.push_back(std::move(lane));
    }
    /// A lane from one of the last nodes of a loop back to its entry.
    template <class N, class Entry>
    void connect_back(N& node, Entry& entry) {
        auto& lane = entry.add_back_lane();
        node.end_loop(lane, entry);
        entry.watch().add_exit(node);
        network_parts_.add_lane(node, entry, lane,
                                {.kind = LaneKind::back, .task_bytes = Entry::task_bytes});
    }
    /// A part of the pattern is being built as long as what this returns lives.
    [[nodiscard]] NetworkParts::OpenPart open(PartDescription part) {
        return {network_parts_, std::move(part)};
    }
    /// The loops that are being built, from the outermost on.
    [[nodiscard]] std::vector<Loop*>& loops() noexcept { return loops_; }
    /// A name for a node, as "node 3" where it has none of its own, with the number of the replica.
    [[nodiscard]] std::string name_node(const std::string& kind);
    /// The owner of the nodes, which is put before their names.
    void set_owner(const std::string& owner) { owner_ = owner + ": "; }
    /// Which of several replicas is being built.
    struct Replica {
        std::size_t number = 0;
        std::size_t of = 1;
    };
    [[nodiscard]] Replica replica() const noexcept { return replica_; }
    void set_replica(Replica replica) noexcept { replica_ = replica; }

    // ---- running -------------------------------------------------------------------------------

    /// For one that has the nodes stepped by an execution of its own, in place of start(). Throws
    /// OperatorError.
    void open();
    /// The nodes, first to last.
    [[nodiscard]] std::vector<runtime::Task*> tasks() const;
    /// Opens the nodes and starts the threads. Throws OperatorError, GraphError for a pattern
    /// without nodes.
    void start();
    /// Until all nodes have ended. Throws the first failure, an OperatorError that names the node,
    /// and GraphError in a node of this network.
    void wait();
    /// It was started inside a node of another pattern, without a number of threads. So it has
    /// none, and the threads that wait for it step it.
    [[nodiscard]] bool is_on_callers() const noexcept {
        return threads_ == runtime::Threads::of_callers;
    }
    /// Of such a network: steps nodes that are ready, or pauses where none is.
    void help();
    /// The same without a pause: false where none is ready, and of other networks.
    bool help_now() noexcept { return execution_->help(); }
    /// False in a child that was forked after the start: it has none of the threads.
    [[nodiscard]] bool in_its_process() const noexcept {
        return execution_ == nullptr || execution_->in_its_process();
    }
    /// True in a node of this network.
    [[nodiscard]] bool is_inside() const noexcept {
        return runtime::Execution::inside_a_step() && execution_->is_inside();
    }
    /// Throws GraphError in a node of this network, which would wait for itself.
    void check_not_inside() const;
    void cancel() noexcept;
    /// Any thread.
    [[nodiscard]] Report report() const;
    /// Of what has been built.
    [[nodiscard]] NetworkDescription description() const;

  private:
    /// The options as given, with the callbacks of the network.
    [[nodiscard]] runtime::ExecutionOptions execution_options();
    [[nodiscard]] std::size_t lane_tasks(std::size_t task_bytes, std::size_t lanes) const noexcept;
    template <class T>
    void describe(const Lane<T>& lane, const runtime::Task& from, const runtime::Task& to,
                  LaneKind kind) {
        network_parts_.add_lane(
            from, to, lane, {.kind = kind, .tasks_max = lane.capacity(), .task_bytes = sizeof(T)});
    }

    Options options_;
    const runtime::Threads threads_;
    std::size_t workers_;
    std::string owner_;
    std::vector<Loop*> loops_;
    Replica replica_;
    std::size_t named_ = 0;
    NetworkParts network_parts_;
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<std::int64_t> ended_ns_{0};  // 0: it has not ended
    std::vector<std::shared_ptr<void>> lanes_;
    std::vector<std::unique_ptr<PatternNode>> nodes_;
    std::unique_ptr<runtime::Execution> execution_;  // first to go
};

}  // namespace strid::pattern

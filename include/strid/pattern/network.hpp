// SPDX-License-Identifier: Apache-2.0
//
// The running form of a pattern: its nodes, the lanes between them, and the execution that steps
// them. A pattern is a value that builds itself into a network, from its first node to its last
// (pattern/pattern.hpp).
//
// Threads: building is one thread's; run, stop and the observers as in runtime/execution.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/pattern/loop.hpp>
#include <strid/pattern/node_task.hpp>
#include <strid/pattern/ports.hpp>
#include <strid/runtime/execution.hpp>

namespace strid::pattern {

/// How a pattern runs. The defaults are meant to be left alone.
struct Options {
    /// Threads: one for each core. A farm whose number of workers is not said has as many.
    runtime::ExecutionOptions execution = {};
    /// Tasks that may wait between two nodes; 0: what fills 32 KiB, 16 to 2,048 of them.
    std::size_t lane_tasks = 0;
};

/// What a node has done.
struct NodeReport {
    std::string name;
    NodeCounters counters;
};

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
        nodes_.push_back(std::move(node));
        return added;
    }
    /// A lane from each of the ends to the node.
    template <class T>
    void connect(const Ends<T>& ends, Input<T>& input, Node& node) {
        connect(ends, input, node, node.task_ns());
    }
    /// The same to a task that is none of the network's nodes. `task_ns` is how long a task of the
    /// lane takes it.
    template <class T>
    void connect(const Ends<T>& ends, Input<T>& input, runtime::Task& consumer,
                 const std::atomic<std::int64_t>& task_ns) {
        for (const auto& end : ends.nodes) {
            auto lane = std::make_shared<Lane<T>>(lane_tasks(sizeof(T)));
            lane->connect(*end.node, end.output->room_wait(), consumer);
            end.output->add(*lane, task_ns);
            input.add(*lane);
            lanes_.push_back(std::move(lane));
        }
    }
    /// Which task goes where is written down for the node, by the one node that hands them out.
    template <class T>
    void keep_order(const Ends<T>& ends, Input<Run>& input, Node& node) {
        const auto& end = ends.nodes.front();
        auto lane = std::make_shared<Lane<Run>>(lane_tasks(sizeof(Run)));
        lane->connect(*end.node, end.output->room_wait(), node);
        end.output->keep_order(*lane);
        input.add(*lane);
        lanes_.push_back(std::move(lane));
    }
    /// The loops that are being built, from the outermost on.
    [[nodiscard]] std::vector<Loop*>& loops() noexcept { return loops_; }
    /// A name for a node, as "node 3" where it has none of its own, with the number of the replica.
    [[nodiscard]] std::string name_node(const std::string& kind);
    /// What the nodes are part of: stands before their names.
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
    /// Until all nodes have ended. Throws the first failure, an OperatorError that names the node.
    void wait();
    void cancel() noexcept;
    [[nodiscard]] std::vector<NodeReport> report() const;

  private:
    [[nodiscard]] std::size_t lane_tasks(std::size_t task_bytes) const noexcept;

    Options options_;
    std::size_t workers_;
    std::string owner_;
    std::vector<Loop*> loops_;
    Replica replica_;
    std::size_t named_ = 0;
    std::vector<std::shared_ptr<void>> lanes_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::unique_ptr<runtime::Execution> execution_;  // first to go
};

}  // namespace strid::pattern

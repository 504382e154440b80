// SPDX-License-Identifier: Apache-2.0
//
// The replicas of one run: nodes made after the plan, wired by links, grouped into tasks.
//
// Ownership: a task owns its nodes, a node its output port, a port its pool and links. The
// consumers' input ports point at those links, which is why all nodes give back what they hold
// before the first is destroyed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/kernel/node_task.hpp>
#include <strid/engine/operator/run_stops.hpp>
#include <strid/engine/plan/plan.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/stream/graph.hpp>

#include "snapshots.hpp"

namespace strid {

class Running::State {
  public:
    State(const Graph& graph, const RunOptions& options);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void start(const std::stop_token& stop);
    void wait() { execution_->wait(); }
    void stop() noexcept;
    void cancel() noexcept;
    bool snapshot();
    [[nodiscard]] RunReport report() const;
    [[nodiscard]] std::vector<RefusedLine> refused_lines() const {
        return scope_.refused_lines().last();
    }
    [[nodiscard]] runtime::Execution& execution() noexcept { return *execution_; }
    [[nodiscard]] bool finished() const noexcept { return execution_->finished(); }

  private:
    using Nodes = std::vector<std::vector<std::unique_ptr<operators::Node>>>;

    void make_nodes(const graph::Segments& segments);
    void make_ports(const RunOptions& options);
    void link();
    void make_tasks(const graph::Segments& segments);
    [[nodiscard]] std::pair<std::vector<runtime::Task*>, std::vector<int>> all_tasks(
        const RunOptions& options);
    void prepare_snapshots(const SnapshotOptions& options);
    void ended(const runtime::ExecutionEnd& end);

    memory::RecyclingScope recycling_;  // first: it ends after everything that lets go of memory
    RunScope scope_;                    // before the nodes, which use it
    StopOfRun stop_{scope_};            // the same
    std::string name_;
    graph::Plan plan_;
    Nodes nodes_;  // per fragment and replica, until tasks own them
    std::vector<std::vector<operators::Node*>> replicas_;      // the same, for looking
    std::vector<std::vector<graph::OperatorInfo>> operators_;  // per fragment
    std::vector<std::unique_ptr<operators::NodeTask>> tasks_;
    std::size_t tasks_brought_ = 0;  // by operators, which own them
    std::int64_t start_ns_ = 0;
    // Relaxed, both: numbers on their own, and what the execution did is ordered by its end.
    std::atomic<std::int64_t> end_ns_{0};
    std::atomic<bool> stopped_{false};
    std::function<void(const RunEnd&)> on_end_;
    std::unique_ptr<Snapshots> snapshots_;
    std::unique_ptr<runtime::Execution> execution_;  // last: its threads end before the tasks do
};

}  // namespace strid

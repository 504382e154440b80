// SPDX-License-Identifier: Apache-2.0
//
// The task of one replica of a segment, or of several joined by direct edges, in the order in which
// records pass them. In one step a batch passes all of them while it is in the cache.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <strid/engine/kernel/node.hpp>
#include <strid/runtime/task.hpp>

namespace strid::operators {

class NodeTask final : public runtime::Task {
  public:
    NodeTask(std::string name, std::vector<std::unique_ptr<Node>> nodes);

    /// Adds the tasks of the nodes' operators to the run. Before open().
    void bring_tasks(const RunShape& shape, std::vector<runtime::Task*>& tasks);
    /// Opens the nodes, on the calling thread; `stop` ends a slow open. Throws OperatorError.
    void open(const std::stop_token& stop = {});

    runtime::StepResult step(std::int64_t& clock_ns) override;
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept override { return wake_at_ns_; }
    [[nodiscard]] bool needs_own_thread() const noexcept override;
    [[nodiscard]] bool awaits_outside() const noexcept override;
    [[nodiscard]] bool has_work() const noexcept override;
    void request_stop() noexcept override;
    void interrupt() noexcept override;

    [[nodiscard]] const std::vector<std::unique_ptr<Node>>& nodes() const noexcept {
        return nodes_;
    }

  private:
    std::vector<std::unique_ptr<Node>> nodes_;
    std::int64_t wake_at_ns_ = 0;
};

}  // namespace strid::operators

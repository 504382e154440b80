// SPDX-License-Identifier: Apache-2.0
//
// What the runtime steps: one replica of a segment, or several joined by direct edges, in the order
// in which records pass them. Within a step a batch goes through all of them while it is hot.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <strid/operator/node.hpp>
#include <strid/runtime/task.hpp>

namespace strid::operators {

class NodeTask final : public runtime::Task {
  public:
    NodeTask(std::string name, std::vector<std::unique_ptr<Node>> nodes);

    /// Adds the tasks that operators of the nodes bring to the run. Before open().
    void bring_tasks(const RunShape& shape, std::vector<runtime::Task*>& tasks);
    /// Opens the nodes, on the calling thread; `stop` ends what takes long. Throws OperatorError.
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/engine/kernel/node_task.hpp>
#include <strid/engine/runtime/wake.hpp>

namespace strid::operators {

using runtime::StepResult;

NodeTask::NodeTask(std::string name, std::vector<std::unique_ptr<Node>> nodes)
    : Task(std::move(name)), nodes_(std::move(nodes)) {}

void NodeTask::bring_tasks(const RunShape& shape, std::vector<runtime::Task*>& tasks) {
    for (auto& node : nodes_) node->bring_tasks(shape, *this, tasks);
}

void NodeTask::open(const std::stop_token& stop) {
    for (auto& node : nodes_) node->open(*this, stop);
}

StepResult NodeTask::step(std::int64_t& clock_ns) {
    bool progressed = false;
    bool all_finished = true;
    bool retry = false;  // refused, and no consumer would wake this task
    bool saves = false;  // a state, in slices
    wake_at_ns_ = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node& node = *nodes_[i];
        RunResult result = node.run(clock_ns);
        if (result == RunResult::progressed) {
            progressed = true;
            // The output of the first node is passed on at once; a node behind it empties its
            // input.
            while (i != 0 && result == RunResult::progressed) result = node.run(clock_ns);
        }
        if (result != RunResult::finished) all_finished = false;
        if (result == RunResult::refused && node.output() != nullptr) {
            retry = !node.output()->await_spare() || retry;
        }
        if (result == RunResult::empty) {
            wake_at_ns_ = runtime::earlier_wake(wake_at_ns_, node.wake_at_ns());
        }
        if (node.is_saving()) [[unlikely]] {
            // One that waits in the system may be away for long.
            do {
                node.save_slice();
            } while (node.is_saving() && node.needs_own_thread());
            clock_ns = now_ns();
            saves = true;
        }
    }
    // The last of several nodes ends with a run that finds no input and may have flushed a file:
    // the last clock value is too old.
    if (nodes_.size() > 1) clock_ns = now_ns();
    if (all_finished) return StepResult::finished;
    if (progressed || retry || saves) return StepResult::progressed;
    return wake_at_ns_ != 0 ? StepResult::timed : StepResult::waiting;
}

bool NodeTask::needs_own_thread() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->needs_own_thread(); });
}

bool NodeTask::awaits_outside() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->awaits_outside(); });
}

bool NodeTask::has_work() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->input().waiting(); });
}

void NodeTask::request_stop() noexcept {
    for (auto& node : nodes_) node->request_stop();
}

void NodeTask::interrupt() noexcept {
    for (auto& node : nodes_) node->interrupt();
}

}  // namespace strid::operators

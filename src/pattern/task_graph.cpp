// SPDX-License-Identifier: Apache-2.0
#include <strid/pattern/task_graph.hpp>

#include "task_graph_state.hpp"

namespace strid::pattern {

TaskGraph::TaskGraph(Team& team, const TaskGraphOptions& options)
    : state_(std::make_unique<TaskGraphState>(team, options)) {}

TaskGraph::~TaskGraph() = default;

GraphTask TaskGraph::add(std::string name, TaskFunction function, std::span<const TaskUse> uses) {
    return state_->add(std::move(name), std::move(function), uses);
}

GraphTask TaskGraph::declare(std::string name) {
    return state_->declare(std::move(name));
}

void TaskGraph::define_declared(GraphTask declared, TaskFunction function,
                                std::span<const TaskUse> uses) {
    state_->define(declared, std::move(function), uses);
}

void TaskGraph::wait() {
    state_->wait();
}

void TaskGraph::cancel() noexcept {
    state_->cancel();
}

std::size_t TaskGraph::open_tasks() const noexcept {
    return state_->open_tasks();
}

}  // namespace strid::pattern

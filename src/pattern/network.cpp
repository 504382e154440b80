// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/pattern/network.hpp>

#include "threads.hpp"

namespace strid::pattern {

namespace {

constexpr std::size_t lane_bytes = 32 * 1024;

}  // namespace

namespace detail {

void throw_no_such_worker(std::size_t worker, std::size_t workers) {
    throw GraphError("a policy chose worker " + std::to_string(worker) + " of a farm of " +
                     std::to_string(workers) + " (the first is 0)");
}

void throw_no_loop() {
    throw Error(
        "emit.again() is for the last node of a loop, while tasks come to it (pattern::iterate)");
}

}  // namespace detail

Network::Network(Options options)
    : options_(std::move(options)), workers_(threads_or_cores(options_.execution.workers)) {}

Network::~Network() = default;

std::string Network::name_node(const std::string& kind) {
    std::string name = owner_ + kind + ' ' + std::to_string(++named_);
    if (replica_.of > 1) name += ", replica " + std::to_string(replica_.number);
    return name;
}

void Network::open() {
    for (const auto& node : nodes_) node->open();
}

std::vector<runtime::Task*> Network::tasks() const {
    std::vector<runtime::Task*> tasks;
    for (const auto& node : nodes_) tasks.push_back(node.get());
    return tasks;
}

void Network::start() {
    if (nodes_.empty()) throw GraphError("a pattern without nodes cannot run");
    open();
    execution_ = std::make_unique<runtime::Execution>(tasks(), options_.execution);
    execution_->start();
}

void Network::wait() {
    execution_->wait();
}

void Network::cancel() noexcept {
    if (execution_ != nullptr) execution_->cancel();
}

std::vector<NodeReport> Network::report() const {
    std::vector<NodeReport> report;
    for (const auto& node : nodes_) report.push_back({node->name(), node->node_counters()});
    return report;
}

std::size_t Network::lane_tasks(std::size_t task_bytes) const noexcept {
    if (options_.lane_tasks != 0) return options_.lane_tasks;
    return std::clamp<std::size_t>(lane_bytes / task_bytes, 16, 2048);
}

}  // namespace strid::pattern

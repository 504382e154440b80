// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/engine/pattern/limit_entry.hpp>
#include <strid/engine/pattern/network.hpp>
#include <strid/pattern/team.hpp>

#include "threads.hpp"

namespace strid::pattern {

namespace {

constexpr std::size_t lane_bytes = 32 * 1024;
// Where a farm has more workers than this, their lanes hold less.
constexpr std::size_t many_lanes = 64;
constexpr std::chrono::microseconds pause{50};

// A pattern in a node of another, or in a job of a team, would take threads from it, or wait for
// them, had it any.
runtime::Threads threads_for(const runtime::ExecutionOptions& options) {
    const bool inside = runtime::Execution::inside_a_step() || Team::inside_a_job();
    const bool nested = options.mode == runtime::ExecutionOptions::Mode::cooperative &&
                        options.workers == 0 && inside;
    return nested ? runtime::Threads::of_callers : runtime::Threads::own;
}

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

void check_in_use(const WorkersInUse& in_use, bool any_worker, std::size_t nodes) {
    if (!any_worker) {
        throw GraphError(
            "a farm by key, and one that hands out copies, keeps all its workers in use");
    }
    if (in_use.goes_by_load() && nodes != 1) {
        throw GraphError(
            "workers in use by the load are for a farm whose tasks one node hands out: put a node "
            "before it");
    }
}

void check_limit(const Limit& limit) {
    if (limit.tasks == 0 && limit.bytes == 0) {
        throw GraphError("limited() needs a number of tasks, or of bytes, above 0");
    }
}

}  // namespace detail

Network::Network(Options options)
    : options_(std::move(options)),
      threads_(threads_for(options_.execution)),
      workers_(is_on_callers() ? 1 : threads_or_cores(options_.execution.workers)) {
    if (is_on_callers()) options_.execution.workers = 1;
}

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
    execution_ = std::make_unique<runtime::Execution>(tasks(), execution_options(), threads_);
    started_ns_.store(now_ns(), std::memory_order_relaxed);
    execution_->start();
}

void Network::wait() {
    check_not_inside();
    execution_->wait();
}

void Network::help() {
    if (!execution_->help()) (void)execution_->wait_for(pause);
}

void Network::check_not_inside() const {
    if (!is_inside()) return;
    throw GraphError("a node waits for the pattern that it is part of, and so for itself");
}

void Network::cancel() noexcept {
    if (execution_ != nullptr) execution_->cancel();
}

runtime::ExecutionOptions Network::execution_options() {
    runtime::ExecutionOptions options = options_.execution;
    options.on_end = [this, next = options_.execution.on_end](const runtime::ExecutionEnd& end) {
        ended_ns_.store(now_ns(), std::memory_order_relaxed);
        if (next) next(end);
    };
    if (options.watchdog.count() > 0 && !options.on_stalled) {
        options.on_stalled = [period = options.watchdog](const std::vector<std::string>& names) {
            Terminal().say(fmt::format("strid: no progress for {:.3g} s: {}\n",
                                       std::chrono::duration<double>(period).count(),
                                       fmt::join(names, ", ")));
        };
    }
    return options;
}

NetworkDescription Network::description() const {
    using Mode = runtime::ExecutionOptions::Mode;
    NetworkDescription description = network_parts_.network();
    const std::size_t nodes = nodes_.size();
    switch (options_.execution.mode) {
        case Mode::cooperative:
            description.threads = is_on_callers() ? 0 : std::min(workers_, nodes);
            break;
        case Mode::dedicated:
            description.threads = nodes;
            break;
        case Mode::simulation:
            description.threads = std::min<std::size_t>(1, nodes);
            break;
    }
    return description;
}

Report Network::report() const {
    Report report;
    report.network = description();
    const std::int64_t started_ns = started_ns_.load(std::memory_order_relaxed);
    const std::int64_t ended_ns = ended_ns_.load(std::memory_order_relaxed);
    report.ended = ended_ns != 0;
    // The node behind a lane is read before the node ahead of it, so that no node seems to have
    // taken tasks that nothing has made.
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
        report.nodes.push_back({.name = (*node)->name(), .counters = (*node)->node_counters()});
    }
    std::reverse(report.nodes.begin(), report.nodes.end());
    report.lanes = network_parts_.lane_counts();
    if (started_ns == 0) return report;
    const double run_ns = static_cast<double>(
        std::max<std::int64_t>((report.ended ? ended_ns : now_ns()) - started_ns, 1));
    report.seconds = run_ns * 1e-9;
    for (std::size_t i = 0; i < report.nodes.size(); ++i) {
        NodeReport& node = report.nodes[i];
        const NodeCounters& counters = node.counters;
        const bool begins = report.network.nodes[i].type.takes.empty();
        const auto tasks = static_cast<double>(begins ? counters.tasks_out : counters.tasks_in);
        const auto busy_ns = static_cast<double>(counters.steps.busy_ns);
        node.tasks_per_second = tasks / report.seconds;
        node.task_ns = tasks == 0 ? 0 : busy_ns / tasks;
        node.busy_share = busy_ns / run_ns;
        node.idle_share = static_cast<double>(counters.steps.idle_ns) / run_ns;
    }
    return report;
}

std::size_t Network::lane_tasks(std::size_t task_bytes, std::size_t lanes) const noexcept {
    if (options_.lane_tasks != 0) return options_.lane_tasks;
    const std::size_t bytes = lane_bytes * many_lanes / std::max(many_lanes, lanes);
    return std::clamp<std::size_t>(bytes / task_bytes, 16, 2048);
}

}  // namespace strid::pattern

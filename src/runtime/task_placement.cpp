// SPDX-License-Identifier: Apache-2.0
#include "task_placement.hpp"

#include <algorithm>
#include <string>

#include <strid/base/error.hpp>

namespace strid::runtime {

namespace {

using Mode = ExecutionOptions::Mode;

std::string numbers(std::span<const Core> cores) {
    std::string text;
    for (const Core& core : cores) {
        text += (text.empty() ? "" : ", ") + std::to_string(core.processor);
    }
    return text;
}

void check_affinity(std::span<Task* const> tasks, const ExecutionOptions& options,
                    const Topology& topology) {
    if (options.affinity.empty()) return;
    if (options.affinity.size() != tasks.size()) {
        std::string names;
        for (const Task* task : tasks) names += (names.empty() ? "" : ", ") + task->name();
        throw GraphError("the affinity names " + std::to_string(options.affinity.size()) +
                         " processors for " + std::to_string(tasks.size()) + " tasks: " + names);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (topology.has_processor(options.affinity[i])) continue;
        throw GraphError("task '" + tasks[i]->name() + "' is bound to processor " +
                         std::to_string(options.affinity[i]) +
                         ", which does not exist or is not allowed here (cores: " +
                         numbers(topology.cores()) + ")");
    }
}

Placement::PoolPlan own_thread(std::uint32_t task, const ExecutionOptions& options,
                               const Topology& topology) {
    Placement::PoolPlan plan{.tasks = {task}, .homes = {0}, .processors = {{}}};
    if (!options.affinity.empty()) {
        plan.processors[0] = {options.affinity[task]};
    } else if (options.pin && options.mode == Mode::dedicated) {
        plan.processors[0] = {topology.cores()[task % topology.cores().size()].processor};
    }
    return plan;
}

// A worker on every processor that is named; the home of a task is the one on its processor.
void settle_by_affinity(Placement::PoolPlan& plan, const ExecutionOptions& options) {
    for (std::uint32_t task : plan.tasks) {
        const std::vector<int> processor{options.affinity[task]};
        auto found = std::find(plan.processors.begin(), plan.processors.end(), processor);
        if (found == plan.processors.end()) {
            found = plan.processors.insert(plan.processors.end(), processor);
        }
        plan.homes.push_back(static_cast<std::uint32_t>(found - plan.processors.begin()));
    }
    if (options.workers != 0 && options.workers != plan.processors.size()) {
        throw GraphError("the affinity names " + std::to_string(plan.processors.size()) +
                         " processors for " + std::to_string(options.workers) + " workers");
    }
}

// Contiguous chunks of the order of tasks to workers on neighbouring cores.
void settle_by_topology(Placement::PoolPlan& plan, const ExecutionOptions& options,
                        const Topology& topology) {
    const std::span<const Core> cores = topology.cores();
    const std::size_t wanted = options.workers != 0 ? options.workers : cores.size();
    const std::size_t workers = std::min(wanted, plan.tasks.size());
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
        plan.homes.push_back(static_cast<std::uint32_t>(i * workers / plan.tasks.size()));
    }
    plan.processors.resize(workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        const Core& core = cores[worker % cores.size()];
        if (options.pin) {
            plan.processors[worker] = {core.processor};
        } else if (workers == cores.size() && topology.cache_domain_count() > 1) {
            plan.processors[worker] = topology.processors_of_domain(core.cache_domain);
        }
        // With fewer workers than cores, other programs may run on these.
        if (!options.pin && workers > 1 && workers == cores.size())
            plan.begin_on.push_back(core.processor);
    }
}

}  // namespace

Placement place(std::span<Task* const> tasks, const ExecutionOptions& options,
                const Topology& topology) {
    check_affinity(tasks, options, topology);
    Placement placement;
    Placement::PoolPlan shared;
    for (std::uint32_t task = 0; task < tasks.size(); ++task) {
        const bool alone = options.mode == Mode::dedicated ||
                           (options.mode == Mode::cooperative && tasks[task]->needs_own_thread());
        if (alone) {
            placement.pools.push_back(own_thread(task, options, topology));
        } else {
            shared.tasks.push_back(task);
        }
    }
    if (!shared.tasks.empty()) {
        if (options.mode == Mode::simulation) {
            shared.homes.assign(shared.tasks.size(), 0);
            shared.processors.resize(1);
        } else if (!options.affinity.empty()) {
            settle_by_affinity(shared, options);
        } else {
            settle_by_topology(shared, options, topology);
        }
        placement.pools.push_back(std::move(shared));
    }
    for (const Placement::PoolPlan& plan : placement.pools) {
        placement.threads += plan.processors.size();
    }
    return placement;
}

}  // namespace strid::runtime

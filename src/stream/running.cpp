// SPDX-License-Identifier: Apache-2.0
#include "running.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/plan/block_term.hpp>

namespace strid {

namespace {

using graph::Delivery;
using graph::Edge;
using graph::Fragment;
using operators::Node;
using operators::OutputPort;
using operators::SendPolicy;

constexpr std::size_t blocks_between_tasks = 4;  // enough for two cores to overlap
constexpr std::size_t blocks_within_task = 1;    // handed over at once, and hot in the cache

/// The batches that a port fills at once shall stay in a second-level cache: those of a replica
/// with many consumers are smaller, and so is the memory of n times n links.
[[nodiscard]] std::size_t block_bytes_of(std::size_t slots) noexcept {
    constexpr std::size_t together = std::size_t{512} << 10;
    constexpr std::size_t least = std::size_t{4} << 10;
    return std::max(together / std::max(slots, std::size_t{1}), least);
}

[[nodiscard]] bool perturbed(const RunOptions& options) noexcept {
    static const bool by_environment = [] {
        const char* const wish = std::getenv("STRID_PERTURB");
        return wish != nullptr && std::string_view{wish} == "1";
    }();
    return by_environment || options.perturb || options.mode == RunOptions::Mode::simulation;
}

/// Checks the rules of engine/plan/block_term.hpp. Throws Error with the differences.
void check_against_term(const graph::Segments& segments, const graph::Plan& plan) {
    const std::string fault =
        graph::disagreement(graph::composition_of(segments, plan), segments, plan);
    if (!fault.empty()) throw Error("the plan and its block term disagree:\n" + fault);
}

/// The slots of a replica's port: by key one per consumer, else one per edge.
std::vector<OutputPort::SlotShape> slots_of(const graph::Plan& plan, const Fragment& fragment) {
    std::vector<OutputPort::SlotShape> slots;
    for (const Edge& edge : fragment.edges) {
        const std::size_t consumers = plan.fragments[edge.to].parallelism;
        switch (edge.delivery) {
            case Delivery::direct:
                slots.push_back({1, SendPolicy::one});
                break;
            case Delivery::least_loaded:
                slots.push_back({consumers, SendPolicy::least_loaded});
                break;
            case Delivery::to_all:
                slots.push_back({consumers, SendPolicy::all});
                break;
            case Delivery::by_key:
                slots.insert(slots.end(), consumers, {1, SendPolicy::one});
                break;
        }
    }
    return slots;
}

}  // namespace

Running::State::State(const Graph& graph, const RunOptions& options)
    : scope_(options.mode == RunOptions::Mode::simulation),
      name_(graph.name()),
      on_end_(options.on_end) {
    scope_.on_warning(options.on_warning);
    const auto topology = Topology::detect();
    plan_ = graph::make_plan(graph.segments(), options, topology.cores().size());
    if (STRID_ASSERT_LEVEL >= 2 || perturbed(options)) check_against_term(graph.segments(), plan_);
    make_nodes(graph.segments());
    make_ports(options);
    link();
    make_tasks(graph.segments());
    if (options.snapshots.on()) prepare_snapshots(options.snapshots);
    auto [tasks, affinity] = all_tasks(options);
    execution_ = std::make_unique<runtime::Execution>(
        std::move(tasks),
        runtime::ExecutionOptions{.mode = options.mode,
                                  .workers = options.workers,
                                  .waiting = options.waiting,
                                  .pin = options.pin,
                                  .affinity = std::move(affinity),
                                  .seed = options.seed,
                                  .watchdog = options.watchdog,
                                  .on_stalled = options.on_stalled,
                                  .on_end = [this](const auto& end) { ended(end); }});
}

void Running::State::prepare_snapshots(const SnapshotOptions& options) {
    std::vector<SnapshotSection> sections;
    for (std::size_t f = 0; f != replicas_.size(); ++f) {
        SnapshotSection& section =
            sections.emplace_back(SnapshotSection{replicas_[f], !replicas_[f].front()->polls()});
        for (const auto& info : operators_[f]) section.are_named.push_back(info.is_named);
    }
    for (std::size_t f = 0; f != plan_.fragments.size(); ++f) {
        for (const Edge& edge : plan_.fragments[f].edges) {
            if (edge.delivery != Delivery::by_key) sections[edge.to].is_by_key = false;
            sections[edge.to].producers.push_back({f, edge.delivery == Delivery::direct});
        }
    }
    std::vector<runtime::Task*> polling;
    for (const auto& task : tasks_) {
        const auto& in_task = task->nodes();
        if (std::any_of(in_task.begin(), in_task.end(),
                        [](const auto& node) { return node->polls(); })) {
            polling.push_back(task.get());
        }
    }
    snapshots_ = std::make_unique<Snapshots>(options, name_, std::move(sections),
                                             std::move(polling), scope_);
}

/// The tasks with those that their operators bring, which come right behind them, and the
/// processor of each, if any was named: tasks that operators bring have those of the others in
/// turn.
std::pair<std::vector<runtime::Task*>, std::vector<int>> Running::State::all_tasks(
    const RunOptions& options) {
    const operators::RunShape shape{plan_.workers, perturbed(options)};
    const bool named = options.affinity.size() == tasks_.size();
    std::vector<runtime::Task*> tasks;
    std::vector<int> affinity;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
        tasks.push_back(tasks_[t].get());
        tasks_[t]->bring_tasks(shape, tasks);
        if (!named) continue;
        affinity.push_back(options.affinity[t]);
        while (affinity.size() < tasks.size()) {
            affinity.push_back(options.affinity[affinity.size() % tasks_.size()]);
        }
    }
    tasks_brought_ = tasks.size() - tasks_.size();
    if (snapshots_) {
        tasks.push_back(snapshots_.get());
        if (named) affinity.push_back(options.affinity.front());
    }
    return {std::move(tasks), named ? std::move(affinity) : options.affinity};
}

Running::State::~State() {
    if (snapshots_) snapshots_->end_requests();
    execution_.reset();
    for (auto& fragment : replicas_) {
        for (Node* node : fragment) node->abandon();
    }
}

void Running::State::make_nodes(const graph::Segments& segments) {
    for (const Fragment& fragment : plan_.fragments) {
        const graph::SegmentBase& segment = *segments.all[fragment.segment];
        auto& nodes = nodes_.emplace_back();
        auto& replicas = replicas_.emplace_back();
        for (std::size_t r = 0; r < fragment.parallelism; ++r) {
            nodes.push_back(graph::make_node(segments, fragment, r));
            Node& node = *nodes.back();
            node.join(scope_);
            replicas.push_back(&node);
            if (fragment.keeps_sequences) node.keep_sequences();
            if (fragment.restores_order) node.input().restore_order();
            if (fragment.waits_for_idle) node.input().wait_for_idle();
        }
        auto& infos = operators_.emplace_back();
        if (fragment.distributes) {
            infos.emplace_back(nodes.front()->operator_names().front(), "distribution",
                               OperatorOptions{});
        } else {
            const auto first = segment.operators().begin();
            infos.assign(first + static_cast<std::ptrdiff_t>(fragment.first),
                         first + static_cast<std::ptrdiff_t>(fragment.last));
        }
    }
}

void Running::State::make_ports(const RunOptions& options) {
    const bool several_threads =
        plan_.workers > 1 || options.mode == RunOptions::Mode::dedicated ||
        std::any_of(replicas_.begin(), replicas_.end(),
                    [](const auto& replicas) { return replicas.front()->needs_own_thread(); });
    std::uint64_t port = 0;
    for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
        const Fragment& fragment = plan_.fragments[f];
        const bool within_task =
            std::all_of(fragment.edges.begin(), fragment.edges.end(),
                        [&](const Edge& edge) { return plan_.groups[edge.to] == plan_.groups[f]; });
        for (Node* node : replicas_[f]) {
            ++port;
            const auto slots = slots_of(plan_, fragment);
            operators::PortSizes sizes{
                .block_bytes = std::min(options.block_bytes, block_bytes_of(slots.size())),
                .heap_bytes_max =
                    std::min(options.batch_heap_bytes, 8 * block_bytes_of(slots.size())),
                .blocks_per_link = within_task ? blocks_within_task : blocks_between_tasks,
                .readers_keep_lines = !within_task && several_threads && reading_delays_writers(),
                .debt_bytes_max = options.fan_out_bytes_max};
            if (perturbed(options)) {
                sizes.block_bytes = sizeof(memory::Block);  // as few records as a port allows
                sizes.blocks_per_link = 1;
                sizes.ring_capacity = 2;
                sizes.perturbation_seed = (options.seed + 1) * 0x9e3779b97f4a7c15ULL + port;
                sizes.readers_keep_lines = true;
            }
            node->create_output(slots, sizes);
            if (fragment.stamps_sequences) node->output()->stamp_sequences();
            // No empty batch of a watermark comes between those of the section, also before the
            // first of them.
            if (fragment.keeps_sequences) node->output()->begin_sequence(0);
        }
    }
}

void Running::State::link() {
    for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
        for (std::size_t r = 0; r < replicas_[f].size(); ++r) {
            std::size_t next = 0;
            for (const Edge& edge : plan_.fragments[f].edges) {
                auto& consumers = replicas_[edge.to];
                if (edge.delivery == Delivery::direct) {
                    consumers[r]->input().attach(replicas_[f][r]->output()->link(next++));
                    continue;
                }
                for (Node* consumer : consumers) {
                    consumer->input().attach(replicas_[f][r]->output()->link(next++));
                }
            }
        }
    }
}

void Running::State::make_tasks(const graph::Segments& segments) {
    std::vector<bool> alone;
    for (const auto& replicas : replicas_) alone.push_back(replicas.front()->needs_own_thread());
    std::map<const Node*, runtime::Task*> task_of;
    for (const graph::PlannedTask& planned : graph::order_of_tasks(plan_, alone)) {
        std::vector<std::unique_ptr<Node>> nodes;
        std::vector<Node*> in_task;
        for (const std::size_t f : planned.fragments) {
            nodes.push_back(std::move(nodes_[f][planned.replica]));
            in_task.push_back(nodes.back().get());
        }
        tasks_.push_back(std::make_unique<operators::NodeTask>(
            graph::name_of(segments, plan_, planned), std::move(nodes)));
        for (const Node* node : in_task) task_of[node] = tasks_.back().get();
    }
    for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
        for (std::size_t r = 0; r < replicas_[f].size(); ++r) {
            std::size_t next = 0;
            Node* producer = replicas_[f][r];
            const auto connect = [&](Node* consumer) {
                producer->output()->link(next++).connect(task_of[producer], task_of[consumer]);
            };
            for (const Edge& edge : plan_.fragments[f].edges) {
                auto& consumers = replicas_[edge.to];
                if (edge.delivery == Delivery::direct) {
                    connect(consumers[r]);
                } else {
                    for (Node* consumer : consumers) connect(consumer);
                }
            }
        }
    }
}

void Running::State::start(const std::stop_token& stop) {
    for (auto& task : tasks_) task->open(stop);
    if (snapshots_) {
        snapshots_->restore();
        snapshots_->begin(*execution_);
    }
    start_ns_ = now_ns();
    execution_->start();
}

void Running::State::stop() noexcept {
    stopped_.store(true, std::memory_order_relaxed);
    stop_.stop();
    if (snapshots_ && snapshots_->take_last()) return;
    execution_->stop();
}

void Running::State::cancel() noexcept {
    stop_.cancel();
    execution_->cancel();
}

bool Running::State::snapshot() {
    if (!snapshots_) throw GraphError("the run takes no snapshots: RunOptions::snapshots");
    return snapshots_->take_now();
}

// Called by the last thread of the execution.
void Running::State::ended(const runtime::ExecutionEnd& end) {
    end_ns_.store(now_ns(), std::memory_order_relaxed);
    std::exception_ptr failure = end.failure;
    const bool is_complete = !failure && !end.cancelled;
    const bool is_suspended = snapshots_ && snapshots_->run_is_over();
    if (is_complete) {
        try {
            if (snapshots_) snapshots_->store_end();
            scope_.commit();
            if (snapshots_) snapshots_->store_finished();
            scope_.finish();
        } catch (...) {
            failure = std::current_exception();
        }
    }
    Outcome outcome = Outcome::finished;
    if (failure) {
        outcome = Outcome::failed;
    } else if (end.cancelled && !is_suspended) {
        outcome = Outcome::cancelled;
    } else if (stopped_.load(std::memory_order_relaxed) && !(is_complete && is_suspended)) {
        outcome = Outcome::stopped;  // else the stream has ended before its last snapshot
    }
    if (on_end_) on_end_({outcome, failure, report()});
    if (failure && !end.failure) std::rethrow_exception(failure);
}

Running::Running(std::unique_ptr<State> state) : state_(std::move(state)) {}
Running::Running(Running&&) noexcept = default;
Running& Running::operator=(Running&&) noexcept = default;
Running::~Running() = default;

RunReport Running::wait() {
    state_->wait();
    return state_->report();
}
bool Running::wait_for(std::chrono::nanoseconds time) {
    return state_->execution().wait_for(time);
}
void Running::stop() noexcept {
    state_->stop();
}
bool Running::snapshot() {
    return state_->snapshot();
}
void Running::cancel() noexcept {
    state_->cancel();
}
bool Running::finished() const noexcept {
    return state_->finished();
}
RunReport Running::report() const {
    return state_->report();
}
std::vector<RefusedLine> Running::refused_lines() const {
    return state_->refused_lines();
}

Running start(const Graph& graph, const RunOptions& options) {
    auto state = std::make_unique<Running::State>(graph, options);
    state->start(options.stop_opening);
    return Running{std::move(state)};
}

RunReport run(const Graph& graph, const RunOptions& options) {
    return start(graph, options).wait();
}

}  // namespace strid

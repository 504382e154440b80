// SPDX-License-Identifier: Apache-2.0
//
// Adding tasks: which tasks a new one waits for, and the errors of those that would wait for ever.
// All with the mutex of the graph.
#include <algorithm>
#include <utility>

#include <strid/base/error.hpp>

#include "task_graph_state.hpp"

namespace strid::pattern {

GraphTask TaskGraphState::add(std::string name, TaskFunction function,
                              std::span<const TaskUse> uses) {
    check_may_add();
    std::unique_lock lock(mutex_);
    Node& node = make_room(lock);
    try {
        find_predecessors(uses);
    } catch (...) {
        node.next = std::exchange(spare_node_, &node);
        throw;
    }
    const GraphTask added = name_node(node, std::move(name));
    const bool is_ready = give(node, std::move(function), uses);
    lock.unlock();
    if (is_ready) put_ready(node);
    return added;
}

GraphTask TaskGraphState::declare(std::string name) {
    check_may_add();
    std::unique_lock lock(mutex_);
    Node& node = make_room(lock);
    const GraphTask declared = name_node(node, std::move(name));
    undefined_.push_back(&node);
    return declared;
}

void TaskGraphState::define(GraphTask declared, TaskFunction function,
                            std::span<const TaskUse> uses) {
    check_may_add();
    std::unique_lock lock(mutex_);
    Node& node = declared_node(declared);
    find_predecessors(uses);
    check_order(node);
    std::erase(undefined_, &node);
    const bool is_ready = give(node, std::move(function), uses);
    lock.unlock();
    if (is_ready) put_ready(node);
}

GraphTask TaskGraphState::name_node(Node& node, std::string name) {
    node.name = std::move(name);
    node.number = ++added_;
    node.pending.store(1, std::memory_order_relaxed);
    node.followers.store(nullptr, std::memory_order_relaxed);
    open_tasks_.fetch_add(1, std::memory_order_relaxed);
    GraphTask task;
    task.graph_ = id_;
    task.node_ = &node;
    task.number_ = node.number;
    return task;
}

TaskGraphState::Node& TaskGraphState::declared_node(const GraphTask& declared) {
    if (declared.graph_ != id_) throw GraphError("define() is for a task that this graph declared");
    Node& node = *static_cast<Node*>(declared.node_);
    const bool is_open = !has_ended({&node, declared.number_});
    if (is_open && std::find(undefined_.begin(), undefined_.end(), &node) != undefined_.end()) {
        return node;
    }
    throw GraphError("task " +
                     (is_open ? "'" + name_of(node) + "'" : std::string("that has ended")) +
                     " is defined already");
}

TaskGraphState::Node* TaskGraphState::take_free_node() {
    if (spare_node_ == nullptr) {
        spare_node_ = free_nodes_.exchange(nullptr, std::memory_order_acquire);  // pairs with end()
    }
    if (spare_node_ != nullptr) return std::exchange(spare_node_, spare_node_->next);
    if (nodes_.size() < open_tasks_max_) return &nodes_.emplace_back();
    return nullptr;
}

TaskGraphState::Edge* TaskGraphState::take_free_edge() {
    if (spare_edge_ == nullptr) {
        spare_edge_ = free_edges_.exchange(nullptr, std::memory_order_acquire);  // pairs with end()
    }
    if (spare_edge_ != nullptr) return std::exchange(spare_edge_, spare_edge_->next);
    return &edges_.emplace_back();
}

bool TaskGraphState::has_ended(const Reference& task) const noexcept {
    if (task.node == nullptr || task.node->number != task.number) return true;
    // Acquire: pairs with end(): what the task wrote is seen by those that need not wait for it.
    return task.node->followers.load(std::memory_order_acquire) == &closed;
}

void TaskGraphState::add_predecessor(const Reference& task) {
    if (!has_ended(task)) predecessors_.push_back(task);
}

void TaskGraphState::find_predecessors(std::span<const TaskUse> uses) {
    predecessors_.clear();
    for (const TaskUse& use : uses) {
        if (use.kind == TaskUse::Kind::after) {
            if (use.task.graph_ != id_) {
                throw GraphError("after() names a task that is not of this graph");
            }
            add_predecessor({static_cast<Node*>(use.task.node_), use.task.number_});
            continue;
        }
        const auto found = data_.find(use.data);
        if (found == data_.end()) continue;
        const Datum& datum = found->second;
        add_predecessor(datum.writer);
        if (use.kind == TaskUse::Kind::reads) continue;
        for (const Reference& reader : datum.readers) add_predecessor(reader);
    }
}

void TaskGraphState::note_uses(const Reference& task, std::span<const TaskUse> uses) {
    for (const TaskUse& use : uses) {
        if (use.kind == TaskUse::Kind::after) continue;
        if (data_.size() >= data_before_sweep_) forget_old_data();
        Datum& datum = data_[use.data];
        if (use.kind == TaskUse::Kind::reads) {
            add_reader(datum, task);
        } else {
            datum.writer = task;
            datum.readers.clear();
        }
    }
}

void TaskGraphState::add_reader(Datum& datum, const Reference& task) {
    // Readers that have ended are forgotten before the list grows.
    if (datum.readers.size() == datum.readers.capacity()) {
        std::erase_if(datum.readers, [this](const Reference& one) { return has_ended(one); });
    }
    datum.readers.push_back(task);
}

void TaskGraphState::forget_old_data() {
    std::erase_if(data_, [this](const auto& entry) {
        const auto ended = [this](const Reference& task) { return has_ended(task); };
        const Datum& datum = entry.second;
        return ended(datum.writer) &&
               std::all_of(datum.readers.begin(), datum.readers.end(), ended);
    });
    data_before_sweep_ = std::max<std::size_t>(1'024, 2 * data_.size());
}

bool TaskGraphState::give(Node& node, TaskFunction function, std::span<const TaskUse> uses) {
    node.function = std::move(function);
    for (const Reference& before : predecessors_) follow(node, before);
    note_uses({&node, node.number}, uses);
    // The 1 of a task that was not complete. Pairs with end(): what predecessors wrote.
    return node.pending.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void TaskGraphState::follow(Node& node, const Reference& before) {
    Edge* const edge = take_free_edge();
    edge->to = &node;
    node.pending.fetch_add(1, std::memory_order_relaxed);
    std::atomic<Edge*>& followers = before.node->followers;
    edge->next = followers.load(std::memory_order_acquire);  // pairs with end()
    while (edge->next != &closed) {
        // Release: pairs with end(), which reads the edge. Acquire: as above.
        if (followers.compare_exchange_weak(edge->next, edge, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
            return;
        }
    }
    node.pending.fetch_sub(1, std::memory_order_relaxed);  // it has ended meanwhile
    edge->next = std::exchange(spare_edge_, edge);
}

std::unordered_map<const TaskGraphState::Node*, const TaskGraphState::Node*> TaskGraphState::behind(
    std::vector<const Node*> first) const {
    std::unordered_map<const Node*, const Node*> before;
    while (!first.empty()) {
        const Node* const node = first.back();
        first.pop_back();
        // Only the thread with the mutex adds edges, and the task cannot end.
        for (const Edge* edge = node->followers.load(std::memory_order_relaxed); edge != nullptr;
             edge = edge->next) {
            if (before.try_emplace(edge->to, node).second) first.push_back(edge->to);
        }
    }
    return before;
}

void TaskGraphState::check_order(const Node& declared) const {
    const auto before = behind({&declared});
    for (const Reference& predecessor : predecessors_) {
        if (predecessor.node != &declared && !before.contains(predecessor.node)) continue;
        std::string path = "'" + name_of(declared) + "'";
        for (const Node* node = predecessor.node; node != &declared; node = before.at(node)) {
            path = "'" + name_of(*node) + "' before " + path;
        }
        throw GraphError("task '" + name_of(declared) + "' would wait for itself: '" +
                         name_of(declared) + "' before " + path);
    }
}

bool TaskGraphState::all_wait_for_declared() const {
    if (undefined_.empty()) return false;
    auto all = behind({undefined_.begin(), undefined_.end()});
    for (const Node* node : undefined_) all.try_emplace(node, nullptr);
    return all.size() == open_tasks_.load(std::memory_order_relaxed);
}

std::string TaskGraphState::undefined_names() const {
    std::string names;
    for (const Node* node : undefined_)
        names += (names.empty() ? "'" : ", '") + name_of(*node) + "'";
    return names;
}

TaskGraphState::Node& TaskGraphState::make_room(std::unique_lock<std::mutex>& lock) {
    while (true) {
        if (Node* const node = take_free_node()) return *node;
        if (all_wait_for_declared()) {
            throw GraphError("the graph is full: its " + std::to_string(open_tasks_max_) +
                             " open tasks wait for " + undefined_names() +
                             ", declared and not defined (TaskGraphOptions::open_tasks_max)");
        }
        lock.unlock();
        wait_until_room();
        lock.lock();
    }
}

std::string TaskGraphState::name_of(const Node& node) {
    return node.name.empty() ? "task " + std::to_string(node.number) : node.name;
}

}  // namespace strid::pattern

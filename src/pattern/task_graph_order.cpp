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
    make_room(lock);
    find_predecessors(uses);
    Node& node = take_node(std::move(name));
    const GraphTask added = handle_of(node);
    const bool is_ready = give(node, std::move(function), uses);
    lock.unlock();
    if (is_ready) put_ready(node);
    return added;
}

GraphTask TaskGraphState::declare(std::string name) {
    check_may_add();
    std::unique_lock lock(mutex_);
    make_room(lock);
    undefined_.push_back(spare_node_);
    return handle_of(take_node(std::move(name)));
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

TaskGraphState::Node& TaskGraphState::take_node(std::string name) noexcept {
    Node& node = *std::exchange(spare_node_, spare_node_->next);
    node.name = std::move(name);
    node.number = ++added_;
    node.pending.store(1, std::memory_order_relaxed);
    node.followers.store(nullptr, std::memory_order_relaxed);
    open_tasks_.fetch_add(1, std::memory_order_relaxed);
    return node;
}

GraphTask TaskGraphState::handle_of(Node& node) const noexcept {
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

bool TaskGraphState::has_free_node() {
    if (spare_node_ == nullptr) {
        spare_node_ = free_nodes_.exchange(nullptr, std::memory_order_acquire);  // pairs with end()
    }
    if (spare_node_ == nullptr && nodes_.size() < open_tasks_max_) {
        spare_node_ = &nodes_.emplace_back();
    }
    return spare_node_ != nullptr;
}

void TaskGraphState::reserve_edges(std::size_t count) {
    for (Edge** edge = &spare_edge_; count != 0; --count, edge = &(*edge)->next) {
        if (*edge == nullptr) {
            *edge = free_edges_.exchange(nullptr, std::memory_order_acquire);  // pairs with end()
        }
        if (*edge == nullptr) *edge = &edges_.emplace_back();
    }
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
    if (data_.size() >= data_before_sweep_) forget_old_data();
    for (const TaskUse& use : uses) {
        if (use.kind == TaskUse::Kind::after) {
            if (use.task.graph_ != id_) {
                throw GraphError("after() names a task that is not of this graph");
            }
            add_predecessor({static_cast<Node*>(use.task.node_), use.task.number_});
            continue;
        }
        Datum& datum = data_[use.data];
        add_predecessor(datum.writer);
        if (use.kind == TaskUse::Kind::reads) {
            reserve_reader(datum);
        } else {
            for (const Reference& reader : datum.readers) add_predecessor(reader);
        }
    }
    reserve_edges(predecessors_.size());
}

void TaskGraphState::reserve_reader(Datum& datum) {
    std::vector<Reference>& readers = datum.readers;
    if (readers.size() < readers.capacity()) return;
    // Readers that have ended are forgotten before the list grows. It grows where half of them are
    // left, so that this is seldom.
    std::erase_if(readers, [this](const Reference& one) { return has_ended(one); });
    if (2 * readers.size() >= readers.capacity()) readers.reserve(2 * readers.capacity() + 1);
}

void TaskGraphState::note_uses(const Reference& task, std::span<const TaskUse> uses) noexcept {
    for (const TaskUse& use : uses) {
        if (use.kind == TaskUse::Kind::after) continue;
        Datum& datum = data_.find(use.data)->second;
        if (use.kind == TaskUse::Kind::writes) {
            datum.writer = task;
            datum.readers.clear();
        } else if (datum.readers.empty() || datum.readers.back().number != task.number) {
            datum.readers.push_back(task);
        }
    }
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

bool TaskGraphState::give(Node& node, TaskFunction function,
                          std::span<const TaskUse> uses) noexcept {
    node.function = std::move(function);
    for (const Reference& before : predecessors_) follow(node, before);
    note_uses({&node, node.number}, uses);
    // The 1 of a task that was not complete. Pairs with end(): what predecessors wrote.
    return node.pending.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void TaskGraphState::follow(Node& node, const Reference& before) noexcept {
    Edge* const edge = std::exchange(spare_edge_, spare_edge_->next);
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
    return all.size() == nodes_.size();
}

std::string TaskGraphState::undefined_names() const {
    std::string names;
    for (const Node* node : undefined_)
        names += (names.empty() ? "'" : ", '") + name_of(*node) + "'";
    return names;
}

void TaskGraphState::make_room(std::unique_lock<std::mutex>& lock) {
    while (!has_free_node()) {
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

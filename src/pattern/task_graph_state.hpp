// SPDX-License-Identifier: Apache-2.0
//
// The tasks of a graph (pattern/task_graph.hpp): which wait for which, those that are ready, and
// the job by which threads of the team run them.
//
// Threads: adding, defining and what is marked as guarded, one at a time by the mutex; everything
// else any.
//
// Invariant: `pending` of a task is the number of tasks that it waits for, and 1 more until it has
// been defined and all of these were counted. A task stays what it is until its node is reused,
// which the mutex guards: under it, a reference is of a task that has ended where the node has
// another number, or its followers are closed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <strid/engine/base/cache_line.hpp>
#include <strid/pattern/task_graph.hpp>
#include <strid/pattern/team.hpp>

namespace strid::pattern {

class TaskGraphState final : public Job {
  public:
    TaskGraphState(Team& team, const TaskGraphOptions& options);
    ~TaskGraphState();

    GraphTask add(std::string name, TaskFunction function, std::span<const TaskUse> uses);
    GraphTask declare(std::string name);
    void define(GraphTask declared, TaskFunction function, std::span<const TaskUse> uses);
    void wait();
    void cancel() noexcept { dropping_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] std::size_t open_tasks() const noexcept {
        // A node is free before its task is counted off.
        return std::min(open_tasks_.load(std::memory_order_relaxed), open_tasks_max_);
    }

    bool take_part() noexcept override;

  private:
    struct Node;
    /// The task behind another one, in the list of those that wait for that.
    struct Edge {
        Node* to = nullptr;
        Edge* next = nullptr;
    };
    static Edge closed;  // in place of the followers of a task that has ended
    struct Node {
        TaskFunction function;
        std::string name;          // empty: "task" and its number
        std::uint64_t number = 0;  // written with the mutex
        std::atomic<std::uint32_t> pending{0};
        std::atomic<Edge*> followers{nullptr};  // those that wait for it, or &closed
        Node* next = nullptr;                   // in a list of ready or of free nodes
    };
    struct Reference {
        Node* node = nullptr;
        std::uint64_t number = 0;
    };
    struct Datum {
        Reference writer;                // the last one
        std::vector<Reference> readers;  // since then
    };
    /// Tasks that are ready, the oldest first: a bounded graph gets on where its oldest tasks do. A
    /// thread adds to one of these and takes from it first.
    struct alignas(cache_line_bytes) Ready {
        std::mutex mutex;
        Node* oldest = nullptr;
        Node* newest = nullptr;
        std::atomic<std::size_t> count{0};  // a hint without the mutex

        void put(Node& node) noexcept {
            node.next = nullptr;
            (newest != nullptr ? newest->next : oldest) = &node;
            newest = &node;
            count_by(1);
        }
        [[nodiscard]] Node* take() noexcept {
            Node* const node = oldest;
            if (node == nullptr) return nullptr;
            oldest = node->next;
            if (oldest == nullptr) newest = nullptr;
            count_by(-1);
            return node;
        }
        void count_by(std::ptrdiff_t change) noexcept {
            count.store(count.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
                        std::memory_order_relaxed);
        }
    };

    // With the mutex.
    /// Whether `spare_node_` is one.
    [[nodiscard]] bool has_free_node();
    [[nodiscard]] Node& take_node(std::string name) noexcept;
    [[nodiscard]] GraphTask handle_of(Node& node) const noexcept;
    [[nodiscard]] Node& declared_node(const GraphTask& declared);
    [[nodiscard]] bool has_ended(const Reference& task) const noexcept;
    /// With all the memory that give() needs for the same uses, so that no task is added by half.
    void find_predecessors(std::span<const TaskUse> uses);
    void add_predecessor(const Reference& task);
    void reserve_reader(Datum& datum);
    void reserve_edges(std::size_t count);
    void note_uses(const Reference& task, std::span<const TaskUse> uses) noexcept;
    void forget_old_data();
    void follow(Node& node, const Reference& before) noexcept;
    /// True where it is ready.
    [[nodiscard]] bool give(Node& node, TaskFunction function,
                            std::span<const TaskUse> uses) noexcept;
    /// Throws where a predecessor is behind the declared task.
    void check_order(const Node& declared) const;
    /// Those behind `first`, none of which can end, with a task before each.
    [[nodiscard]] std::unordered_map<const Node*, const Node*> behind(
        std::vector<const Node*> first) const;
    /// Where no node is free.
    [[nodiscard]] bool all_wait_for_declared() const;
    [[nodiscard]] std::string undefined_names() const;
    /// A spare node for one more task; gives the mutex up while it waits.
    void make_room(std::unique_lock<std::mutex>& lock);

    void check_outside(const char* what) const;
    /// For a graph that drops its tasks: those that were declared only, too.
    void drop_undefined() noexcept;
    void check_may_add();
    /// Runs tasks, or waits for a change, until `done()`.
    template <class Done>
    void work_until(const Done& done) noexcept;
    void wait_until_room() noexcept;
    /// One that is ready; null: none is.
    [[nodiscard]] Node* take_ready() noexcept;
    [[nodiscard]] bool any_ready() noexcept;
    void put_ready(Node& node) noexcept;
    /// Runs the task, and then one that waited for it, as long as there is one and not `done()`.
    template <class Done>
    void run_from(Node* node, const Done& done) noexcept;
    void call(Node& node) noexcept;
    /// The task has ended: others may be ready now, of which it returns one.
    [[nodiscard]] Node* end(Node& node) noexcept;
    [[nodiscard]] static std::string name_of(const Node& node);

    Team& team_;
    const std::size_t open_tasks_max_;
    const std::uint64_t id_;  // of all graphs of the process
    int place_ = -1;

    std::mutex mutex_;
    std::uint64_t added_ = 0;  // guarded, as are those up to `free_`
    std::deque<Node> nodes_;
    std::deque<Edge> edges_;
    Node* spare_node_ = nullptr;
    Edge* spare_edge_ = nullptr;
    std::unordered_map<const void*, Datum> data_;
    std::size_t data_before_sweep_ = 1'024;
    std::vector<Node*> undefined_;
    std::vector<Reference> predecessors_;  // of the task that is being added

    std::atomic<Node*> free_nodes_{nullptr};
    std::atomic<Edge*> free_edges_{nullptr};
    std::vector<Ready> ready_;
    alignas(cache_line_bytes) std::atomic<std::size_t> open_tasks_{0};
    std::atomic<std::uint32_t> wait_for_room_{0};  // threads
    std::atomic<bool> dropping_{false};            // relaxed: a task more or less may begin
    std::mutex failure_mutex_;
    std::exception_ptr failure_;  // guarded by it
};

}  // namespace strid::pattern

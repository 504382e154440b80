// SPDX-License-Identifier: Apache-2.0
//
// Tasks that depend on each other by the data that they read and write (macro data flow, as in
// FastFlow: paper 4, section 1.5, "data-parallel patterns"):
//
//     Team team;
//     TaskGraph graph(team);
//     graph.task([&] { a = load(); }, writes(a));
//     graph.task([&] { b = f(a); }, reads(a), writes(b));
//     graph.task([&] { c = g(a); }, reads(a), writes(c));   // beside the one before
//     graph.task([&] { c += b; }, reads(b), writes(c));
//     graph.wait();
//
// All values are those of the program that calls the functions one after the other: a task begins
// when the earlier ones have ended that write what it reads or writes, or read what it writes.
//
// Threads: any may add tasks, in an order that it agrees on with the others; none inside a task of
// the same graph. Tasks run on the threads of the team and on those that wait. Several graphs share
// a team, and a task may have a graph of its own.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/pattern/task_function.hpp>
#include <strid/pattern/team.hpp>

namespace strid::pattern {

class TaskGraphState;

/// Names one task of a graph: a small value, of no use to other graphs.
class GraphTask {
  public:
    /// Names no task.
    GraphTask() = default;

  private:
    friend class TaskGraphState;
    std::uint64_t graph_ = 0;  // 0: none
    void* node_ = nullptr;
    std::uint64_t number_ = 0;
};

/// One use of a datum by a task, or one task to wait for: made by reads(), writes() and after().
struct TaskUse {
    /// How it uses the datum.
    enum class Kind : std::uint8_t {
        reads,   ///< Its value, which no other task may change meanwhile.
        writes,  ///< Changes it: no other task may use it meanwhile.
        after    ///< Waits for a task, and uses no datum.
    };
    Kind kind = Kind::reads;     ///< After: the datum is none, and the task is one to wait for.
    const void* data = nullptr;  ///< The address, which identifies the datum.
    GraphTask task = {};         ///< Of `after`.
};
/// A fixed number of them.
template <std::size_t count>
using TaskUses = std::array<TaskUse, count>;

/// The task reads these objects. An object is known by its address: tasks that use one array, or
/// one element of it, must name the same object. A temporary does not compile.
template <class... Data>
    requires(std::is_lvalue_reference_v<Data> && ...)
[[nodiscard]] TaskUses<sizeof...(Data)> reads(Data&&... data) {
    return {TaskUse{TaskUse::Kind::reads, std::addressof(data)}...};
}

/// The task writes these objects, and may read them too.
template <class... Data>
    requires(std::is_lvalue_reference_v<Data> && ...)
[[nodiscard]] TaskUses<sizeof...(Data)> writes(Data&&... data) {
    return {TaskUse{TaskUse::Kind::writes, std::addressof(data)}...};
}

/// The task begins when these have ended, whatever they use. One that has ended counts as well.
template <std::same_as<GraphTask>... Task>
[[nodiscard]] TaskUses<sizeof...(Task)> after(const Task&... tasks) {
    return {TaskUse{TaskUse::Kind::after, nullptr, tasks}...};
}

namespace detail {

/// All uses of one task: on the stack, where they are few.
class UseList {
  public:
    template <class... Uses>
    explicit UseList(const Uses&... uses) {
        all_.reserve((std::size_t{0} + ... + std::size(uses)));
        (all_.insert(all_.end(), std::begin(uses), std::end(uses)), ...);
    }
    UseList(const UseList&) = delete;
    UseList& operator=(const UseList&) = delete;

    [[nodiscard]] std::span<const TaskUse> all() const noexcept { return all_; }

  private:
    std::array<std::byte, 16 * sizeof(TaskUse)> few_;
    std::pmr::monotonic_buffer_resource memory_{few_.data(), few_.size()};
    std::pmr::vector<TaskUse> all_{&memory_};
};

}  // namespace detail

/// The bounds of a graph.
struct TaskGraphOptions {
    /// Tasks that were added and have not ended, at most, 1 at least: a thread that adds one more
    /// runs others until there is room. A task takes some 200 bytes, and 24 for each other task
    /// that waits for it.
    std::size_t open_tasks_max = 16'384;
};

/// Tasks and their order. A task costs about half a microsecond beside its function.
class TaskGraph {
  public:
    /// The team must outlive the graph. Throws GraphError for a bound of 0.
    explicit TaskGraph(Team& team, const TaskGraphOptions& options = {});
    /// Waits for tasks that have begun; the others are dropped. Call wait() before.
    ~TaskGraph();
    TaskGraph(const TaskGraph&) = delete;
    TaskGraph& operator=(const TaskGraph&) = delete;

    /// Adds a task, which may begin at once: `function()`, with any number of reads(), writes() and
    /// after(), or vectors of TaskUse where their number is not fixed. Waits for room. Constant
    /// time for each use but for the readers before a writer.
    ///
    /// Throws OperatorError, which names the task, after a task of the graph has thrown; GraphError
    /// in a task of this graph, and where the open tasks leave no room and all wait for a task that
    /// was declared only. Where it throws, the task was not added.
    template <std::invocable F, class... Uses>
    GraphTask task(F&& function, const Uses&... uses) {
        return task(std::string(), std::forward<F>(function), uses...);
    }
    /// The same for a task with a name, for errors; without, it is "task" and its number.
    template <std::invocable F, class... Uses>
    GraphTask task(std::string name, F&& function, const Uses&... uses) {
        return add(std::move(name), TaskFunction(std::forward<F>(function)),
                   detail::UseList(uses...).all());
    }

    /// A task whose function and dependencies follow by define(), so that others may already be
    /// after() it. It counts as an open task. Throws as task().
    [[nodiscard]] GraphTask declare(std::string name);
    /// Gives a declared task its function. Data count from here on: it is behind the tasks that
    /// were added before this call. Throws GraphError where the task was defined already, and where
    /// it would wait for a task that waits for it, which names them in their order; the graph then
    /// is as before. Takes time by the number of tasks that wait for the declared one.
    template <std::invocable F, class... Uses>
    void define(GraphTask declared, F&& function, const Uses&... uses) {
        define_declared(declared, TaskFunction(std::forward<F>(function)),
                        detail::UseList(uses...).all());
    }

    /// Returns when all tasks have ended; runs tasks meanwhile. Throws OperatorError with the name
    /// of the first task that threw; those that had not begun then were dropped. GraphError where a
    /// declared task was not defined, which may still be done, and in a task of this graph. The
    /// graph may be used again.
    void wait();
    /// Drops tasks that have not begun, and those that are added, until wait(). Any thread.
    void cancel() noexcept;
    /// Tasks that have not ended, a moment ago. Any thread.
    [[nodiscard]] std::size_t open_tasks() const noexcept;

  private:
    GraphTask add(std::string name, TaskFunction function, std::span<const TaskUse> uses);
    void define_declared(GraphTask declared, TaskFunction function, std::span<const TaskUse> uses);

    std::unique_ptr<TaskGraphState> state_;
};

}  // namespace strid::pattern

// SPDX-License-Identifier: Apache-2.0
//
// Schedulers, which a farm's policy makes (pattern/scheduling.hpp): which worker gets a task.
//
// A scheduler is used by the thread that steps its node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <strid/engine/pattern/lane.hpp>
#include <strid/pattern/task_type.hpp>

namespace strid::pattern {

template <TaskType T>
class Output;

/// One worker of a farm, for a scheduler: the queue of its tasks, seen from the node that fills it.
template <TaskType T>
class FarmWorker {
  public:
    /// Made by the engine. `task_ns`: as task_ns().
    FarmWorker(Lane<T>& lane, const std::atomic<std::int64_t>& task_ns) noexcept
        : lane_(&lane), task_ns_(&task_ns) {}

    /// How many more tasks may wait in its queue.
    [[nodiscard]] std::size_t room() const noexcept { return lane_->room(); }
    /// The same where no more than `depth` tasks are to wait, at most capacity().
    [[nodiscard]] std::size_t room(std::size_t depth) const noexcept { return lane_->room(depth); }
    /// Tasks that it has not finished.
    [[nodiscard]] std::size_t waiting() const noexcept { return lane_->waiting(); }
    /// How many tasks its queue holds.
    [[nodiscard]] std::size_t capacity() const noexcept { return lane_->capacity(); }
    /// How many tasks of this node it has finished since the run began.
    [[nodiscard]] std::uint64_t finished() const noexcept { return lane_->taken(); }
    /// How long a task takes it, in nanoseconds, lately; 0: none has been done.
    [[nodiscard]] std::int64_t task_ns() const noexcept {
        return task_ns_->load(std::memory_order_relaxed);
    }

  private:
    friend class Output<T>;

    Lane<T>* lane_;
    const std::atomic<std::int64_t>* task_ns_;
};

/// Tasks that may go to one worker without asking again; none: the node waits for room.
struct Grant {
    std::size_t worker = 0;  ///< Which worker.
    std::size_t tasks = 0;   ///< How many tasks.
};

/// Chooses a worker for the tasks of one node. Made by a policy's `scheduler()`; used by one
/// thread.
template <class T>
class Scheduler {
  public:
    virtual ~Scheduler() = default;
    /// Where the task goes, and so many after it. `workers` are those that are in use, the first of
    /// all: how many may change between two calls. Every worker that it looked at and refused wakes
    /// the node once half of its queue is free.
    virtual Grant grant(const T& task, std::span<const FarmWorker<T>> workers) = 0;
};

/// Hands each task to several workers.
template <class T>
class Multicaster {
  public:
    virtual ~Multicaster() = default;
    /// Adds the numbers of the workers, each once.
    virtual void choose(const T& task, std::size_t workers, std::vector<std::size_t>& chosen) = 0;
};

/// The loads of all workers, for a user's function that chooses one.
class Loads {
  public:
    /// `waiting[i]` tasks are not finished by worker i.
    explicit Loads(std::span<const std::size_t> waiting) : waiting_(waiting) {}
    /// How many workers there are.
    [[nodiscard]] std::size_t workers() const noexcept { return waiting_.size(); }
    /// Tasks that the worker has not finished.
    [[nodiscard]] std::size_t waiting(std::size_t worker) const { return waiting_[worker]; }

  private:
    std::span<const std::size_t> waiting_;
};

}  // namespace strid::pattern

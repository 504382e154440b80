// SPDX-License-Identifier: Apache-2.0
//
// How many workers of a farm get tasks, which may change while the farm runs (paper 4, section
// 1.2.1.3). A farm has all its workers from the start; those that are not in use cost a queue, and
// neither a thread nor time.
//
// Threads: any. A handle; copies say the same. One that goes by the load is for one farm, whose
// tasks one node hands out.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace strid::pattern {

/// How many workers of a farm get tasks. Copies share the number. Any thread.
class WorkersInUse {
  public:
    /// Those that set() says; at first so many.
    explicit WorkersInUse(std::size_t at_first) : WorkersInUse(at_first, false) {}
    /// One more where a task finds no room with any; one fewer where for 1,024 tasks the others
    /// would have done. Never fewer than so many.
    [[nodiscard]] static WorkersInUse by_load(std::size_t at_least = 1) {
        return WorkersInUse(at_least, true);
    }

    /// From the next task on, so many; at least one, and no more than the farm has.
    void set(std::size_t workers) noexcept {
        state_->now.store(workers, std::memory_order_relaxed);
    }
    /// How many are in use.
    [[nodiscard]] std::size_t now() const noexcept {
        return state_->now.load(std::memory_order_relaxed);
    }
    /// Whether the farm changes the number by its load.
    [[nodiscard]] bool goes_by_load() const noexcept { return state_->by_load; }
    /// The fewest that are in use.
    [[nodiscard]] std::size_t at_least() const noexcept { return state_->at_least; }

  private:
    WorkersInUse(std::size_t workers, bool by_load)
        : state_(std::make_shared<State>(workers, workers, by_load)) {}

    struct State {
        State(std::size_t now_workers, std::size_t at_least_workers, bool goes_by_load)
            : now(now_workers), at_least(at_least_workers), by_load(goes_by_load) {}

        std::atomic<std::size_t> now;  // relaxed: a number on its own
        const std::size_t at_least;
        const bool by_load;
    };
    std::shared_ptr<State> state_;
};

}  // namespace strid::pattern

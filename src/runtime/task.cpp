// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/runtime/task.hpp>

#include "pool.hpp"

namespace strid::runtime {

Task::Task(std::string name) : name_(std::move(name)) {}

Task::~Task() = default;

void Task::notify() noexcept {
    // Acquire: pairs with the release in Pool::create(). Before that every task is ready anyhow.
    Slot* slot = slot_.load(std::memory_order_acquire);
    if (slot != nullptr) slot->pool->notify(*slot);
}

TaskCounters Task::counters() const noexcept {
    // Acquire: pairs with the release in Pool::create().
    const Slot* slot = slot_.load(std::memory_order_acquire);
    if (slot == nullptr) return {};
    TaskCounters counters;
    counters.steps = slot->steps.load(std::memory_order_relaxed);
    counters.idle_periods = slot->idle_periods.load(std::memory_order_relaxed);
    counters.busy_ns = slot->busy_ns.load(std::memory_order_relaxed);
    counters.idle_ns = slot->idle_ns.load(std::memory_order_relaxed);
    counters.finished = slot->finished.load(std::memory_order_relaxed);
    return counters;
}

}  // namespace strid::runtime

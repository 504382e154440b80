// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include <utility>

namespace strid::runtime {

namespace {

bool has_something_to_do(const Slot& slot) {
    if (slot.finished.load(std::memory_order_relaxed)) return false;
    if (slot.states->is_claimed(slot.bit)) return true;
    return ((slot.states->claimable() >> slot.bit) & 1U) != 0 || slot.task->has_work();
}

}  // namespace

Watchdog::Watchdog(std::span<const std::shared_ptr<Pool>> pools) {
    for (const auto& pool : pools) {
        for (Slot& slot : pool->slots()) tasks_.push_back({&slot, 0, false});
    }
}

const std::vector<std::string>& Watchdog::check() {
    std::vector<std::string> names;
    for (Watched& watched : tasks_) {
        const std::uint64_t steps = watched.slot->steps.load(std::memory_order_relaxed);
        const bool busy = has_something_to_do(*watched.slot);
        if (busy && watched.busy && steps == watched.steps) {
            names.push_back(watched.slot->task->name());
        }
        std::string standstill = watched.slot->task->standstill();
        if (!standstill.empty()) names.push_back(std::move(standstill));
        watched.steps = steps;
        watched.busy = busy;
    }
    const std::lock_guard lock(mutex_);
    stalled_ = std::move(names);
    return stalled_;
}

std::vector<std::string> Watchdog::stalled() const {
    const std::lock_guard lock(mutex_);
    return stalled_;
}

}  // namespace strid::runtime

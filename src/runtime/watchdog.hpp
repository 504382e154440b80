// SPDX-License-Identifier: Apache-2.0
//
// Finds tasks that have work and do not proceed.
//
// Owned by the execution. check() is for one thread at a time, stalled() for any.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "pool.hpp"

namespace strid::runtime {

class Watchdog {
  public:
    explicit Watchdog(std::span<const std::shared_ptr<Pool>> pools);

    /// Names of the tasks that finished no step since the check before this one, although they were
    /// ready, inside a step, or had input; and the tasks' own reports (Task::standstill). The first
    /// call only records the figures.
    const std::vector<std::string>& check();

    /// The result of the last check().
    [[nodiscard]] std::vector<std::string> stalled() const;

  private:
    struct Watched {
        Slot* slot = nullptr;
        std::uint64_t steps = 0;
        bool busy = false;
    };
    std::vector<Watched> tasks_;
    mutable std::mutex mutex_;  // guards stalled_ against readers
    std::vector<std::string> stalled_;
};

}  // namespace strid::runtime

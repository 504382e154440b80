// SPDX-License-Identifier: Apache-2.0
//
// Detects a loop that turns without end: tasks go round in it, none enters, and none leaves.
//
// Threads: turned and entered are counted by the one that steps the entry, exits are added before
// the run, standstill is for the watchdog's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <strid/engine/pattern/pattern_task.hpp>

namespace strid::pattern {

class LoopWatch {
  public:
    /// One of the last nodes of the loop.
    void add_exit(const PatternNode& node) { exits_.push_back(&node); }

    void count(std::uint64_t turned, std::uint64_t entered) noexcept {
        add(turned_, turned);
        add(entered_, entered);
    }
    /// "loop 'refine 2' has turned 12,345 tasks for 5 s and none has left", once the loop has
    /// turned for a whole period and nothing has entered or left meanwhile; empty: it got on, or
    /// stood still.
    [[nodiscard]] std::string standstill(const std::string& name);

  private:
    struct Seen {
        std::uint64_t turned = 0;
        std::uint64_t entered = 0;
        std::uint64_t left = 0;
    };
    static void add(std::atomic<std::uint64_t>& count, std::uint64_t more) noexcept {
        if (more != 0) {
            count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
        }
    }

    std::vector<const PatternNode*> exits_;
    std::atomic<std::uint64_t> turned_{0};
    std::atomic<std::uint64_t> entered_{0};
    // The watchdog's thread: what it saw last, and when tasks began to turn without leaving.
    Seen seen_;
    std::int64_t since_ns_ = 0;  // 0: it was not asked yet
    std::uint64_t turned_before_ = 0;
};

}  // namespace strid::pattern

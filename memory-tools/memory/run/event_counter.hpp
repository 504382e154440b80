// SPDX-License-Identifier: Apache-2.0
//
// Counts an event of the kernel that a process and all its descendants cause, through
// perf_event_open. Owns the counter. For one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace strid::memory_run {

class EventCounter {
  public:
    /// Counts tracepoint `id` from the exec of `pid` on. `id` is what tracefs gives.
    EventCounter(pid_t pid, std::uint64_t id);
    ~EventCounter();
    EventCounter(const EventCounter&) = delete;
    EventCounter& operator=(const EventCounter&) = delete;

    /// Nothing where the kernel refused; refusal() says why.
    [[nodiscard]] std::optional<std::uint64_t> count() const;
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  private:
    int file_;
    std::string refusal_;
};

}  // namespace strid::memory_run

// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP (the terminal is gone) while a run is on. The handlers are installed
// by the constructor, for the first of several objects that live at once, and what was there before
// is put back by the destructor. A signal that the process ignored (nohup, a background job) stays
// ignored. Any thread.
//
// Invariant: the handler only counts and posts a semaphore that lives as long as the process, so a
// signal that comes while the handlers are taken away harms nothing.
#pragma once

#include <array>
#include <chrono>

#include <signal.h>

namespace strid {

class SignalScope {
  public:
    SignalScope();
    ~SignalScope();
    SignalScope(const SignalScope&) = delete;
    SignalScope& operator=(const SignalScope&) = delete;

    /// Waits for a signal, for `wake()`, or for so long.
    void wait_for(std::chrono::milliseconds time) noexcept;
    /// Ends a wait. Any thread.
    void wake() noexcept;
    /// Signals since the constructor; the last of them.
    [[nodiscard]] int count() const noexcept;
    [[nodiscard]] int last() const noexcept;
    /// From now on the next signal does what it did before this object: it ends the process.
    void restore() noexcept;

  private:
    static constexpr std::array handled{SIGINT, SIGTERM, SIGHUP};

    bool owner_;
    std::array<bool, handled.size()> installed_{};
    std::array<struct sigaction, handled.size()> before_{};
};

}  // namespace strid

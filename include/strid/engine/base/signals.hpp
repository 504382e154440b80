// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP (the terminal is closed) during a run. The constructor installs the
// handlers, for the first of several objects that live at once; the destructor restores the
// previous ones. A signal that the process ignored (nohup, a background job) stays ignored. Any
// thread.
//
// Invariant: the handler only counts and posts a semaphore that lives as long as the process, so a
// signal that arrives while the handlers are removed does no harm.
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

    /// Waits for a signal, for `wake()`, or for `time`.
    void wait_for(std::chrono::milliseconds time) noexcept;
    /// Ends a wait. Any thread.
    void wake() noexcept;
    /// Signals since the constructor. last() is the most recent one.
    [[nodiscard]] int count() const noexcept;
    [[nodiscard]] int last() const noexcept;
    /// From now on a signal has the effect that it had before this object: it ends the process.
    void restore() noexcept;

  private:
    static constexpr std::array handled{SIGINT, SIGTERM, SIGHUP};

    bool owner_;
    std::array<bool, handled.size()> installed_{};
    std::array<struct sigaction, handled.size()> before_{};
};

}  // namespace strid

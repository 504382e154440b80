// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C for a program that reads, works and writes: a flag for the parts that wait, and the exit
// code at the end. Owns a thread that waits for signals. requested() and check() are for any
// thread.
//
// Invariant: the first signal (SIGINT, SIGTERM, SIGHUP) sets the flag; the second ends the process
// as it would have without this object, so that a program that does not look at the flag still
// ends.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include <strid/engine/base/signals.hpp>

namespace strid::tool {

class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    /// True from the first signal on; for Destination::write() and its like.
    [[nodiscard]] const std::atomic<bool>& requested() const noexcept { return requested_; }
    /// Throws Interrupted from the first signal on.
    void check() const;
    /// 128 + the last signal.
    [[nodiscard]] int exit_code() const noexcept;

  private:
    void follow();

    SignalScope signals_;
    std::atomic<bool> requested_{false};  // relaxed: nothing is published with it
    std::atomic<bool> ended_{false};      // relaxed: the semaphore of signals_ wakes its reader
    std::thread thread_;                  // last: it uses the rest
};

/// The whole of a program: `body` returns the exit code. An exception of it becomes one line on
/// standard error and the exit code that fits (program/session.hpp); Interrupted, also where a node
/// of a pattern threw it, the code of the signal.
[[nodiscard]] int run_program(const std::function<int(const Interruption&)>& body) noexcept;

}  // namespace strid::tool

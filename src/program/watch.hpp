// SPDX-License-Identifier: Apache-2.0
//
// Follows a run from a thread of its own, from before it is started: passes signals on, and shows
// how far it is. Owns that thread; begin() is called by the thread that made it, the rest by any.
//
// Invariant: the first signal stops the run, which drains; the second cancels it, and ends the
// process where that has not ended the run within `grace`: user code that does not return, a system
// call that does not.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include <strid/engine/base/signals.hpp>
#include <strid/program/session.hpp>

#include "progress.hpp"

namespace strid {

class Watch {
  public:
    static constexpr std::chrono::milliseconds grace{700};

    Watch(const SessionOptions& options, Terminal& terminal)
        : options_(options), terminal_(terminal), thread_([this] { follow(); }) {}
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Signals so far, and stop() as one of them.
    [[nodiscard]] int signals() const noexcept;
    [[nodiscard]] int last_signal() const noexcept;
    /// As a SIGTERM, for the first call. Any thread.
    void stop() noexcept;
    /// Ends the start of the run at the first signal.
    [[nodiscard]] std::stop_token stop_opening() const noexcept { return opening_.get_token(); }
    /// The run is on.
    void begin(Running& running);

  private:
    void follow();
    void show_progress(Running& running);
    void pass_signals_on(Running* running);

    const SessionOptions& options_;
    Terminal& terminal_;
    SignalScope signals_;
    std::stop_source opening_;
    std::atomic<Running*> running_{nullptr};
    // Relaxed, both: the semaphore of signals_ wakes their reader.
    std::atomic<bool> ended_{false};
    std::atomic<bool> stop_is_asked_{false};
    // Of the thread:
    bool stopped_ = false;  // the run got the stop
    bool cancelled_ = false;
    bool killed_ = false;
    std::chrono::steady_clock::time_point second_signal_{};
    RunReport shown_;
    std::uint64_t shown_bytes_ = 0;
    std::thread thread_;  // last: it uses the rest
};

}  // namespace strid

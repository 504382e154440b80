// SPDX-License-Identifier: Apache-2.0
//
// The threads on which one replica of `call` makes its calls (operator/call.hpp). A thread is
// started when a call finds none that is free, and lives until the end.
//
// A thread cannot be stopped. A call that is given up therefore keeps its thread until the function
// returns, and other calls get another one, up to twice the number of calls at a time: then they
// wait for a thread that returns.
//
// Ownership: each thread shares the state and its call with the operator, so that a thread that
// must be left behind has what it uses.
//
// Threads: the functions are called by the operator's task. Invariant: a call is in one of the
// queue, the hands of one thread, and the list of calls that are done; one that is given up is in
// none of them, except the hands of a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include <strid/runtime/task.hpp>

namespace strid::operators {

/// One call. `make` is called once, by one thread.
class ThreadedCall {
  public:
    ThreadedCall() = default;
    ThreadedCall(const ThreadedCall&) = delete;
    ThreadedCall& operator=(const ThreadedCall&) = delete;
    virtual ~ThreadedCall() = default;
    /// Calls the function, and keeps its result or its exception.
    virtual void make(const std::stop_token& stop) noexcept = 0;

  private:
    friend class CallThreads;
    std::stop_source stop_;
    bool given_up_ = false;  // guarded by the mutex of the threads
};

class CallThreads {
  public:
    /// For `at_once` calls at a time. `task` is notified of calls that are done, until close().
    /// When `interruption` is requested, all calls get a request to stop. `limit_ns`: how long
    /// close() waits for calls; 0: until they return.
    CallThreads(std::size_t at_once, runtime::Task& task, std::stop_token interruption,
                std::int64_t limit_ns);
    CallThreads(const CallThreads&) = delete;
    CallThreads& operator=(const CallThreads&) = delete;
    ~CallThreads();

    /// One more call can begin at once.
    [[nodiscard]] bool has_free() const;
    /// Gives the call to a free thread. Only if has_free(). Throws Error if no thread can be made
    /// and there is none.
    void begin(std::shared_ptr<ThreadedCall> call);
    /// The call is asked to stop, and will not be among those that are done.
    void give_up(ThreadedCall& call);
    /// Swaps in the calls that are done since the last time, in the order in which they were.
    void take_done(std::vector<std::shared_ptr<ThreadedCall>>& done);
    /// Asks all calls to stop, waits for them as long as the limit says, and ends the threads. One
    /// whose call has not returned is left behind: it ends when the call returns. Done once.
    void close() noexcept;

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    std::stop_token interruption_;
    std::int64_t limit_ns_;
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_interruption_;
};

}  // namespace strid::operators

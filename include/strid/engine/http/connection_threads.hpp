// SPDX-License-Identifier: Apache-2.0
//
// Threads for connections, made when they are needed, up to a number. Owns them. offer(),
// take_from() and end() are called by one thread at a time.
//
// Invariant: at most `threads_max` connections are open, and each that was taken has a thread at
// once: none waits behind a slow one.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <strid/engine/http/listener.hpp>

namespace strid::http {

class ConnectionThreads {
  public:
    /// `handle` must not throw.
    ConnectionThreads(std::size_t threads_max, std::function<void(Descriptor)> handle)
        : threads_max_(threads_max), handle_(std::move(handle)) {}
    ~ConnectionThreads() { end(); }
    ConnectionThreads(const ConnectionThreads&) = delete;
    ConnectionThreads& operator=(const ConnectionThreads&) = delete;

    /// Takes the connection; false, with the connection left as it was, where all threads are busy
    /// or the system has no more of them.
    [[nodiscard]] bool offer(Descriptor& connection);
    /// Takes connections until `ending` becomes readable. One for which there is no thread is sent
    /// `busy` and closed.
    void take_from(const Listener& listener, int ending, std::string_view busy);
    /// Waits for the connections that are open, and ends the threads.
    void end() noexcept;

  private:
    /// It waits at a condition of its own: at one that threads share, the C library may lose a
    /// wake-up (glibc before 2.41, bug 25847).
    struct Thread {
        std::condition_variable given;  // a connection, or the end
        Descriptor connection;          // that is not begun; under mutex_
        std::thread thread = {};
    };
    void work(Thread& self);

    const std::size_t threads_max_;
    const std::function<void(Descriptor)> handle_;
    std::mutex mutex_;
    // Under mutex_:
    std::vector<Thread*> idle_;  // have no connection
    bool is_ending_ = false;
    std::vector<std::unique_ptr<Thread>> threads_;  // last: they use the rest
};

}  // namespace strid::http

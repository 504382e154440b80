// SPDX-License-Identifier: Apache-2.0
//
// Threads for connections, made when they are needed, up to a number. Owns them. offer(),
// take_from(), take_while_free() and end() are called by one thread at a time.
//
// Invariant: at most `threads_max` connections are open, and each that was taken has a thread at
// once: none waits behind a slow one.
#pragma once

#include <chrono>
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
    /// `handle` must not throw. `name` is that of the threads.
    ConnectionThreads(std::size_t threads_max, std::function<void(Descriptor)> handle,
                      const char* name = "strid-http");
    ~ConnectionThreads() { end(); }
    ConnectionThreads(const ConnectionThreads&) = delete;
    ConnectionThreads& operator=(const ConnectionThreads&) = delete;

    /// Takes the connection; false, with the connection left as it was, where all threads are busy
    /// or the system has no more of them.
    [[nodiscard]] bool offer(Descriptor& connection);
    /// Takes connections until `ending` becomes readable. One for which there is no thread is sent
    /// `busy` and closed.
    void take_from(const Listener& listener, int ending, std::string_view busy);
    /// Takes connections until `ending` becomes readable, and then those that wait already, for
    /// half a second at most. One for which there is no thread waits in the system until another
    /// has ended. `listener` does not block.
    void take_while_free(int listener, int ending);
    /// From now on so many connections may be open; those that are stay. Any thread.
    void set_threads_max(std::size_t threads_max);
    /// Waits until no connection is open. False: the time is over. Any thread.
    bool wait_until_idle(std::chrono::milliseconds time);
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
    [[nodiscard]] bool is_full() const noexcept {
        return threads_.size() - idle_.size() >= threads_max_;
    }
    void announce_room() noexcept;

    const std::function<void(Descriptor)> handle_;
    const char* const name_;
    const Descriptor room_;  // readable where take_while_free() may find room
    std::mutex mutex_;
    std::condition_variable ended_;  // a connection
    // Under mutex_:
    std::size_t threads_max_;
    std::vector<Thread*> idle_;  // have no connection
    bool is_ending_ = false;
    std::vector<std::unique_ptr<Thread>> threads_;  // last: they use the rest
};

}  // namespace strid::http

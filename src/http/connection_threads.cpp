// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection_threads.hpp>

namespace strid::http {

bool ConnectionThreads::offer(Descriptor& connection) {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
        Thread& thread = *idle_.back();
        idle_.pop_back();
        thread.connection = std::move(connection);
        thread.given.notify_one();
        return true;
    }
    if (threads_.size() == threads_max_) return false;
    threads_.push_back(std::make_unique<Thread>());
    Thread& made = *threads_.back();
    try {
        made.thread = std::thread([this, &made] { work(made); });
    } catch (const std::system_error&) {
        threads_.pop_back();
        return false;
    }
    made.connection = std::move(connection);
    return true;
}

void ConnectionThreads::take_from(const Listener& listener, int ending, std::string_view busy) {
    for (;;) {
        std::array<::pollfd, 2> waited{{{listener.descriptor(), POLLIN, 0}, {ending, POLLIN, 0}}};
        if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
        if (waited[1].revents != 0) return;
        if (waited[0].revents == 0) continue;
        Descriptor socket = listener.accept();
        if (socket.get() < 0) {
            // No descriptor or no memory is left, perhaps: the connection waits in the system.
            constexpr std::chrono::milliseconds pause{20};
            if (errno != EAGAIN && errno != ECONNABORTED) std::this_thread::sleep_for(pause);
            continue;
        }
        if (offer(socket)) continue;
        (void)::send(socket.get(), busy.data(), busy.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        // With a request unread the connection would be reset, and the answer lost with it.
        ::shutdown(socket.get(), SHUT_WR);
        std::array<char, 8192> request{};
        (void)!::recv(socket.get(), request.data(), request.size(), MSG_DONTWAIT);
    }
}

void ConnectionThreads::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
        for (const auto& one : threads_) one->given.notify_one();
    }
    for (const auto& one : threads_) one->thread.join();
    idle_.clear();
    threads_.clear();
}

void ConnectionThreads::work(Thread& self) {
    strid::detail::name_this_thread("strid-http");
    // A library that encrypts writes to a socket whose peer is gone.
    ::sigset_t ignored{};
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &ignored, nullptr);
    std::unique_lock lock(mutex_);
    for (;;) {
        self.given.wait(lock, [&] { return is_ending_ || self.connection.get() >= 0; });
        if (self.connection.get() < 0) return;
        Descriptor connection = std::move(self.connection);
        lock.unlock();
        handle_(std::move(connection));
        lock.lock();
        idle_.push_back(&self);
    }
}

}  // namespace strid::http

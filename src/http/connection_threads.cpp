// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection_threads.hpp>

namespace strid::http {

ConnectionThreads::ConnectionThreads(std::size_t threads_max,
                                     std::function<void(Descriptor)> handle, const char* name)
    : handle_(std::move(handle)),
      name_(name),
      room_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      threads_max_(threads_max) {}

bool ConnectionThreads::offer(Descriptor& connection) {
    const std::lock_guard lock(mutex_);
    if (is_full()) return false;
    if (!idle_.empty()) {
        Thread& thread = *idle_.back();
        idle_.pop_back();
        thread.connection = std::move(connection);
        thread.given.notify_one();
        return true;
    }
    try {
        idle_.reserve(threads_.size() + 1);  // so that a connection ends without memory
        threads_.reserve(threads_.size() + 1);
        auto made = std::make_unique<Thread>();
        made->thread = std::thread([this, self = made.get()] { work(*self); });
        made->connection = std::move(connection);
        threads_.push_back(std::move(made));
    } catch (const std::exception&) {  // neither a thread nor memory is left
        return false;
    }
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

void ConnectionThreads::announce_room() noexcept {
    const std::uint64_t one = 1;
    (void)!::write(room_.get(), &one, sizeof one);
}

void ConnectionThreads::set_threads_max(std::size_t threads_max) {
    const std::lock_guard lock(mutex_);
    threads_max_ = threads_max;
    announce_room();
}

bool ConnectionThreads::wait_until_idle(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return idle_.size() == threads_.size(); });
}

void ConnectionThreads::take_while_free(int listener, int ending) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds pause{20};
    constexpr std::chrono::milliseconds last_wait{500};  // for room, once it ends
    auto last = Clock::time_point::max();
    Descriptor socket;  // that was taken when there was room, and there is none any more
    for (bool ends = false; Clock::now() < last;) {
        bool has_room = false;
        {
            const std::lock_guard lock(mutex_);
            std::uint64_t ignored = 0;
            (void)!::read(room_.get(), &ignored, sizeof ignored);
            has_room = !is_full();
        }
        const bool is_held = socket.get() >= 0;
        if (has_room && is_held && offer(socket)) continue;
        // A thread that the system does not give is asked for again behind a pause.
        const bool takes = has_room && !is_held;
        std::array<::pollfd, 3> waited{{{takes ? listener : -1, POLLIN, 0},
                                        {ends ? -1 : ending, POLLIN, 0},
                                        {room_.get(), POLLIN, 0}}};
        int wait_ms = has_room || ends ? static_cast<int>(pause.count()) : -1;
        if (takes) wait_ms = ends ? 0 : -1;
        const int ready = ::poll(waited.data(), waited.size(), wait_ms);
        if (ready < 0 && errno != EINTR) return;
        const bool is_there = waited[0].revents != 0;
        if (ends && takes && !is_there) return;
        if (!ends && waited[1].revents != 0) {
            ends = true;
            last = Clock::now() + last_wait;
        }
        if (!is_there) continue;
        socket = Descriptor(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        // No descriptor or no memory is left, perhaps.
        if (socket.get() < 0 && errno != EAGAIN) std::this_thread::sleep_for(pause);
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
    strid::detail::name_this_thread(name_);
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
        ended_.notify_all();
        announce_room();
    }
}

}  // namespace strid::http

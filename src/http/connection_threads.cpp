// SPDX-License-Identifier: Apache-2.0
#include <system_error>
#include <utility>

#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/connection_threads.hpp>

namespace strid::http {

bool ConnectionThreads::offer(Descriptor& connection) {
    const std::lock_guard lock(mutex_);
    if (taken_.size() == idle_) {
        if (threads_.size() == threads_max_) return false;
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
            return false;
        }
        ++idle_;
    }
    taken_.push_back(std::move(connection));
    changed_.notify_one();
    return true;
}

void ConnectionThreads::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
        changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void ConnectionThreads::work() {
    strid::detail::name_this_thread("strid-http");
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return is_ending_ || !taken_.empty(); });
        if (taken_.empty()) return;
        Descriptor connection = std::move(taken_.front());
        taken_.pop_front();
        --idle_;
        lock.unlock();
        handle_(std::move(connection));
        lock.lock();
        ++idle_;
    }
}

}  // namespace strid::http

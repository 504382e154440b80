// SPDX-License-Identifier: Apache-2.0
#include "service_notice.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <unistd.h>

#include <strid/engine/base/service_manager.hpp>
#include <strid/engine/base/thread_name.hpp>

namespace strid {

namespace {

/// How soon a stop is announced.
constexpr std::chrono::milliseconds look_every{200};

/// The number in a variable of the environment; 0: there is none.
std::int64_t number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    std::int64_t number = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
    return number;
}

}  // namespace

std::shared_ptr<ServiceNotice> ServiceNotice::of_environment() {
    const std::string socket = detail::service_socket();
    if (socket.empty()) return nullptr;
    const std::int64_t process = number_in("WATCHDOG_PID");
    const bool is_watched = process == 0 || process == ::getpid();
    return std::make_shared<ServiceNotice>(
        socket, std::chrono::microseconds(is_watched ? number_in("WATCHDOG_USEC") : 0));
}

ServiceNotice::ServiceNotice(std::string socket, std::chrono::microseconds watchdog)
    : socket_(std::move(socket)), watchdog_(watchdog) {}

void ServiceNotice::prepare(const CompanionContext& context) {
    is_stopping_ = context.is_stopping;
}

void ServiceNotice::begin(Running& running) {
    has_begun_ = true;
    send("READY=1\nSTATUS=running");
    thread_ = std::thread([this, &running] { follow(running); });
}

/// A run whose report cannot be taken any more, because a lock is held, is not reported as alive.
void ServiceNotice::follow(const Running& running) {
    using Clock = std::chrono::steady_clock;
    detail::name_this_thread("strid-notice");
    bool is_stopping = false;
    auto alive_at = Clock::now();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_every, [this] { return is_ending_; })) {
        if (!is_stopping && is_stopping_()) {
            is_stopping = true;
            send("STOPPING=1\nSTATUS=stopping");
        }
        if (watchdog_.count() <= 0 || Clock::now() < alive_at) continue;
        (void)running.report();
        send("WATCHDOG=1");
        alive_at = Clock::now() + watchdog_ / 3;
    }
}

void ServiceNotice::end() noexcept {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            is_ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    if (std::exchange(has_begun_, false)) send("STOPPING=1");
}

void ServiceNotice::send(std::string_view text) const noexcept {
    detail::send_to_service_manager(socket_, text);
}

}  // namespace strid

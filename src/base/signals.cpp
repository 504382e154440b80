// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <ctime>

#include <semaphore.h>

#include <strid/engine/base/signals.hpp>

namespace strid {

namespace {

// Relaxed: each number stands alone; the calls order what follows from it.
std::atomic<bool> owned{false};
std::atomic<int> received{0};
std::atomic<int> last_received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use it");

struct SignalSemaphore {
    SignalSemaphore() noexcept { ::sem_init(&semaphore, 0, 0); }
    sem_t semaphore;
};

SignalSemaphore& signal_semaphore() noexcept {
    static SignalSemaphore
        instance;  // made before the first handler is installed; never destroyed in use
    return instance;
}

extern "C" void strid_signal_handler(int signal) {
    const int error = errno;
    last_received.store(signal, std::memory_order_relaxed);
    received.fetch_add(1, std::memory_order_relaxed);
    ::sem_post(&signal_semaphore().semaphore);
    errno = error;
}

}  // namespace

SignalScope::SignalScope() : owner_(!owned.exchange(true, std::memory_order_relaxed)) {
    signal_semaphore();
    if (!owner_) return;
    received.store(0, std::memory_order_relaxed);
    last_received.store(0, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = &strid_signal_handler;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < handled.size(); ++i) {
        ::sigaction(handled[i], nullptr, &before_[i]);
        if (before_[i].sa_handler == SIG_IGN) continue;
        installed_[i] = ::sigaction(handled[i], &action, nullptr) == 0;
    }
}

SignalScope::~SignalScope() {
    if (!owner_) return;
    restore();
    owned.store(false, std::memory_order_relaxed);
}

void SignalScope::restore() noexcept {
    for (std::size_t i = 0; i < handled.size(); ++i) {
        if (installed_[i]) ::sigaction(handled[i], &before_[i], nullptr);
        installed_[i] = false;
    }
}

void SignalScope::wait_for(std::chrono::milliseconds time) noexcept {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    const auto nanoseconds =
        std::chrono::nanoseconds(until.tv_nsec) + std::chrono::nanoseconds(time);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(nanoseconds);
    until.tv_sec += seconds.count();
    until.tv_nsec = (nanoseconds - seconds).count();
    ::sem_timedwait(&signal_semaphore().semaphore, &until);  // an early return does no harm
}

void SignalScope::wake() noexcept {
    ::sem_post(&signal_semaphore().semaphore);
}

int SignalScope::count() const noexcept {
    return owner_ ? received.load(std::memory_order_relaxed) : 0;
}

int SignalScope::last() const noexcept {
    return owner_ ? last_received.load(std::memory_order_relaxed) : 0;
}

}  // namespace strid

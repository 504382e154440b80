// SPDX-License-Identifier: Apache-2.0
//
// Shared by the stress tests: a seed that is printed, and a watchdog that ends a hung test.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

namespace strid::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// A fresh seed, or that of STRID_SEED to repeat a run; printed either way.
inline std::uint64_t stress_seed(const char* test) {
    const char* given = std::getenv("STRID_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("%s: STRID_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return seed;
}

/// Ends the process when it lives longer than the limit: a hang is a failure with a name.
class Watchdog {
  public:
    Watchdog(const char* test, std::chrono::seconds limit)
        : thread_([this, test, limit] {
              std::unique_lock lock(mutex_);
              if (done_signal_.wait_for(lock, limit, [this] { return done_; })) return;
              std::fprintf(stderr, "%s: no end after %lld s\n", test,
                           static_cast<long long>(limit.count()));
              std::abort();
          }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        done_signal_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable done_signal_;
    bool done_ = false;
    std::thread thread_;
};

/// Pauses at random, so that both sides get ahead and fall behind.
class Stumbler {
  public:
    explicit Stumbler(std::uint64_t seed) : random_(seed) {}
    void maybe_yield() {
        if (random_() % 64 == 0) std::this_thread::yield();
    }
    std::size_t below(std::size_t limit) { return random_() % limit; }

  private:
    std::mt19937_64 random_;
};

}  // namespace strid::test

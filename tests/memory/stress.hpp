// SPDX-License-Identifier: Apache-2.0
//
// Shared by the threaded stress tests of this room: a seed that is printed and can be given again
// (STRID_TEST_SEED), a watchdog, and the amount of work for the build.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>

namespace strid::test {

// The sanitizers' own allocators end the process on a request that no machine could grant.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t work_divisor = 10;
inline constexpr bool impossible_requests_throw = false;
#else
inline constexpr std::size_t work_divisor = 1;
inline constexpr bool impossible_requests_throw = true;
#endif

/// The seed of this test; recorded, so that a failure names it.
inline std::uint64_t test_seed() {
    const char* const given = std::getenv("STRID_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

/// Ends the process when it lives longer than `limit`: a hang becomes a failure with a name.
class Watchdog {
  public:
    explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds{60})
        : thread_([this, limit] {
              std::unique_lock lock(mutex_);
              if (!ended_.wait_for(lock, limit, [this] { return done_; })) {
                  std::fprintf(stderr, "watchdog: the test made no end\n");
                  std::abort();
              }
          }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::thread thread_;
};

}  // namespace strid::test

// SPDX-License-Identifier: Apache-2.0
//
// Shared by the stress tests: a seed that is printed, and threads that pause.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "../support/watchdog.hpp"

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

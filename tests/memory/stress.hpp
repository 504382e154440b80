// SPDX-License-Identifier: Apache-2.0
//
// Shared by the threaded stress tests of this room: a seed that is printed and can be given again
// (STRID_TEST_SEED), and the amount of work for the build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../support/watchdog.hpp"

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

}  // namespace strid::test

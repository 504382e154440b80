// SPDX-License-Identifier: Apache-2.0
//
// Seeds of tests whose streams and schedules are random: fresh ones in every run, or from
// STRID_SEED on to repeat one that failed. They are printed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <ranges>

namespace strid::test {

/// The first of them, drawn when it is asked for. Values that a test derives from a seed's
/// remainders (the mode, the parallelism) begin anew at each multiple of 12.
inline std::uint64_t first_seed() {
    static const std::uint64_t first = [] {
        const char* const given = std::getenv("STRID_SEED");
        const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                                    : std::uint64_t{std::random_device{}()} * 12;
        std::printf("STRID_SEED=%llu\n", static_cast<unsigned long long>(seed));
        return seed;
    }();
    return first;
}

/// So many different ones.
inline auto seeds(std::uint64_t count) {
    return std::views::iota(first_seed(), first_seed() + count);
}

}  // namespace strid::test

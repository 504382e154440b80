// SPDX-License-Identifier: Apache-2.0
//
// Random numbers for generated records: SplitMix64 (Steele, Lea, Flood 2014), restarted for each
// record from (seed, index). So record 17 is the same in every run with the same seed, on whichever
// replica it is made. A standard uniform random bit generator. One thread at a time.
#pragma once

#include <cstdint>
#include <limits>

namespace strid {

/// A generator of random bits as std::uniform_random_bit_generator asks, one for each record.
class Random {
  public:
    /// 64 random bits.
    using result_type = std::uint64_t;

    /// Starts anew for record `index`: the same numbers for the same seed and index.
    constexpr Random(std::uint64_t seed, std::uint64_t index) noexcept
        : state_(mix(seed + golden) ^ mix(index * golden + 1)) {}

    /// The least number that comes.
    static constexpr result_type min() noexcept { return 0; }
    /// The greatest number that comes.
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    /// The next number, of 64 bits.
    constexpr result_type operator()() noexcept { return mix(state_ += golden); }

    /// Uniform in [0, bound), bound above 0. The bias is below bound / 2^64.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
    }
    /// Uniform in [0, 1), 53 bits.
    constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  private:
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

    static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::uint64_t state_;
};

}  // namespace strid

// SPDX-License-Identifier: Apache-2.0
//
// exp(seconds / T) for whole seconds by two tables: what an event weighs under forward decay
// (Cormode, Shkapenyuk, Srivastava and Xu: "Forward decay", ICDE 2009). Sums of such weights decay
// by themselves, as the weight of `now` grows; so that it stays in range, time is cut into periods
// of 32 T, at whose beginnings sums are scaled down. Immutable, shared by all threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strid::apps::voip_stream {

class Growth {
  public:
    /// T's in a period.
    static constexpr std::int64_t period_length = 32;

    /// T in seconds.
    explicit Growth(std::uint32_t seconds)
        : seconds_(seconds),
          period_(period_length * seconds),
          up_(table(1, low_count)),
          up_high_(table(low_count, high_count())),
          down_(table(-1, low_count)),
          down_high_(table(-std::int64_t{low_count}, high_count())) {}

    /// Of a period, in seconds.
    [[nodiscard]] std::int64_t period() const noexcept { return period_; }
    /// exp(seconds / T).
    [[nodiscard]] double of(std::int64_t seconds) const noexcept {
        if (seconds >= 0 && seconds < period_) [[likely]]
            return entry(up_, up_high_, static_cast<std::uint64_t>(seconds));
        if (seconds < 0 && -seconds < period_)
            return entry(down_, down_high_, static_cast<std::uint64_t>(-seconds));
        return exponential(seconds);
    }

  private:
    using Table = std::vector<double>;
    static constexpr std::size_t low_count = 1024;

    [[nodiscard]] static double entry(const Table& low, const Table& high,
                                      std::uint64_t at) noexcept {
        return low[at % low_count] * high[at / low_count];
    }
    [[nodiscard]] std::size_t high_count() const noexcept {
        return static_cast<std::size_t>(period_) / low_count + 1;
    }
    [[nodiscard]] double exponential(std::int64_t seconds) const noexcept {
        return std::exp(static_cast<double>(seconds) / static_cast<double>(seconds_));
    }
    [[nodiscard]] Table table(std::int64_t step, std::size_t count) const {
        Table values;
        for (std::size_t i = 0; i < count; ++i) {
            values.push_back(exponential(step * static_cast<std::int64_t>(i)));
        }
        return values;
    }

    std::int64_t seconds_;
    std::int64_t period_;
    Table up_;
    Table up_high_;
    Table down_;
    Table down_high_;
};

}  // namespace strid::apps::voip_stream

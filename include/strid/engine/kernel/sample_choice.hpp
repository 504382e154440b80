// SPDX-License-Identifier: Apache-2.0
//
// Chooses a sample of many events: at most about 200 a second, and all of them if there are no
// more. One in N by chance, where N follows the rate: a choice by the clock alone would take the
// first of every bunch. An event that is not chosen costs a decrement and a comparison.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

namespace strid::operators {

class SampleChoice {
  public:
    /// Whether the present event is chosen. `now_ns` may be some microseconds old.
    [[nodiscard]] bool due(std::int64_t now_ns) noexcept {
        if (--left_ != 0 && now_ns < look_ns_) [[likely]]
            return false;
        return decide(now_ns);
    }
    /// The chosen event had no result: the next one is chosen instead.
    void next_instead() noexcept {
        one_in_ = one_in_before_;
        look_ns_ = look_before_ns_;
        left_ = 1;
    }

    /// The mean distance of chosen events.
    static constexpr std::int64_t period_ns = 5'000'000;

  private:
    /// After this long without a choice the rate has fallen.
    static constexpr std::int64_t silence_ns = 4 * period_ns;
    static constexpr std::uint32_t one_in_max = 1U << 16;

    bool decide(std::int64_t now_ns) noexcept;
    /// 1 to 2 * one_in_ - 1, with the mean `one_in_`.
    [[nodiscard]] std::uint32_t drawn() noexcept;

    std::uint32_t left_ = 1;
    std::uint32_t one_in_ = 1;
    std::uint32_t one_in_before_ = 1;  // the last choice
    std::int64_t look_ns_ = 0;         // the next decision at the latest
    std::int64_t look_before_ns_ = 0;
    std::uint64_t random_ = 0x9e3779b97f4a7c15U;
};

}  // namespace strid::operators

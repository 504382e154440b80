// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/engine/kernel/sample_choice.hpp>

namespace strid::operators {

bool SampleChoice::decide(std::int64_t now_ns) noexcept {
    one_in_before_ = one_in_;
    look_before_ns_ = look_ns_;
    const std::int64_t since_ns = now_ns - (look_ns_ - silence_ns);
    look_ns_ = now_ns + silence_ns;
    if (left_ != 0) {
        // Not the present event, which would be the first after a pause each time.
        one_in_ = std::max(one_in_ / 8, std::uint32_t{1});
        left_ = std::min(left_, drawn());
        return false;
    }
    if (since_ns < period_ns / 2) {
        one_in_ = std::min(one_in_ * 2, one_in_max);
    } else if (since_ns > period_ns * 2) {
        one_in_ = std::max(one_in_ / 2, std::uint32_t{1});
    }
    left_ = drawn();
    return true;
}

std::uint32_t SampleChoice::drawn() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const std::uint64_t most = std::uint64_t{2} * one_in_ - 1;
    return 1 + static_cast<std::uint32_t>((random_ >> 32) * most >> 32);
}

}  // namespace strid::operators

// SPDX-License-Identifier: Apache-2.0
//
// The time of each of many records, without the disturbances of the machine. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../statistics.hpp"

namespace strid::bench {

/// The least that each record took in any pass. All passes do the same, so what the structure
/// causes stays, and what the machine did meanwhile goes.
class LeastTimes {
  public:
    explicit LeastTimes(std::uint64_t records) : least_(records, ~std::uint32_t{0}) {}

    /// Times come in the order of the records, and go to the array some hundred at a time: its
    /// memory shall not show in the times.
    void record(std::int64_t ns) {
        recent_[count_++ % recent_.size()] =
            static_cast<std::uint32_t>(std::min(ns, std::int64_t{1'000'000'000}));
        if (count_ % recent_.size() == 0 || count_ == least_.size()) keep_recent();
    }
    /// After all passes. O(records log records).
    [[nodiscard]] std::int64_t percentile(double percent) const {
        return quantile(least_, percent / 100);
    }

  private:
    void keep_recent() {
        for (; kept_ != count_; ++kept_) {
            least_[kept_] = std::min(least_[kept_], recent_[kept_ % recent_.size()]);
        }
        if (count_ == least_.size()) count_ = kept_ = 0;  // the next pass
    }

    std::array<std::uint32_t, 512> recent_{};
    std::vector<std::uint32_t> least_;
    std::size_t count_ = 0;
    std::size_t kept_ = 0;
};

}  // namespace strid::bench

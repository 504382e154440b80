// SPDX-License-Identifier: Apache-2.0
//
// How many records a source may emit in one poll where they end in the same chain: as many as take
// some tens of microseconds. A run costs a tenth of a microsecond beside its records, and nobody
// else has the worker meanwhile; so the budget grows while runs are short, and shrinks when they
// are long.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strid::operators {

class PollBudget {
  public:
    [[nodiscard]] std::size_t records() const noexcept { return records_; }

    /// A run of so many records took so long.
    void ran(std::uint64_t records, std::int64_t took_ns) noexcept {
        if (took_ns > 100'000) {
            records_ = std::max(records_ / 2, least);
        } else if (took_ns < 20'000 && records >= records_) {
            records_ = std::min(records_ * 2, most);
        }
    }

  private:
    static constexpr std::size_t least = 16;
    static constexpr std::size_t most = 16'384;

    std::size_t records_ = 64;
};

}  // namespace strid::operators

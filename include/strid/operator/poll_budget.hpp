// SPDX-License-Identifier: Apache-2.0
//
// How many records a source may emit in one poll. Where they end in the same chain, or hardly any
// leaves it: as many as take some tens of microseconds, because a run costs a tenth of a
// microsecond beside its records, and nobody else has the worker meanwhile; so the budget grows
// while runs are short, and shrinks when they are long. Where they go on: three quarters of a
// batch for each place that they may go to. What passes between cores costs per batch, so it is to
// be nearly full; with a whole one, some places would have a batch too few and others a small rest.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strid::operators {

class PollBudget {
  public:
    /// For a chain whose records end in it.
    [[nodiscard]] std::size_t records() const noexcept { return records_; }
    /// For one whose output has room for so many records, in a batch for each place.
    [[nodiscard]] std::size_t records(std::size_t room) const noexcept {
        return std::max(records_, std::clamp<std::size_t>(room * 3 / 4, 512, 8192));
    }

    /// A run of so many records, of which `left` left the chain, took so long.
    void ran(std::uint64_t records, std::uint64_t left, std::int64_t took_ns) noexcept {
        if (left > records / 16) {
            records_ = first;
        } else if (took_ns > 100'000) {
            records_ = std::max(records_ / 2, least);
        } else if (took_ns < 20'000 && records >= records_) {
            records_ = std::min(records_ * 2, most);
        }
    }

  private:
    static constexpr std::size_t least = 16;
    static constexpr std::size_t first = 64;
    static constexpr std::size_t most = 16'384;

    std::size_t records_ = first;
};

}  // namespace strid::operators

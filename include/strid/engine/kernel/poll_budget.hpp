// SPDX-License-Identifier: Apache-2.0
//
// How many records a source may emit in one poll. There are two cases.
//
// If the records end in the same chain, or hardly any leave it: as many as take some tens of
// microseconds. A run costs a tenth of a microsecond beside its records, and no other task has the
// worker meanwhile. The budget therefore grows while runs are short, and shrinks when they are
// long.
//
// If the records go on: three quarters of a batch for each destination. A transfer between cores
// costs per batch, so batches must be nearly full; with a whole batch, some destinations would have
// a batch too few and others a small rest.
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
    /// For a chain whose output has room for `room` records, in a batch for each destination.
    [[nodiscard]] std::size_t records(std::size_t room) const noexcept {
        return std::max(records_, std::clamp<std::size_t>(room * 3 / 4, 512, 8192));
    }

    /// A run of `records` records, of which `left` left the chain, took `took_ns`.
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

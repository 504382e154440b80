// SPDX-License-Identifier: Apache-2.0
//
// Numbers from 0 on, their sum, and the one at which the running sum passes a value: in a complete
// binary tree of partial sums, so that a change and a search cost the logarithm of their number
// (Li and Petzold's logarithmic direct method). One thread at a time.
//
// Invariant after settle(): each inner node is the sum of its two children, in this order, so that
// the sums depend on the numbers alone and no error adds up.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace strid::ssa {

class SumTree {
  public:
    explicit SumTree(std::size_t size) : leaves_(std::bit_ceil(size)), sums_(2 * leaves_) {}

    [[nodiscard]] double operator[](std::size_t i) const noexcept { return sums_[leaves_ + i]; }
    [[nodiscard]] double sum() const noexcept { return sums_[1]; }

    /// To be followed by settle() or settle_all().
    void set(std::size_t i, double value) noexcept { sums_[leaves_ + i] = value; }
    void settle(std::size_t i) noexcept {
        for (std::size_t node = (leaves_ + i) / 2; node != 0; node /= 2) add_up(node);
    }
    void settle_all() noexcept {
        for (std::size_t node = leaves_; --node != 0;) add_up(node);
    }
    /// True where it costs less to settle all than so many one by one.
    [[nodiscard]] bool is_small_for(std::size_t changes) const noexcept {
        return leaves_ <= 2 * changes * static_cast<std::size_t>(std::bit_width(leaves_));
    }

    /// The first number whose running sum is above `target`, which is from 0 on and below sum(); a
    /// positive number in any case, also where a sum was rounded.
    [[nodiscard]] std::size_t find(double target) const noexcept {
        std::size_t node = 1;
        while (node < leaves_) {
            node *= 2;
            const double left = sums_[node];
            if (target >= left && sums_[node + 1] > 0) {
                target -= left;
                ++node;
            }
        }
        return node - leaves_;
    }

  private:
    void add_up(std::size_t node) noexcept { sums_[node] = sums_[2 * node] + sums_[2 * node + 1]; }

    std::size_t leaves_;
    std::vector<double> sums_;
};

}  // namespace strid::ssa

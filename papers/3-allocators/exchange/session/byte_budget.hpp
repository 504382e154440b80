// SPDX-License-Identifier: Apache-2.0
//
// A bound of the bytes that are kept for all clients together. Each part that is taken is an
// object, which gives its bytes back when it is destroyed. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace strid::exchange {

class ByteBudget {
  public:
    explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }
    [[nodiscard]] std::size_t used() const noexcept {
        return used_.load(std::memory_order_relaxed);
    }

  private:
    friend class ByteShare;

    const std::size_t bytes_max_;
    std::atomic<std::size_t> used_{0};  // relaxed: a count, which publishes nothing
};

/// Some bytes of a budget, or none.
class ByteShare {
  public:
    ByteShare() = default;
    /// Takes as many bytes again, beyond the bound too.
    ByteShare(const ByteShare& other) : budget_(other.budget_), bytes_(other.bytes_) {
        if (bytes_ != 0) budget_->used_.fetch_add(bytes_, std::memory_order_relaxed);
    }
    ByteShare(ByteShare&& other) noexcept
        : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
    ByteShare& operator=(ByteShare other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~ByteShare() {
        if (bytes_ != 0) budget_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }

    /// Takes `bytes`, in place of those that it has. False where the budget does not have them: it
    /// has none then. A part above the whole budget is given when no other is taken.
    [[nodiscard]] bool take(std::shared_ptr<ByteBudget> budget, std::size_t bytes) {
        *this = ByteShare();
        const std::size_t before = budget->used_.fetch_add(bytes, std::memory_order_relaxed);
        if (before != 0 && before + bytes > budget->bytes_max_) {
            budget->used_.fetch_sub(bytes, std::memory_order_relaxed);
            return false;
        }
        budget_ = std::move(budget);
        bytes_ = bytes;
        return true;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::shared_ptr<ByteBudget> budget_;
    std::size_t bytes_ = 0;
};

}  // namespace strid::exchange

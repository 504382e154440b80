// SPDX-License-Identifier: Apache-2.0
//
// Many producers, one consumer, built from SPSC rings only (paper 4, section 1.1): a lane per
// producer, and an arbiter that is embedded in the consumer, which visits the lanes in a circle.
// No read-modify-write instruction; producers share no cache line with each other.
//
// Threads: producer i alone uses lane i; one consumer thread. Owner: who built the channel; it
// outlives all of them.
//
// Law: the items of one producer arrive in their order; between producers no order holds. The
// consumer takes at most `burst` items from a lane before it looks at the others, so a lane with
// items waits for at most burst * (lanes - 1) others. Closed: every producer has closed and every
// lane is drained. A drained lane is never looked at again.
#pragma once

#include <atomic>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <strid/base/cache_line.hpp>
#include <strid/channel/lanes.hpp>

namespace strid::channel {

template <class T, template <class> class Atomic = std::atomic>
class MpscChannel {
  public:
    using value_type = T;

    struct Options {
        std::size_t producers = 1;
        std::size_t lane_capacity = 1024;  ///< per producer; rounded up to a power of two
        std::size_t burst = 16;            ///< items from one lane before the next has its turn
    };

    explicit MpscChannel(Options options)
        : lanes_(options.producers, options.lane_capacity),
          burst_(std::max<std::size_t>(options.burst, 1)),
          open_(lanes_.count()) {
        std::iota(open_.begin(), open_.end(), std::size_t{0});
    }

    // ---- producer i ----------------------------------------------------------------------------

    /// Producer i: appends to its lane. Moves from the value only when the answer is `ok`.
    template <class U = T>
    PushResult try_push(std::size_t i, U&& value) noexcept(std::is_nothrow_assignable_v<T&, U&&>) {
        return lanes_[i].try_push(std::forward<U>(value));
    }
    /// Producer i: nothing more comes from it.
    void close(std::size_t i) noexcept { lanes_[i].close(); }

    // ---- consumer ------------------------------------------------------------------------------

    /// Consumer: takes the oldest item of the lane whose turn it is.
    PopResult try_pop(T& out) noexcept {
        const std::span<T> front = peek(1);
        if (front.empty()) return open_.empty() ? PopResult::closed : PopResult::empty;
        out = std::move(front.front());
        release(1);
        return PopResult::ok;
    }

    /// Consumer: up to `count` items, all of one producer, see lane_of_peek(); none when every lane
    /// is empty. Until released, peeking again gives the same items first.
    [[nodiscard]] std::span<T> peek(std::size_t count) noexcept {
        if (taken_in_turn_ >= burst_) end_turn(turn_ + 1);
        for (std::size_t looked = 0, lanes = open_.size(); looked < lanes; ++looked) {
            auto& ring = lanes_[open_[turn_]];
            const auto items = ring.peek(std::min(count, burst_ - taken_in_turn_));
            if (!items.empty()) return items;
            if (ring.was_drained()) {
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
                end_turn(turn_);
            } else {
                end_turn(turn_ + 1);
            }
        }
        return {};
    }

    /// Consumer: gives the first `count` items of the last peek back.
    void release(std::size_t count) noexcept {
        if (count == 0) return;
        lanes_[open_[turn_]].release(count);
        taken_in_turn_ += count;
    }

    /// Consumer: the producer of the items of the last peek, or of the last item popped.
    [[nodiscard]] std::size_t lane_of_peek() const noexcept {
        STRID_ASSERT(turn_ < open_.size());
        return open_[turn_];
    }

    /// Consumer: every producer has closed and all was taken.
    [[nodiscard]] bool drained() noexcept { return peek(1).empty() && open_.empty(); }

    // ---- any thread ----------------------------------------------------------------------------

    [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.count(); }
    [[nodiscard]] std::size_t lane_size(std::size_t i) const noexcept { return lanes_[i].size(); }
    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }

  private:
    void end_turn(std::size_t next) noexcept {
        turn_ = next >= open_.size() ? 0 : next;
        taken_in_turn_ = 0;
    }

    detail::Lanes<T, Atomic> lanes_;
    // From here on the consumer's; producers read only what stands above, which never changes.
    alignas(cache_line_bytes) std::size_t burst_;
    std::vector<std::size_t> open_;  ///< lanes not yet drained, in the order of the circle
    std::size_t turn_ = 0;           ///< position in open_
    std::size_t taken_in_turn_ = 0;
};

}  // namespace strid::channel

// SPDX-License-Identifier: Apache-2.0
//
// How long a node waited, and for what: between the run that found nothing to do, or no room, and
// the next that handled something. A run that follows a run costs one comparison.
//
// Threads: written by the task of the node; read by any, who sees the wait that is on as well. A
// reader may miss a wait that ends as it looks, and counts none twice.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <strid/base/clock.hpp>

namespace strid::operators {

class WaitClock {
  public:
    enum class For : std::uint8_t { input, room };

    /// Nothing can be done until there is input, or room at the output. Again and again until
    /// `end`: the first call counts, and the first that waits for the other of the two. `now` as in
    /// end().
    void begin(For what, std::int64_t now) noexcept {
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait != none && what_of(wait) == what) return;
        end(now);
        wait_.store(now << 1 | static_cast<std::int64_t>(what), std::memory_order_relaxed);
    }

    /// A run began, at `now`, that handles something. `now` is some microseconds old at most, and
    /// may be a little before the beginning of the wait where another thread had read it.
    void end(std::int64_t now) noexcept {
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait == none) return;
        auto& total = what_of(wait) == For::input ? input_ns_ : room_ns_;
        wait_.store(none, std::memory_order_relaxed);
        // release: pairs with the acquire in so_far(); who sees the longer total sees no more of
        // the wait that it has in it, and counts none twice.
        total.store(
            total.load(std::memory_order_relaxed) + std::max(now - since(wait), std::int64_t{0}),
            std::memory_order_release);
    }

    /// Nanoseconds waited for input, and for room.
    [[nodiscard]] std::uint64_t idle_ns() const noexcept { return so_far(For::input, input_ns_); }
    [[nodiscard]] std::uint64_t refused_ns() const noexcept { return so_far(For::room, room_ns_); }

  private:
    static constexpr std::int64_t none = -1;

    [[nodiscard]] static For what_of(std::int64_t wait) noexcept {
        return static_cast<For>(wait & 1);
    }
    [[nodiscard]] static std::int64_t since(std::int64_t wait) noexcept { return wait >> 1; }

    [[nodiscard]] std::uint64_t so_far(For what,
                                       const std::atomic<std::int64_t>& total) const noexcept {
        // Before the looks: a wait that is on when it is looked at was on until now.
        const std::int64_t now = now_ns();
        // acquire: pairs with the release in end().
        std::int64_t ns = total.load(std::memory_order_acquire);
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait != none && what_of(wait) == what && since(wait) < now) ns += now - since(wait);
        return static_cast<std::uint64_t>(ns);
    }

    std::atomic<std::int64_t> wait_{none};  // when the wait that is on began, and for what
    std::atomic<std::int64_t> input_ns_{0};
    std::atomic<std::int64_t> room_ns_{0};
};

}  // namespace strid::operators

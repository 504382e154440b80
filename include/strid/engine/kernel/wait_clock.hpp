// SPDX-License-Identifier: Apache-2.0
//
// How long a node waited, and for what: from the run that found no input, or no room, to the next
// run that processed something. A run that follows a run costs one comparison.
//
// Threads: written by the task of the node; read by any thread, which also sees the present wait. A
// reader may miss a wait that ends meanwhile, and counts none twice.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <strid/base/clock.hpp>

namespace strid::operators {

class WaitClock {
  public:
    enum class For : std::uint8_t { input, room };

    /// The node waits for input, or for room at the output. May be called repeatedly until `end`:
    /// the first call counts, and the first one for the other cause. `now` as in end().
    void begin(For what, std::int64_t now) noexcept {
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait != none && what_of(wait) == what) return;
        end(now);
        wait_.store(now << 1 | static_cast<std::int64_t>(what), std::memory_order_relaxed);
    }

    /// A run that processes something began at `now`. `now` is at most some microseconds old, and
    /// may be before the beginning of the wait if another thread had read it.
    void end(std::int64_t now) noexcept {
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait == none) return;
        auto& total = what_of(wait) == For::input ? input_ns_ : room_ns_;
        wait_.store(none, std::memory_order_relaxed);
        // release: pairs with the acquire in so_far(). A reader of the longer total reads no part
        // of the same wait again, and counts none twice.
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
        // Before the reads: a wait that is seen has lasted until now.
        const std::int64_t now = now_ns();
        // acquire: pairs with the release in end().
        std::int64_t ns = total.load(std::memory_order_acquire);
        const std::int64_t wait = wait_.load(std::memory_order_relaxed);
        if (wait != none && what_of(wait) == what && since(wait) < now) ns += now - since(wait);
        return static_cast<std::uint64_t>(ns);
    }

    std::atomic<std::int64_t> wait_{none};  // when the present wait began, and for what
    std::atomic<std::int64_t> input_ns_{0};
    std::atomic<std::int64_t> room_ns_{0};
};

}  // namespace strid::operators

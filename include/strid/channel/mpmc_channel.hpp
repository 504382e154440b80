// SPDX-License-Identifier: Apache-2.0
//
// Many producers, many consumers, built from SPSC rings and an arbiter (paper 4, section 1.1:
// "only SPSC queues and arbiter threads"). Here the arbiter is not a thread but a duty: some
// thread calls step(), and decides itself when and how often; a worker of the runtime, say.
//
// Threads: producer i alone uses lane i of the entrance, consumer j alone lane j of the exit, and
// one thread at a time calls step(); that role may move with a happens-before edge. Owner: who
// built the channel; it outlives all of them.
//
// Law: an item is in the entrance or in the exit, never in the arbiter's hands: it leaves its lane
// only once a lane of the exit has taken it. The exit closes once the entrance is closed and
// drained.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include <strid/channel/mpsc_channel.hpp>
#include <strid/channel/spmc_channel.hpp>

namespace strid::channel {

template <class T, class Policy = RoundRobin, template <class> class Atomic = std::atomic>
class MpmcChannel {
  public:
    using value_type = T;

    struct Options {
        std::size_t producers = 1;
        std::size_t consumers = 1;
        std::size_t lane_capacity = 1024;  ///< per producer and per consumer
        std::size_t burst = 16;            ///< items from one producer before the next has its turn
    };

    explicit MpmcChannel(Options options, Policy policy = {})
        : entrance_({.producers = options.producers,
                     .lane_capacity = options.lane_capacity,
                     .burst = options.burst}),
          exit_({.consumers = options.consumers, .lane_capacity = options.lane_capacity},
                std::move(policy)) {}

    /// Producer i: appends to its lane. Moves from the value only when the answer is `ok`.
    template <class U = T>
    PushResult try_push(std::size_t i, U&& value) noexcept(std::is_nothrow_assignable_v<T&, U&&>) {
        return entrance_.try_push(i, std::forward<U>(value));
    }
    /// Producer i: nothing more comes from it.
    void close(std::size_t i) noexcept { entrance_.close(i); }

    /// Consumer j: takes the oldest item of its lane.
    PopResult try_pop(std::size_t j, T& out) noexcept { return exit_.try_pop(j, out); }
    [[nodiscard]] bool drained(std::size_t j) noexcept { return exit_.drained(j); }

    /// Arbiter: hands on at most `budget` items.
    ArbiterResult step(std::size_t budget) noexcept {
        std::size_t moved = 0;
        while (moved < budget) {
            const std::span<T> items = entrance_.peek(budget - moved);
            if (items.empty()) break;
            std::size_t taken = 0;
            while (taken < items.size() &&
                   exit_.try_push(std::move(items[taken])) == PushResult::ok) {
                ++taken;
            }
            entrance_.release(taken);
            moved += taken;
            if (taken < items.size())
                return moved > 0 ? ArbiterResult::progressed : ArbiterResult::full;
        }
        if (moved > 0) return ArbiterResult::progressed;
        if (!entrance_.drained()) return ArbiterResult::empty;
        exit_.close();
        return ArbiterResult::closed;
    }

    /// Items on either side of the arbiter at some recent moment; any thread.
    [[nodiscard]] std::size_t size() const noexcept { return entrance_.size() + exit_.size(); }

  private:
    MpscChannel<T, Atomic> entrance_;
    SpmcChannel<T, Policy, Atomic> exit_;
};

}  // namespace strid::channel

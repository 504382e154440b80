// SPDX-License-Identifier: Apache-2.0
//
// One producer, many consumers, built from SPSC rings only (paper 4, section 1.1): a lane per
// consumer, and an arbiter that is embedded in the producer and asks a policy for the lane. No
// read-modify-write instruction; consumers share no cache line with each other.
//
// Threads: one producer thread; consumer i alone uses lane i. Owner: who built the channel; it
// outlives all of them.
//
// Law: every item goes to exactly one lane, and leaves a lane in the order it came in. What is in a
// lane is its consumer's: nobody else takes it. Closing closes every lane.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include <strid/base/cache_line.hpp>
#include <strid/channel/lane_policy.hpp>
#include <strid/channel/lanes.hpp>

namespace strid::channel {

template <class T, class Policy = RoundRobin, template <class> class Atomic = std::atomic>
class SpmcChannel {
  public:
    using value_type = T;

    struct Options {
        std::size_t consumers = 1;
        std::size_t lane_capacity = 1024;  ///< per consumer; rounded up to a power of two
    };

    explicit SpmcChannel(Options options, Policy policy = {})
        : lanes_(options.consumers, options.lane_capacity), policy_(std::move(policy)) {}

    // ---- producer ------------------------------------------------------------------------------

    /// Producer: hands the value to the lane that the policy chooses; `full` when that lane is (a
    /// policy that may skip: when all are). Moves from the value only when the answer is `ok`.
    template <class U = T>
    PushResult try_push(U&& value) noexcept(std::is_nothrow_assignable_v<T&, U&&>) {
        std::size_t lane = policy_.first(*this);
        const std::size_t tries = Policy::may_skip ? lanes_.count() : 1;
        for (std::size_t i = 0; i < tries; ++i) {
            const PushResult result = lanes_[lane].try_push(std::forward<U>(value));
            if (result == PushResult::closed) return result;
            if (result == PushResult::ok) {
                policy_.placed(lane, lanes_.count());
                return result;
            }
            lane = lane + 1 == lanes_.count() ? 0 : lane + 1;
        }
        return PushResult::full;
    }

    /// Producer: hands the value to lane i, whatever the policy: routing by key.
    template <class U = T>
    PushResult try_push_to(std::size_t i,
                           U&& value) noexcept(std::is_nothrow_assignable_v<T&, U&&>) {
        return lanes_[i].try_push(std::forward<U>(value));
    }

    /// Producer: nothing more comes, for any consumer. Idempotent.
    void close() noexcept {
        for (std::size_t i = 0; i < lanes_.count(); ++i) lanes_[i].close();
    }

    // ---- consumer i ----------------------------------------------------------------------------

    /// Consumer i: takes the oldest item of its lane.
    PopResult try_pop(std::size_t i, T& out) noexcept { return lanes_[i].try_pop(out); }
    /// Consumer i: up to `count` of its oldest items, to be given back by release().
    [[nodiscard]] std::span<T> peek(std::size_t i, std::size_t count) noexcept {
        return lanes_[i].peek(count);
    }
    void release(std::size_t i, std::size_t count) noexcept { lanes_[i].release(count); }
    [[nodiscard]] bool drained(std::size_t i) noexcept { return lanes_[i].drained(); }

    // ---- any thread ----------------------------------------------------------------------------

    [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.count(); }
    [[nodiscard]] std::size_t lane_size(std::size_t i) const noexcept { return lanes_[i].size(); }
    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }

  private:
    detail::Lanes<T, Atomic> lanes_;
    // From here on the producer's; consumers read only what stands above, which never changes.
    alignas(cache_line_bytes) Policy policy_;
};

}  // namespace strid::channel

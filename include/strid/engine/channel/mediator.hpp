// SPDX-License-Identifier: Apache-2.0
//
// A queue of several producers or consumers from rings between two threads and one thread that
// mediates: paper 4, section 1.1 ("implemented using only SPSC queues and arbiter threads"). No
// thread makes a read-modify-write. Each producer has a lane in, each consumer a lane out; the
// mediating thread passes items on, to the consumers in turn, a run to each that has room: section
// 1.2.1.3 has the policy (round robin that skips full lanes; on demand where lanes out are short).
//
// Threads: lane in i is one producer's, lane out i one consumer's; step() is for one thread. Owner:
// the code that built it.
//
// Invariant: an item is in one lane; the mediating thread holds none between two steps. A lane out
// whose consumer has left is taken back: its items go to the other consumers.
//
// Order: a consumer gets the items of one producer in their order, but for those taken back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <strid/channel/result.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/spsc_ring.hpp>

namespace strid::channel {

/// The result of a step of the mediating thread.
enum class [[nodiscard]] StepResult : std::uint8_t {
    progressed,  ///< items were passed on, or a lane was taken back: step again
    waits,       ///< no item, or no room in any lane out
    ended        ///< all producers have closed and all was taken, or no consumer is left
};

/// `LaneIn` is a queue between two threads, bounded or not. `Atomic` is for tests.
template <class LaneIn, template <class> class Atomic = std::atomic>
class Mediator {
  public:
    using value_type = typename LaneIn::value_type;
    using LaneOut = SpscRing<value_type, Atomic>;

    struct Options {
        std::size_t consumers = 1;
        std::size_t lane_out_capacity = 64;
        std::size_t run = 32;  ///< items to one consumer before the next gets some
    };

    /// `lanes_in`: one for each producer.
    Mediator(std::vector<std::unique_ptr<LaneIn>> lanes_in, Options options)
        : run_(options.run), in_(std::move(lanes_in)), open_(in_.size(), true) {
        for (std::size_t i = 0; i < options.consumers; ++i) {
            out_.push_back(std::make_unique<Out>(options.lane_out_capacity));
        }
        returned_.reserve(options.consumers);
    }

    /// The lane of a producer, for its push and close.
    [[nodiscard]] LaneIn& lane_in(std::size_t producer) noexcept { return *in_[producer]; }
    /// The lane of a consumer, for its pop.
    [[nodiscard]] LaneOut& lane_out(std::size_t consumer) noexcept { return out_[consumer]->lane; }
    /// Consumer: will not pop again.
    void leave(std::size_t consumer) noexcept {
        // release: pairs with the acquire in take_back(); the consumer's role passes on.
        out_[consumer]->left.store(true, std::memory_order_release);
    }

    /// The mediating thread: gives each consumer at most one run.
    StepResult step() noexcept {
        bool progressed = take_back();
        std::size_t left = 0;
        bool all_taken = true;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Out& out = *out_[next_out_];
            next_out_ = next_out_ + 1 == out_.size() ? 0 : next_out_ + 1;
            if (out.taken_back) {
                ++left;
                continue;
            }
            const std::span<value_type> slots = out.lane.claim(run_);
            const std::size_t filled = fill(slots);
            out.lane.commit(filled);
            progressed = progressed || filled != 0;
            all_taken = all_taken && out.lane.empty();
        }
        if (left == out_.size()) return StepResult::ended;
        if (progressed) return StepResult::progressed;
        // A lane is not closed before it is empty: its consumer may leave with items in it.
        if (open_count_ != 0 || !returned_.empty() || !all_taken) return StepResult::waits;
        for (const auto& out : out_) out->lane.close();
        return StepResult::ended;
    }

  private:
    struct Out {
        explicit Out(std::size_t capacity) : lane(capacity) {}
        LaneOut lane;
        alignas(cache_line_bytes) Atomic<bool> left{false};  // by the consumer
        bool taken_back = false;                             // of the mediating thread
    };

    /// Takes lanes over whose consumers have left.
    [[nodiscard]] bool take_back() noexcept {
        bool any = false;
        for (const auto& out : out_) {
            // acquire: pairs with the release in leave().
            if (out->taken_back || !out->left.load(std::memory_order_acquire)) continue;
            out->taken_back = any = true;
            if (!out->lane.consumer_empty()) returned_.push_back(&out->lane);
        }
        return any;
    }

    /// Moves items into the slots: those taken back, then from the lanes in, in turn. How many.
    [[nodiscard]] std::size_t fill(std::span<value_type> slots) noexcept {
        std::size_t filled = 0;
        while (filled < slots.size() && !returned_.empty()) {
            if (returned_.back()->try_pop(slots[filled]) == PopResult::ok) {
                ++filled;
            } else {
                returned_.pop_back();
            }
        }
        for (std::size_t i = 0; i < in_.size() && filled < slots.size(); ++i) {
            if (open_[next_in_]) filled += drain(next_in_, slots.subspan(filled));
            next_in_ = next_in_ + 1 == in_.size() ? 0 : next_in_ + 1;
        }
        return filled;
    }

    [[nodiscard]] std::size_t drain(std::size_t producer, std::span<value_type> slots) noexcept {
        std::size_t count = 0;
        while (count < slots.size()) {
            const PopResult result = in_[producer]->try_pop(slots[count]);
            if (result == PopResult::closed) {
                open_[producer] = false;
                --open_count_;
            }
            if (result != PopResult::ok) break;
            ++count;
        }
        return count;
    }

    std::size_t run_;
    std::vector<std::unique_ptr<LaneIn>> in_;
    std::vector<bool> open_;
    std::size_t open_count_ = in_.size();
    std::vector<std::unique_ptr<Out>> out_;
    std::vector<LaneOut*> returned_;
    std::size_t next_in_ = 0;
    std::size_t next_out_ = 0;
};

}  // namespace strid::channel

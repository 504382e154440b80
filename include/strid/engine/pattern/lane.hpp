// SPDX-License-Identifier: Apache-2.0
//
// One edge between two nodes of a pattern: tasks go forward through a bounded ring, and the node
// that waits for room is woken when half of it is free (paper 4, section 1.1).
//
// Threads: the producer's functions for the thread that steps the producing node, the consumer's
// for the one that steps the consuming node. Owner: the network, which outlives both.
//
// Invariant: a producer that waits for room is woken after the consumer has made some. Both sides
// exchange the flag, so one of the two exchanges comes first and the other reads what it wrote:
// either the producer comes second, has acquired what the consumer released before its own, and
// finds the room; or the consumer does, finds the flag, and wakes the producer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/pattern/description.hpp>
#include <strid/pattern/task_type.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

/// Whether a node waits for room in one of its lanes. `Atomic` is for tests.
template <template <class> class Atomic>
class alignas(cache_line_bytes) BasicRoomWait {
  public:
    /// Producer, which then looks for room once more. It stays set when there was some: at worst
    /// the producer is woken for nothing.
    void set() noexcept {
        waits_.exchange(true, std::memory_order_acq_rel);  // pairs with take(): the invariant above
    }
    /// Consumer, after it has made room. True for the one that wakes the producer.
    [[nodiscard]] bool take() noexcept {
        return waits_.exchange(false, std::memory_order_acq_rel);  // pairs with set()
    }

  private:
    Atomic<bool> waits_{false};
};
using RoomWait = BasicRoomWait<std::atomic>;

/// Threads outside a pattern that look for tasks of its last lanes now. `Atomic` is for tests.
template <template <class> class Atomic>
class alignas(cache_line_bytes) BasicWatchers {
  public:
    /// Producer, after it has pushed: a thread looks, and will see what was pushed. Either the
    /// change that ends its watch comes after this one, and then it acquires what was pushed; or it
    /// came before, and is seen here.
    [[nodiscard]] bool see_what_was_pushed() noexcept {
        return count_.fetch_add(0, std::memory_order_acq_rel) > 0;  // pairs with end()
    }
    void begin() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    /// After it the thread looks once more.
    void end() noexcept {
        count_.fetch_sub(1, std::memory_order_acq_rel);  // pairs with see_what_was_pushed()
    }

  private:
    Atomic<int> count_{0};
};
using Watchers = BasicWatchers<std::atomic>;

/// The end of a lane that does not depend on the type of its tasks.
class LaneEnds {
  public:
    /// Before the run.
    void connect(runtime::Task& producer, RoomWait& waits, runtime::Task& consumer) noexcept {
        producer_ = &producer;
        waits_ = &waits;
        consumer_ = &consumer;
    }

    /// Before the run: threads outside the pattern that look for tasks of this lane now, so that
    /// the consumer need not be woken. One that stops looking changes the count and then looks once
    /// more.
    void set_watchers(Watchers& watchers) noexcept { watchers_ = &watchers; }

    /// Producer: wakes the consumer, where anything was pushed or closed since this was last
    /// called.
    void announce() noexcept {
        if (!std::exchange(pushed_any_, false)) return;
        // The end of the lane is for the consumer itself.
        if (watchers_ != nullptr && !closed_ && watchers_->see_what_was_pushed()) return;
        consumer_->notify();
    }

  protected:
    runtime::Task* producer_ = nullptr;
    RoomWait* waits_ = nullptr;
    runtime::Task* consumer_ = nullptr;
    Watchers* watchers_ = nullptr;
    bool pushed_any_ = false;  // the producer's, as is the next
    bool closed_ = false;
};

/// As long as it lives, its thread looks for tasks of the lanes that know the count.
class LaneWatch {
  public:
    explicit LaneWatch(Watchers& watchers) noexcept : watchers_(watchers) { watchers_.begin(); }
    LaneWatch(const LaneWatch&) = delete;
    LaneWatch& operator=(const LaneWatch&) = delete;
    ~LaneWatch() { watchers_.end(); }

  private:
    Watchers& watchers_;
};

template <TaskType T>
class Lane : public LaneEnds {
  public:
    explicit Lane(std::size_t capacity) : ring_(capacity), depth_(ring_.capacity()) {}

    [[nodiscard]] std::size_t capacity() const noexcept { return ring_.capacity(); }

    // ---- producer ------------------------------------------------------------------------------

    /// How many tasks more may wait in it, where no more than `depth` are to. Reads the consumer's
    /// line only where none could.
    [[nodiscard]] std::size_t room(std::size_t depth) noexcept {
        if (depth != depth_.load(std::memory_order_relaxed)) {
            depth_.store(depth, std::memory_order_relaxed);
        }
        if (pushed_ - taken_ >= depth) (void)taken();
        return depth - std::min(depth, static_cast<std::size_t>(pushed_ - taken_));
    }
    [[nodiscard]] std::size_t room() noexcept { return room(ring_.capacity()); }
    /// Tasks that wait in it or are being worked on.
    [[nodiscard]] std::size_t waiting() const noexcept { return ring_.size(); }
    /// Any thread: what went through it.
    [[nodiscard]] LaneCounts counts() const noexcept {
        const std::size_t waits = ring_.size();
        return {.tasks = ring_.pushed(), .waiting = waits};
    }
    /// How many have been taken since the run began.
    [[nodiscard]] std::uint64_t taken() noexcept { return taken_ = pushed_ - waiting(); }

    /// Only where there is room: up to `most` slots to be filled from the front, one at least.
    [[nodiscard]] std::span<T> claim(std::size_t most) noexcept {
        const std::span<T> slots = ring_.claim(most);
        STRID_ASSERT(!slots.empty());
        return slots;
    }
    /// The consumer sees the first of them.
    void commit(std::size_t count) noexcept {
        ring_.commit(count);
        pushed_ += count;
        pushed_any_ = true;
    }
    void close() noexcept {
        ring_.close();
        pushed_any_ = true;
        closed_ = true;
    }

    // ---- consumer ------------------------------------------------------------------------------

    /// Up to `count` of the oldest tasks, to be worked on and then released.
    [[nodiscard]] std::span<T> peek(std::size_t count) noexcept { return ring_.peek(count); }
    void release(std::size_t count) noexcept {
        ring_.release(count);
        released_ += count;
        if (released_ >= std::max<std::size_t>(depth_.load(std::memory_order_relaxed) / 2, 1)) {
            wake_producer();
        }
    }
    /// Before the consumer waits for tasks: a producer that waits is woken however little there
    /// was.
    void rest() noexcept {
        if (released_ != 0) wake_producer();
    }
    [[nodiscard]] bool drained() noexcept { return ring_.drained(); }
    /// Any thread: a guess.
    [[nodiscard]] bool empty() const noexcept { return ring_.empty(); }

  private:
    void wake_producer() noexcept {
        released_ = 0;
        if (waits_->take()) producer_->notify();
    }

    channel::SpscRing<T> ring_;
    // The producer's.
    std::uint64_t pushed_ = 0;
    std::uint64_t taken_ = 0;  // as last seen
    // The consumer's: how many it has released since it last looked whether the producer waits. How
    // many may wait is the producer's to say, and only a hint here.
    alignas(cache_line_bytes) std::size_t released_ = 0;
    std::atomic<std::size_t> depth_;
};

}  // namespace strid::pattern

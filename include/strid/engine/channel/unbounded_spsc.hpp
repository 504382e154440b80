// SPDX-License-Identifier: Apache-2.0
//
// The unbounded queue between one producer thread and one consumer thread: a chain of bounded
// rings, after the unbounded queue of FastFlow (paper 4, section 1.1). For edges where a refusal
// could close a cycle of waiting, such as feedback. Everywhere else use a bounded ring, which
// exerts back-pressure.
//
// Threads: the functions marked producer are for one thread at a time, those marked consumer for
// one thread at a time. Owner: the code that built the queue; the queue must outlive both roles.
//
// Invariant: the segments form one chain, oldest first; the consumer is in the first, the producer
// in the last. A segment that has a successor is never pushed into again, so a consumer that saw
// the successor, and then saw the segment empty, has taken all of it. Emptied segments return to
// the producer through a second ring, the spare one, and are deleted only when that is full: in the
// steady state no segment is allocated.
//     segments in chain + spare = segments allocated - segments deleted
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/spsc_ring.hpp>

namespace strid::channel {

template <class T, template <class> class Atomic = std::atomic>
class UnboundedSpsc {
  public:
    using value_type = T;

    struct Options {
        std::size_t segment_capacity = 1024;  ///< items; rounded up to a power of two
        std::size_t spare_segments = 8;       ///< emptied segments kept for use again
    };

    UnboundedSpsc() : UnboundedSpsc(Options{}) {}
    explicit UnboundedSpsc(Options options)
        : segment_capacity_(options.segment_capacity), spare_(options.spare_segments) {
        consumer_.segment = std::make_unique<Segment>(segment_capacity_);
        producer_.segment = consumer_.segment.get();
        producer_.segments_allocated = 1;
    }
    UnboundedSpsc(const UnboundedSpsc&) = delete;
    UnboundedSpsc& operator=(const UnboundedSpsc&) = delete;
    ~UnboundedSpsc() {
        // One by one, so that a long chain needs no deep stack.
        while (consumer_.segment) consumer_.segment = take_next(*consumer_.segment);
    }

    /// Producer: appends the value; never `full`. Moves from it only when the result is `ok`.
    /// Throws std::bad_alloc when a new segment is needed and there is no memory; the queue and the
    /// value are then unchanged.
    template <class U = T>
        requires std::is_assignable_v<T&, U&&>
    PushResult try_push(U&& value) {
        const PushResult result = producer_.segment->ring.try_push(std::forward<U>(value));
        if (result != PushResult::full) [[likely]]
            return result;
        std::unique_ptr<Segment> fresh = spare_segment();
        (void)fresh->ring.try_push(std::forward<U>(value));  // empty, hence never refused
        Segment* const last = fresh.get();
        // release: pairs with the acquire in look_further(); all that was ever pushed into
        // the old segment, and the first item of the new one, are visible.
        producer_.segment->next.store(fresh.release(), std::memory_order_release);
        producer_.segment = last;
        return PushResult::ok;
    }

    /// Producer: no more items follow. Idempotent.
    void close() noexcept { producer_.segment->ring.close(); }

    /// Consumer: takes the oldest item. `closed` only once everything was taken.
    PopResult try_pop(T& out) noexcept {
        const PopResult result = consumer_.segment->ring.try_pop(out);
        if (result != PopResult::empty || !look_further()) [[likely]]
            return result;
        return consumer_.segment->ring.try_pop(out);
    }

    /// Consumer: true when nothing can be taken now.
    [[nodiscard]] bool consumer_empty() noexcept {
        return consumer_.segment->ring.consumer_empty() && !look_further();
    }

    /// Consumer: closed and all taken; no item will ever follow.
    [[nodiscard]] bool drained() noexcept {
        return consumer_empty() && consumer_.segment->ring.drained();
    }

    /// Producer: segments made so far, for the tests of the steady state.
    [[nodiscard]] std::size_t segments_allocated() const noexcept {
        return producer_.segments_allocated;
    }

  private:
    struct Segment {
        explicit Segment(std::size_t capacity) : ring(capacity) {}
        SpscRing<T, Atomic> ring;
        Atomic<Segment*> next{nullptr};  ///< owns it; written by the producer, read by the consumer
    };

    /// Producer: an empty segment without a successor.
    [[nodiscard]] std::unique_ptr<Segment> spare_segment() {
        std::unique_ptr<Segment> segment;
        if (spare_.try_pop(segment) == PopResult::ok) return segment;
        segment = std::make_unique<Segment>(segment_capacity_);
        ++producer_.segments_allocated;
        return segment;
    }

    /// Takes the successor out of its owner; null at the end of the chain.
    [[nodiscard]] static std::unique_ptr<Segment> take_next(Segment& segment) noexcept {
        // relaxed: the caller has acquired it, or is alone; and the spare ring's release carries
        // the null back to the producer.
        std::unique_ptr<Segment> next{segment.next.load(std::memory_order_relaxed)};
        segment.next.store(nullptr, std::memory_order_relaxed);
        return next;
    }

    /// Consumer, whose segment looked empty: true when there is an item after all, in this segment
    /// or in the next, to which the consumer then moves.
    [[nodiscard]] bool look_further() noexcept {
        // acquire: pairs with the release in try_push().
        if (consumer_.segment->next.load(std::memory_order_acquire) == nullptr) return false;
        // Items may have come into this segment before the next was chained: check again.
        if (consumer_.segment->ring.consumer_empty()) advance();
        return true;
    }

    /// Consumer: moves to the next segment; the emptied one becomes spare, or is deleted.
    void advance() noexcept {
        std::unique_ptr<Segment> next = take_next(*consumer_.segment);
        std::unique_ptr<Segment> emptied = std::exchange(consumer_.segment, std::move(next));
        STRID_PARANOID(emptied->ring.is_valid());
        (void)spare_.try_push(std::move(emptied));  // when refused it is deleted here
    }

    struct alignas(cache_line_bytes) Producer {
        Segment* segment = nullptr;
        std::size_t segments_allocated = 0;
    };
    struct alignas(cache_line_bytes) Consumer {
        std::unique_ptr<Segment> segment;
    };
    static_assert(sizeof(Producer) == cache_line_bytes && sizeof(Consumer) == cache_line_bytes);

    std::size_t segment_capacity_;
    Producer producer_;
    Consumer consumer_;
    SpscRing<std::unique_ptr<Segment>, Atomic> spare_;  ///< consumer to producer
};

}  // namespace strid::channel

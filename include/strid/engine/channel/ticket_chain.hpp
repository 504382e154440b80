// SPDX-License-Identifier: Apache-2.0
//
// The unbounded queue for several producers or several consumers: a chain of ticket rings, as
// UnboundedSpsc is one of rings between two threads. While the consumers keep up all stay in one
// ring; a producer that finds it full closes it and chains the next.
//
// Threads: each producer and each consumer has a seat of its own, which one thread uses at a time.
// Owner: the code that built the queue; it must outlive the seats.
//
// Invariant: the chain has the segments that may hold items, oldest first, all closed but the last.
// A seat pins the segment it works in. A consumer leaves a segment when that is closed and empty,
// and takes it out of the chain then; the last one to leave a segment outside the chain gives it
// back: to the spare ones, of which at most `spare_segments` are kept, or to the heap. So besides
// the segments of the chain there are at most the spare ones and one for each seat, and no thread
// can be in a segment that is freed or used again (no ABA). All this is decided under a lock, which
// a seat takes once for each segment.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/channel/result.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/channel/ticket_ring.hpp>
#include <strid/engine/channel/word_lock.hpp>

namespace strid::channel {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <class T, bool many_producers, bool many_consumers,
          template <class> class Atomic = std::atomic>
class TicketChain {
    struct Segment;

  public:
    using value_type = T;

    struct Options {
        std::size_t segment_capacity = 1024;  ///< items; rounded up to a power of two
        std::size_t spare_segments = 8;       ///< emptied segments kept for use again
    };
    /// The place of a producer or of a consumer.
    struct Seat {
        Segment* segment = nullptr;
    };

    /// Throws std::bad_alloc.
    explicit TicketChain(Options options) : options_(options) {
        chain_.push_back(std::make_unique<Segment>(options.segment_capacity));
    }
    TicketChain(const TicketChain&) = delete;
    TicketChain& operator=(const TicketChain&) = delete;
    ~TicketChain() { STRID_PARANOID(outside_.empty()); }

    // ---- producer ------------------------------------------------------------------------------

    [[nodiscard]] Seat seat_producer() noexcept {
        const std::lock_guard guard(lock_);
        return {pin(*chain_.back())};
    }

    /// Producer: appends the value; never `full`. Moves from it only when the result is `ok`.
    /// Throws std::bad_alloc when a new segment is needed and there is no memory; the queue and the
    /// value are then unchanged.
    template <class U = T>
        requires std::is_nothrow_assignable_v<T&, U&&>
    PushResult try_push(Seat& seat, U&& value) {
        while (seat.segment->ring.try_push(std::forward<U>(value)) != PushResult::ok) {
            if (!move_to_last(seat)) return PushResult::closed;
        }
        return PushResult::ok;
    }

    /// Producer: the same for a first part of the values, at least one.
    Several<PushResult> try_push_several(Seat& seat, std::span<T> values) {
        while (true) {
            const auto pushed = seat.segment->ring.try_push_several(values);
            if (pushed.count != 0) return pushed;
            if (!move_to_last(seat)) return {0, PushResult::closed};
        }
    }

    /// Any thread, once no producer pushes any more: no items follow.
    void close() noexcept {
        const std::lock_guard guard(lock_);
        closed_ = true;
        chain_.back()->ring.close();
    }

    // ---- consumer ------------------------------------------------------------------------------

    [[nodiscard]] Seat seat_consumer() noexcept {
        const std::lock_guard guard(lock_);
        return {pin(*chain_.front())};
    }

    /// Consumer: takes the oldest item. `closed` only once everything was taken.
    PopResult try_pop(Seat& seat, T& out) noexcept {
        return try_pop_several(seat, {&out, 1}).result;
    }

    /// Consumer: takes as many of the oldest items as lie ready in one segment.
    Several<PopResult> try_pop_several(Seat& seat, std::span<T> out) noexcept {
        while (true) {
            const auto popped = seat.segment->ring.try_pop_several(out);
            if (popped.result != PopResult::closed || !move_to_first(seat)) return popped;
        }
    }

    // ---- any thread ----------------------------------------------------------------------------

    /// The seat is not used any more.
    void leave(Seat& seat) noexcept {
        const std::unique_ptr<Segment> freed = [&] {
            const std::lock_guard guard(lock_);
            return unpin(*std::exchange(seat.segment, nullptr));
        }();
    }

    /// Segments that there are now, for the tests of the bound.
    [[nodiscard]] std::size_t segments() noexcept {
        const std::lock_guard guard(lock_);
        return chain_.size() + outside_.size() + spare_.size();
    }

  private:
    struct Segment {
        explicit Segment(std::size_t capacity) : ring(capacity) {}
        TicketRing<T, many_producers, many_consumers, Atomic> ring;
        std::size_t pins = 0;     // with the lock
        bool is_in_chain = true;  // with the lock
    };

    [[nodiscard]] static Segment* pin(Segment& segment) noexcept {
        ++segment.pins;
        return &segment;
    }

    /// With the lock. The segment, when it has to be freed.
    [[nodiscard]] std::unique_ptr<Segment> unpin(Segment& segment) noexcept {
        if (--segment.pins != 0 || segment.is_in_chain) return nullptr;
        const auto found = std::find_if(outside_.begin(), outside_.end(),
                                        [&](const auto& one) { return one.get() == &segment; });
        std::unique_ptr<Segment> left = std::move(*found);
        outside_.erase(found);
        return keep_or_free(std::move(left));
    }

    /// With the lock. No seat is in the segment, which is empty.
    [[nodiscard]] std::unique_ptr<Segment> keep_or_free(std::unique_ptr<Segment> left) noexcept {
        if (spare_.size() == options_.spare_segments) return left;
        left->ring.reopen();
        spare_.push_back(std::move(left));
        return nullptr;
    }

    /// Producer, whose segment is full or closed. False when the queue is closed.
    [[nodiscard]] bool move_to_last(Seat& seat) {
        std::unique_ptr<Segment> freed;
        const std::lock_guard guard(lock_);
        if (closed_) return false;
        if (chain_.back().get() == seat.segment) {
            chain_.push_back(fresh_segment());
            // After the next one is there: a consumer that sees it closed finds a successor.
            seat.segment->ring.close();
        }
        freed = unpin(*std::exchange(seat.segment, pin(*chain_.back())));
        return true;
    }

    /// With the lock. Throws std::bad_alloc, and has changed nothing then.
    [[nodiscard]] std::unique_ptr<Segment> fresh_segment() {
        // Room for every segment that can be outside of the chain, so that no pop allocates.
        spare_.reserve(options_.spare_segments);
        outside_.reserve(chain_.size() + outside_.size() + 1);
        if (spare_.empty()) return std::make_unique<Segment>(options_.segment_capacity);
        std::unique_ptr<Segment> segment = std::move(spare_.back());
        spare_.pop_back();
        segment->is_in_chain = true;
        return segment;
    }

    /// Consumer, whose segment is closed and empty. False at the end of the queue.
    [[nodiscard]] bool move_to_first(Seat& seat) noexcept {
        std::unique_ptr<Segment> freed;
        const std::lock_guard guard(lock_);
        if (seat.segment->is_in_chain) {
            if (chain_.size() == 1) return false;
            STRID_ASSERT(chain_.front().get() == seat.segment);
            seat.segment->is_in_chain = false;
            outside_.push_back(std::move(chain_.front()));
            chain_.pop_front();
        }
        freed = unpin(*std::exchange(seat.segment, pin(*chain_.front())));
        return true;
    }

    Options options_;
    WordLock<Atomic> lock_;
    std::deque<std::unique_ptr<Segment>> chain_;     // never empty
    std::vector<std::unique_ptr<Segment>> outside_;  // empty, but pinned
    std::vector<std::unique_ptr<Segment>> spare_;    // empty, for use again
    bool closed_ = false;
};

}  // namespace strid::channel

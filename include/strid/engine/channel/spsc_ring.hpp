// SPDX-License-Identifier: Apache-2.0
//
// The bounded ring between one producer thread and one consumer thread: wait-free, first in first
// out, no read-modify-write instruction. Paper 4, section 1.1 ("efficiency of base mechanisms"),
// with cached indices and batches beyond it.
//
// Threads: the functions marked producer are for one thread at a time, those marked consumer for
// one thread at a time; a role may move to another thread with a happens-before edge. Owner: the
// code that built the ring; the ring must outlive both roles.
//
// Invariant: indices count items since the beginning and never wrap (2^63 items).
//     head <= known tail <= tail <= limit <= head + capacity
//     slots [head, tail) belong to the consumer, all others to the producer.
// The top bit of the tail's word means that nothing follows. "Closed" and "how much" are one word,
// so that a consumer that reads it closed also sees the last item.
//
// Performance: the only words both sides touch are the tail and the head, and a side reads the
// other's only when its own copy (`known_tail`, `limit`) is used up. A read costs one transfer of a
// cache line between cores (some 100 ns) and returns all that happened since: with k items per read
// the coherence traffic is 1/k lines per item for each index, plus sizeof(T)/64 lines for the item
// itself. The busier the ring, the larger k. While a line is away, stores to it wait in the store
// buffer, and the side works on until that is full. A push therefore makes two stores and no third
// (the item and the tail; a private copy of the tail made it half as fast), and a pop one. A batch
// (claim and commit, peek and release) stores one index for the whole batch. If it pays, the
// consumer writes to each line of slots that it gives back (docs/design/0008).
//
// Cache lines:
//     0  slots, mask           read-only
//     1  limit                 producer only
//     2  tail                  written by the producer, read by the consumer
//     3  known tail, closed    consumer only
//     4  head                  written by the consumer, read by the producer
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <strid/channel/result.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/channel/channelable.hpp>
#include <strid/engine/channel/slot_array.hpp>

namespace strid::channel {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <class T, template <class> class Atomic = std::atomic>
class SpscRing {
    static_assert(Channelable<T>);

  public:
    using value_type = T;

    /// Room for at least `capacity_min` items: the next power of two, at least 1.
    /// Time and memory linear in the capacity; all slots are built now, none later.
    explicit SpscRing(std::size_t capacity_min)
        : slots_(std::bit_ceil(std::max<std::size_t>(capacity_min, 1))), mask_(slots_.size() - 1) {
        producer_.limit = slots_.size();
    }
    SpscRing(const SpscRing&) = delete;
    SpscRing& operator=(const SpscRing&) = delete;
    ~SpscRing() { STRID_PARANOID(is_valid()); }

    // ---- producer ------------------------------------------------------------------------------

    /// Producer: appends the value. Moves from it (or copies it) only when the result is `ok`.
    template <class U = T>
        requires std::is_assignable_v<T&, U&&>
    PushResult try_push(U&& value) noexcept(std::is_nothrow_assignable_v<T&, U&&>) {
        const Index tail = own_tail();
        if (tail == producer_.limit) [[unlikely]] {
            if (is_closed(tail)) return PushResult::closed;
            if (free_slots(tail, 1) == 0) return PushResult::full;
        }
        slots_.data()[tail & mask_] = std::forward<U>(value);
        publish_tail(tail + 1);
        return PushResult::ok;
    }

    /// Producer: up to `count` free slots that lie together, to be filled from the front and then
    /// committed; fewer at the end of the array, none when full or closed. Claiming again without a
    /// commit gives the same slots.
    [[nodiscard]] std::span<T> claim(std::size_t count) noexcept {
        const Index tail = own_tail();
        return contiguous(tail, std::min<std::size_t>(count, free_slots(tail, count)));
    }

    /// Producer: publishes the first `count` slots of the last claim, all at once.
    void commit(std::size_t count) noexcept {
        const Index tail = own_tail();
        STRID_ASSERT(count <= producer_.limit - tail);
        if (count != 0) publish_tail(tail + count);
    }

    /// Producer: no more items follow. Idempotent; a push returns `closed` from now on.
    void close() noexcept {
        const Index tail = own_tail() | closed_bit;
        producer_.limit = tail;  // so that the next push reads the words again
        // release: pairs with the acquire in used_slots(); every item before it is visible.
        tail_.word.store(tail, std::memory_order_release);
    }

    // ---- consumer ------------------------------------------------------------------------------

    /// Consumer: takes the oldest item. `closed` only once everything was taken.
    PopResult try_pop(T& out) noexcept {
        const Index head = own_head();
        if (head == consumer_.known_tail) [[unlikely]] {
            if (used_slots(head, 1) == 0) {
                return consumer_.closed ? PopResult::closed : PopResult::empty;
            }
        }
        out = std::move(slots_.data()[head & mask_]);
        if constexpr (std::is_trivially_copyable_v<T>) own_slots(head, 1);
        publish_head(head + 1);
        return PopResult::ok;
    }

    /// Consumer: up to `count` of the oldest items that lie together, to be read or moved from and
    /// then released; fewer at the end of the array, none when empty (see drained()). Peeking again
    /// without a release gives the same items first.
    [[nodiscard]] std::span<T> peek(std::size_t count) noexcept {
        const Index head = own_head();
        return contiguous(head, std::min<std::size_t>(count, used_slots(head, count)));
    }

    /// Consumer: gives back the first `count` slots of the last peek, all at once. Trivially
    /// copyable items may be overwritten; other items that were not moved from live until the slot
    /// is used again.
    void release(std::size_t count) noexcept {
        const Index head = own_head();
        STRID_ASSERT(count <= consumer_.known_tail - head);
        if (count == 0) return;
        if constexpr (std::is_trivially_copyable_v<T>) own_slots(head, count);
        publish_head(head + count);
    }

    /// Consumer: true when nothing can be taken now. An item pushed before (in the sense of
    /// happens-before) is always seen.
    [[nodiscard]] bool consumer_empty() noexcept { return used_slots(own_head(), 1) == 0; }

    /// Consumer: closed and all taken; no item will ever follow.
    [[nodiscard]] bool drained() noexcept { return consumer_empty() && consumer_.closed; }

    /// Consumer: whether the last peek or pop, which found nothing, also found the ring closed;
    /// saves a second read of the producer's line.
    [[nodiscard]] bool was_drained() const noexcept {
        return consumer_.closed && own_head() == consumer_.known_tail;
    }

    // ---- any thread ----------------------------------------------------------------------------

    /// Items in the ring at some recent moment; exact when both sides rest.
    [[nodiscard]] std::size_t size() const noexcept {
        // acquire: pairs with the release in publish_head(); the tail read next is not older than
        // the head, so the difference is not negative.
        const auto head = head_.word.load(std::memory_order_acquire);
        const auto tail = tail_.word.load(std::memory_order_relaxed) & ~closed_bit;
        return std::min<std::size_t>(tail - head, capacity());
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Items pushed since the beginning, at some recent moment; exact when the producer rests.
    [[nodiscard]] std::uint64_t pushed() const noexcept {
        return tail_.word.load(std::memory_order_relaxed) & ~closed_bit;
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

    /// Checks the invariant above. Only when no thread is inside.
    [[nodiscard]] bool is_valid() const noexcept {
        const Index word = own_tail();
        const Index tail = word & ~closed_bit;
        const Index head = own_head();
        if (head > consumer_.known_tail || consumer_.known_tail > tail) return false;
        if (tail > head + capacity() || (consumer_.closed && !is_closed(word))) return false;
        if (is_closed(word)) return producer_.limit == word;
        return tail <= producer_.limit && producer_.limit <= head + capacity();
    }

  private:
    using Index = std::uint64_t;
    static constexpr Index closed_bit = Index{1} << 63;

    [[nodiscard]] static bool is_closed(Index word) noexcept { return (word & closed_bit) != 0; }

    // relaxed: each side reads back what it alone writes.
    [[nodiscard]] Index own_tail() const noexcept {
        return tail_.word.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Index own_head() const noexcept {
        return head_.word.load(std::memory_order_relaxed);
    }

    /// Producer: known free slots; reads the consumer's head when they are fewer than `wanted`.
    [[nodiscard]] Index free_slots(Index tail, std::size_t wanted) noexcept {
        if (producer_.limit - tail < wanted && !is_closed(tail)) {
            // acquire: pairs with the release in publish_head(); the consumer is done with them.
            producer_.limit = head_.word.load(std::memory_order_acquire) + slots_.size();
        }
        return producer_.limit - tail;
    }

    /// Consumer: known items; reads the producer's tail when they are fewer than `wanted`.
    [[nodiscard]] Index used_slots(Index head, std::size_t wanted) noexcept {
        if (consumer_.known_tail - head < wanted && !consumer_.closed) {
            // acquire: pairs with the release in publish_tail() and close(); the items are written.
            const Index word = tail_.word.load(std::memory_order_acquire);
            consumer_.known_tail = word & ~closed_bit;
            consumer_.closed = is_closed(word);
        }
        return consumer_.known_tail - head;
    }

    void publish_tail(Index tail) noexcept {
        // release: pairs with the acquire in used_slots().
        tail_.word.store(tail, std::memory_order_release);
    }

    void publish_head(Index head) noexcept {
        // release: pairs with the acquire in free_slots().
        head_.word.store(head, std::memory_order_release);
    }

    [[nodiscard]] std::span<T> contiguous(Index first, std::size_t count) const noexcept {
        const std::size_t position = first & mask_;
        return {slots_.data() + position, std::min(count, slots_.size() - position)};
    }

    /// Consumer: takes ownership of the lines of these slots, so that the producer need not wait
    /// for them. One write to each line, in the last slot of it.
    void own_slots(Index first, std::size_t count) noexcept {
        if constexpr (sizeof(T) >= cache_line_bytes) {
            if (!reading_delays_writers()) return;
            const std::span<T> slots = contiguous(first, count);
            reclaim_lines(reinterpret_cast<std::byte*>(slots.data()), slots.size_bytes());
        } else {
            constexpr Index per_line = cache_line_bytes / sizeof(T);
            const Index end = first + count;
            Index last = first + (per_line - 1 - first % per_line);
            if (last >= end || !reading_delays_writers()) return;
            for (; last < end; last += per_line) {
                reclaim_lines(reinterpret_cast<std::byte*>(slots_.data() + (last & mask_)), 1);
            }
        }
    }

    struct alignas(cache_line_bytes) Producer {
        Index limit = 0;  ///< head as last read, plus capacity; the tail's own word once closed
    };
    struct alignas(cache_line_bytes) Consumer {
        Index known_tail = 0;  ///< tail as last read
        bool closed = false;   ///< known_tail is the last one
    };
    struct alignas(cache_line_bytes) Shared {
        Atomic<Index> word{0};
    };
    static_assert(sizeof(Producer) == cache_line_bytes && sizeof(Consumer) == cache_line_bytes);
    static_assert(sizeof(Shared) % cache_line_bytes == 0);

    detail::SlotArray<T> slots_;
    std::size_t mask_;
    Producer producer_;
    Shared tail_;  ///< next slot to fill, and the closed bit
    Consumer consumer_;
    Shared head_;  ///< next slot to take
};

static_assert(sizeof(SpscRing<void*>) == 5 * cache_line_bytes);

}  // namespace strid::channel

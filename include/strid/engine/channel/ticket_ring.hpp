// SPDX-License-Identifier: Apache-2.0
//
// The bounded ring for several producers or several consumers, by tickets: Vyukov's bounded queue,
// with batches and with a side that is one thread spared its read-modify-write. The queues of
// <strid/channel/queue.hpp> that have no thread of their own are made of it.
//
// Threads: the functions marked producer are for any thread where `many_producers` holds, else for
// one at a time; those marked consumer likewise. Owner: the code that built the ring.
//
// Invariant: tickets count items since the beginning and never wrap (2^62 items); ticket t has the
// slot t mod capacity. The turn of a slot says whose it is:
//     2 t      free for the push of ticket t
//     2 t + 1  filled by it, for the pop of ticket t; the pop sets 2 (t + capacity)
// A turn only grows, so a thread that compares it can take no old state for a new one (no ABA).
// Tickets below the tail belong to pushes, tickets below the head to pops. The top bit of the tail
// means that no ticket follows, and `end` has the last tail then, for the consumers, which read no
// other word of the producers.
//
// A push that has its ticket and was not written yet holds back what comes after it: a pop returns
// `empty` meanwhile. No item is lost or passed twice, and items leave in the order of their
// tickets.
//
// Cache lines: a slot is its turn and its value; a line each for tail, end and head.
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
#include <strid/engine/channel/channelable.hpp>
#include <strid/engine/channel/slot_array.hpp>

namespace strid::channel {

/// `Atomic` is `std::atomic`; tests replace it by a model that explores interleavings.
template <class T, bool many_producers, bool many_consumers,
          template <class> class Atomic = std::atomic>
class TicketRing {
    static_assert(Channelable<T>);

  public:
    using value_type = T;

    /// Room for at least `capacity_min` items: the next power of two, at least 1.
    explicit TicketRing(std::size_t capacity_min)
        : slots_(std::bit_ceil(std::max<std::size_t>(capacity_min, 1))), mask_(slots_.size() - 1) {
        // relaxed: the thread that passes the ring to others publishes this.
        for (Ticket t = 0; t < slots_.size(); ++t) {
            slot_of(t).turn.store(2 * t, std::memory_order_relaxed);
        }
    }
    TicketRing(const TicketRing&) = delete;
    TicketRing& operator=(const TicketRing&) = delete;
    ~TicketRing() { STRID_PARANOID(is_valid()); }

    // ---- producer ------------------------------------------------------------------------------

    /// Producer: appends the value. Moves from it (or copies it) only when the result is `ok`.
    template <class U = T>
        requires std::is_nothrow_assignable_v<T&, U&&>
    PushResult try_push(U&& value) noexcept {
        const Claim claim = claim_push(1);
        if (claim.count == 0) return refusal_of(claim);
        fill(claim.first, std::forward<U>(value));
        return PushResult::ok;
    }

    /// Producer: moves as many of the first values as there is room for, with one ticket operation.
    Several<PushResult> try_push_several(std::span<T> values) noexcept {
        const Claim claim = claim_push(values.size());
        if (claim.count == 0) return {0, refusal_of(claim)};
        for (std::size_t i = 0; i < claim.count; ++i) fill(claim.first + i, std::move(values[i]));
        return {claim.count, PushResult::ok};
    }

    /// Producer: no more tickets. Pushes that have theirs are still delivered. Idempotent.
    void close() noexcept {
        Ticket end = 0;
        if constexpr (many_producers) {
            end = tail_.word.fetch_or(closed_bit, std::memory_order_relaxed) | closed_bit;
        } else {
            end = tail_.word.load(std::memory_order_relaxed) | closed_bit;
            tail_.word.store(end, std::memory_order_relaxed);
        }
        // release: pairs with the acquire in is_over(); what the closing thread knows is visible.
        end_.word.store(end, std::memory_order_release);
    }

    // ---- consumer ------------------------------------------------------------------------------

    /// Consumer: takes the oldest item. `closed` only once everything was taken.
    PopResult try_pop(T& out) noexcept { return try_pop_several({&out, 1}).result; }

    /// Consumer: takes as many of the oldest items as lie ready, up to the size of `out`, with one
    /// ticket operation.
    Several<PopResult> try_pop_several(std::span<T> out) noexcept {
        bool looked_again = false;
        while (true) {
            const Claim claim = claim_pop(out.size());
            if (claim.count != 0) {
                for (std::size_t i = 0; i < claim.count; ++i) take(claim.first + i, out[i]);
                return {claim.count, PopResult::ok};
            }
            // acquire: pairs with the release in close().
            const Ticket end = end_.word.load(std::memory_order_acquire);
            if (!is_closed(end)) return {0, PopResult::empty};
            if ((end & ~closed_bit) == claim.first) return {0, PopResult::closed};
            // Items came between the two reads, or one is still being written.
            if (std::exchange(looked_again, true)) return {0, PopResult::empty};
        }
    }

    // ---- no other thread is inside -------------------------------------------------------------

    /// Makes a closed and empty ring ready for pushes again.
    void reopen() noexcept {
        const Ticket tail = tail_.word.load(std::memory_order_relaxed) & ~closed_bit;
        STRID_ASSERT(tail == head_.word.load(std::memory_order_relaxed));
        tail_.word.store(tail, std::memory_order_relaxed);
        end_.word.store(0, std::memory_order_relaxed);
    }

    /// Checks the invariant above.
    [[nodiscard]] bool is_valid() const noexcept {
        const Ticket tail = tail_.word.load(std::memory_order_relaxed) & ~closed_bit;
        const Ticket head = head_.word.load(std::memory_order_relaxed);
        if (tail - head > capacity()) return false;
        for (Ticket t = head; t < head + capacity(); ++t) {
            const Ticket turn = slot_of(t).turn.load(std::memory_order_relaxed);
            if (turn != 2 * t + (t < tail ? 1 : 0)) return false;
        }
        return true;
    }

    // ---- any thread ----------------------------------------------------------------------------

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

  private:
    using Ticket = std::uint64_t;
    static constexpr Ticket closed_bit = Ticket{1} << 63;

    struct Slot {
        Atomic<Ticket> turn{0};
        T value{};
    };
    [[nodiscard]] Slot& slot_of(Ticket t) const noexcept { return slots_.data()[t & mask_]; }

    struct Claim {
        Ticket first = 0;
        std::size_t count = 0;
    };
    struct alignas(cache_line_bytes) Shared {
        Atomic<Ticket> word{0};
    };
    static_assert(sizeof(Shared) % cache_line_bytes == 0);

    [[nodiscard]] static bool is_closed(Ticket word) noexcept { return (word & closed_bit) != 0; }
    [[nodiscard]] static PushResult refusal_of(Claim claim) noexcept {
        return is_closed(claim.first) ? PushResult::closed : PushResult::full;
    }

    /// The slots from ticket `first` on that are for a push (step 0) or a pop (step 1); `is_past`
    /// when the first has a later turn, because another thread took the ticket.
    struct Look {
        std::size_t count;
        bool is_past;
    };
    [[nodiscard]] Look look(Ticket first, std::size_t wanted, Ticket step) const noexcept {
        for (std::size_t count = 0; count < wanted; ++count) {
            const Ticket t = first + count;
            // acquire: pairs with the release in fill() and take(); the value is there, or gone.
            const Ticket turn = slot_of(t).turn.load(std::memory_order_acquire);
            if (turn != 2 * t + step) return {count, count == 0 && turn > 2 * t + step};
        }
        return {wanted, false};
    }

    [[nodiscard]] Claim claim_push(std::size_t wanted) noexcept {
        Ticket tail = tail_.word.load(std::memory_order_relaxed);
        while (!is_closed(tail)) {
            const Look found = look(tail, wanted, 0);
            if (found.is_past) {
                // relaxed: the thread that took the ticket moved the tail before that turn.
                tail = tail_.word.load(std::memory_order_relaxed);
            } else if (found.count == 0) {
                break;
            } else if (pass_on<many_producers>(tail_.word, tail, found.count)) {
                return {tail, found.count};
            }
        }
        return {tail, 0};
    }

    [[nodiscard]] Claim claim_pop(std::size_t wanted) noexcept {
        Ticket head = head_.word.load(std::memory_order_relaxed);
        while (true) {
            const Look found = look(head, wanted, 1);
            if (found.is_past) {
                head = head_.word.load(std::memory_order_relaxed);  // as in claim_push()
            } else if (found.count == 0 || pass_on<many_consumers>(head_.word, head, found.count)) {
                return {head, found.count};
            }
        }
    }

    /// Takes `count` tickets from `first` on. False, with `first` read again, when another thread
    /// was faster. relaxed: turns order what is in the slots; tickets only have to be taken once.
    template <bool many>
    [[nodiscard]] static bool pass_on(Atomic<Ticket>& word, Ticket& first,
                                      std::size_t count) noexcept {
        if constexpr (many) {
            return word.compare_exchange_strong(first, first + count, std::memory_order_relaxed);
        } else {
            word.store(first + count, std::memory_order_relaxed);
            return true;
        }
    }

    template <class U>
    void fill(Ticket t, U&& value) noexcept {
        Slot& slot = slot_of(t);
        slot.value = std::forward<U>(value);
        // release: pairs with the acquire in look() of a pop; the value is seen with the turn.
        slot.turn.store(2 * t + 1, std::memory_order_release);
    }

    void take(Ticket t, T& out) noexcept {
        Slot& slot = slot_of(t);
        out = std::move(slot.value);
        // release: pairs with the acquire in look() of a push; the value has been moved out.
        slot.turn.store(2 * (t + slots_.size()), std::memory_order_release);
    }

    detail::SlotArray<Slot> slots_;
    std::size_t mask_;
    Shared tail_;  ///< next ticket of a push, and the closed bit
    Shared end_;   ///< 0, or the last tail with the closed bit
    Shared head_;  ///< next ticket of a pop
};

}  // namespace strid::channel

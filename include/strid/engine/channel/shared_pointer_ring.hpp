// SPDX-License-Identifier: Apache-2.0
//
// A bounded ring for std::shared_ptr whose two sides share nothing but the slots: paper 1, section
// 4.1.1, figure 4b. A shared pointer is two words and cannot be published at once, so each slot
// has a flag word beside it, written last; the consumer polls the flag, not the pointer.
// `FlaggedRing` is the ring for any small movable value, `SharedPointerRing` the paper's use of it.
//
// Threads: producer functions for one thread at a time, consumer functions for one thread at a
// time. Owner: the code that built the ring; the ring must outlive both roles.
//
// Invariant: a slot's flag is `empty` or `taken`; an empty slot is the producer's, a taken one the
// consumer's. A shared pointer is moved in and moved out, so an empty slot holds null. The taken
// slots are those from the consumer's position to the producer's, in a circle. Ownership therefore
// passes without a copy: the counter of the shared object is not touched.
//
// Cache lines: two slots of 32 bytes to a line; position and mask of the producer in a line of
// their own, the consumer's likewise, and the closing mark, which is written once.
//
// Against SpscRing<std::shared_ptr<T>>: no index line travels between the cores, but each slot's
// line travels twice, and half of it is flag and padding. It is kept because the paper compares
// ways of passing ownership; bench/channel measures the flagged slots with plain pointers.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <strid/channel/result.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/channelable.hpp>
#include <strid/engine/channel/slot_array.hpp>

namespace strid::channel {

template <class T, template <class> class Atomic = std::atomic>
class FlaggedRing {
    static_assert(Channelable<T>);

  public:
    using value_type = T;

    /// Room for at least `capacity_min` values: the next power of two, at least 1.
    explicit FlaggedRing(std::size_t capacity_min)
        : slots_(std::bit_ceil(std::max<std::size_t>(capacity_min, 1))),
          producer_{.mask = slots_.size() - 1},
          consumer_{.mask = slots_.size() - 1} {}
    FlaggedRing(const FlaggedRing&) = delete;
    FlaggedRing& operator=(const FlaggedRing&) = delete;
    ~FlaggedRing() { STRID_PARANOID(is_valid()); }

    /// Producer: pushes the value. Moves from it, or copies it (a share: one increment of the
    /// counter, for multicast), only when the result is `ok`. Null is a value like any other.
    template <class U = T>
        requires std::is_nothrow_assignable_v<T&, U&&>
    PushResult try_push(U&& value) noexcept {
        if (producer_.closed) return PushResult::closed;
        Slot& slot = slots_.data()[producer_.position & producer_.mask];
        // acquire: pairs with the release in try_pop(); the consumer has moved the value out.
        if (slot.flag.load(std::memory_order_acquire) != empty_flag) return PushResult::full;
        slot.value = std::forward<U>(value);
        // release: pairs with the acquire in try_pop(); the flag is seen after the value.
        slot.flag.store(taken_flag, std::memory_order_release);
        ++producer_.position;
        return PushResult::ok;
    }

    /// Producer: no more values follow. Idempotent.
    void close() noexcept {
        producer_.closed = true;
        // release: pairs with the acquire in try_pop(); every flag set before it is visible.
        closed_.mark.store(1, std::memory_order_release);
    }

    /// Consumer: takes the oldest value. `closed` only once everything was taken.
    PopResult try_pop(T& out) noexcept {
        Slot& slot = slots_.data()[consumer_.position & consumer_.mask];
        // acquire: pairs with the release in try_push().
        if (slot.flag.load(std::memory_order_acquire) == empty_flag) {
            // acquire: pairs with the release in close().
            if (closed_.mark.load(std::memory_order_acquire) == 0) return PopResult::empty;
            // A value may have come between the two reads; after the mark the second read is final.
            // acquire: pairs with the release in try_push().
            if (slot.flag.load(std::memory_order_acquire) == empty_flag) return PopResult::closed;
        }
        out = std::move(slot.value);
        // release: pairs with the acquire in try_push(); the value has been moved out.
        slot.flag.store(empty_flag, std::memory_order_release);
        ++consumer_.position;
        return PopResult::ok;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

    /// Checks the invariant above. Only when no thread is inside.
    [[nodiscard]] bool is_valid() const noexcept {
        const std::size_t count = producer_.position - consumer_.position;
        if (count > capacity()) return false;
        for (std::size_t i = 0; i < capacity(); ++i) {
            const Slot& slot = slots_.data()[(consumer_.position + i) & consumer_.mask];
            const bool taken = slot.flag.load(std::memory_order_relaxed) == taken_flag;
            if (taken != (i < count)) return false;
        }
        return true;
    }

  private:
    using Flag = std::uint64_t;
    static constexpr Flag empty_flag = 0;
    static constexpr Flag taken_flag = 1;

    struct alignas(cache_line_bytes / 2) Slot {
        Atomic<Flag> flag{empty_flag};
        T value{};
    };
    static_assert(sizeof(T) > 24 || sizeof(Atomic<Flag>) != sizeof(Flag) ||
                      2 * sizeof(Slot) == cache_line_bytes,
                  "two slots to a cache line, as in the paper's figure 4b");
    struct alignas(cache_line_bytes) Producer {
        std::size_t mask;
        std::size_t position = 0;
        bool closed = false;
    };
    struct alignas(cache_line_bytes) Consumer {
        std::size_t mask;
        std::size_t position = 0;
    };
    struct alignas(cache_line_bytes) Closed {
        Atomic<Flag> mark{0};
    };
    static_assert(sizeof(Producer) == cache_line_bytes && sizeof(Consumer) == cache_line_bytes);

    static_assert(sizeof(Closed) % cache_line_bytes == 0);

    detail::SlotArray<Slot> slots_;
    Producer producer_;
    Consumer consumer_;
    Closed closed_;
};

/// Passes shared ownership of a `T` without touching its counter on the way.
template <class T, template <class> class Atomic = std::atomic>
using SharedPointerRing = FlaggedRing<std::shared_ptr<T>, Atomic>;

}  // namespace strid::channel

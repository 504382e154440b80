// SPDX-License-Identifier: Apache-2.0
//
// The bounded ring for pointers whose two sides share nothing but the slots: a slot is a pointer,
// and null says that it is empty (paper 4, section 1.1, after the FastForward queue). For pointers
// that pass one at a time; what passes in batches is better off in SpscRing.
//
// Threads: producer functions for one thread at a time, consumer functions for one thread at a
// time. Owner: who built the ring; it outlives both roles. What is pointed to belongs to whoever
// has the pointer.
//
// Law: a slot that holds null is the producer's, any other the consumer's. The slots that are not
// null are those from the consumer's position to the producer's, in a circle.
//
// Why it is fast: no line of an index travels between the cores, and each line of eight slots goes
// once in either direction, as long as the two sides are some lines apart. When they are not, the
// line that both are in travels for every pointer. So they keep apart: the producer looks for an
// empty slot far ahead, which says that all before it are empty, and then pushes without a look;
// and a consumer that has caught up with a producer that is busy waits for a moment ("temporal
// slipping"), which is made up for by the undisturbed lines behind it. It waits at most once for
// each time that it finds nothing, and only where the last look that found nothing was followed by
// one that did: who waits for pointers that come now and then is not held up.
//
// Cache lines: eight slots to a line; what the producer knows in a line of its own, the consumer
// likewise, and the closing mark, which is written once.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <strid/base/assert.hpp>
#include <strid/base/cache_line.hpp>
#include <strid/base/relax.hpp>
#include <strid/channel/result.hpp>
#include <strid/channel/slot_array.hpp>

namespace strid::channel {

/// A ring of `T*`. `Atomic` as in SpscRing.
template <class T, template <class> class Atomic = std::atomic>
class PointerRing {
  public:
    using value_type = T*;

    /// Room for at least `capacity_min` pointers: the next power of two, at least 1.
    explicit PointerRing(std::size_t capacity_min)
        : slots_(std::bit_ceil(std::max<std::size_t>(capacity_min, 1))),
          producer_{.mask = slots_.size() - 1},
          consumer_{.mask = slots_.size() - 1} {}
    PointerRing(const PointerRing&) = delete;
    PointerRing& operator=(const PointerRing&) = delete;
    ~PointerRing() { STRID_PARANOID(is_valid()); }

    /// Producer: appends the pointer, which is not null.
    PushResult try_push(T* pointer) noexcept {
        STRID_ASSERT(pointer != nullptr);
        const std::size_t position = producer_.position;
        if (position == producer_.limit) [[unlikely]] {
            if (producer_.closed) return PushResult::closed;
            if (!find_room()) return PushResult::full;
        }
        // release: pairs with the acquire in at_head(); what is pointed to is seen as it is here.
        slot(position, producer_.mask).store(pointer, std::memory_order_release);
        producer_.position = position + 1;
        return PushResult::ok;
    }

    /// Producer: nothing more comes. Idempotent.
    void close() noexcept {
        producer_.closed = true;
        producer_.limit = producer_.position;  // so that a push looks closer
        // release: pairs with the acquire in look_again(); every pointer before it is visible.
        closed_.mark.store(1, std::memory_order_release);
    }

    /// Consumer: takes the oldest pointer. `closed` only once everything was taken.
    PopResult try_pop(T*& out) noexcept {
        T* pointer = at_head();
        if (pointer == nullptr) [[unlikely]] {
            pointer = look_again();
            if (pointer == nullptr) return consumer_.closed ? PopResult::closed : PopResult::empty;
        } else if (consumer_.looks_in_vain != 0) [[unlikely]] {
            consumer_.slips = consumer_.looks_in_vain == 1;
            consumer_.looks_in_vain = 0;
        }
        out = pointer;
        // release: pairs with the acquire in find_room(); the pointer was taken out.
        slot(consumer_.position, consumer_.mask).store(nullptr, std::memory_order_release);
        ++consumer_.position;
        return PopResult::ok;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

    /// The law above. Only when no thread is inside.
    [[nodiscard]] bool is_valid() const noexcept {
        const std::size_t count = producer_.position - consumer_.position;
        if (count > capacity() || producer_.limit > consumer_.position + capacity()) return false;
        for (std::size_t i = 0; i < capacity(); ++i) {
            const auto& one = slot(consumer_.position + i, consumer_.mask);
            const bool taken = one.load(std::memory_order_relaxed) != nullptr;
            if (taken != (i < count)) return false;
        }
        return true;
    }

  private:
    using Slot = Atomic<T*>;
    static_assert(sizeof(Slot) != sizeof(T*) || 8 * sizeof(Slot) == cache_line_bytes);
    /// Eight lines: enough for pushes not to wait for them.
    static constexpr std::size_t room_most = 64;
    /// Half a microsecond, in which a busy producer fills some hundred slots, to a few.
    static constexpr std::uint32_t slip_pauses_least = 32;
    static constexpr std::uint32_t slip_pauses_most = 256;
    static constexpr std::size_t taken_few = 1024;

    [[nodiscard]] Slot& slot(std::size_t position, std::size_t mask) const noexcept {
        return slots_.data()[position & mask];
    }

    /// Producer: the consumer empties slots in their order, so one that is empty says that those
    /// before it are.
    [[nodiscard]] bool find_room() noexcept {
        for (std::size_t room = std::clamp<std::size_t>(capacity() / 4, 1, room_most); room != 0;
             room /= 2) {
            const std::size_t last = producer_.position + room - 1;
            // acquire: pairs with the release in try_pop(); what was there was taken out.
            if (slot(last, producer_.mask).load(std::memory_order_acquire) == nullptr) {
                producer_.limit = last + 1;
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] T* at_head() const noexcept {
        // acquire: pairs with the release in try_push().
        return slot(consumer_.position, consumer_.mask).load(std::memory_order_acquire);
    }

    /// Consumer, after a look that found nothing: another one, or null.
    [[nodiscard]] T* look_again() noexcept {
        if (consumer_.slips) {
            slip();
            if (T* const pointer = at_head()) return pointer;
            consumer_.slips = false;
        }
        ++consumer_.looks_in_vain;
        // acquire: pairs with the release in close().
        if (closed_.mark.load(std::memory_order_acquire) == 0) return nullptr;
        // One may have come between the two looks; after the mark the look is final.
        T* const pointer = at_head();
        consumer_.closed = pointer == nullptr;
        return pointer;
    }

    /// Consumer: for longer where the last time brought little, as it does while the cores are far
    /// apart. Never for more than a part of the ring: a producer that finds it full waits as well.
    void slip() noexcept {
        const std::size_t taken = consumer_.position - consumer_.slipped_at;
        consumer_.slipped_at = consumer_.position;
        if (taken < std::min<std::size_t>(taken_few, capacity() / 4)) {
            consumer_.slip_pauses = std::min(consumer_.slip_pauses * 2, slip_pauses_most);
        } else if (taken > 4 * taken_few) {
            consumer_.slip_pauses = std::max(consumer_.slip_pauses / 2, slip_pauses_least);
        }
        for (std::uint32_t i = 0; i < consumer_.slip_pauses; ++i) relax();
    }

    struct alignas(cache_line_bytes) Producer {
        std::size_t mask;
        std::size_t position = 0;
        std::size_t limit = 0;  ///< slots [position, limit) are empty
        bool closed = false;
    };
    struct alignas(cache_line_bytes) Consumer {
        std::size_t mask;
        std::size_t position = 0;
        std::size_t slipped_at = 0;       ///< the position
        std::uint64_t looks_in_vain = 0;  ///< since a pointer was found
        std::uint32_t slip_pauses = slip_pauses_least;
        bool slips = false;
        bool closed = false;  ///< and everything was taken
    };
    struct alignas(cache_line_bytes) Closed {
        Atomic<std::uint64_t> mark{0};
    };
    static_assert(sizeof(Producer) == cache_line_bytes && sizeof(Consumer) == cache_line_bytes);
    static_assert(sizeof(Closed) % cache_line_bytes == 0);

    detail::SlotArray<Slot> slots_;
    Producer producer_;
    Consumer consumer_;
    Closed closed_;
};

}  // namespace strid::channel

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
// line that both are in travels for every pointer. So they keep apart ("temporal slipping"): the
// producer looks for an empty slot far ahead, which says that all before it are empty, and then
// pushes without a look; where there is so little room that the consumer must be near, it lets it
// go ahead for a moment. So does a consumer that finds nothing behind a run of pointers; who waits
// for those that come now and then, or one at a time in answer to one, is not held up.
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
    /// So many pointers one after the other come from a producer that is busy.
    static constexpr std::size_t busy_run = 4;
    /// A microsecond to three, in which the other side, where it is busy, goes on by some hundred
    /// slots.
    static constexpr int slip_pauses = 64;

    [[nodiscard]] Slot& slot(std::size_t position, std::size_t mask) const noexcept {
        return slots_.data()[position & mask];
    }

    /// Producer: the consumer empties slots in their order, so one that is empty says that those
    /// before it are. Where there is little room, the consumer is near: let it go ahead first.
    [[nodiscard]] bool find_room() noexcept {
        const std::size_t most = std::clamp<std::size_t>(capacity() / 4, 1, room_most);
        if (is_room(most)) return true;
        slip();
        for (std::size_t room = most; room != 0; room /= 2) {
            if (is_room(room)) return true;
        }
        return false;
    }
    [[nodiscard]] bool is_room(std::size_t room) noexcept {
        const std::size_t last = producer_.position + room - 1;
        // acquire: pairs with the release in try_pop(); what was there was taken out.
        if (slot(last, producer_.mask).load(std::memory_order_acquire) != nullptr) return false;
        producer_.limit = last + 1;
        return true;
    }

    static void slip() noexcept {
        for (int i = 0; i < slip_pauses; ++i) relax();
    }

    [[nodiscard]] T* at_head() const noexcept {
        // acquire: pairs with the release in try_push().
        return slot(consumer_.position, consumer_.mask).load(std::memory_order_acquire);
    }

    /// Consumer, after a look that found nothing: another one, or null.
    [[nodiscard]] T* look_again() noexcept {
        const std::size_t run = consumer_.position - consumer_.run_began;
        consumer_.run_began = consumer_.position;
        if (run >= busy_run) {
            slip();
            if (T* const pointer = at_head()) return pointer;
        }
        // acquire: pairs with the release in close().
        if (closed_.mark.load(std::memory_order_acquire) == 0) return nullptr;
        // One may have come between the two looks; after the mark the look is final.
        T* const pointer = at_head();
        consumer_.closed = pointer == nullptr;
        return pointer;
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
        std::size_t run_began = 0;  ///< the position when the ring was found empty last
        bool closed = false;        ///< and everything was taken
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

// SPDX-License-Identifier: Apache-2.0
//
// Our bounded ring and our unbounded queue behind the adapter that transfer.hpp describes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

#include "transfer.hpp"

namespace strid::bench {

/// Pointers that a bounded queue holds where nothing else is given.
inline constexpr std::size_t queue_capacity = 16'384;

inline bool is_ok(channel::PushResult result) {
    return result == channel::PushResult::ok;
}
inline bool is_ok(channel::PopResult result) {
    return result == channel::PopResult::ok;
}

struct StridRing {
    static constexpr const char* name = "strid spsc_ring";
    channel::SpscRing<void*> queue;
    StridRing() : StridRing(queue_capacity) {}
    explicit StridRing(std::size_t capacity) : queue(capacity) {}
    bool push(void* pointer) { return is_ok(queue.try_push(pointer)); }
    bool pop(void*& pointer) { return is_ok(queue.try_pop(pointer)); }
    std::size_t push_batch(std::uint64_t first, std::size_t count) {
        const auto slots = queue.claim(count);
        for (auto& slot : slots) slot = as_pointer(first++);
        queue.commit(slots.size());
        return slots.size();
    }
    std::size_t take_batch(std::size_t count, std::uint64_t& sum) {
        const auto items = queue.peek(count);
        for (void* item : items) sum += as_number(item);
        queue.release(items.size());
        return items.size();
    }
};

struct StridUnbounded {
    static constexpr const char* name = "strid unbounded_spsc";
    channel::UnboundedSpsc<void*> queue;
    StridUnbounded() = default;
    explicit StridUnbounded(std::size_t segment_capacity)
        : queue({.segment_capacity = segment_capacity}) {}
    bool push(void* pointer) { return is_ok(queue.try_push(pointer)); }
    bool pop(void*& pointer) { return is_ok(queue.try_pop(pointer)); }
};

}  // namespace strid::bench

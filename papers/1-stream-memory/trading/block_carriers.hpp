// SPDX-License-Identifier: Apache-2.0
//
// The engine's way to pass values to a group of threads, as carriers (carriers.hpp): tuples are
// written side by side into a block, and the block's address is pushed once to every reader of the
// group.
//
//     ByBlock         blocks of a pool, with a count of readers; the last one sends it home
//     ByStaticBlock   the limit: static blocks, in a circle, with no pool and no count. A block is
//                     written again when its readers must be done with it: when more blocks were
//                     pushed behind it than a ring has slots. The last reader is not known:
//                     unlike ByBlock, its lines are left as they were read (docs/design/0008): on
//                     machines where that matters, ByBlock is faster than the limit.
//
// Groups that begin with the same worker have the same size; each has an open block of its own.
//
// Threads: as carriers.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/memory/block_pool.hpp>

#include "carriers.hpp"
#include "waiting.hpp"

namespace strid::apps::trading {

/// The tuples of a block, behind their number.
template <class T>
struct alignas(cache_line_bytes) Batch {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= cache_line_bytes);
    static constexpr std::size_t bytes = operators::PortSizes{}.block_bytes;  // as the engine
    static constexpr std::size_t capacity = (bytes - cache_line_bytes) / sizeof(T);

    std::size_t count;
    alignas(cache_line_bytes) T tuples[capacity];

    /// Slots of a ring of blocks that hold as many tuples as one of single tuples.
    static std::size_t slots(const MulticastOptions& options) {
        return std::bit_ceil(std::max<std::size_t>(options.in_flight / capacity, 4));
    }
};

inline constexpr std::size_t claim_ahead_bytes = 1024;

/// As the engine's edges do: the lines to be written are fetched while others are.
template <class T>
void claim_ahead(const T* place) noexcept {
    prefetch_for_write(reinterpret_cast<const std::byte*>(place), claim_ahead_bytes);
}

template <class T, class Each>
void each_of(const Batch<T>& batch, Each& each) {
    // A copy: what `each` writes cannot be the number.
    const std::size_t count = batch.count;
    for (std::size_t at = 0; at != count; ++at) each(batch.tuples[at]);
}

template <class T>
class ByBlock {
  public:
    using Item = memory::Block*;
    static constexpr bool to_all = true;

    explicit ByBlock(const MulticastOptions& options)
        : workers_(options.workers),
          open_(options.workers),
          pool_({.payload_bytes = sizeof(Batch<T>),
                 .capacity_blocks = options.workers * (Batch<T>::slots(options) + 1),
                 .lanes = options.workers,
                 .bunch_blocks = 1}) {}  // home at once: the next block is a warm one

    static std::size_t slots(const MulticastOptions& options) { return Batch<T>::slots(options); }

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        Open& open = open_[group.first];
        if (open.block == nullptr) [[unlikely]]
            begin(open, group);
        STRID_ASSERT(open.size == group.size);
        Batch<T>& batch = batch_of(open.block);
        claim_ahead(batch.tuples + batch.count);
        batch.tuples[batch.count] = value;
        if (++batch.count == Batch<T>::capacity) hand_over(group.first, push);
    }
    template <class Push>
    void flush(Push&& push) {
        for (std::size_t first = 0; first != workers_; ++first) {
            if (open_[first].block != nullptr) hand_over(first, push);
        }
    }

    template <class Each>
    void receive(Item item, std::size_t worker, Each&& each) {
        const Batch<T>& batch = batch_of(item);
        const std::size_t used_bytes = cache_line_bytes + batch.count * sizeof(T);
        each_of(batch, each);
        // As message::release() does; acquire and release pair among the readers.
        if (item->references.load(std::memory_order_acquire) != 1 &&
            item->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return;
        }
        item->references.store(1, std::memory_order_relaxed);
        if (reading_delays_writers()) reclaim_lines(item->payload(), used_bytes);
        pool_.release(item, worker);
    }
    /// The blocks that the lane gathered go home: the emitter may be waiting for it.
    void idle(std::size_t worker) noexcept { pool_.flush_lane(worker); }

  private:
    struct Open {
        memory::Block* block = nullptr;
        std::size_t size = 0;  // of its group
    };
    /// The payload is raw memory: a trivially copyable Batch begins to live with its first use.
    static Batch<T>& batch_of(memory::Block* block) noexcept {
        return *std::launder(reinterpret_cast<Batch<T>*>(block->payload()));
    }

    void begin(Open& open, Group group) {
        Patience patience;
        while ((open.block = pool_.try_lease()) == nullptr) patience.wait();
        open.size = group.size;
        batch_of(open.block).count = 0;
    }
    template <class Push>
    void hand_over(std::size_t first, Push& push) {
        auto& [open_block, size] = open_[first];
        memory::Block* const block = std::exchange(open_block, nullptr);
        // relaxed: the rings publish it with the block.
        block->references.store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
        for_each_worker({first, size}, workers_, [&](std::size_t worker) { push(worker, block); });
    }

    std::size_t workers_;
    std::vector<Open> open_;  // by first worker of the group
    memory::BlockPool pool_;
};

template <class T>
class ByStaticBlock {
  public:
    using Item = const Batch<T>*;
    static constexpr bool to_all = true;

    explicit ByStaticBlock(const MulticastOptions& options)
        : workers_(options.workers), in_circle_(slots(options) + 1), circles_(options.workers) {}

    static std::size_t slots(const MulticastOptions& options) { return Batch<T>::slots(options); }

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        Circle& circle = circles_[group.first];
        if (circle.blocks.empty()) [[unlikely]] {
            circle.blocks.resize(in_circle_);
            circle.size = group.size;
        }
        STRID_ASSERT(circle.size == group.size);
        Batch<T>& batch = circle.blocks[circle.at];
        claim_ahead(batch.tuples + circle.count);
        batch.tuples[circle.count] = value;
        if (++circle.count == Batch<T>::capacity) hand_over(group.first, push);
    }
    template <class Push>
    void flush(Push&& push) {
        for (std::size_t first = 0; first != workers_; ++first) {
            if (circles_[first].count != 0) hand_over(first, push);
        }
    }

    template <class Each>
    void receive(Item item, std::size_t, Each&& each) {
        each_of(*item, each);
    }
    void idle(std::size_t) noexcept {}

  private:
    struct Circle {
        std::vector<Batch<T>> blocks = {};
        std::size_t at = 0;     // the open one
        std::size_t count = 0;  // tuples in it
        std::size_t size = 0;   // of the group
    };

    template <class Push>
    void hand_over(std::size_t first, Push& push) {
        Circle& circle = circles_[first];
        Batch<T>& batch = circle.blocks[circle.at];
        batch.count = std::exchange(circle.count, 0);
        if (++circle.at == in_circle_) circle.at = 0;
        for_each_worker({first, circle.size}, workers_,
                        [&](std::size_t worker) { push(worker, &std::as_const(batch)); });
    }

    std::size_t workers_;
    std::size_t in_circle_;
    std::vector<Circle> circles_;  // by first worker of the group
};

}  // namespace strid::apps::trading

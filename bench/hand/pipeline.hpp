// SPDX-License-Identifier: Apache-2.0
//
// The synthetic pipeline written by hand, without an engine: the limits that the engine is measured
// against. Each function runs the whole pipeline in the calling thread, or in it and one more that
// is joined before the function returns; nothing is shared between calls.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "../pipeline_workload.hpp"

namespace strid::bench::hand {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One loop, one record at a time; the compiler may keep the record in registers.
inline PipelineResult run_pipeline_fused(std::uint64_t records) {
    const auto start = std::chrono::steady_clock::now();
    PipelineSource source;
    PipelineChecksum checksum;
    for (std::uint64_t i = 0; i < records; ++i) {
        Record64 record;
        source.fill(record);
        pipeline_map(record);
        if (pipeline_keep(record)) checksum.add(record);
    }
    return {records, seconds_since(start), checksum};
}

/// One thread, batch by batch through one block of memory that stays in the nearest cache.
template <std::size_t BatchSize = 256>
PipelineResult run_pipeline_batched(std::uint64_t records) {
    const auto start = std::chrono::steady_clock::now();
    PipelineSource source;
    PipelineChecksum checksum;
    alignas(64) std::array<Record64, BatchSize> batch;
    for (std::uint64_t done = 0; done < records;) {
        const std::size_t count = records - done < BatchSize ? records - done : BatchSize;
        for (std::size_t i = 0; i < count; ++i) source.fill(batch[i]);
        // The records must exist in memory here, as they do between two operators.
        asm volatile("" : : "r"(batch.data()) : "memory");
        for (std::size_t i = 0; i < count; ++i) {
            pipeline_map(batch[i]);
            if (pipeline_keep(batch[i])) checksum.add(batch[i]);
        }
        done += count;
    }
    return {records, seconds_since(start), checksum};
}

/// A ring of batches between one producing and one consuming thread. Invariant: `head_` counts
/// batches published and is written by the producer only, `tail_` counts batches consumed and is
/// written by the consumer only, and tail_ <= head_ <= tail_ + slots.
template <std::size_t BatchSize, std::size_t Slots>
class BatchRing {
  public:
    struct alignas(64) Slot {
        std::array<Record64, BatchSize> records;
        std::size_t count;
        bool last;
    };

    Slot& wait_free_slot() noexcept {
        if (head_private_ - tail_seen_ == Slots) {
            // pairs with the release in free_slot
            while (head_private_ - (tail_seen_ = tail_.load(std::memory_order_acquire)) == Slots) {
                relax();
            }
        }
        return slots_[head_private_ % Slots];
    }
    void publish_slot() noexcept {
        head_.store(++head_private_, std::memory_order_release);  // pairs with wait_full_slot
    }
    Slot& wait_full_slot() noexcept {
        if (tail_private_ == head_seen_) {
            // pairs with the release in publish_slot
            while (tail_private_ == (head_seen_ = head_.load(std::memory_order_acquire))) relax();
        }
        return slots_[tail_private_ % Slots];
    }
    void free_slot() noexcept {
        tail_.store(++tail_private_, std::memory_order_release);  // pairs with wait_free_slot
    }

  private:
    static void relax() noexcept { __builtin_ia32_pause(); }

    alignas(64) std::atomic<std::uint64_t> head_ = 0;  // line 0: written by the producer
    std::uint64_t head_private_ = 0;
    std::uint64_t tail_seen_ = 0;
    alignas(64) std::atomic<std::uint64_t> tail_ = 0;  // line 1: written by the consumer
    std::uint64_t tail_private_ = 0;
    std::uint64_t head_seen_ = 0;
    alignas(64) std::array<Slot, Slots> slots_;
};

/// Two threads: one makes batches and copies them into the ring, the other maps, filters and sums
/// them where they lie.
template <std::size_t BatchSize = 256, std::size_t Slots = 16>
PipelineResult run_pipeline_two_threads(std::uint64_t records) {
    using Ring = BatchRing<BatchSize, Slots>;
    static_assert(offsetof(typename Ring::Slot, records) == 0);
    const auto ring = std::make_unique<Ring>();
    const auto start = std::chrono::steady_clock::now();
    std::thread producer([&ring, records] {
        PipelineSource source;
        alignas(64) std::array<Record64, BatchSize> batch;
        std::uint64_t done = 0;
        do {
            const std::size_t count = records - done < BatchSize ? records - done : BatchSize;
            for (std::size_t i = 0; i < count; ++i) source.fill(batch[i]);
            done += count;
            auto& slot = ring->wait_free_slot();
            std::memcpy(slot.records.data(), batch.data(), count * sizeof(Record64));
            slot.count = count;
            slot.last = done == records;
            ring->publish_slot();
        } while (done < records);
    });
    PipelineChecksum checksum;
    for (bool last = false; !last;) {
        auto& slot = ring->wait_full_slot();
        for (std::size_t i = 0; i < slot.count; ++i) {
            pipeline_map(slot.records[i]);
            if (pipeline_keep(slot.records[i])) checksum.add(slot.records[i]);
        }
        last = slot.last;
        ring->free_slot();
    }
    producer.join();
    return {records, seconds_since(start), checksum};
}

}  // namespace strid::bench::hand

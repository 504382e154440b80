// SPDX-License-Identifier: Apache-2.0
//
// Latency of the synthetic pipeline by hand at a fixed rate, open loop: one thread makes a record
// when its time has come and hands it to the other through a ring, which maps, filters and measures
// it. A latency runs from the scheduled time of the record, not from when it was made. The calling
// thread consumes; the producer is joined before the function returns.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "../pipeline_workload.hpp"
#include "../statistics.hpp"

namespace strid::bench::hand {

/// How a thread waits: the consumer for a record, the producer for the scheduled time.
enum class Waiting : std::uint8_t {
    spin,  // both never sleep: the least latency, two cores busy
    park   // the consumer spins for some microseconds and sleeps then, the producer sleeps
};

struct LatencyResult {
    std::vector<std::int64_t> latencies_ns;  // ascending, one per record that passed the filter

    [[nodiscard]] std::int64_t percentile_ns(double percent) const {
        return quantile_of_sorted(latencies_ns, percent / 100);
    }
};

/// A ring of single records between one producer and one consumer, which may sleep. Invariant:
/// head_ is written by the producer only, tail_ by the consumer only, tail_ <= head_ <= tail_ +
/// slots.
class RecordRing {
  public:
    struct Slot {
        Record64 record;
        std::int64_t scheduled_ns;
    };
    static constexpr std::size_t slots = 1024;

    Slot& wait_free_slot() noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        // pairs with the release in free_slot
        while (head - tail_.load(std::memory_order_acquire) == slots) std::this_thread::yield();
        return slots_[head % slots];
    }
    void publish_slot(Waiting waiting) noexcept {
        // pairs with the load in wait_full_slot; sequentially consistent so that notify_one sees a
        // consumer that has seen the old value
        head_.fetch_add(1, std::memory_order_seq_cst);
        if (waiting == Waiting::park) head_.notify_one();
    }
    Slot& wait_full_slot(Waiting waiting) noexcept {
        constexpr int spins_before_sleep = 2000;
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        // pairs with publish_slot
        for (int spins = 0; head_.load(std::memory_order_acquire) == tail; ++spins) {
            if (waiting == Waiting::park && spins > spins_before_sleep) {
                head_.wait(tail, std::memory_order_acquire);  // pairs with publish_slot
            } else {
                __builtin_ia32_pause();
            }
        }
        return slots_[tail % slots];
    }
    void free_slot() noexcept {
        tail_.fetch_add(1, std::memory_order_release);  // pairs with wait_free_slot
    }

  private:
    alignas(64) std::atomic<std::uint64_t> head_ = 0;  // line 0: written by the producer
    alignas(64) std::atomic<std::uint64_t> tail_ = 0;  // line 1: written by the consumer
    alignas(64) std::array<Slot, slots> slots_;
};

inline LatencyResult run_pipeline_latency(std::uint64_t records, std::uint64_t records_per_second,
                                          Waiting waiting) {
    using Clock = std::chrono::steady_clock;
    const auto ring = std::make_unique<RecordRing>();
    const auto start = Clock::now() + std::chrono::milliseconds(10);
    std::thread producer([&, start] {
        PipelineSource source;
        for (std::uint64_t i = 0; i < records; ++i) {
            const auto due =
                start + std::chrono::nanoseconds(i * 1'000'000'000 / records_per_second);
            if (waiting == Waiting::park) std::this_thread::sleep_until(due);
            while (Clock::now() < due) __builtin_ia32_pause();
            RecordRing::Slot& slot = ring->wait_free_slot();
            source.fill(slot.record);
            slot.scheduled_ns = due.time_since_epoch().count();
            ring->publish_slot(waiting);
        }
    });
    LatencyResult result;
    result.latencies_ns.reserve(records);
    for (std::uint64_t i = 0; i < records; ++i) {
        RecordRing::Slot& slot = ring->wait_full_slot(waiting);
        pipeline_map(slot.record);
        if (pipeline_keep(slot.record)) {
            const std::int64_t now_ns = Clock::now().time_since_epoch().count();
            result.latencies_ns.push_back(now_ns - slot.scheduled_ns);
        }
        ring->free_slot();
    }
    producer.join();
    std::sort(result.latencies_ns.begin(), result.latencies_ns.end());
    return result;
}

}  // namespace strid::bench::hand

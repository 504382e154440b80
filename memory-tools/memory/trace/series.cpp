// SPDX-License-Identifier: Apache-2.0
//
// The time series and the peak. Threads take the samples themselves, each about every 64 calls at
// most, so that there is no thread that the program does not have.
#include <cerrno>

#include <sys/prctl.h>

#include "process.hpp"
#include "trace_file.hpp"

namespace strid::trace {

namespace {

constexpr std::uint64_t kNameIntervalNs = 50'000'000;

std::uint64_t load(const std::uint64_t& counter) {
    return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

/// Sums over all slots. The ends are read before the beginnings: the live blocks are never
/// negative.
Sample sum_now(std::uint64_t now) {
    Sample sum{};
    sum.time_ns = now;
    const std::uint32_t last = process().slot_count;
    std::uint64_t bytes_freed = 0;
    for (std::uint32_t slot = 1; slot <= last; ++slot) {
        sum.deaths += deaths_of(counters_of(slot));
        bytes_freed += load(counters_of(slot).bytes_freed);
    }
    std::uint64_t births = 0;
    for (std::uint32_t slot = 1; slot <= last; ++slot) {
        births += load(counters_of(slot).births);
        sum.calls += load(counters_of(slot).resizes);
        sum.bytes_allocated += load(counters_of(slot).bytes_allocated);
    }
    sum.calls += births;
    sum.live_bytes = sum.bytes_allocated - bytes_freed;
    sum.live_blocks = births - sum.deaths;
    return sum;
}

SamplesChunk* samples_chunk(std::uint32_t index) {
    Process& here = process();
    if (!here.samples[index]) {
        auto* const chunk = append<SamplesChunk>(here.file_bytes);
        if (!chunk) {
            report_failure(session(), errno);
            return nullptr;
        }
        mark_ready(chunk->head, ChunkType::Samples, index);
        here.samples[index] = chunk;
    }
    return here.samples[index];
}

/// Leaves the greater of two neighbours, in the other chunk, which then is the active one.
SamplesChunk* halve(const SamplesChunk& full) {
    ProcessChunk& chunk = *process().chunk;
    const std::uint32_t other = 1 - chunk.samples_active;
    SamplesChunk* const half = samples_chunk(other);
    if (!half) return nullptr;
    for (std::size_t i = 0; i < kSamplesPerChunk / 2; ++i) {
        const Sample& first = full.samples[2 * i];
        const Sample& second = full.samples[2 * i + 1];
        half->samples[i] = first.live_bytes > second.live_bytes ? first : second;
    }
    half->used = kSamplesPerChunk / 2;
    chunk.series_interval_ns *= 2;
    __atomic_store_n(&chunk.samples_active, other, __ATOMIC_RELEASE);
    return half;
}

/// Under Process::lock.
void sample(std::uint64_t now) {
    SamplesChunk* series = samples_chunk(process().chunk->samples_active);
    if (series && series->used == kSamplesPerChunk) series = halve(*series);
    if (!series) {
        // No more of them: the disk is full, as the session says.
        process().next_sample_ns.store(~std::uint64_t{0}, std::memory_order_relaxed);
        return;
    }
    series->samples[series->used] = sum_now(now);
    __atomic_store_n(&series->used, series->used + 1, __ATOMIC_RELEASE);
    process().next_sample_ns.store(now + process().chunk->series_interval_ns,
                                   std::memory_order_relaxed);
}

}  // namespace

std::uint64_t deaths_of(const ThreadChunk& counters) {
    std::uint64_t sum = load(counters.foreign_frees);
    for (const auto& group : counters.lifetimes) {
        for (const std::uint64_t& bucket : group) sum += load(bucket);
    }
    return sum;
}

void publish(ThreadChunk& counters) {
    ProcessChunk& chunk = *process().chunk;
    const std::uint64_t births = counters.births;
    const std::uint64_t deaths = deaths_of(counters);
    const auto blocks = static_cast<std::int64_t>((births - counters.published_births) -
                                                  (deaths - counters.published_deaths));
    const auto live = static_cast<std::int64_t>(counters.bytes_allocated - counters.bytes_freed);
    const std::int64_t drift = live - counters.published_live;
    const std::int64_t drift_peak = counters.live_peak - counters.published_live;
    counters.published_births = births;
    counters.published_deaths = deaths;
    counters.published_live = live;
    counters.live_peak = live;
    const std::int64_t before = __atomic_fetch_add(&chunk.live_bytes, drift, __ATOMIC_RELAXED);
    const std::int64_t live_blocks =
        __atomic_add_fetch(&chunk.live_blocks, blocks, __ATOMIC_RELAXED);
    std::int64_t peak = __atomic_load_n(&chunk.peak_bytes, __ATOMIC_RELAXED);
    while (before + drift_peak > peak) {
        if (__atomic_compare_exchange_n(&chunk.peak_bytes, &peak, before + drift_peak, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            chunk.peak_blocks = live_blocks;
            chunk.peak_ns = now_ns();
        }
    }
}

void pass_time(ThreadState& state, std::uint64_t now) {
    __atomic_store_n(&process().chunk->last_ns, now, __ATOMIC_RELAXED);
    if (now >= state.next_name_ns && state.record) {
        // Threads get their names some time after they began.
        prctl(PR_GET_NAME, state.record->name);
        state.next_name_ns = now + kNameIntervalNs;
    }
    if (now < process().next_sample_ns.load(std::memory_order_relaxed)) return;
    if (!ProcessLock::try_take()) return;
    if (now >= process().next_sample_ns.load(std::memory_order_relaxed)) sample(now);
    process().lock.store(0, std::memory_order_release);  // pairs with ProcessLock::try_take()
}

}  // namespace strid::trace

// SPDX-License-Identifier: Apache-2.0
//
// The counting at each call. The functions that are inlined here are all that most calls cost: a
// few additions to the thread's own counters, and one word of the side table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "process.hpp"
#include "side_table.hpp"
#include "trace_format.hpp"

namespace strid::trace {

/// One instruction where the processor has one: a signal handler that allocates comes before or
/// after it, and no count is lost. Only the counters' own thread writes them.
[[gnu::always_inline]] inline void increase(std::uint64_t& counter, std::uint64_t by) {
#if defined(__x86_64__)
    asm("addq %1, %0" : "+m"(counter) : "er"(by) : "cc");
#else
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
#endif
}

/// Live bytes that a thread's slot may change by before it reports to the process.
inline constexpr std::int64_t kDriftMax = std::int64_t{64} << 10;
/// A thread that only resizes looks at the time so often.
inline constexpr std::uint64_t kResizesPerLook = 64;

[[nodiscard, gnu::always_inline]] inline std::size_t size_group(std::size_t size) {
    return static_cast<std::size_t>(size > 64) + static_cast<std::size_t>(size > kExactMax);
}

/// The steps at about one birth in 64: the block's birth is timed, and time passes.
void note_sampled_birth(ThreadState& state, const void* block, std::size_t size);
/// The end of a block whose birth is timed.
void note_lifetime(ThreadState& state, const SideTable::Entry& entry);
/// The request of `size` bytes that was counted last reached the next stack.
void note_stack(ThreadState& state, std::size_t size);
/// Takes samples, and publishes.
void look_at_time(ThreadState& state);
/// publish(), unless a signal handler is in the way.
void publish_if_free(ThreadState& state);

/// The same calls where the thread has no counters of its own.
void note_birth_slowly(const void* block, std::size_t size, Kind kind);
void note_death_slowly(const void* block, Release release);
void note_failure_slowly();

[[gnu::always_inline]] inline void note_request(ThreadChunk& counters, std::size_t size,
                                                Kind kind) {
    const auto row = static_cast<std::size_t>(kind);
    if (size <= kExactMax) [[likely]] {
        increase(counters.size_calls[row][size], 1);
    } else {
        const auto octave = static_cast<std::size_t>(std::bit_width(size - 1)) - 1 - kFirstOctave;
        increase(counters.octave_calls[row][octave], 1);
        increase(counters.octave_bytes[row][octave], size);
    }
    increase(counters.bytes_allocated, size);
}

/// After more bytes are counted.
[[gnu::always_inline]] inline void note_live_peak(ThreadState& state) {
    ThreadChunk& counters = *state.counters;
    const auto live = static_cast<std::int64_t>(counters.bytes_allocated - counters.bytes_freed);
    if (live > counters.live_peak) {
        counters.live_peak = live;
        if (live > counters.published_live + kDriftMax) [[unlikely]]
            publish_if_free(state);
    }
}

/// After bytes of a large block are taken off. Bytes that small blocks release are published as
/// time passes.
[[gnu::always_inline]] inline void note_large_end(ThreadState& state) {
    const ThreadChunk& counters = *state.counters;
    const auto live = static_cast<std::int64_t>(counters.bytes_allocated - counters.bytes_freed);
    if (live < counters.published_live - kDriftMax) publish_if_free(state);
}

/// A block begins, of `size` bytes as requested.
[[gnu::always_inline]] inline void note_birth(ThreadState& state, const void* block,
                                              std::size_t size, Kind kind) {
    ThreadChunk& counters = *state.counters;
    note_request(counters, size, kind);
    increase(counters.births, 1);
    if (counters.bytes_allocated >= state.next_stack) [[unlikely]]
        note_stack(state, size);
    note_live_peak(state);
    const std::uint64_t births = counters.births;
    if (births >= state.next_sample) [[unlikely]] {
        note_sampled_birth(state, block, size);
    } else if (!side_table.put(block, state.owner | (births & kBirthMask), size)) [[unlikely]] {
        count_untracked();
    }
}

/// A block ends that has this word and size.
[[gnu::always_inline]] inline void note_end(ThreadState& state, std::uint64_t word,
                                            std::uint64_t size, Release release) {
    ThreadChunk& counters = *state.counters;
    if (release == Release::Delete) increase(counters.deletes, 1);
    if (release == Release::Realloc) increase(counters.reallocs0, 1);
    increase(counters.bytes_freed, size);
    if (owner_in(word) == state.owner) [[likely]] {
        const auto lifetime =
            static_cast<std::size_t>(std::bit_width(birth_in(counters.births - birth_in(word))));
        increase(counters.lifetimes[size_group(size)][lifetime], 1);
    } else {
        increase(counters.foreign_frees, 1);
        increase(counters.foreign_bytes, size);
    }
    if (size > kExactMax) [[unlikely]]
        note_large_end(state);
}

/// The same of what was taken from the side table, which may be nothing.
void note_death(ThreadState& state, const SideTable::Entry& entry, Release release);

/// The block at `block`, which is about to be given back, ends.
[[gnu::always_inline]] inline void note_death_of(ThreadState& state, const void* block,
                                                 Release release) {
    std::uint64_t* const words = side_table.find(block);
    const std::uint64_t word = words ? *words : 0;
    if (word != 0 && is_whole(word)) [[likely]] {
        *words = 0;
        note_end(state, word, size_in(word), release);
    } else {
        note_death(state, SideTable::take(words), release);
    }
}

/// `entry` goes on as `block` with another size.
inline void note_resize(ThreadState& state, const void* block, std::size_t size,
                        const SideTable::Entry& entry) {
    ThreadChunk& counters = *state.counters;
    note_request(counters, size, Kind::Realloc);
    increase(counters.resizes, 1);
    if (counters.bytes_allocated >= state.next_stack) [[unlikely]]
        note_stack(state, size);
    increase(counters.bytes_freed, entry.size);
    note_live_peak(state);
    note_large_end(state);
    if (!side_table.put(block, entry.owner_and_birth(), size, entry.birth_ns)) count_untracked();
    if (counters.resizes % kResizesPerLook == 0) look_at_time(state);
}

}  // namespace strid::trace

// SPDX-License-Identifier: Apache-2.0
//
// The slots of threads and the records of which thread had which slot when.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.hpp"
#include "stacks.hpp"
#include "trace_file.hpp"

namespace strid::trace {

namespace {

struct Slot {
    ThreadChunk* counters;
    std::uint32_t generation;
    std::uint32_t next_free;
};

// One of them is kept for what threads without a slot have in common.
constexpr std::uint32_t kSlots = 1U << kSlotBits;
constexpr std::uint32_t kThreadSlots = kSlots - 2;
// Those above Process::slot_count are of no process, or of the parent before a fork.
constinit Slot slots[kSlots] = {};
constinit ThreadState state_of_shared_slot{};
constinit pthread_key_t end_key{};

/// glibc runs destructors of keys in this many rounds. In the last one the slot is given back:
/// what others free in theirs is counted as the thread's own.
constexpr std::uintptr_t kLastRound = PTHREAD_DESTRUCTOR_ITERATIONS;

ThreadTotals totals_of(const ThreadChunk& counters) {
    return {.births = counters.births,
            .resizes = counters.resizes,
            .deaths = deaths_of(counters),
            .bytes_allocated = counters.bytes_allocated,
            .bytes_freed = counters.bytes_freed,
            .foreign_frees = counters.foreign_frees};
}

void note_name(ThreadState& state) {
    if (state.record) prctl(PR_GET_NAME, state.record->name);
}

ThreadRecord* new_record() {
    Process& here = process();
    const std::uint32_t chunk_index = here.record_count / kRecordsPerChunk;
    if (chunk_index >= kRecordChunks) return nullptr;
    RecordsChunk*& chunk = here.records[chunk_index];
    if (!chunk) {
        chunk = append<RecordsChunk>(here.file_bytes);
        if (!chunk) {
            report_failure(session(), errno);
            return nullptr;
        }
        mark_ready(chunk->head, ChunkType::Records, chunk_index);
    }
    return &chunk->records[here.record_count++ % kRecordsPerChunk];
}

/// One more slot; 0, if it cannot be.
std::uint32_t new_slot() {
    Process& here = process();
    auto* const counters = append<ThreadChunk>(here.file_bytes);
    if (!counters) {
        report_failure(session(), errno);
        return 0;
    }
    const std::uint32_t slot = ++here.slot_count;
    mark_ready(counters->head, ChunkType::Thread, slot);
    slots[slot] = Slot{.counters = counters, .generation = 0, .next_free = 0};
    return slot;
}

/// A slot that is free, or one more; 0, if there is none.
std::uint32_t take_slot() {
    Process& here = process();
    if (here.free_slots != 0) {
        const std::uint32_t slot = here.free_slots;
        here.free_slots = slots[slot].next_free;
        ++slots[slot].generation;
        return slot;
    }
    return here.slot_count < kThreadSlots ? new_slot() : 0;
}

void begin_record(ThreadState& state) {
    state.record = new_record();
    if (!state.record) {
        ++process().chunk->threads_unnamed;
        return;
    }
    ThreadRecord& record = *state.record;
    record.slot = state.slot;
    record.begin_ns = now_ns();
    record.begin = totals_of(*state.counters);
    note_name(state);
    record.thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    // The counters of `record` are whole before the reader sees how many there are.
    RecordsChunk& chunk = *process().records[(process().record_count - 1) / kRecordsPerChunk];
    __atomic_store_n(&chunk.used, chunk.used + 1, __ATOMIC_RELEASE);
}

void give_slot_back(ThreadState& state) {
    publish(*state.counters);
    const ProcessLock lock;
    if (state.record) {
        note_name(state);
        state.record->end = totals_of(*state.counters);
        __atomic_store_n(&state.record->end_ns, now_ns(), __ATOMIC_RELEASE);
    }
    slots[state.slot].next_free = process().free_slots;
    process().free_slots = state.slot;
}

void on_thread_end(void* value) {
    const auto round = reinterpret_cast<std::uintptr_t>(value);
    if (round < kLastRound) {
        pthread_setspecific(end_key, reinterpret_cast<void*>(round + 1));
        return;
    }
    ThreadState* const state = ready();
    if (!state || state->is_busy) return;
    state->is_busy = true;
    give_slot_back(*state);
    thread_state = ThreadState{.is_shared = true};
}

}  // namespace

bool watch_thread_ends() {
    const int error = pthread_key_create(&end_key, on_thread_end);
    errno = error;
    return error == 0;
}

const ThreadChunk& counters_of(std::uint32_t slot) {
    return *slots[slot].counters;
}

ThreadState* shared_state() {
    ThreadState& shared = state_of_shared_slot;
    if (!shared.counters) {
        const std::uint32_t slot = new_slot();
        if (slot == 0) return nullptr;
        // Under the lock: what takes it must not be called, and no block is sampled.
        shared = ThreadState{.counters = slots[slot].counters,
                             .owner = owner_of(slot, 0),
                             .next_sample = ~std::uint64_t{0},
                             .next_stack = ~std::uint64_t{0},
                             .slot = slot,
                             .is_busy = true};
    }
    return &shared;
}

void forget_shared_state() {
    state_of_shared_slot = ThreadState{};
}

ThreadState* begin_thread() {
    ThreadState& state = thread_state;
    const ProcessLock lock;
    const std::uint32_t slot = take_slot();
    if (slot == 0) {
        state.is_shared = true;
        return nullptr;
    }
    state.slot = slot;
    state.owner = owner_of(slot, slots[slot].generation);
    state.counters = slots[slot].counters;
    state.next_sample = state.counters->births + 1;
    state.random = slot * 2654435761U + slots[slot].generation + 1;
    state.next_stack = has_stacks() ? state.counters->bytes_allocated + next_stack_distance(state)
                                    : ~std::uint64_t{0};
    begin_record(state);
    // Of the first keys, which this is one of, the values need no memory of their own.
    pthread_setspecific(end_key, reinterpret_cast<void*>(std::uintptr_t{1}));
    return &state;
}

void name_living_threads() {
    const ProcessLock lock;
    char path[64];
    for (std::uint32_t i = 0; i < process().record_count; ++i) {
        ThreadRecord& record =
            process().records[i / kRecordsPerChunk]->records[i % kRecordsPerChunk];
        if (record.end_ns != 0) continue;
        std::snprintf(path, sizeof(path), "/proc/self/task/%u/comm", record.thread_id);
        char name[sizeof(record.name)] = {};
        const std::size_t length = read_file(path, name, sizeof(name) - 1);
        if (length == 0) continue;
        for (char& letter : name) letter = letter == '\n' ? '\0' : letter;
        std::memcpy(record.name, name, sizeof(name));
    }
}

}  // namespace strid::trace

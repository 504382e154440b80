// SPDX-License-Identifier: Apache-2.0
//
// The traced process and its threads: begins a file at the first call after exec or fork, gives
// each thread a slot of counters in it, and takes the samples of the time series.
//
// A thread counts in its own slot alone, without atomic read-modify-writes. A slot whose thread has
// ended goes to the next new thread: its counters go on, so that nothing has to be added up when a
// thread or the process ends. One slot is shared, under Process::lock: threads count there once
// their own slot is given back, and where there is no slot for them.
//
// Invariant: the sums over all slots are the counts of the process, at every moment.
#pragma once

#include <atomic>
#include <cstdint>

#include "side_table.hpp"
#include "trace_format.hpp"

namespace strid::trace {

enum class Mark : std::uint64_t {
    Unknown = 0,  // after exec and, because the page is wiped, after any form of fork
    Beginning,
    Dormant,  // not to be traced, or its file could not be made
    Ready,
};

/// In memory that a fork wipes, so that a child, made by whatever system call, finds Mark::Unknown.
struct Process {
    Mark mark;
    std::atomic<std::uint32_t> lock;
    std::atomic<std::uint64_t> next_sample_ns;
    ProcessChunk* chunk;
    SamplesChunk* samples[2];
    std::uint32_t record_count;
    std::uint32_t slot_count;  // slots 1 to slot_count have counters
    std::uint32_t free_slots;  // the first of a list; 0: none
    std::uint64_t file_bytes;
    RecordsChunk* records[kRecordChunks];
    StacksChunk* stacks[kStackChunks];
    ModulesChunk* modules[kModuleChunks];
    std::uint32_t stack_count;
    std::uint32_t module_count;
    std::uint64_t modules_loaded;  // as dl_iterate_phdr counts them, when they were last noted
};
inline constexpr std::size_t kPageBytes = 4096;

struct alignas(kPageBytes) ProcessPage {
    Process process{};
};
static_assert(sizeof(ProcessPage) == kPageBytes);
extern constinit ProcessPage process_page;
[[nodiscard]] inline Process& process() {
    return process_page.process;
}

/// Private to a thread. Zero at its beginning.
struct ThreadState {
    ThreadChunk* counters = nullptr;  ///< null: no slot yet, or not any more
    std::uint64_t owner = 0;          ///< see owner_of()
    std::uint64_t next_sample = 0;    ///< the count of births at which a block is sampled
    std::uint64_t next_stack = 0;     ///< bytes_allocated at which a stack is kept
    std::uint32_t random = 0;
    std::uint64_t next_name_ns = 0;
    ThreadRecord* record = nullptr;
    std::uint32_t slot = 0;
    bool is_busy = false;  ///< inside of this library, which a signal handler must not enter again
    bool is_shared = false;  ///< counts in the shared slot
};
// A preloaded library has its thread-local memory from the beginning: no call, no allocation.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

extern constinit SideTable side_table;

/// Blocks are sampled at random distances; this many apart on the average.
inline constexpr std::uint32_t kSamplePeriod = 64;

/// Begins the trace of the process, or the slot of the thread, where that has not been done. Null
/// where there are no counters for this thread alone.
[[nodiscard]] ThreadState* prepare();

/// The calling thread's state, or null: then the ..._slowly functions of record.hpp decide.
[[nodiscard, gnu::always_inline]] inline ThreadState* ready() {
    ThreadState& state = thread_state;
    if (state.counters && process().mark == Mark::Ready) [[likely]]
        return &state;
    return prepare();
}

/// For slots, records and samples: a thread takes it when it begins and ends, and for a sample. The
/// child of a fork finds it free, whichever thread of the parent had it.
class ProcessLock {
  public:
    ProcessLock() {
        while (!try_take()) wait();
    }
    ~ProcessLock() {
        process().lock.store(0, std::memory_order_release);  // pairs with try_take()
    }
    ProcessLock(const ProcessLock&) = delete;
    ProcessLock& operator=(const ProcessLock&) = delete;

    [[nodiscard]] static bool try_take() {
        // Pairs with the stores of the destructor and of pass_time().
        return process().lock.exchange(1, std::memory_order_acquire) == 0;
    }

  private:
    static void wait();
};

/// The state of the shared slot, which begins with its first use; null, with errno, if it cannot
/// be. Under ProcessLock, and that `is_busy`.
[[nodiscard]] ThreadState* shared_state();
/// After a fork.
void forget_shared_state();

[[nodiscard]] std::uint64_t now_ns();

/// Blocks of the slot that ended. Reads all its histograms.
[[nodiscard]] std::uint64_t deaths_of(const ThreadChunk& counters);

/// Adds what the slot's live bytes changed by to those of the process, and raises its peak.
void publish(ThreadChunk& counters);

/// Takes a sample of the time series if it is time, and what a thread does now and then.
void pass_time(ThreadState& state, std::uint64_t now);

/// Gives the calling thread a slot; null if it has to count in the shared one. Under `is_busy`.
[[nodiscard]] ThreadState* begin_thread();

/// Of a slot from 1 to Process::slot_count.
[[nodiscard]] const ThreadChunk& counters_of(std::uint32_t slot);

/// Makes the key by which the end of threads is seen.
[[nodiscard]] bool watch_thread_ends();

/// Notes the names of the threads that have not ended.
void name_living_threads();

/// Where what cannot be kept is reported to.
[[nodiscard]] Session& session();

/// Counts a call that could not be counted by thread, or whose block could not be noted.
void count_untracked();

}  // namespace strid::trace

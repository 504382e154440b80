// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cerrno>
#include <ctime>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "real_functions.hpp"
#include "trace_file.hpp"

namespace strid::trace {

constinit ProcessPage process_page{};
constinit thread_local ThreadState thread_state{};
constinit SideTable side_table{};

namespace {

// The state that a fork leaves as it is.
constinit Session* the_session = nullptr;
constinit bool is_loaded = false;
constinit bool can_trace = false;
constinit bool is_libc = true;

/// Once for each image: finds the functions, and what every process of the image needs.
void load() {
    find_real_functions();
    is_libc = allocator_is_libc();
    the_session = find_session();
    can_trace = the_session && watch_thread_ends() &&
                madvise(&process_page, sizeof(process_page), MADV_WIPEONFORK) == 0 &&
                side_table.reserve(is_libc ? 4 : 3);
    if (the_session && !can_trace) report_failure(*the_session, errno);
}

/// The first process, whatever it executes, and its children where they are followed.
bool is_to_be_traced() {
    const auto pid = static_cast<std::uint32_t>(getpid());
    std::uint32_t expected = 0;
    const bool is_first = __atomic_compare_exchange_n(&the_session->first_process, &expected, pid,
                                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                          expected == pid;
    return is_first || the_session->follow != 0;
}

std::uint64_t unix_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

void describe(ProcessChunk& chunk, bool is_fork) {
    chunk.magic = kProcessMagic;
    chunk.version = kFormatVersion;
    chunk.pid = static_cast<std::uint32_t>(getpid());
    chunk.parent_pid = static_cast<std::uint32_t>(getppid());
    chunk.granule_shift = is_libc ? 4 : 3;
    chunk.sample_period = kSamplePeriod;
    chunk.forked = is_fork ? 1 : 0;
    chunk.interval_ns = the_session->interval_ns;
    chunk.series_interval_ns = the_session->interval_ns;
    chunk.begin_ns = now_ns();
    chunk.begin_unix_ns = unix_ns();
    const ssize_t length =
        readlink("/proc/self/exe", chunk.executable, sizeof(chunk.executable) - 1);
    if (length < 0) chunk.executable[0] = 0;
    allocator_path(chunk.allocator, sizeof(chunk.allocator));
    chunk.command_bytes = static_cast<std::uint32_t>(
        read_file("/proc/self/cmdline", chunk.command, sizeof(chunk.command)));
}

bool begin_file(bool is_fork) {
    Process& here = process();
    name_file(*the_session);
    auto* const chunk = append<ProcessChunk>(here.file_bytes);
    if (!chunk) return false;
    here.chunk = chunk;
    describe(*chunk, is_fork);
    here.next_sample_ns.store(chunk->begin_ns + chunk->interval_ns, std::memory_order_relaxed);
    forget_shared_state();
    mark_ready(chunk->head, ChunkType::Process, 0);
    return true;
}

/// After exec or fork: the process has one thread, the caller.
void begin_process() {
    Process& here = process();
    here.mark = Mark::Beginning;
    const bool is_fork = is_loaded;
    if (!is_loaded) load();
    is_loaded = true;
    thread_state = ThreadState{.is_busy = true};
    here.mark = Mark::Dormant;
    if (!can_trace || !is_to_be_traced()) return;
    if (begin_file(is_fork)) {
        here.mark = Mark::Ready;
    } else {
        report_failure(*the_session, errno);
    }
}

}  // namespace

Session& session() {
    return *the_session;
}

std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

void ProcessLock::wait() {
    sched_yield();
}

ThreadState* prepare() {
    ThreadState& state = thread_state;
    Process& here = process();
    if (here.mark == Mark::Dormant || here.mark == Mark::Beginning) return nullptr;
    const int saved_errno = errno;
    if (here.mark == Mark::Unknown) {
        begin_process();
        thread_state.is_busy = false;
    }
    ThreadState* result = nullptr;
    if (here.mark == Mark::Ready && !state.is_shared && !state.is_busy) {
        state.is_busy = true;
        result = begin_thread();
        state.is_busy = false;
    }
    errno = saved_errno;
    return result;
}

void count_untracked() {
    if (process().mark == Mark::Ready) {
        __atomic_fetch_add(&process().chunk->untracked, 1, __ATOMIC_RELAXED);
    }
}

namespace {

[[gnu::constructor]] void begin_at_load() {
    // A program that never allocates is traced, too.
    static_cast<void>(ready());
}

[[gnu::destructor]] void end_of_process() {
    ThreadState* const state = ready();
    if (!state || state->is_busy) return;
    state->is_busy = true;
    name_living_threads();
    publish(*state->counters);
    process().chunk->end_ns = now_ns();
    state->is_busy = false;
}

}  // namespace

}  // namespace strid::trace

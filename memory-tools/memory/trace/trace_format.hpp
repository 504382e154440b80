// SPDX-License-Identifier: Apache-2.0
//
// The file that a traced process writes, as strid_memory/trace_file.py reads it: a chain of chunks,
// each a whole number of pages and mapped shared, so that what a process counted is in the file at
// every moment: exec, _exit, abort and kill -9 lose nothing. All numbers are of the machine's own
// byte order; times are nanoseconds of CLOCK_MONOTONIC.
//
// Every field is written by the thread that owns its chunk, or under Process::lock, or atomically.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::trace {

inline constexpr std::uint64_t kProcessMagic = 0x3130524354535453;  // "STSTCR01"
inline constexpr std::uint64_t kSessionMagic = 0x3230534553545453;  // "SSTSES02"
inline constexpr std::uint32_t kFormatVersion = 1;

/// The kinds of call that ask for memory. `Aligned` is aligned_alloc, posix_memalign, memalign,
/// valloc and pvalloc; `Realloc` includes reallocarray; `New` and `NewAligned` their array forms.
enum class Kind : std::uint32_t { Malloc, Calloc, Realloc, Aligned, New, NewAligned };
inline constexpr std::size_t kKinds = 6;

/// The kinds of call that give memory back; `Realloc` is realloc(pointer, 0).
enum class Release : std::uint32_t { Free, Delete, Realloc };

/// Requests are counted by exact size up to this one, above by octave: (2^k, 2^(k+1)].
inline constexpr std::size_t kExactMax = 1024;
inline constexpr std::size_t kFirstOctave = 10;
inline constexpr std::size_t kOctaves = 64 - kFirstOctave;

/// Lifetimes are counted apart for requests of at most 64 bytes, of at most 1024, and above.
inline constexpr std::size_t kSizeGroups = 3;
/// Bucket k of lifetimes in allocations: lifetimes of [2^(k-1), 2^k); bucket 0 is a lifetime of 0.
inline constexpr std::size_t kLifetimeBuckets = 40;
/// Bucket k of lifetimes in nanoseconds: below 10^2 * {1, 2, 5} * 10^(k/3), the last one any above.
inline constexpr std::size_t kTimeBuckets = 40;

enum class ChunkType : std::uint32_t {
    Process = 1,
    Thread = 2,
    Records = 3,
    Samples = 4,
    Stacks = 5,
    Modules = 6
};

struct ChunkHead {
    std::uint32_t type;   ///< a ChunkType; 0 while the chunk is not ready
    std::uint32_t index;  ///< among those of its type
    std::uint64_t bytes;  ///< of the whole chunk: the next one begins there
};

/// The description that the command writes before it starts the program; the file `session` of the
/// folder.
struct Session {
    std::uint64_t magic;
    std::uint64_t interval_ns;    ///< between two samples of the time series
    std::uint64_t stack_period;   ///< bytes between two stacks on the average; 0: no stacks
    std::uint32_t follow;         ///< 0: only the first process is traced, with what it executes
    std::uint32_t first_process;  ///< its pid; 0 before it starts; atomic
    std::uint32_t started;        ///< files begun so far; atomic
    std::uint32_t failed;         ///< processes and threads whose counts could not be kept; atomic
    std::uint32_t failed_errno;   ///< why, of the first; atomic
    std::uint32_t failed_pid;     ///< its process; atomic
};

/// The first chunk of each file.
struct ProcessChunk {
    ChunkHead head;
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t pid;
    std::uint32_t parent_pid;
    std::uint32_t granule_shift;  ///< of the side table: 4 for the C library's heap, otherwise 3
    std::uint32_t sample_period;  ///< one block in so many has its lifetime measured in time
    std::uint32_t forked;         ///< 1: began by fork, 0: by exec
    std::uint64_t interval_ns;
    std::uint64_t begin_ns;
    std::uint64_t begin_unix_ns;  ///< the same moment by CLOCK_REALTIME
    std::uint64_t end_ns;         ///< 0: the process did not reach its exit handlers
    std::uint64_t last_ns;        ///< when a thread last looked at the time
    // The published state: sums over threads as of their last publication (every 64 KiB of change).
    std::int64_t live_bytes;
    std::int64_t live_blocks;
    std::int64_t peak_bytes;
    std::int64_t peak_blocks;  ///< when peak_bytes was reached
    std::uint64_t peak_ns;
    std::uint64_t untracked;        ///< calls that could not be counted by thread or followed
    std::uint64_t threads_unnamed;  ///< threads beyond the last record
    std::uint32_t samples_active;   ///< which of the two sample chunks holds the series
    std::uint32_t command_bytes;
    std::uint64_t series_interval_ns;  ///< of the samples now: doubles whenever the chunk is full
    char executable[512];
    char allocator[512];  ///< the library whose malloc answers
    char command[2048];   ///< the arguments, each ended by a zero byte; cut where they are longer
};

/// The counters of one slot: of one thread at a time, and of the next after it has ended.
struct ThreadChunk {
    ChunkHead head;
    std::uint64_t births;  ///< blocks that began
    std::uint64_t bytes_allocated;
    std::uint64_t bytes_freed;
    std::int64_t live_peak;       ///< of bytes_allocated - bytes_freed, since the last publication
    std::int64_t published_live;  ///< the same difference, at the last publication
    std::uint64_t resizes;        ///< realloc of a tracked block
    std::uint64_t foreign_frees;  ///< ends of blocks that another thread allocated
    std::uint64_t foreign_bytes;
    std::uint64_t unknown_frees;  ///< of blocks from before the trace or the fork
    std::uint64_t null_frees;
    std::uint64_t failures;   ///< requests that the allocator refused
    std::uint64_t deletes;    ///< blocks ended by delete
    std::uint64_t reallocs0;  ///< by realloc: to 0 bytes, or of an unknown block
    std::uint64_t published_births;
    std::uint64_t published_deaths;
    /// Of blocks that their own thread gives back: with foreign_frees, all that ended.
    std::uint64_t lifetimes[kSizeGroups][kLifetimeBuckets];
    std::uint64_t lifetimes_ns[kSizeGroups][kTimeBuckets];  ///< of the sampled blocks
    std::uint64_t octave_calls[kKinds][kOctaves];
    std::uint64_t octave_bytes[kKinds][kOctaves];
    std::uint64_t size_calls[kKinds][kExactMax + 1];
};

/// The counters of a thread; the difference of two gives its work in between.
struct ThreadTotals {
    std::uint64_t births;
    std::uint64_t resizes;
    std::uint64_t deaths;
    std::uint64_t bytes_allocated;
    std::uint64_t bytes_freed;
    std::uint64_t foreign_frees;
};

struct ThreadRecord {
    std::uint32_t thread_id;
    std::uint32_t slot;
    char name[16];
    std::uint64_t begin_ns;
    std::uint64_t end_ns;  ///< 0: the thread did not end; its slot has its totals
    ThreadTotals begin;
    ThreadTotals end;
};

inline constexpr std::size_t kRecordsPerChunk = 64;
inline constexpr std::size_t kRecordChunks = 256;

struct RecordsChunk {
    ChunkHead head;
    std::uint64_t used;
    ThreadRecord records[kRecordsPerChunk];
};

struct Sample {
    std::uint64_t time_ns;
    std::uint64_t calls;  ///< births and resizes so far
    std::uint64_t deaths;
    std::uint64_t bytes_allocated;
    std::uint64_t live_bytes;
    std::uint64_t live_blocks;
};

/// When full, every second sample goes to the other chunk, the one with more live bytes of two.
inline constexpr std::size_t kSamplesPerChunk = 2720;

struct SamplesChunk {
    ChunkHead head;
    std::uint64_t used;
    Sample samples[kSamplesPerChunk];
};

/// Where requests were made: return addresses, the innermost first.
inline constexpr std::size_t kStackFrames = 59;

struct Stack {
    double calls;         ///< estimated, as the bytes are
    std::uint64_t bytes;  ///< the period for each sample
    std::uint64_t hash;
    std::uint64_t depth;
    std::uint64_t frames[kStackFrames];
};

inline constexpr std::size_t kStacksPerChunk = 240;
inline constexpr std::size_t kStackChunks = 64;

struct StacksChunk {
    ChunkHead head;
    std::uint64_t used;
    std::uint64_t lost_bytes;  ///< of stacks for which there was no room; of the first chunk
    Stack stacks[kStacksPerChunk];
};

/// A file of code in memory: an address less `base` is that in the file.
struct Module {
    std::uint64_t base;
    std::uint64_t begin;
    std::uint64_t end;
    char path[232];  ///< empty: the executable
};

inline constexpr std::size_t kModulesPerChunk = 128;
inline constexpr std::size_t kModuleChunks = 16;

struct ModulesChunk {
    ChunkHead head;
    std::uint64_t used;
    Module modules[kModulesPerChunk];
};

}  // namespace strid::trace

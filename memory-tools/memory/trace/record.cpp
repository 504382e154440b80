// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <cerrno>

#include "stacks.hpp"

namespace strid::trace {

namespace {

/// Of a lifetime in nanoseconds: bounds of 100, 200, 500, 1000, ... ns.
std::size_t time_bucket(std::uint64_t lifetime_ns) {
    std::uint64_t decade = 100;
    std::size_t bucket = 0;
    while (lifetime_ns >= decade * 10) {
        if (bucket + 6 >= kTimeBuckets) return kTimeBuckets - 1;
        decade *= 10;
        bucket += 3;
    }
    if (lifetime_ns < decade) return bucket;
    if (lifetime_ns < 2 * decade) return bucket + 1;
    return bucket + (lifetime_ns < 5 * decade ? 2 : 3);
}

/// From 1 to 127, so that no period of the program's own is sampled at one place only.
std::uint64_t next_distance(ThreadState& state) {
    state.random = state.random * 1664525U + 1013904223U;
    return 1 + (state.random >> 16) % (2 * kSamplePeriod - 1);
}

/// A slot whose live bytes go up and down has nothing that the process must know.
bool has_to_publish(const ThreadChunk& counters) {
    const auto live = static_cast<std::int64_t>(counters.bytes_allocated - counters.bytes_freed);
    const std::int64_t drift = live - counters.published_live;
    return drift < -kDriftMax || counters.live_peak > counters.published_live + kDriftMax / 16;
}

/// Inside of this library, which leaves errno as it is; false in a signal handler that came there.
class Inside {
  public:
    explicit Inside(ThreadState& state) : state_(state), is_first_(!state.is_busy) {
        state_.is_busy = true;
    }
    ~Inside() {
        if (is_first_) state_.is_busy = false;
        errno = errno_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    explicit operator bool() const { return is_first_; }

  private:
    ThreadState& state_;
    bool is_first_;
    int errno_ = errno;
};

/// Calls function(state of the shared slot) under the lock, or counts the call as untracked.
template <class Function>
void in_shared_slot(Function&& function) {
    if (process().mark != Mark::Ready) return;
    ThreadState& own = thread_state;
    if (!own.is_shared || own.is_busy) {
        count_untracked();
        return;
    }
    const Inside inside(own);
    const ProcessLock lock;
    ThreadState* const shared = shared_state();
    if (!shared) {
        count_untracked();
        return;
    }
    function(*shared);
    if (has_to_publish(*shared->counters)) publish(*shared->counters);
}

}  // namespace

void note_death(ThreadState& state, const SideTable::Entry& entry, Release release) {
    if (entry.word == 0) {
        increase(state.counters->unknown_frees, 1);
        if (release == Release::Delete) increase(state.counters->deletes, 1);
        if (release == Release::Realloc) increase(state.counters->reallocs0, 1);
        return;
    }
    note_end(state, entry.word, entry.size, release);
    if (entry.is_timed()) note_lifetime(state, entry);
}

void note_sampled_birth(ThreadState& state, const void* block, std::size_t size) {
    const std::uint64_t birth = state.owner | (state.counters->births & kBirthMask);
    std::uint64_t now = 0;
    const Inside inside(state);
    if (inside) {
        state.next_sample = state.counters->births + next_distance(state);
        now = now_ns();
    }
    if (!side_table.put(block, birth, size, now)) count_untracked();
    if (!inside) return;
    if (has_to_publish(*state.counters)) publish(*state.counters);
    pass_time(state, now);
}

// The bytes that are requested are a line on which there are points at random distances; a stack
// counts by the points that its requests pass, which is its share of the bytes on the average.
void note_stack(ThreadState& state, std::size_t size) {
    const Inside inside(state);
    if (!inside) return;
    const std::uint64_t period = session().stack_period;
    const std::uint64_t allocated = state.counters->bytes_allocated;
    const std::uint64_t whole = (allocated - state.next_stack) / period;
    state.next_stack += whole * period;
    std::uint64_t points = whole;
    do {
        ++points;
        state.next_stack += next_stack_distance(state);
    } while (state.next_stack <= allocated);
    const auto bytes = points * period;
    // A size of 0 comes here only behind a signal handler whose requests passed the point.
    const double calls = size == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(size);
    keep_stack(bytes, calls);
}

void note_lifetime(ThreadState& state, const SideTable::Entry& entry) {
    const Inside inside(state);
    const std::uint64_t now = now_ns();
    increase(
        state.counters->lifetimes_ns[size_group(entry.size)][time_bucket(now - entry.birth_ns)], 1);
    if (!inside) return;
    if (has_to_publish(*state.counters)) publish(*state.counters);
    pass_time(state, now);
}

void look_at_time(ThreadState& state) {
    const Inside inside(state);
    if (inside) pass_time(state, now_ns());
}

void publish_if_free(ThreadState& state) {
    const Inside inside(state);
    if (!inside) return;
    publish(*state.counters);
    pass_time(state, now_ns());
}

void note_birth_slowly(const void* block, std::size_t size, Kind kind) {
    in_shared_slot([&](ThreadState& shared) { note_birth(shared, block, size, kind); });
}

void note_death_slowly(const void* block, Release release) {
    if (process().mark != Mark::Ready) return;
    const SideTable::Entry entry = SideTable::take(side_table.find(block));
    in_shared_slot([&](ThreadState& shared) { note_death(shared, entry, release); });
}

void note_failure_slowly() {
    in_shared_slot([](ThreadState& shared) { increase(shared.counters->failures, 1); });
}

}  // namespace strid::trace

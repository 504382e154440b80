// SPDX-License-Identifier: Apache-2.0
//
// A call to the allocator and its count, as the functions of C and of C++ have it in common.
#pragma once

#include "real_functions.hpp"
#include "record.hpp"

namespace strid::trace {

/// Counts a request that was refused.
inline void note_refusal(ThreadState* state) {
    if (state) {
        increase(state->counters->failures, 1);
    } else {
        note_failure_slowly();
    }
}

/// Counts what the allocator answered, and returns it. `state`: of ready(), before the call.
[[nodiscard, gnu::always_inline]] inline void* note_allocated(ThreadState* state, void* block,
                                                              std::size_t size, Kind kind) {
    if (block && state) [[likely]] {
        note_birth(*state, block, size, kind);
    } else if (block) {
        note_birth_slowly(block, size, kind);
    } else if (kind != Kind::New && kind != Kind::NewAligned) {
        // Where memory for new is refused, the C++ library's new is tried, which calls malloc.
        note_refusal(state);
    }
    return block;
}

/// malloc, while the functions are looked for from the bootstrap memory.
[[nodiscard, gnu::always_inline]] inline void* allocate(std::size_t size, Kind kind) {
    ThreadState* const state = ready();
    if (!real.malloc) [[unlikely]]
        return bootstrap_allocate(size);
    return note_allocated(state, real.malloc(size), size, kind);
}

[[gnu::always_inline]] inline void release(void* pointer, Release kind) {
    ThreadState* const state = ready();
    if (!pointer) {
        if (state) increase(state->counters->null_frees, 1);
        return;
    }
    if (is_bootstrap(pointer)) [[unlikely]]
        return;
    // The allocator is about to read what it keeps before the block: that comes from memory while
    // the block's word does.
    __builtin_prefetch(static_cast<const char*>(pointer) - 16);
    if (state) [[likely]] {
        note_death_of(*state, pointer, kind);
    } else {
        note_death_slowly(pointer, kind);
    }
    real.free(pointer);
}

}  // namespace strid::trace

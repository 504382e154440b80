// SPDX-License-Identifier: Apache-2.0
//
// The functions of C that programs call in the place of the allocator's.
//
// A block's words in the side table are taken before it is given back: afterwards another thread
// may have its address already.
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "heap.hpp"

using strid::trace::Kind;
using strid::trace::Release;
using strid::trace::SideTable;
using strid::trace::ThreadState;
namespace trace = strid::trace;

namespace {

/// A block of the bootstrap memory goes on in the allocator's.
void* leave_bootstrap(void* pointer, std::size_t size) {
    void* const block = trace::allocate(size, Kind::Realloc);
    if (block) {
        const auto end =
            reinterpret_cast<std::uintptr_t>(trace::bootstrap_memory) + trace::kBootstrapBytes;
        const std::size_t behind = end - reinterpret_cast<std::uintptr_t>(pointer);
        std::memcpy(block, pointer, size < behind ? size : behind);
    }
    return block;
}

void* resize_tracked(ThreadState& state, void* pointer, std::size_t size) {
    const SideTable::Entry entry = SideTable::take(trace::side_table.find(pointer));
    void* const block = trace::real.realloc(pointer, size);
    if (block) {
        if (entry.word != 0) {
            trace::note_resize(state, block, size, entry);
        } else {
            // From before the fork: here it begins.
            trace::note_death(state, entry, Release::Realloc);
            trace::note_birth(state, block, size, Kind::Realloc);
        }
    } else if (size == 0) {
        trace::note_death(state, entry, Release::Realloc);
    } else {
        trace::increase(state.counters->failures, 1);
        if (entry.word != 0 &&
            !trace::side_table.put(pointer, entry.owner_and_birth(), entry.size, entry.birth_ns)) {
            trace::count_untracked();
        }
    }
    return block;
}

/// A thread without counters: the block ends, and another begins.
void* resize_slowly(void* pointer, std::size_t size) {
    trace::note_death_slowly(pointer, Release::Realloc);
    void* const block = trace::real.realloc(pointer, size);
    if (block) trace::note_birth_slowly(block, size, Kind::Realloc);
    return block;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
    return trace::allocate(size, Kind::Malloc);
}

[[gnu::visibility("default")]] void free(void* pointer) {
    trace::release(pointer, Release::Free);
}

[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) {
    ThreadState* const state = trace::ready();
    if (!trace::real.malloc || trace::process().mark == trace::Mark::Beginning) [[unlikely]] {
        std::size_t bytes = 0;
        return __builtin_mul_overflow(count, size, &bytes) ? nullptr
                                                           : trace::bootstrap_allocate(bytes);
    }
    void* const block = trace::real.calloc(count, size);
    return trace::note_allocated(state, block, count * size, Kind::Calloc);
}

[[gnu::visibility("default")]] void* realloc(void* pointer, std::size_t size) {
    if (!pointer) return trace::allocate(size, Kind::Realloc);
    if (trace::is_bootstrap(pointer)) [[unlikely]]
        return leave_bootstrap(pointer, size);
    ThreadState* const state = trace::ready();
    return state ? resize_tracked(*state, pointer, size) : resize_slowly(pointer, size);
}

[[gnu::visibility("default")]] void* reallocarray(void* pointer, std::size_t count,
                                                  std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        trace::note_refusal(trace::ready());
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(pointer, bytes);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t size) {
    ThreadState* const state = trace::ready();
    void* const block = trace::real.aligned_alloc(alignment, size);
    return trace::note_allocated(state, block, size, Kind::Aligned);
}

[[gnu::visibility("default")]] int posix_memalign(void** block, std::size_t alignment,
                                                  std::size_t size) {
    ThreadState* const state = trace::ready();
    const int error = trace::real.posix_memalign(block, alignment, size);
    static_cast<void>(
        trace::note_allocated(state, error == 0 ? *block : nullptr, size, Kind::Aligned));
    return error;
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t size) {
    ThreadState* const state = trace::ready();
    void* const block = trace::real.memalign(alignment, size);
    return trace::note_allocated(state, block, size, Kind::Aligned);
}

[[gnu::visibility("default")]] void* valloc(std::size_t size) {
    ThreadState* const state = trace::ready();
    void* const block = trace::real.valloc(size);
    return trace::note_allocated(state, block, size, Kind::Aligned);
}

[[gnu::visibility("default")]] void* pvalloc(std::size_t size) {
    ThreadState* const state = trace::ready();
    void* const block = trace::real.pvalloc(size);
    return trace::note_allocated(state, block, size, Kind::Aligned);
}

}  // extern "C"

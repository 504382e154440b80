// SPDX-License-Identifier: Apache-2.0
//
// The lock of the loader is taken before Process::lock, never behind it: a thread in dlopen has the
// first and allocates. The unwinder runs without either.
#include "stacks.hpp"

#include <cerrno>
#include <cstring>

#include <link.h>

#include "trace_file.hpp"

// Of libstrid_stacks.so, where that is preloaded.
extern "C" [[gnu::weak, gnu::visibility("default")]] int strid_trace_backtrace(void** frames,
                                                                               int frames_max);

namespace strid::trace {

namespace {

constexpr std::uint32_t kIndexSize = 1U << 15U;
static_assert(kIndexSize >= 2 * kStacksPerChunk * kStackChunks);
// By hash: the number of a stack from 1; of this process where it has stacks.
constinit std::uint32_t stack_index[kIndexSize] = {};

std::uint64_t hash_of(const std::uint64_t* frames, std::uint64_t depth) {
    std::uint64_t hash = depth;
    for (std::uint64_t i = 0; i < depth; ++i) {
        hash = (hash ^ frames[i]) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32U;
    }
    return hash;
}

Stack& stack_at(std::uint32_t number) {
    return process().stacks[number / kStacksPerChunk]->stacks[number % kStacksPerChunk];
}

/// One more; null if there is no room.
Stack* new_stack() {
    Process& here = process();
    const std::uint32_t number = here.stack_count;
    if (number == 0) std::memset(stack_index, 0, sizeof(stack_index));
    const std::uint32_t chunk_index = number / kStacksPerChunk;
    if (chunk_index >= kStackChunks) return nullptr;
    StacksChunk*& chunk = here.stacks[chunk_index];
    if (!chunk) {
        chunk = append<StacksChunk>(here.file_bytes);
        if (!chunk) {
            report_failure(session(), errno);
            return nullptr;
        }
        mark_ready(chunk->head, ChunkType::Stacks, chunk_index);
    }
    ++here.stack_count;
    return &chunk->stacks[number % kStacksPerChunk];
}

/// The stack of these frames; null if there is no room for it.
Stack* find_stack(const std::uint64_t* frames, std::uint64_t depth) {
    const std::uint64_t hash = hash_of(frames, depth);
    std::uint64_t place = hash % kIndexSize;
    if (process().stack_count != 0) {
        for (; stack_index[place] != 0; place = (place + 1) % kIndexSize) {
            Stack& stack = stack_at(stack_index[place] - 1);
            if (stack.hash == hash && stack.depth == depth &&
                std::memcmp(stack.frames, frames, depth * sizeof(*frames)) == 0) {
                return &stack;
            }
        }
    }
    Stack* const stack = new_stack();
    if (!stack) return nullptr;
    stack_index[place] = process().stack_count;
    stack->hash = hash;
    stack->depth = depth;
    std::memcpy(stack->frames, frames, depth * sizeof(*frames));
    StacksChunk& chunk = *process().stacks[(process().stack_count - 1) / kStacksPerChunk];
    // The frames are whole before the reader sees how many stacks there are.
    __atomic_store_n(&chunk.used, chunk.used + 1, __ATOMIC_RELEASE);
    return stack;
}

/// Under Process::lock.
void add_module(const dl_phdr_info& info) {
    Process& here = process();
    Module module{.base = info.dlpi_addr, .begin = ~std::uint64_t{0}, .end = 0, .path = {}};
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& part = info.dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        const std::uint64_t begin = info.dlpi_addr + part.p_vaddr;
        if (begin < module.begin) module.begin = begin;
        if (begin + part.p_memsz > module.end) module.end = begin + part.p_memsz;
    }
    if (info.dlpi_name) std::strncpy(module.path, info.dlpi_name, sizeof(module.path) - 1);
    for (std::uint32_t i = 0; i < here.module_count; ++i) {
        const Module& other = here.modules[i / kModulesPerChunk]->modules[i % kModulesPerChunk];
        if (std::memcmp(&other, &module, sizeof(module)) == 0) return;
    }
    const std::uint32_t chunk_index = here.module_count / kModulesPerChunk;
    if (chunk_index >= kModuleChunks) return;
    ModulesChunk*& chunk = here.modules[chunk_index];
    if (!chunk) {
        chunk = append<ModulesChunk>(here.file_bytes);
        if (!chunk) return report_failure(session(), errno);
        mark_ready(chunk->head, ChunkType::Modules, chunk_index);
    }
    chunk->modules[here.module_count++ % kModulesPerChunk] = module;
    __atomic_store_n(&chunk->used, chunk->used + 1, __ATOMIC_RELEASE);
}

/// Ends the walk at once where nothing was loaded since the last one.
int note_module(dl_phdr_info* info, std::size_t /*size*/, void* loaded) {
    const ProcessLock lock;
    if (info->dlpi_adds == process().modules_loaded) return 1;
    add_module(*info);
    *static_cast<std::uint64_t*>(loaded) = info->dlpi_adds;
    return 0;
}

void note_modules() {
    std::uint64_t loaded = 0;
    dl_iterate_phdr(note_module, &loaded);
    if (loaded == 0) return;
    const ProcessLock lock;
    process().modules_loaded = loaded;
}

}  // namespace

bool has_stacks() {
    return strid_trace_backtrace != nullptr && session().stack_period != 0;
}

std::uint64_t next_stack_distance(ThreadState& state) {
    state.random = state.random * 1664525U + 1013904223U;
    const std::uint64_t range = 2 * session().stack_period - 1;
    return 1 + ((state.random >> 8U) * range >> 24U);
}

void keep_stack(std::uint64_t bytes, double calls) {
    void* addresses[kStackFrames];
    const int found = strid_trace_backtrace(addresses, kStackFrames);
    std::uint64_t frames[kStackFrames];
    const auto depth = static_cast<std::uint64_t>(found > 0 ? found : 0);
    for (std::uint64_t i = 0; i < depth; ++i) {
        frames[i] = reinterpret_cast<std::uint64_t>(addresses[i]);
    }
    note_modules();
    const ProcessLock lock;
    if (Stack* const stack = find_stack(frames, depth)) {
        stack->bytes += bytes;
        stack->calls += calls;
    } else if (process().stacks[0]) {
        process().stacks[0]->lost_bytes += bytes;
    }
}

}  // namespace strid::trace

// SPDX-License-Identifier: Apache-2.0
#include "real_functions.hpp"

#include <atomic>
#include <cstring>

#include <dlfcn.h>
#include <gnu/libc-version.h>

namespace strid::trace {

constinit RealFunctions real{};
alignas(16) constinit char bootstrap_memory[kBootstrapBytes] = {};

namespace {

constinit std::atomic<std::size_t> bootstrap_used{0};

template <class Function>
void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(next_symbol(name));
}

}  // namespace

void* next_symbol(const char* name) {
    return dlsym(RTLD_NEXT, name);
}

void find_real_functions() {
    // malloc last: while it is null, the bootstrap memory answers.
    find(real.free, "free");
    find(real.calloc, "calloc");
    find(real.realloc, "realloc");
    find(real.aligned_alloc, "aligned_alloc");
    find(real.posix_memalign, "posix_memalign");
    find(real.memalign, "memalign");
    find(real.valloc, "valloc");
    find(real.pvalloc, "pvalloc");
    find(real.malloc, "malloc");
}

void* bootstrap_allocate(std::size_t bytes) {
    if (bytes > kBootstrapBytes) return nullptr;
    const std::size_t rounded = (bytes + 31) / 16 * 16;
    const std::size_t at = bootstrap_used.fetch_add(rounded, std::memory_order_relaxed);
    return at + rounded <= kBootstrapBytes ? bootstrap_memory + at : nullptr;
}

void allocator_path(char* text, std::size_t bytes) {
    Dl_info info{};
    text[0] = 0;
    if (dladdr(reinterpret_cast<void*>(real.malloc), &info) != 0 && info.dli_fname) {
        std::strncpy(text, info.dli_fname, bytes - 1);
        text[bytes - 1] = 0;
    }
}

bool allocator_is_libc() {
    Dl_info allocator{};
    Dl_info libc{};
    return dladdr(reinterpret_cast<void*>(real.malloc), &allocator) != 0 &&
           dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc) != 0 &&
           allocator.dli_fbase == libc.dli_fbase;
}

}  // namespace strid::trace

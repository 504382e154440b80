// SPDX-License-Identifier: Apache-2.0
//
// new and delete, so that they are distinguished from malloc and free, and counted where an
// allocator has its own that do not call malloc. They are the allocator's malloc and free here, as
// they are in the C++ libraries and in the allocators: a call is counted once. Where malloc fails,
// the next operator new goes on with the new handler and the exception.
#include <cstdlib>
#include <new>

#include "heap.hpp"

using strid::trace::Kind;
using strid::trace::Release;
using strid::trace::ThreadState;
namespace trace = strid::trace;

namespace {

/// The operator of the next library, by its mangled name.
template <class Function>
Function* next_operator(const char* name) {
    void* const found = trace::next_symbol(name);
    // Without a C++ library nothing can throw.
    if (!found) std::abort();
    return reinterpret_cast<Function*>(found);
}

using Plain = void*(std::size_t);
using Quiet = void*(std::size_t, const std::nothrow_t&);
using Aligned = void*(std::size_t, std::align_val_t);
using AlignedQuiet = void*(std::size_t, std::align_val_t, const std::nothrow_t&);

void* allocate_aligned(std::size_t size, std::align_val_t alignment) {
    ThreadState* const state = trace::ready();
    const auto to = static_cast<std::size_t>(alignment);
    // Allocators may insist on a multiple of the alignment.
    const std::size_t rounded = (size + to - 1) / to * to;
    void* const block =
        rounded < size ? nullptr : trace::real.aligned_alloc(to, rounded != 0 ? rounded : to);
    return trace::note_allocated(state, block, size, Kind::NewAligned);
}

}  // namespace

#define STRID_EXPORT [[gnu::visibility("default")]]

STRID_EXPORT void* operator new(std::size_t size) {
    if (void* const block = trace::allocate(size, Kind::New)) return block;
    return next_operator<Plain>("_Znwm")(size);
}

STRID_EXPORT void* operator new[](std::size_t size) {
    if (void* const block = trace::allocate(size, Kind::New)) return block;
    return next_operator<Plain>("_Znam")(size);
}

STRID_EXPORT void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
    if (void* const block = trace::allocate(size, Kind::New)) return block;
    return next_operator<Quiet>("_ZnwmRKSt9nothrow_t")(size, tag);
}

STRID_EXPORT void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    if (void* const block = trace::allocate(size, Kind::New)) return block;
    return next_operator<Quiet>("_ZnamRKSt9nothrow_t")(size, tag);
}

STRID_EXPORT void* operator new(std::size_t size, std::align_val_t alignment) {
    if (void* const block = allocate_aligned(size, alignment)) return block;
    return next_operator<Aligned>("_ZnwmSt11align_val_t")(size, alignment);
}

STRID_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment) {
    if (void* const block = allocate_aligned(size, alignment)) return block;
    return next_operator<Aligned>("_ZnamSt11align_val_t")(size, alignment);
}

STRID_EXPORT void* operator new(std::size_t size, std::align_val_t alignment,
                                const std::nothrow_t& tag) noexcept {
    if (void* const block = allocate_aligned(size, alignment)) return block;
    return next_operator<AlignedQuiet>("_ZnwmSt11align_val_tRKSt9nothrow_t")(size, alignment, tag);
}

STRID_EXPORT void* operator new[](std::size_t size, std::align_val_t alignment,
                                  const std::nothrow_t& tag) noexcept {
    if (void* const block = allocate_aligned(size, alignment)) return block;
    return next_operator<AlignedQuiet>("_ZnamSt11align_val_tRKSt9nothrow_t")(size, alignment, tag);
}

STRID_EXPORT void operator delete(void* block) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete(void* block, std::size_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block, std::size_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete(void* block, const std::nothrow_t&) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block, const std::nothrow_t&) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete(void* block, std::align_val_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block, std::align_val_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    trace::release(block, Release::Delete);
}
STRID_EXPORT void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    trace::release(block, Release::Delete);
}

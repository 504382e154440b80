// SPDX-License-Identifier: Apache-2.0
//
// Which lane the running thread frees over, for containers that cannot be told.
#include <strid/memory/pmr.hpp>

namespace strid::memory {

namespace {

// The innermost scope of this thread. It names objects of a graph but belongs to no graph: several
// graphs in one process each find their own allocator in the chain.
thread_local FreeingThread* innermost = nullptr;

}  // namespace

FreeingThread::FreeingThread(SlabAllocator& allocator, std::size_t lane) noexcept
    : allocator_(&allocator), lane_(lane), outer_(innermost) {
    STRID_ASSERT(lane < allocator.lanes());
    innermost = this;
}

FreeingThread::~FreeingThread() {
    STRID_ASSERT(innermost == this);
    innermost = outer_;
}

void FreeingThread::free(SlabAllocator& allocator, void* memory) noexcept {
    for (const FreeingThread* scope = innermost; scope != nullptr; scope = scope->outer_) {
        if (scope->allocator_ == &allocator) {
            allocator.deallocate(memory, scope->lane_);
            return;
        }
    }
    allocator.deallocate_local(memory);
}

}  // namespace strid::memory
